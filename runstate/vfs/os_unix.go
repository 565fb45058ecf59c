//go:build linux || darwin

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func describe(name string, info fs.FileInfo) (Info, error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: fmt.Errorf("no inode known: %w", ErrUnsupported)}
	}
	change := changeTime(stat)
	return Info{
		Size:    info.Size(),
		ModTime: info.ModTime(),
		Change:  time.Unix(change.Unix()),
		Device:  uint64(stat.Dev),
		Inode:   stat.Ino,
		Links:   int(stat.Nlink),
		Dir:     info.IsDir(),
		Regular: info.Mode().IsRegular(),
	}, nil
}

func syncDir(name string) (err error) {
	dir, err := os.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := dir.Sync(); errors.Is(err, syscall.EINVAL) {
		return &fs.PathError{Op: "sync", Path: name, Err: fmt.Errorf("%w: the file system cannot sync a directory", ErrUnsupported)}
	} else if err != nil {
		return err
	}
	return nil
}

func realPath(name string) (string, error) {
	return resolve(name, func(at string) (string, error) {
		target, err := os.Readlink(at)
		if errors.Is(err, syscall.EINVAL) {
			return "", nil
		}
		return target, err
	})
}

func kindOf(name string) (string, error) {
	at, err := realPath(name)
	if err != nil {
		return "", err
	}
	var stat unix.Statfs_t
	for {
		err := retryInterrupted(func() error { return unix.Statfs(at, &stat) })
		if err == nil {
			return kindName(&stat), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == "/" {
			return "", err
		}
		at = path.Dir(at)
	}
}

func retryInterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// writeZeros gives a file at least a size by writing zeros behind its end, for file systems that cannot reserve.
func writeZeros(fd int, size int64) error {
	var stat unix.Stat_t
	if err := retryInterrupted(func() error { return unix.Fstat(fd, &stat) }); err != nil {
		return err
	}
	zeros := make([]byte, 1<<16)
	for at := stat.Size; at < size; {
		n, err := unix.Pwrite(fd, zeros[:min(int64(len(zeros)), size-at)], at)
		if err != nil && err != unix.EINTR {
			return err
		}
		at += int64(max(n, 0))
	}
	return nil
}
