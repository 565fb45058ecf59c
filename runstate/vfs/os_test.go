package vfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

func TestOSAcrossDevices(t *testing.T) {
	other, err := os.MkdirTemp("/dev/shm", "vfs")
	if err != nil {
		t.Skipf("no second file system: mount a tmpfs at /dev/shm (%v)", err)
	}
	t.Cleanup(func() { must(t, os.RemoveAll(other)) })
	fsys, dir := vfs.OS(), t.TempDir()
	if stat(t, fsys, dir).Device == stat(t, fsys, other).Device {
		t.Skip("no second file system: set TMPDIR to a folder outside /dev/shm")
	}
	put(t, fsys, dir+"/a", "x")
	wantErr(t, fsys.Link(dir+"/a", other+"/a"), syscall.EXDEV)
	wantErr(t, fsys.Rename(dir+"/a", other+"/a"), syscall.EXDEV)
	wantErr(t, fsys.RenameNoReplace(dir+"/a", other+"/a"), syscall.EXDEV)
	kind, err := fsys.Kind(other + "/none/such")
	must(t, err)
	same(t, kind, "tmpfs")
}

func TestOSPermissions(t *testing.T) {
	fsys, dir := vfs.OS(), t.TempDir()
	put(t, fsys, dir+"/a", "x")
	must(t, fsys.Mkdir(dir+"/d"))
	for name, most := range map[string]fs.FileMode{"a": 0o644, "d": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if mode := info.Mode().Perm(); mode&^most != 0 || mode&0o600 != 0o600 {
			t.Errorf("%s has mode %v", name, mode)
		}
	}
}
