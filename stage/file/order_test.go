package file_test

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

var artifactA = runstate.Artifact{Run: runA, Attempt: 1, Checkpoint: 1, Ext: "csv"}

// newMem is a file system with an open destination, and what undoes the randomness of names in its log.
func newMem(t *testing.T) (*vfs.Mem, stage.Sink) {
	t.Helper()
	mem := vfs.NewMem(1)
	if err := mem.Mkdir("/data"); err != nil {
		t.Fatal(err)
	}
	return mem, openMem(t, mem, 1)
}

// ops gives the operations that a call has made, in short.
func ops(t *testing.T, mem *vfs.Mem, call func() error) []string {
	t.Helper()
	before := len(mem.Log())
	if err := call(); err != nil {
		t.Fatal(err)
	}
	short := func(name string) string {
		name = strings.TrimPrefix(strings.TrimPrefix(name, memTo), "/")
		name = strings.ReplaceAll(name, stagedOf(runstate.Handle{Name: artifactA.Name(), Attempt: 1}), "STAGED")
		name = strings.ReplaceAll(name, stage.Hidden+"/"+string(runA), "STAGING")
		name = strings.ReplaceAll(name, artifactA.Name(), "FINAL")
		if i := strings.Index(name, "/tmp-"); i > 0 {
			name = "TEMP"
		}
		if name == "" {
			return "TO"
		}
		return name
	}
	var list []string
	for _, op := range mem.Log()[before:] {
		text := op.Name + " " + short(op.Path)
		if op.Path2 != "" {
			text += " " + short(op.Path2)
		}
		if op.Err != nil {
			text += " !"
		}
		list = append(list, text)
	}
	return list
}

func wantOps(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s is\n\t%s\nand not\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestOrderOfOperations(t *testing.T) {
	mem, s := newMem(t)
	var h runstate.Handle
	wantOps(t, "staging", ops(t, mem, func() error {
		h = stageBytes(t, s, artifactA, wholeData)
		return nil
	}), "mkdir STAGING", "syncdir .clinkctl", "create STAGED", "write STAGED", "sync STAGED", "syncdir STAGING")
	publish := func() error { return s.Publish(t.Context(), h) }
	before := mem.Clone()
	wantOps(t, "publish", ops(t, mem, publish), "link STAGED FINAL", "syncdir TO", "remove STAGED", "syncdir STAGING")
	wantOps(t, "publish again", ops(t, mem, publish), "sync FINAL", "syncdir TO", "remove STAGED !", "syncdir STAGING")
	wantOps(t, "note", ops(t, mem, func() error { return s.PutNote(t.Context(), runstate.ManifestName(runA), []byte("{}")) }),
		"create TEMP", "write TEMP", "sync TEMP", "link TEMP "+runstate.ManifestName(runA), "syncdir TO", "remove TEMP")
	wantOps(t, "mark", ops(t, mem, func() error { return s.PutNote(t.Context(), stage.MarkNote("a"), []byte("{}")) }),
		"create TEMP", "write TEMP", "sync TEMP", "link TEMP .clinkctl/key-a.json", "syncdir .clinkctl", "remove TEMP")
	wantOps(t, "reading a note", ops(t, mem, func() error {
		_, err := s.Note(t.Context(), stage.MarkNote("a"))
		return err
	}), "sync .clinkctl/key-a.json", "syncdir .clinkctl")

	mem, s = before, openMem(t, before, 2)
	if err := mem.Link(path.Join(memTo, stagedOf(h)), path.Join(memTo, h.Name)); err != nil {
		t.Fatal(err)
	}
	wantOps(t, "publish after a death between link and sync", ops(t, mem, publish),
		"sync FINAL", "syncdir TO", "remove STAGED", "syncdir STAGING")

	mem, s = newMem(t)
	h = stageBytes(t, s, artifactA, wholeData)
	for range 2 {
		list := ops(t, mem, func() error { return s.Abort(t.Context(), h) })
		if len(list) != 2 || !strings.HasPrefix(list[0], "remove STAGED") || list[1] != "syncdir STAGING" {
			t.Errorf("abort is %q", list)
		}
	}
}

func TestOrderOfRename(t *testing.T) {
	mem, s := newMem(t)
	mem.NoLink(memTo)
	if err := s.(stage.Prober).Probe(t.Context(), runA); err != nil {
		t.Fatal(err)
	}
	h := stageBytes(t, s, artifactA, wholeData)
	if !strings.Contains(string(h.Payload), `"method":"rename"`) {
		t.Errorf("the handle says %s", h.Payload)
	}
	wantOps(t, "publish", ops(t, mem, func() error { return s.Publish(t.Context(), h) }),
		"rename-no-replace STAGED FINAL", "syncdir TO", "remove STAGED !", "syncdir STAGING")
}

// A copy of the artifact that somebody has put under its name counts, and is made as durable as our own.
func TestCopyIsMadeDurable(t *testing.T) {
	mem, s := newMem(t)
	h := stageBytes(t, s, artifactA, wholeData)
	f, err := mem.Create(path.Join(memTo, h.Name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(wholeData); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	mem.LoseUnsynced()
	if e, err := openMem(t, mem, 2).Inspect(t.Context(), h); err != nil || e.State != stage.Published {
		t.Error(e, err)
	}
}

// Looks are at inode, size and time first, then at every byte.
func TestLooks(t *testing.T) {
	other := append(slices.Clone(wholeData[:len(wholeData)-1]), '!')
	for _, c := range []struct {
		name string
		do   func(fsys vfs.FS, staged, final string) error
		want stage.State
	}{
		{"the same bytes under the final name", func(fsys vfs.FS, _, final string) error {
			return vfs.WriteNew(fsys, final, wholeData)
		}, stage.Published},
		{"one other byte under the final name", func(fsys vfs.FS, _, final string) error {
			return vfs.WriteNew(fsys, final, other)
		}, stage.Foreign},
		{"a folder under the final name", func(fsys vfs.FS, _, final string) error { return fsys.Mkdir(final) }, stage.Foreign},
		{"the same bytes in another staged file", func(fsys vfs.FS, staged, _ string) error {
			return errors.Join(fsys.Remove(staged), vfs.WriteNew(fsys, staged, wholeData))
		}, stage.Staged},
		{"one other byte in another staged file", func(fsys vfs.FS, staged, _ string) error {
			return errors.Join(fsys.Remove(staged), vfs.WriteNew(fsys, staged, other))
		}, stage.Gone},
		{"a longer staged file", func(fsys vfs.FS, staged, _ string) error { return appendTo(fsys, staged) }, stage.Gone},
		{"a longer published file", func(fsys vfs.FS, staged, final string) error {
			return errors.Join(fsys.Link(staged, final), appendTo(fsys, staged))
		}, stage.Foreign},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem, s := newMem(t)
			h := stageBytes(t, s, artifactA, wholeData)
			if err := c.do(mem, path.Join(memTo, stagedOf(h)), path.Join(memTo, h.Name)); err != nil {
				t.Fatal(err)
			}
			e, err := s.Inspect(t.Context(), h)
			if err != nil || e.State != c.want {
				t.Errorf("it is %s (%s) and not %s, %v", e.State, e.Detail, c.want, err)
			}
			err = s.Publish(t.Context(), h)
			if ok := c.want == stage.Published || c.want == stage.Staged; ok != (err == nil) {
				t.Errorf("it is %s, and publish says %v", c.want, err)
			}
		})
	}
}

func appendTo(fsys vfs.FS, name string) error {
	f, err := fsys.OpenAppend(name)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("more"))
	return errors.Join(err, f.Close())
}

// A file that was changed in place without its size or inode showing it is found out by its time.
func TestChangedInPlace(t *testing.T) {
	s := openOS(t, t.TempDir())
	h := stageBytes(t, s, artifactA, wholeData)
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	overwrite(t, path.Join(h.Place, h.Name))
	if e, err := s.Inspect(t.Context(), h); err != nil || e.State != stage.Foreign {
		t.Error(e, err)
	}
}

// A symbolic link under the final name is not ours, even where it leads to our own stage.
func TestSymbolicLinks(t *testing.T) {
	for _, target := range []string{"stage", "nowhere"} {
		t.Run(target, func(t *testing.T) {
			mem, s := newMem(t)
			h := stageBytes(t, s, artifactA, wholeData)
			if target == "stage" {
				target = path.Join(memTo, stagedOf(h))
			}
			if err := mem.Symlink(target, path.Join(memTo, h.Name)); err != nil {
				t.Fatal(err)
			}
			if e, err := s.Inspect(t.Context(), h); err != nil || e.State != stage.Foreign {
				t.Error(e, err)
			}
			if err := s.Publish(t.Context(), h); !errors.Is(err, stage.ErrForeign) {
				t.Error(err)
			}
			if left := staged(t, mem, memTo); len(left) != 1 {
				t.Errorf("%q is staged", left)
			}
			if err := s.Abort(t.Context(), h); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each look that is denied by itself makes the state unknown.
func TestEachLookDenied(t *testing.T) {
	mem, s := newMem(t)
	h := stageBytes(t, s, artifactA, wholeData)
	visible := stageBytes(t, s, runstate.Artifact{Run: runB, Attempt: 1, Checkpoint: 1}, wholeData)
	if err := s.Publish(t.Context(), visible); err != nil {
		t.Fatal(err)
	}
	denied := 0
	for k, fired := 1, true; fired; k++ {
		fired = false
		n := 0
		mem.OnOp(func(op vfs.Op) vfs.Fault {
			if n++; n == k && op.Name != vfs.OpClose {
				fired = true
				return vfs.Fail(fs.ErrPermission)
			}
			fired = fired || n == k
			return vfs.Fault{}
		})
		e, err := s.Inspect(t.Context(), h)
		if err == nil && e.State != stage.Staged {
			t.Errorf("look %d denied: %s (%s)", k, e.State, e.Detail)
		}
		n = 0
		if names, err := s.(stage.Lister).Visible(t.Context(), runB); err == nil && len(names) != 1 {
			t.Errorf("look %d denied: %q is visible", k, names)
		}
		if err != nil {
			denied++
		}
	}
	if denied < 5 {
		t.Errorf("%d looks were denied", denied)
	}
}

// What cannot be written, synced, closed or looked at again is not promised, and can be discarded.
func TestPrepareFails(t *testing.T) {
	for name, fault := range map[string]func(op vfs.Op) bool{
		"write":        func(op vfs.Op) bool { return op.Name == vfs.OpWrite },
		"sync":         func(op vfs.Op) bool { return op.Name == vfs.OpSync },
		"close":        func(op vfs.Op) bool { return op.Name == vfs.OpClose && strings.Contains(op.Path, string(runA)) },
		"stat":         func(op vfs.Op) bool { return op.Name == vfs.OpStat },
		"sync folder":  func(op vfs.Op) bool { return op.Name == vfs.OpSyncDir },
		"nothing else": func(vfs.Op) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			mem, s := newMem(t)
			w, err := s.(stage.Bytes).Create(t.Context(), artifactA)
			if err != nil {
				t.Fatal(err)
			}
			mem.OnOp(func(op vfs.Op) vfs.Fault {
				if fault(op) {
					return vfs.ShortWrite(10, syscall.ENOSPC)
				}
				return vfs.Fault{}
			})
			_, _ = w.Write(wholeData) // its error has to come back from Prepare
			h, err := w.Prepare(t.Context(), 1, runstate.DigestOf(wholeData))
			mem.OnOp(nil)
			if name == "nothing else" {
				if err != nil || h.Bytes != int64(len(wholeData)) {
					t.Error(h, err)
				}
				return
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
			if _, err := w.Prepare(t.Context(), 1, runstate.DigestOf(wholeData)); err == nil {
				t.Error("a second try has succeeded")
			}
			if err := w.Discard(t.Context()); err != nil {
				t.Error(err)
			}
			if left := staged(t, mem, memTo); len(left) > 0 {
				t.Errorf("%q is left", left)
			}
		})
	}
}

// A staged file that another one has taken the place of is not promised.
func TestPrepareOfAnotherFile(t *testing.T) {
	mem, s := newMem(t)
	w, err := s.(stage.Bytes).Create(t.Context(), artifactA)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(wholeData); err != nil {
		t.Fatal(err)
	}
	name := path.Join(memTo, stagedOf(runstate.Handle{Name: artifactA.Name(), Attempt: 1}))
	if err := errors.Join(mem.Remove(name), vfs.WriteNew(mem, name, wholeData)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Prepare(t.Context(), 1, runstate.DigestOf(wholeData)); err == nil {
		t.Error("it is promised")
	}
}
