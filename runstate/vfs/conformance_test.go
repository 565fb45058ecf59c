package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/google/go-cmp/cmp"
)

// world is a file system under test, and an empty directory in it.
type world struct {
	vfs.FS
	dir string
}

func (w world) at(name string) string { return path.Join(w.dir, name) }

// eachFS runs a law on the machine's file system and on the one in memory, which is only worth what it has in common
// with the former.
func eachFS(t *testing.T, law func(t *testing.T, w world)) {
	t.Helper()
	t.Run("os", func(t *testing.T) { law(t, world{vfs.OS(), real(t, t.TempDir())}) })
	t.Run("mem", func(t *testing.T) {
		m := vfs.NewMem(1)
		must(t, m.Mkdir("/w"))
		law(t, world{m, "/w"})
	})
}

func real(t *testing.T, name string) string {
	t.Helper()
	at, err := vfs.OS().Real(name)
	must(t, err)
	return at
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func same[T any](t testing.TB, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("differs (-want +got):\n%s", diff)
	}
}

// put writes a new file without syncing it.
func put(t testing.TB, fsys vfs.FS, name, data string) {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	_, err = f.Write([]byte(data))
	must(t, err)
	must(t, f.Close())
}

func get(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(fsys, name)
	must(t, err)
	return string(data)
}

func stat(t testing.TB, fsys vfs.FS, name string) vfs.Info {
	t.Helper()
	info, err := fsys.Stat(name)
	must(t, err)
	return info
}

func TestCreateIsExclusive(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		put(t, w, w.at("a"), "first")
		_, err := w.Create(w.at("a"))
		wantErr(t, err, fs.ErrExist)
		if !strings.Contains(err.Error(), w.at("a")) {
			t.Errorf("error %q does not name the path", err)
		}
		same(t, get(t, w, w.at("a")), "first")
		_, err = w.Create(w.at("none/a"))
		wantErr(t, err, fs.ErrNotExist)
		_, err = w.Create(w.at("a/b"))
		wantErr(t, err, syscall.ENOTDIR)
		_, err = w.Create(w.at(strings.Repeat("n", 256)))
		wantErr(t, err, syscall.ENAMETOOLONG)
		must(t, w.Mkdir(w.at("d")))
		_, err = w.Create(w.at("d"))
		wantErr(t, err, fs.ErrExist)
	})
}

func TestReadAndWrite(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		f, err := w.Create(w.at("a"))
		must(t, err)
		data := strings.Repeat("0123456789", 1000)
		n, err := f.Write([]byte(data))
		must(t, err)
		same(t, n, len(data))
		buf := make([]byte, 10)
		n, err = f.Read(buf)
		if n != 0 || err != io.EOF {
			t.Fatalf("read behind what was written: %d, %v", n, err)
		}
		n, err = f.ReadAt(buf, 4093)
		must(t, err)
		same(t, string(buf[:n]), "3456789012")
		n, err = f.ReadAt(buf, int64(len(data)-3))
		if string(buf[:n]) != "789" || err != io.EOF {
			t.Fatalf("read across the end: %q, %v", buf[:n], err)
		}
		must(t, f.Sync())
		must(t, f.Close())
		wantErr(t, f.Close(), fs.ErrClosed)
		_, err = f.Write(buf)
		wantErr(t, err, fs.ErrClosed)
		same(t, get(t, w, w.at("a")), data)
	})
}

func TestOpenIsReadOnly(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		_, err := w.Open(w.at("a"))
		wantErr(t, err, fs.ErrNotExist)
		put(t, w, w.at("a"), "x")
		f, err := w.Open(w.at("a"))
		must(t, err)
		_, err = f.Write([]byte("y"))
		wantErr(t, err, syscall.EBADF)
		must(t, f.Sync())
		must(t, f.Close())
		must(t, w.Mkdir(w.at("d")))
		d, err := w.Open(w.at("d"))
		must(t, err)
		_, err = d.Read(make([]byte, 1))
		wantErr(t, err, syscall.EISDIR)
		must(t, d.Close())
	})
}

func TestAppend(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		_, err := w.OpenAppend(w.at("a"))
		wantErr(t, err, fs.ErrNotExist)
		put(t, w, w.at("a"), "one")
		f, err := w.OpenAppend(w.at("a"))
		must(t, err)
		g, err := w.OpenAppend(w.at("a"))
		must(t, err)
		buf := make([]byte, 2)
		_, err = f.Read(buf)
		must(t, err)
		same(t, string(buf), "on")
		_, err = g.Write([]byte("two"))
		must(t, err)
		_, err = f.Write([]byte("three"))
		must(t, err)
		same(t, get(t, w, w.at("a")), "onetwothree")
		must(t, errors.Join(f.Close(), g.Close()))
		must(t, w.Mkdir(w.at("d")))
		_, err = w.OpenAppend(w.at("d"))
		wantErr(t, err, syscall.EISDIR)
	})
}

func TestAllocate(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		f, err := w.Create(w.at("a"))
		must(t, err)
		_, err = f.Write([]byte("abc"))
		must(t, err)
		must(t, f.Allocate(2))
		must(t, f.Allocate(0))
		info, err := f.Stat()
		must(t, err)
		same(t, info.Size, 3)
		must(t, f.Allocate(9000))
		_, err = f.Write([]byte("def"))
		must(t, err)
		f.WriteBack(1 << 20)
		must(t, f.Sync())
		must(t, f.Close())
		same(t, get(t, w, w.at("a")), "abcdef"+strings.Repeat("\x00", 9000-6))
	})
}
