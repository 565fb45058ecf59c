package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
)

const memTo = "/data/to"

// story is a course of calls that crashes and faults are put into. It goes on from what the witness has seen, as a later
// process goes on from the journal; its first run starts from nothing. It ends at the first error.
type story struct {
	name string
	tell func(s *scene) error
	// whole checks the world after a run of the story that had no error, and after any crash that follows.
	whole func(s *scene)
	// keepsRenames is false where a story renames: Mem's power loss takes a rename apart, as no file system does on which
	// the backend renames.
	keepsRenames bool
}

// witness is what a caller knows: what calls have answered.
type witness struct {
	attempt   int
	handle    *runstate.Handle
	published bool
	aborted   bool
	notes     map[string]string // name to what is known to be there
}

// scene is a run of a story: a witness and his world.
type scene struct {
	*testing.T
	mem *vfs.Mem
	witness
	where string // for messages
}

func (s *scene) branch(mem *vfs.Mem, where string) *scene {
	b := *s
	b.mem, b.where = mem, s.where+where
	b.notes = map[string]string{}
	for name, data := range s.notes {
		b.notes[name] = data
	}
	return &b
}

func (s *scene) failf(format string, args ...any) {
	s.Helper()
	s.Fatalf("%s: %s", s.where, fmt.Sprintf(format, args...))
}

func (s *scene) open() (stage.Sink, error) {
	// A handle speaks of a destination that exists: then nothing may have to be made.
	create := s.handle == nil && len(s.notes) == 0
	sink, err := file.Backend(s.mem, random(uint64(s.mem.Ops())+1)).Open(s.Context(), stage.Place{To: memTo}, create)
	if errors.Is(err, fs.ErrNotExist) && !create {
		s.failf("the destination is lost: %v", err)
	}
	return sink, err
}

// prepare stages the artifact, in an attempt of its own, unless there is a handle of it.
func (s *scene) prepare(sink stage.Sink) error {
	if s.handle != nil {
		return nil
	}
	s.attempt++
	a := runstate.Artifact{Run: runA, Attempt: s.attempt, Checkpoint: 1, Ext: "csv"}
	w, err := sink.(stage.Bytes).Create(s.Context(), a)
	if err != nil {
		return err
	}
	for part := range bytes.SplitSeq(crashData, []byte("half")) {
		if _, err := w.Write(part); err != nil {
			return errors.Join(err, w.Discard(s.Context()))
		}
	}
	h, err := w.Prepare(s.Context(), 1, runstate.DigestOf(bytes.ReplaceAll(crashData, []byte("half"), nil)))
	if err != nil {
		return errors.Join(err, w.Discard(s.Context()))
	}
	s.handle = &h
	return nil
}

var (
	crashData = append(append(bytes.Repeat([]byte("first,"), 1500), "half"...), bytes.Repeat([]byte("second,"), 1500)...)
	wholeData = bytes.ReplaceAll(crashData, []byte("half"), nil)
)

var publishStory = story{name: "publish", keepsRenames: true, tell: tellPublish, whole: func(s *scene) {
	s.shows(stage.Published)
	s.leaves(map[string][]byte{s.handle.Name: wholeData})
}}

func tellPublish(s *scene) error {
	sink, err := s.open()
	if err != nil {
		return err
	}
	if err := s.prepare(sink); err != nil {
		return err
	}
	e, err := sink.Inspect(s.Context(), *s.handle)
	if err != nil {
		return err
	}
	if e.State != stage.Published && (e.State != stage.Staged || s.published) {
		s.failf("an artifact with a handle is %s (%s), published %t", e.State, e.Detail, s.published)
	}
	if err := sink.Publish(s.Context(), *s.handle); err != nil {
		return err
	}
	s.published = true
	return sink.(stage.Sweeper).Sweep(s.Context(), runA, nil)
}

var abortStory = story{name: "abort", keepsRenames: true, whole: func(s *scene) {
	s.shows(stage.Gone)
	s.leaves(nil)
}, tell: func(s *scene) error {
	sink, err := s.open()
	if err != nil {
		return err
	}
	if err := s.prepare(sink); err != nil {
		return err
	}
	e, err := sink.Inspect(s.Context(), *s.handle)
	if err != nil {
		return err
	}
	if e.State != stage.Gone && (e.State != stage.Staged || s.aborted) {
		s.failf("an artifact is %s (%s), aborted %t", e.State, e.Detail, s.aborted)
	}
	if err := sink.Abort(s.Context(), *s.handle); err != nil {
		return err
	}
	s.aborted = true
	return sink.(stage.Sweeper).Sweep(s.Context(), runA, nil)
}}

// Of an artifact that is found published when it should be aborted, that answer lasts, too.
var refusedStory = story{name: "abort of a published one", keepsRenames: true, whole: publishStory.whole, tell: func(s *scene) error {
	sink, err := s.open()
	if err != nil {
		return err
	}
	if err := s.prepare(sink); err != nil {
		return err
	}
	if e, err := sink.Inspect(s.Context(), *s.handle); err != nil {
		return err
	} else if e.State == stage.Published {
		if err := sink.Abort(s.Context(), *s.handle); !errors.Is(err, stage.ErrPublished) || isFault(err) {
			return err
		}
		s.published = true
	}
	return tellPublish(s)
}}

var noteStory = story{name: "notes", keepsRenames: true, whole: func(s *scene) {
	s.leaves(map[string][]byte{runstate.ManifestName(runA): bytes.Repeat([]byte(runstate.ManifestName(runA)), 200)})
}, tell: func(s *scene) error {
	sink, err := s.open()
	if err != nil {
		return err
	}
	for _, name := range []string{stage.MarkNote("0123"), runstate.ManifestName(runA)} {
		if err := tellNote(s, sink, name); err != nil {
			return err
		}
	}
	return sink.(stage.Sweeper).Sweep(s.Context(), runA, nil)
}}

// tellNote makes sure that a note is there, as whoever looks for it first and puts it then.
func tellNote(s *scene, sink stage.Sink, name string) error {
	want := string(bytes.Repeat([]byte(name), 200))
	data, err := sink.Note(s.Context(), name)
	if errors.Is(err, fs.ErrNotExist) {
		if s.notes[name] != "" {
			s.failf("note %s is lost", name)
		}
		if err := sink.PutNote(s.Context(), name, []byte(want)); err != nil {
			return err
		}
		s.notes[name] = want
		data, err = sink.Note(s.Context(), name)
	}
	if err != nil {
		return err
	}
	if string(data) != want {
		s.failf("note %s is %d bytes of %d, or others", name, len(data), len(want))
	}
	s.notes[name] = want
	return nil
}

// shows checks the state of the artifact.
func (s *scene) shows(want stage.State) {
	s.Helper()
	sink, err := s.open()
	if err != nil {
		s.failf("%v", err)
	}
	if e, err := sink.Inspect(s.Context(), *s.handle); err != nil || e.State != want {
		s.failf("it is %s (%s) and not %s, %v", e.State, e.Detail, want, err)
	}
}

// leaves checks what readers see, and that nothing is staged.
func (s *scene) leaves(want map[string][]byte) {
	s.Helper()
	got := visible(s.T, s.mem.Outside(), memTo)
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			s.failf("%s has %d bytes of %d, or others", name, len(got[name]), len(data))
		}
	}
	if len(got) != len(want) {
		s.failf("%d names are visible and not %d", len(got), len(want))
	}
	if left := staged(s.T, s.mem.Outside(), memTo); len(left) > 0 {
		s.failf("%q is left", left)
	}
}

// crashes are the ways to die.
var crashes = []struct {
	name  string
	power bool
	do    func(m *vfs.Mem)
}{
	{"process death", false, func(m *vfs.Mem) { m.ProcessDeath(false) }},
	{"power loss of all that was not synced", true, func(m *vfs.Mem) { m.LoseUnsynced() }},
	{"power loss 1", true, func(m *vfs.Mem) { m.Reseed(1); m.PowerLoss() }},
	{"power loss 2", true, func(m *vfs.Mem) { m.Reseed(2); m.PowerLoss() }},
	{"power loss 3", true, func(m *vfs.Mem) { m.Reseed(3); m.PowerLoss() }},
}

// die tells a story and kills its process at the k-th operation of it. died is false if it has ended before.
func (s *scene) die(st story, k int) (died bool) {
	s.mem.OnOp(vfs.DieAt(s.mem.Ops() + k))
	err := st.tell(s)
	s.mem.OnOp(nil)
	if err != nil && !errors.Is(err, vfs.ErrCrashed) {
		s.failf("%v", err)
	}
	return err != nil
}

// end tells a story to its end, and loses the power then.
func (s *scene) end(st story) {
	if err := st.tell(s); err != nil {
		s.failf("%v", err)
	}
	st.whole(s)
	if st.keepsRenames {
		s.mem.LoseUnsynced()
		st.whole(s)
	}
}

func forEachStory(t *testing.T, check func(t *testing.T, st story, first *scene)) {
	for _, st := range []story{publishStory, abortStory, refusedStory, noteStory} {
		t.Run(st.name, func(t *testing.T) {
			check(t, st, newScene(t, vfs.NewMem(1)))
		})
		t.Run(st.name+" without links", func(t *testing.T) {
			mem := vfs.NewMem(1)
			mem.NoLink("/data")
			st.keepsRenames = false
			check(t, st, newScene(t, mem))
		})
	}
}

func newScene(t *testing.T, mem *vfs.Mem) *scene {
	if err := mem.Mkdir("/data"); err != nil {
		t.Fatal(err)
	}
	if err := mem.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	return &scene{T: t, mem: mem}
}

// The process dies at every operation, and the one that goes on dies at every operation of its own.
func TestCrashAtEveryOperation(t *testing.T) {
	forEachStory(t, func(t *testing.T, st story, first *scene) {
		for k, died := 1, true; died; k++ {
			s := first.branch(first.mem.Clone(), fmt.Sprintf("operation %d", k))
			died = s.die(st, k)
			for _, crash := range crashes {
				if crash.power && !st.keepsRenames {
					continue
				}
				again := s.branch(s.mem.Clone(), ", "+crash.name)
				crash.do(again.mem)
				crashAgain(st, again, k)
				again.end(st)
			}
		}
		t.Logf("%d operations", first.mem.Ops())
	})
}

// crashAgain takes process death and one of the power losses for each operation, so that all have their turn.
func crashAgain(st story, s *scene, k int) {
	for j, died := 1, true; died; j++ {
		for i, crash := range crashes {
			if crash.power && (!st.keepsRenames || i != 1+(k+j)%(len(crashes)-1)) {
				continue
			}
			second := s.branch(s.mem.Clone(), fmt.Sprintf(", then operation %d, %s", j, crash.name))
			if died = second.die(st, j); !died {
				break
			}
			crash.do(second.mem)
			second.end(st)
		}
	}
}

var errDisk = syscall.EIO

func isFault(err error) bool {
	return errors.Is(err, errDisk) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, vfs.ErrCrashed)
}

// Every operation fails once, in every way; the story is told again, in the same process, until it ends.
func TestFaultAtEveryOperation(t *testing.T) {
	for name, fault := range map[string]func() vfs.Fault{
		"failed":      func() vfs.Fault { return vfs.Fail(errDisk) },
		"lost reply":  func() vfs.Fault { return vfs.FailAfter(errDisk) },
		"full disk":   func() vfs.Fault { return vfs.Fail(syscall.ENOSPC) },
		"short write": func() vfs.Fault { return vfs.ShortWrite(100, syscall.ENOSPC) },
		"failed sync": func() vfs.Fault { return vfs.FailSync(errDisk) },
	} {
		t.Run(name, func(t *testing.T) {
			forEachStory(t, func(t *testing.T, st story, first *scene) {
				for _, reads := range []bool{false, true} {
					for k, fired := 1, true; fired; k++ {
						fired = failOnce(st, first, fault(), reads, k, name)
					}
				}
			})
		})
	}
}

func failOnce(st story, first *scene, fault vfs.Fault, reads bool, k int, name string) (fired bool) {
	s := first.branch(first.mem.Clone(), fmt.Sprintf("operation %d (reads %t) %s", k, reads, name))
	n := 0
	s.mem.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Modifies() == reads {
			return vfs.Fault{}
		}
		if n++; n != k {
			return vfs.Fault{}
		}
		s.where += fmt.Sprintf(" (%s %s %s)", op.Name, op.Path, op.Path2)
		fired = true
		return fault
	})
	err := st.tell(s)
	s.mem.OnOp(nil)
	if err != nil && !isFault(err) {
		s.failf("%v", err)
	}
	s.mem.Evict()
	s.end(st)
	return fired
}
