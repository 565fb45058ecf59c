package file_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
)

// overwrite changes a byte of a file in place. Its time of modification is moved on, as a file system may not notice.
func overwrite(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[0]++
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
}

// What the file system lacks is a refusal that names it, and leaves nothing.
func TestProbeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		setUp func(mem *vfs.Mem)
		fault func(op vfs.Op) vfs.Fault
		says  string
	}{
		{"no links and a rename of two steps", func(mem *vfs.Mem) { mem.NoLink("/data"); mem.SetKind("/data", "exfat") }, nil, "exfat"},
		{"no links on a network", func(mem *vfs.Mem) { mem.NoLink("/data"); mem.SetKind("/data", "smb") }, nil, "smb"},
		{"no links and no rename", func(mem *vfs.Mem) { mem.NoLink("/data"); mem.NoRenameNoReplace("/data") }, nil, "ext4"},
		{"a link that replaces", nil, func(op vfs.Op) vfs.Fault {
			if op.Name == vfs.OpLink && strings.HasSuffix(op.Path2, "/taken") {
				return vfs.Fail(nil)
			}
			return vfs.Fault{}
		}, "another file"},
		{"folders that cannot be synced", nil, func(op vfs.Op) vfs.Fault {
			if op.Name == vfs.OpSyncDir && strings.Contains(op.Path, "probe-") {
				return vfs.Fail(vfs.ErrUnsupported)
			}
			return vfs.Fault{}
		}, "durable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := vfs.NewMem(1)
			if err := mem.Mkdir("/data"); err != nil {
				t.Fatal(err)
			}
			if c.setUp != nil {
				c.setUp(mem)
			}
			mem.OnOp(func(op vfs.Op) vfs.Fault {
				if c.fault == nil {
					return vfs.Fault{}
				}
				return c.fault(op)
			})
			s, err := file.Backend(mem, random(1)).Open(t.Context(), stage.Place{To: memTo}, true)
			if err == nil {
				err = s.(stage.Prober).Probe(t.Context(), runA)
			}
			if !errors.Is(err, stage.ErrRefused) || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
			if names, err := mem.List("/data"); err != nil || len(names) > 0 {
				t.Errorf("%q is left, %v", names, err)
			}
		})
	}
}

// A refusal leaves what others have put there since Open.
func TestRefusalLeavesOthers(t *testing.T) {
	for _, what := range []string{"/data/to/mine.txt", "/data/to/" + stage.Hidden + "/key-a.json"} {
		mem, s := newMem(t)
		mem.NoLink("/data")
		mem.SetKind("/data", "msdos")
		if err := vfs.WriteNew(mem, what, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.(stage.Prober).Probe(t.Context(), runA); !errors.Is(err, stage.ErrRefused) {
			t.Error(err)
		}
		if _, err := mem.Stat(what); err != nil {
			t.Error(err)
		}
		if _, err := mem.Stat("/data/to/" + stage.Hidden + "/id"); (err == nil) != strings.Contains(what, "key") {
			t.Errorf("%s: the id: %v", what, err)
		}
	}
}

// A rename is taken where it is one step to a power loss, and handles of such a place say so.
func TestProbeTakesRename(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs", "btrfs", "f2fs", "zfs"} {
		mem, s := newMem(t)
		mem.NoLink("/data")
		mem.SetKind("/data", kind)
		if err := s.(stage.Prober).Probe(t.Context(), runA); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A network file system with links is no refusal.
func TestProbeTakesNetworks(t *testing.T) {
	mem, s := newMem(t)
	mem.SetKind("/data", "nfs")
	if err := s.(stage.Prober).Probe(t.Context(), runA); err != nil {
		t.Error(err)
	}
}

// Another file system mounted over the hidden folder cannot stage for the destination.
func TestProbeRefusesTwoDevices(t *testing.T) {
	mem := vfs.NewMem(1)
	if err := mem.Mount(path.Join(memTo, stage.Hidden)); err != nil {
		t.Fatal(err)
	}
	s := openMem(t, mem, 1)
	h := stageBytes(t, s, artifactA, wholeData)
	if err := s.Publish(t.Context(), h); !errors.Is(err, syscall.EXDEV) {
		t.Error(err)
	}
	if e, err := s.Inspect(t.Context(), h); err != nil || e.State != stage.Staged {
		t.Error(e, err)
	}
	if err := s.(stage.Prober).Probe(t.Context(), runA); !errors.Is(err, stage.ErrRefused) {
		t.Error(err)
	}
}

// Whatever operation of a probe or of the opening before it fails, nothing of the probe is left, and it can be run again.
func TestProbeFails(t *testing.T) {
	for k, fired := 1, true; fired; k++ {
		fired = false
		failed := false
		mem, s := newMem(t)
		base := mem.Ops()
		mem.OnOp(func(op vfs.Op) vfs.Fault {
			if op.Modifies() && op.N == base+k {
				fired = true
				if op.Name == vfs.OpRemove { // what cannot be removed is left, and said
					return vfs.Fault{}
				}
				failed = true
				return vfs.Fail(syscall.EIO)
			}
			return vfs.Fault{}
		})
		err := s.(stage.Prober).Probe(t.Context(), runA)
		mem.OnOp(nil)
		if failed != errors.Is(err, syscall.EIO) || errors.Is(err, stage.ErrRefused) {
			t.Errorf("operation %d: %v", k, err)
		}
		if left := staged(t, mem, memTo); len(left) > 0 {
			t.Errorf("operation %d: %q is left", k, left)
		}
		if err := s.(stage.Prober).Probe(t.Context(), runA); err != nil {
			t.Errorf("operation %d: again: %v", k, err)
		}
	}
}

// A probe that died is swept with its run, and is in nobody's way.
func TestProbeDies(t *testing.T) {
	for k, died := 1, true; died; k++ {
		mem, s := newMem(t)
		mem.OnOp(vfs.DieAt(mem.Ops() + k))
		died = s.(stage.Prober).Probe(t.Context(), runA) != nil
		mem.ProcessDeath(false)
		mem.OnOp(nil)
		if err := openMem(t, mem, 2).(stage.Sweeper).Sweep(t.Context(), runA, nil); err != nil {
			t.Fatal(err)
		}
		if left := staged(t, mem, memTo); len(left) > 0 {
			t.Errorf("operation %d: %q is left", k, left)
		}
	}
}

// Opening fails or dies at any operation: it leaves nothing that keeps the next one from working, and one id in the end.
func TestOpenAtEveryOperation(t *testing.T) {
	for _, fault := range []vfs.Fault{vfs.Die(), vfs.Fail(syscall.EIO), vfs.Fail(syscall.ENOSPC), vfs.FailAfter(syscall.EIO)} {
		for k, fired := 1, true; fired; k++ {
			fired = false
			mem := vfs.NewMem(uint64(k))
			mem.OnOp(func(op vfs.Op) vfs.Fault {
				if op.Modifies() && op.N == k {
					fired = true
					return fault
				}
				return vfs.Fault{}
			})
			_, err := file.Backend(mem, random(1)).Open(t.Context(), stage.Place{To: memTo}, true)
			mem.OnOp(nil)
			mem.PowerLoss()
			s := openMem(t, mem, 2)
			if left := staged(t, mem, memTo); len(left) > 0 {
				t.Errorf("operation %d (%v): %q is left", k, err, left)
			}
			id := s.Identity()
			mem.LoseUnsynced()
			again, err := file.Backend(mem, random(3)).Open(t.Context(), stage.Place{To: memTo}, false)
			if err != nil || again.Identity() != id {
				t.Errorf("operation %d: the id is lost, %v", k, err)
			}
		}
	}
}

// A destination that cannot be opened has nothing new in it.
func TestOpenFailsClean(t *testing.T) {
	mem := vfs.NewMem(1)
	if err := mem.Mkdir("/data"); err != nil {
		t.Fatal(err)
	}
	mem.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpWrite {
			return vfs.Fail(syscall.ENOSPC)
		}
		return vfs.Fault{}
	})
	if _, err := file.Backend(mem, random(1)).Open(t.Context(), stage.Place{To: memTo}, true); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if names, err := mem.List("/data"); err != nil || len(names) > 0 {
		t.Errorf("%q is left, %v", names, err)
	}
	if _, err := file.Backend(mem, random(1)).Open(t.Context(), stage.Place{To: "to"}, true); err == nil {
		t.Error("a relative path is taken")
	}
}

func TestDamagedID(t *testing.T) {
	for _, text := range []string{"", "\n", "xyz\n", strings.Repeat("A", 32) + "\n", strings.Repeat("a", 31) + "\n"} {
		mem := vfs.NewMem(1)
		if _, err := vfs.MkdirAll(mem, path.Join(memTo, stage.Hidden)); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteNew(mem, path.Join(memTo, stage.Hidden, "id"), []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, err := file.Backend(mem, random(1)).Open(t.Context(), stage.Place{To: memTo}, true)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("id %q: %v", text, err)
		}
	}
}

// Unfinished notes of dead processes go when the note stands, and no earlier: their writers may be alive.
func TestUnfinishedNotes(t *testing.T) {
	mem, s := newMem(t)
	name := stage.MarkNote("a")
	temp := func(note string, n int) string {
		return path.Join(memTo, stage.Hidden, fmt.Sprintf("tmp-%s-%032x", path.Base(note), n))
	}
	others := []string{temp(stage.MarkNote("b"), 1), temp(name, 1) + ".txt", path.Join(memTo, stage.Hidden, "tmp-key-a.json-x")}
	for _, file := range append(slices.Clone(others), temp(name, 1), temp(name, 2)) {
		if err := vfs.WriteNew(mem, file, []byte("half")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Note(t.Context(), name); !isNotExist(err) {
		t.Error(err)
	}
	if left := staged(t, mem, memTo); len(left) != 5 {
		t.Errorf("%q is left", left)
	}
	// A writer who is half way when the other's note stands finds out that it was late.
	outside := mem.Outside()
	mem.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpLink {
			if err := openMem(t, outside, 9).PutNote(t.Context(), name, []byte("theirs")); err != nil {
				t.Error(err)
			}
		}
		return vfs.Fault{}
	})
	if err := s.PutNote(t.Context(), name, []byte("ours")); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	mem.OnOp(nil)
	if left := staged(t, mem, memTo); len(left) != len(others) {
		t.Errorf("%q is left", left)
	}
	if data, err := s.Note(t.Context(), name); err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
	for _, file := range others {
		if err := mem.Remove(file); err != nil {
			t.Error(err)
		}
	}
	if left := staged(t, mem, memTo); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// A sweep takes the run's unfinished manifest once the manifest stands, as its writer may be alive until then, and what is
// unfinished of other runs never.
func TestSweepOfUnfinishedManifests(t *testing.T) {
	mem, s := newMem(t)
	sweep := func(run runstate.Token) {
		t.Helper()
		if err := s.(stage.Sweeper).Sweep(t.Context(), run, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []runstate.Token{runA, runB} {
		temp := fmt.Sprintf("tmp-%s-%032x", runstate.ManifestName(run), 1)
		if err := vfs.WriteNew(mem, path.Join(memTo, stage.Hidden, temp), nil); err != nil {
			t.Fatal(err)
		}
	}
	sweep(runA)
	if left := staged(t, mem, memTo); len(left) != 2 {
		t.Errorf("%q is left", left)
	}
	for _, run := range []runstate.Token{runA, runB} { // not by a put of ours, which would sweep
		if err := vfs.WriteNew(mem, path.Join(memTo, runstate.ManifestName(run)), nil); err != nil {
			t.Fatal(err)
		}
	}
	sweep(runA)
	if left := staged(t, mem, memTo); len(left) != 1 || !strings.Contains(left[0], string(runB)) {
		t.Errorf("%q is left", left)
	}
}
