package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// sweep lets a process die at each of its modifying operations in turn, crashes the world in each way, and shows what is
// left. The last round dies at no operation.
func sweep(t *testing.T, start *vfs.Mem, act func(fsys vfs.FS) error, after func(m *vfs.Mem, done bool) error) {
	t.Helper()
	crashes := map[string]func(m *vfs.Mem){
		"process death":        func(m *vfs.Mem) { m.ProcessDeath(false) },
		"process death, evict": func(m *vfs.Mem) { m.ProcessDeath(true) },
		"all unsynced lost":    (*vfs.Mem).LoseUnsynced,
	}
	for seed := range uint64(20) {
		crashes[fmt.Sprintf("power loss, seed %d", seed)] = func(m *vfs.Mem) { m.Reseed(seed); m.PowerLoss() }
	}
	for k := 1; ; k++ {
		var err error
		for name, crash := range crashes {
			m := start.Clone()
			m.OnOp(vfs.DieAt(start.Ops() + k))
			if err = act(m); err != nil {
				wantErr(t, err, vfs.ErrCrashed)
			}
			m.OnOp(nil)
			crash(m)
			if err := after(m, err == nil); err != nil {
				t.Errorf("death at operation %d, %s: %v", k, name, err)
			}
		}
		if err == nil {
			return
		}
	}
}

func TestMkdirAll(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		made, err := vfs.MkdirAll(w, w.at("a/b/c"))
		must(t, err)
		same(t, made, []string{w.at("a"), w.at("a/b"), w.at("a/b/c")})
		made, err = vfs.MkdirAll(w, w.at("a/b"))
		must(t, err)
		same(t, len(made), 0)
		made, err = vfs.MkdirAll(w, w.at("a/b/d"))
		must(t, err)
		same(t, made, []string{w.at("a/b/d")})
		put(t, w, w.at("f"), "")
		for _, name := range []string{"f", "f/d", "f/d/e"} {
			_, err = vfs.MkdirAll(w, w.at(name))
			wantErr(t, err, syscall.ENOTDIR)
		}
		w.symlink(t, "none", "dangling")
		if _, err = vfs.MkdirAll(w, w.at("dangling")); err == nil {
			t.Error("a link that leads nowhere passed for a directory")
		}
		_, err = vfs.MkdirAll(w, "/")
		must(t, err)
	})
}

// Whatever a dead process left of the directories, once MkdirAll has succeeded no power loss takes one of them.
func TestMkdirAllIsDurableAfterAnyCrash(t *testing.T) {
	act := func(fsys vfs.FS) error {
		_, err := vfs.MkdirAll(fsys, "/a/b/c")
		return err
	}
	sweep(t, vfs.NewMem(1), act, func(m *vfs.Mem, done bool) error {
		if _, err := m.Stat("/a/b/c"); done && err != nil {
			return err
		}
		if err := act(m); err != nil {
			return err
		}
		m.LoseUnsynced()
		_, err := m.Stat("/a/b/c")
		return err
	})
}

func TestMkdirAllTellsWhatItMade(t *testing.T) {
	m := vfs.NewMem(1)
	m.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpSyncDir && op.Path == "/a" {
			return vfs.Fail(syscall.EIO)
		}
		return vfs.Fault{}
	})
	made, err := vfs.MkdirAll(m, "/a/b/c")
	wantErr(t, err, syscall.EIO)
	same(t, made, []string{"/a", "/a/b"})
}

// Folders above that are closed to us, or of another device, hold no entry that a run can have made.
func TestMkdirAllNeedsNoSyncAboveWhatWeCanHaveMade(t *testing.T) {
	m := vfs.NewMem(1)
	must(t, m.Mount("/mnt"))
	must(t, m.Mkdir("/home"))
	must(t, m.Mkdir("/home/user"))
	m.OnOp(func(op vfs.Op) vfs.Fault {
		switch {
		case op.Name == vfs.OpSyncDir && op.Path == "/home":
			return vfs.Fail(syscall.EACCES)
		case op.Name == vfs.OpSyncDir && op.Path == "/":
			return vfs.Fail(syscall.EINVAL)
		}
		return vfs.Fault{}
	})
	_, err := vfs.MkdirAll(m, "/mnt/a")
	must(t, err)
	_, err = vfs.MkdirAll(m, "/home/user/a")
	must(t, err)
	_, err = vfs.MkdirAll(m, "/home/new")
	wantErr(t, err, syscall.EINVAL)
}

const text = "what the file says"

func writeAndSync(fsys vfs.FS) error {
	if err := vfs.WriteNew(fsys, "/a", []byte(text)); err != nil {
		return err
	}
	return fsys.SyncDir("/")
}

func TestWriteNewIsDurableOnceItsNameIsSynced(t *testing.T) {
	sweep(t, vfs.NewMem(1), writeAndSync, func(m *vfs.Mem, done bool) error {
		data, err := vfs.ReadFile(m, "/a")
		switch {
		case done && (err != nil || string(data) != text):
			return fmt.Errorf("%q, %v", data, err)
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		zeros := strings.Repeat("\x00", len(text))
		if got := string(data); got != "" && got != text && got != zeros {
			return fmt.Errorf("%q was never written", got)
		}
		return nil
	})
}

func TestFailedWriteNewLeavesNoName(t *testing.T) {
	full := errors.New("the disk is full or worse")
	for _, fault := range []vfs.Fault{vfs.Fail(full), vfs.FailSync(full), vfs.ShortWrite(3, full)} {
		for k := 1; ; k++ {
			m := vfs.NewMem(1)
			n := 0
			m.OnOp(func(vfs.Op) vfs.Fault {
				if n++; n == k {
					return fault
				}
				return vfs.Fault{}
			})
			err := vfs.WriteNew(m, "/a", []byte(text))
			if err == nil {
				same(t, k, 5) // after create, write, sync and close
				break
			}
			wantErr(t, err, full)
			same(t, names(t, "/")(m), "")
			must(t, writeAndSync(m))
			m.LoseUnsynced()
			same(t, get(t, m, "/a"), text)
		}
	}
}

func TestWriteNewNeverReplaces(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		must(t, vfs.WriteNew(w, w.at("a"), []byte("first")))
		wantErr(t, vfs.WriteNew(w, w.at("a"), []byte("second")), fs.ErrExist)
		same(t, get(t, w, w.at("a")), "first")
	})
}

func TestReadFile(t *testing.T) {
	m := vfs.NewMem(1)
	_, err := vfs.ReadFile(m, "/a")
	wantErr(t, err, fs.ErrNotExist)
	put(t, m, "/a", text)
	onNext(m, vfs.OpRead, vfs.Fail(io.ErrUnexpectedEOF))
	_, err = vfs.ReadFile(m, "/a")
	wantErr(t, err, io.ErrUnexpectedEOF)
	onNext(m, vfs.OpClose, vfs.Fail(syscall.EIO))
	_, err = vfs.ReadFile(m, "/a")
	wantErr(t, err, syscall.EIO)
}
