package vfs

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

func changeTime(stat *syscall.Stat_t) syscall.Timespec { return stat.Ctimespec }

func renameNoReplace(oldname, newname string) error {
	err := retryInterrupted(func() error { return unix.RenamexNp(oldname, newname, unix.RENAME_EXCL) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, ErrUnsupported) {
		return fmt.Errorf("%w: the file system has no rename without replacing (%v)", ErrUnsupported, err)
	}
	return err
}

func allocate(fd int, size int64) error { return writeZeros(fd, size) }

func writeBack(int, int64) error { return nil }

func kindName(stat *unix.Statfs_t) string { return unix.ByteSliceToString(stat.Fstypename[:]) }
