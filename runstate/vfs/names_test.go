package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

func TestLinkGivesASecondName(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "x")
		before := stat(t, w, w.at("a"))
		must(t, w.Link(w.at("a"), w.at("b")))
		a, b := stat(t, w, w.at("a")), stat(t, w, w.at("b"))
		if !a.Same(b) || !a.Same(before) || a.Links != 2 || before.Links != 1 {
			t.Fatalf("not two names of one file: before %+v, then %+v and %+v", before, a, b)
		}
		if a.Change.Before(before.Change) {
			t.Errorf("the change time went back from %v to %v", before.Change, a.Change)
		}
		must(t, w.Remove(w.at("a")))
		same(t, get(t, w, w.at("b")), "x")
		same(t, stat(t, w, w.at("b")).Links, 1)
	})
}

func TestLinkNeverReplaces(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "x")
		put(t, w, w.at("b"), "y")
		err := w.Link(w.at("a"), w.at("b"))
		wantErr(t, err, fs.ErrExist)
		if linkErr := new(os.LinkError); !errors.As(err, &linkErr) {
			t.Errorf("%T is no LinkError", err)
		}
		same(t, get(t, w, w.at("b")), "y")
		wantErr(t, w.Link(w.at("a"), w.at("a")), fs.ErrExist)
		wantErr(t, w.Link(w.at("none"), w.at("c")), fs.ErrNotExist)
		wantErr(t, w.Link(w.at("a"), w.at("none/c")), fs.ErrNotExist)
		must(t, w.Mkdir(w.at("d")))
		wantErr(t, w.Link(w.at("d"), w.at("e")), syscall.EPERM)
	})
}

func TestRenameReplaces(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "new")
		put(t, w, w.at("b"), "old")
		old, err := w.Open(w.at("b"))
		must(t, err)
		must(t, w.Rename(w.at("a"), w.at("b")))
		same(t, get(t, w, w.at("b")), "new")
		_, err = w.Stat(w.at("a"))
		wantErr(t, err, fs.ErrNotExist)
		info, err := old.Stat()
		must(t, err)
		if info.Links != 0 || info.Same(stat(t, w, w.at("b"))) {
			t.Errorf("the replaced file is %+v", info)
		}
		must(t, old.Close())
		wantErr(t, w.Rename(w.at("none"), w.at("b")), fs.ErrNotExist)
	})
}

func TestRenameOfOneFileOntoItselfLeavesBothNames(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "x")
		must(t, w.Link(w.at("a"), w.at("b")))
		must(t, w.Rename(w.at("a"), w.at("b")))
		same(t, stat(t, w, w.at("a")).Links, 2)
	})
}

func TestRenameOfDirectories(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		must(t, w.Mkdir(w.at("d")))
		put(t, w, w.at("d/a"), "x")
		put(t, w, w.at("f"), "y")
		must(t, w.Mkdir(w.at("e")))
		wantErr(t, w.Rename(w.at("d"), w.at("e")), fs.ErrExist)
		wantErr(t, w.Rename(w.at("f"), w.at("e")), fs.ErrExist)
		wantErr(t, w.Rename(w.at("d"), w.at("f")), syscall.ENOTDIR)
		wantErr(t, w.Rename(w.at("d"), w.at("d/e")), syscall.EINVAL)
		must(t, w.Rename(w.at("d"), w.at("e/d")))
		same(t, get(t, w, w.at("e/d/a")), "x")
	})
}

func TestRenameNoReplace(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "x")
		put(t, w, w.at("b"), "y")
		err := w.RenameNoReplace(w.at("a"), w.at("b"))
		wantErr(t, err, fs.ErrExist)
		same(t, get(t, w, w.at("b")), "y")
		same(t, get(t, w, w.at("a")), "x")
		err = w.RenameNoReplace(w.at("a"), w.at("c"))
		if errors.Is(err, vfs.ErrUnsupported) {
			kind, _ := w.Kind(w.dir)
			t.Skipf("%s has no rename without replacing: set TMPDIR to a folder on ext4, xfs or btrfs", kind)
		}
		must(t, err)
		same(t, get(t, w, w.at("c")), "x")
		wantErr(t, w.RenameNoReplace(w.at("a"), w.at("d")), fs.ErrNotExist)
	})
}

func TestRemove(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		wantErr(t, w.Remove(w.at("a")), fs.ErrNotExist)
		must(t, w.Mkdir(w.at("d")))
		wantErr(t, w.Mkdir(w.at("d")), fs.ErrExist)
		wantErr(t, w.Mkdir(w.at("none/d")), fs.ErrNotExist)
		put(t, w, w.at("d/a"), "x")
		wantErr(t, w.Remove(w.at("d")), syscall.ENOTEMPTY)
		f, err := w.Open(w.at("d/a"))
		must(t, err)
		must(t, w.Remove(w.at("d/a")))
		must(t, w.Remove(w.at("d")))
		buf := make([]byte, 1)
		_, err = f.Read(buf)
		must(t, err)
		same(t, string(buf), "x")
		must(t, f.Close())
	})
}

func TestListIsSorted(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		names, err := w.List(w.dir)
		must(t, err)
		same(t, len(names), 0)
		for _, name := range []string{"b", "a", "B", "ä", "10", "9"} {
			put(t, w, w.at(name), "")
		}
		names, err = w.List(w.dir)
		must(t, err)
		same(t, names, []string{"10", "9", "B", "a", "b", "ä"})
		_, err = w.List(w.at("a"))
		wantErr(t, err, syscall.ENOTDIR)
		_, err = w.List(w.at("none"))
		wantErr(t, err, fs.ErrNotExist)
	})
}

func TestStat(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "abc")
		must(t, w.Mkdir(w.at("d")))
		f, err := w.OpenAppend(w.at("a"))
		must(t, err)
		info, err := f.Stat()
		must(t, err)
		same(t, info, stat(t, w, w.at("a")))
		if info.Size != 3 || !info.Regular || info.Dir || info.Inode == 0 || info.ModTime.IsZero() || info.Change.IsZero() {
			t.Errorf("a file is %+v", info)
		}
		_, err = f.Write([]byte("d"))
		must(t, err)
		after := stat(t, w, w.at("a"))
		if after.Size != 4 || after.ModTime.Before(info.ModTime) || !after.Same(info) {
			t.Errorf("a file that has grown is %+v, was %+v", after, info)
		}
		must(t, f.Close())
		dir := stat(t, w, w.at("d"))
		if !dir.Dir || dir.Regular || dir.Device != info.Device || dir.Same(info) {
			t.Errorf("a directory is %+v", dir)
		}
	})
}

func TestSyncDir(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "x")
		must(t, w.SyncDir(w.dir))
		wantErr(t, w.SyncDir(w.at("a")), syscall.ENOTDIR)
		wantErr(t, w.SyncDir(w.at("none")), fs.ErrNotExist)
	})
}

func (w world) symlink(t *testing.T, target, name string) {
	t.Helper()
	if m, ok := w.FS.(*vfs.Mem); ok {
		must(t, m.Symlink(target, w.at(name)))
		return
	}
	must(t, os.Symlink(target, w.at(name)))
}

func TestSymbolicLinks(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		must(t, w.Mkdir(w.at("d")))
		must(t, w.Mkdir(w.at("d/e")))
		put(t, w, w.at("f"), "x")
		w.symlink(t, "d/e", "relative")
		w.symlink(t, w.at("d"), "absolute")
		w.symlink(t, "../../f", "d/e/up")
		w.symlink(t, "nowhere/x", "dangling")
		w.symlink(t, "loop", "loop")
		for name, want := range map[string]string{
			"d/e":                 "d/e",
			"relative":            "d/e",
			"absolute/e":          "d/e",
			"absolute/e/up":       "f",
			"relative/up":         "f",
			"absolute/none/x":     "d/none/x",
			"none/deep/er":        "none/deep/er",
			"dangling":            "nowhere/x",
			"absolute/../d/e/../": "d",
		} {
			got, err := w.Real(w.dir + "/" + name)
			must(t, err)
			same(t, got, w.at(want))
		}
		_, err := w.Real(w.at("loop"))
		wantErr(t, err, syscall.ELOOP)
		_, err = w.Stat(w.at("loop"))
		wantErr(t, err, syscall.ELOOP)
		_, err = w.Real("not/absolute")
		if err == nil {
			t.Error("a relative path was resolved")
		}
		same(t, get(t, w, w.at("relative/up")), "x")
		same(t, stat(t, w, w.at("absolute/e")), stat(t, w, w.at("relative")))
		_, err = w.Create(w.at("dangling"))
		wantErr(t, err, fs.ErrExist)
		_, err = w.Stat(w.at("dangling"))
		wantErr(t, err, fs.ErrNotExist)
		must(t, w.Remove(w.at("absolute")))
		same(t, stat(t, w, w.at("d")).Dir, true)
	})
}

func TestKindOfWhatDoesNotExistIsThatOfItsParent(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		here, err := w.Kind(w.dir)
		must(t, err)
		there, err := w.Kind(w.at("none/such"))
		must(t, err)
		same(t, there, here)
		if here == "" {
			t.Error("no name")
		}
	})
}
