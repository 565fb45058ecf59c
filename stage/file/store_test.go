package file_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage/file"
)

// newTree is a file system with files by their paths, each holding its own path.
func newTree(t *testing.T, files ...string) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem(1)
	for _, name := range files {
		if _, err := vfs.MkdirAll(mem, path.Dir(name)); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteNew(mem, name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	return mem
}

func TestList(t *testing.T) {
	mem := newTree(t, "/in/b.csv", "/in/a.csv", "/in/c.txt", "/in/_d.csv", "/in/.e.csv", "/in/sub/f.csv", "/in/sub/g/h.csv",
		"/in/_hidden/i.csv", "/in/x[1].csv", "/in/dir.csv/k.csv", "/other/l.csv")
	for name, target := range map[string]string{"/in/link.csv": "/other/l.csv", "/in/sub/same.csv": "f.csv", "/l": "/in"} {
		if err := mem.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"/in/a.csv":            "/in/a.csv",
		"/in/../in//a.csv":     "/in/a.csv",
		"/in/*.csv":            "/in/a.csv /in/b.csv /in/x[1].csv /other/l.csv",
		"/in/?.csv":            "/in/a.csv /in/b.csv",
		"/in/[ab].csv":         "/in/a.csv /in/b.csv",
		"/in/x[1].csv":         "/in/x[1].csv",
		`/in/x\[1\].csv`:       "/in/x[1].csv",
		"/in/*/*.csv":          "/in/dir.csv/k.csv /in/sub/f.csv /in/sub/f.csv",
		"/in/sub/*/h.csv":      "/in/sub/g/h.csv",
		"/*/l.csv":             "/other/l.csv",
		"/l/a.csv":             "/in/a.csv",
		"/l/[a-b].csv":         "/in/a.csv /in/b.csv",
		"/in/_d.csv":           "/in/_d.csv",
		"/in/.e.csv":           "/in/.e.csv",
		"/in/_*.csv":           "!nothing",
		"/in/.*":               "!nothing",
		"/in/_hidden/*.csv":    "/in/_hidden/i.csv",
		"/in/*/i.csv":          "!nothing",
		"/in/*.tsv":            "!nothing",
		"/in/none.csv":         "!nothing",
		"/in/none/*.csv":       "!nothing",
		"/in/*/none/x.csv":     "!nothing",
		"/in/sub":              "!*.csv",
		"/in/dir.csv":          "!*.csv",
		"/in/":                 "!*.csv",
		"/in/**/f.csv":         "!**",
		"/in/[":                "!syntax",
		"in/a.csv":             "!absolute",
		"/in/a.csv/b":          "!nothing",
		"/in/[a-z].csv/none/*": "!nothing",
	} {
		got, err := file.NewStore(mem).List(t.Context(), pattern)
		says, fails := strings.CutPrefix(want, "!")
		switch {
		case says == "nothing":
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), pattern) {
				t.Errorf("%s: %q, %v", pattern, got, err)
			}
		case fails:
			if err == nil || !strings.Contains(err.Error(), says) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %q, %v", pattern, got, err)
			}
		case err != nil || !slices.Equal(got, strings.Fields(want)):
			t.Errorf("%s: %q and not %q, %v", pattern, got, want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := file.NewStore(mem).List(ctx, "/in/*.csv"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A link that leads nowhere is not passed over: rows would be missing.
func TestListDanglingLink(t *testing.T) {
	mem := newTree(t, "/in/a.csv")
	if err := mem.Symlink("nowhere", "/in/b.csv"); err != nil {
		t.Fatal(err)
	}
	if files, err := file.NewStore(mem).List(t.Context(), "/in/*.csv"); err == nil || !strings.Contains(err.Error(), "b.csv") {
		t.Error(files, err)
	}
}

func TestFingerprint(t *testing.T) {
	mem := vfs.NewMem(1)
	data := bytes.Repeat([]byte("0123456789"), 1000)
	for name, size := range map[string]int{"/empty": 0, "/small": 100, "/block": 4096, "/more": 4097, "/big": len(data)} {
		if err := vfs.WriteNew(mem, name, data[:size]); err != nil {
			t.Fatal(err)
		}
		o, err := file.NewStore(mem).Fingerprint(t.Context(), name)
		first, last := data[:min(size, 4096)], data[max(0, size-4096):size]
		if err != nil || o.Path != name || o.Size != int64(size) || o.First != runstate.DigestOf(first) ||
			o.Last != runstate.DigestOf(last) || o.Inode == 0 || o.Links != 1 || o.ModTime.IsZero() || o.Change.IsZero() {
			t.Errorf("%+v, %v", o, err)
		}
		if read := mem.BytesRead(name); read > 2*4096 {
			t.Errorf("%d bytes were read of %s", read, name)
		}
		plain, err := file.NewStore(mem).Stat(t.Context(), name)
		o.First, o.Last = "", ""
		if err != nil || plain != o {
			t.Errorf("%+v, %v", plain, err)
		}
	}
	if _, err := file.NewStore(mem).Fingerprint(t.Context(), "/"); err == nil {
		t.Error("a folder has a fingerprint")
	}
}

func TestOpenAtOffset(t *testing.T) {
	mem := newTree(t, "/in/a.csv")
	for offset, want := range map[int64]string{0: "/in/a.csv", 4: "a.csv", 9: "", 100: ""} {
		r, err := file.NewStore(mem).Open(t.Context(), "/in/a.csv", "", offset)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != want {
			t.Errorf("at %d: %q, %v", offset, got, err)
		}
		whole := make([]byte, 9)
		if _, err := r.(io.ReaderAt).ReadAt(whole, 0); err != nil || string(whole) != "/in/a.csv" {
			t.Errorf("%q, %v", whole, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := file.NewStore(mem).Open(t.Context(), "/in/none", "", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A pipe is refused before anybody waits for it to be written to.
func TestPipeIsRefused(t *testing.T) {
	s := file.NewStore(vfs.OS())
	for _, call := range []func() error{
		func() error { _, err := s.List(t.Context(), os.DevNull); return err },
		func() error { _, err := s.Open(t.Context(), os.DevNull, "", 0); return err },
		func() error { _, err := s.Fingerprint(t.Context(), os.DevNull); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Error(err)
		}
	}
}
