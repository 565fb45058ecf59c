package publish_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// TestAbortDenied: the run ends all the same, with a warning: nobody publishes what an aborted run has left.
func TestAbortDenied(t *testing.T) {
	b := newBench(t, "", 2, "a", "b")
	b.sinks[1].onAbort = func(int, runstate.Handle) (error, bool) { return syscall.EACCES, true }
	b.sinks[1].onSweep = func() error { return syscall.EACCES }
	b.ok(b.settler().Abort(t.Context(), "a test"))
	ended := b.journal.State().Ended
	if ended.Outcome != runstate.Aborted || len(ended.Warnings) != 3 {
		t.Fatalf("%+v", ended)
	}
	b.ok(b.settler().Abort(t.Context(), "again"))
	if len(b.sinks[0].staged) > 0 {
		t.Fatal("something is staged")
	}
}

// TestAbortFindsPublished: what is visible is never reported aborted, whether it is found before the decision or after.
func TestAbortFindsPublished(t *testing.T) {
	b := newBench(t, "", 2, "a")
	b.sinks[0].final[nameOf(2)] = "ours"
	if _, ok := errors.AsType[*publish.OlderError](b.settler().Abort(t.Context(), "a test")); !ok {
		t.Fatal("not refused")
	}
	if b.journal.State().Decision != runstate.Undecided {
		t.Fatal("it was decided")
	}
	b = newBench(t, "", 2, "a")
	b.sinks[0].onAbort = func(n int, h runstate.Handle) (error, bool) {
		if n == 1 { // it lands late
			b.sinks[0].final[h.Name] = "ours"
		}
		return nil, false
	}
	err := b.settler().Abort(t.Context(), "a test")
	if got := problems(t, err); len(got) != 1 || got[0] != publish.Conflict {
		t.Fatal(err)
	}
	if b.journal.State().Ended != nil || len(b.journal.State().Finished) != 1 {
		t.Fatal("it has ended, or the other artifact was not aborted")
	}
}

// TestAbortUnproved: a destination that does not answer may have it published: nothing is decided.
func TestAbortUnproved(t *testing.T) {
	b := newBench(t, "", 1, "a")
	b.sinks[0].onInspect = func(int, runstate.Handle) (stage.Evidence, error, bool) { return stage.Evidence{}, errNoAnswer, true }
	if got := problems(t, b.settler().Abort(t.Context(), "a test")); got[0] != publish.Unknown {
		t.Fatal(got)
	}
	if b.journal.State().Decision != runstate.Undecided {
		t.Fatal("it was decided")
	}
}

// TestAbortDecided: a run that is decided to commit is not aborted, nor one whose own mark is at the destination.
func TestAbortDecided(t *testing.T) {
	b := newBench(t, "k", 1, "a")
	b.decide()
	if err := b.settler().Abort(t.Context(), "a test"); !errors.Is(err, publish.ErrDecided) {
		t.Fatal(err)
	}
	b = newBench(t, "k", 1, "a")
	s := b.settler()
	b.ok(s.Survey(t.Context()))
	b.refuseRecords() // the mark is made, and the process dies before it has journaled that
	if err := s.Decide(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	b.reopen()
	if err := b.settler().Abort(t.Context(), "a test"); !errors.Is(err, publish.ErrDecided) {
		t.Fatal(err)
	}
	b.ok(b.settler().Survey(t.Context()))
	if b.journal.State().Decision != runstate.Commit {
		t.Fatal("the mark has not decided it")
	}
}

// TestResolve takes a person's word where no look contradicts it.
func TestResolve(t *testing.T) {
	lost := func(b *bench) { delete(b.sinks[0].staged, nameOf(2)) }
	tests := []struct {
		name   string
		world  func(b *bench)
		as     runstate.Verdict
		refuse string // "": it is taken
	}{
		{"lost, and gone", lost, runstate.AsLost, ""},
		{"lost, and published", func(b *bench) { b.sinks[0].final[nameOf(2)] = "ours" }, runstate.AsLost, "is published"},
		{"lost, and foreign", func(b *bench) { b.sinks[0].final[nameOf(2)] = "theirs" }, runstate.AsLost, ""},
		{"lost, and the abort is denied", func(b *bench) {
			lost(b)
			b.sinks[0].onAbort = func(int, runstate.Handle) (error, bool) { return syscall.EACCES, true }
		}, runstate.AsLost, "published late"},
		{"lost, and lands while it is aborted", func(b *bench) {
			b.sinks[0].onAbort = func(_ int, h runstate.Handle) (error, bool) {
				b.sinks[0].final[h.Name] = "ours"
				return nil, false
			}
		}, runstate.AsLost, "is published"},
		{"published, and gone", lost, runstate.AsPublished, "neither"},
		{"published, and staged", func(*bench) {}, runstate.AsPublished, "is staged"},
		{"published, and foreign", func(b *bench) { b.sinks[0].final[nameOf(2)] = "theirs" }, runstate.AsPublished, "something else"},
		{"published, and unknown", func(b *bench) {
			b.sinks[0].onInspect = func(int, runstate.Handle) (stage.Evidence, error, bool) {
				return stage.Evidence{}, errNoAnswer, true
			}
		}, runstate.AsPublished, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, "", 3, "a", "b")
			s := b.decide()
			test.world(b)
			err := s.Resolve(t.Context(), runstate.HandleID{Sink: 0, Name: nameOf(2)}, test.as, "a person said so")
			if test.refuse != "" {
				if err == nil || !strings.Contains(err.Error(), test.refuse) {
					t.Fatal(err)
				}
				if len(b.journal.State().Resolved) > 0 {
					t.Fatal("it was taken")
				}
				return
			}
			b.ok(err)
			b.sinks[0].onInspect = nil
			b.ok(s.Finish(t.Context()))
			want := runstate.Done
			if test.as == runstate.AsLost {
				want = runstate.Partial
			}
			if got := b.journal.State().Ended.Outcome; got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		})
	}
	b := newBench(t, "", 1, "a")
	s := b.decide()
	if err := s.Resolve(t.Context(), runstate.HandleID{Name: nameOf(9)}, runstate.AsLost, "why"); err == nil {
		t.Fatal("an artifact that is none was resolved")
	}
}
