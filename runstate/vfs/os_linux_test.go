package vfs_test

import (
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

func TestOSKindOfProc(t *testing.T) {
	kind, err := vfs.OS().Kind("/proc/none/such")
	must(t, err)
	same(t, kind, "proc")
}

func TestOSAllocateReservesBlocks(t *testing.T) {
	f, err := vfs.OS().Create(t.TempDir() + "/a")
	must(t, err)
	defer f.Close()
	must(t, f.Allocate(1<<20))
	info, err := f.(interface {
		SyscallConn() (syscall.RawConn, error)
	}).SyscallConn()
	must(t, err)
	var blocks int64
	must(t, info.Control(func(fd uintptr) {
		var stat syscall.Stat_t
		if err := syscall.Fstat(int(fd), &stat); err != nil {
			t.Error(err)
		}
		blocks = stat.Blocks
	}))
	if blocks*512 < 1<<20 {
		t.Errorf("%d bytes of disk are reserved", blocks*512)
	}
}
