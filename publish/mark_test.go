package publish_test

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

const rival = runstate.Token("20261130t013001z00000001")

// sinksOf gives the destinations in some order.
func (b *bench) sinksOf(order ...int) []stage.Sink {
	var s []stage.Sink
	for _, i := range order {
		s = append(s, b.sinks[i])
	}
	return s
}

// TestMark: it is one note, at the sink that sorts first, whatever the order of the sinks; it holds all that an adopter needs.
func TestMark(t *testing.T) {
	b := newBench(t, "k", 3, "zebra", "ant")
	none, err := publish.FindMark(t.Context(), "k", 0, b.sinksOf(0, 1))
	if none != nil || err != nil {
		t.Fatal(none, err)
	}
	b.decide()
	if len(b.sinks[0].notes) != 0 || len(b.sinks[1].notes) != 1 {
		t.Fatal("the mark is not where it belongs")
	}
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		m, err := publish.FindMark(t.Context(), "k", 0, b.sinksOf(order...))
		b.ok(err)
		if m.Run != token || m.State().Decision != runstate.Undecided || len(m.Manifests) != 2 || publish.Gate(m.State()) != nil {
			t.Fatalf("%+v", m)
		}
	}
	for _, other := range []struct {
		key   string
		again int
		order []int
	}{{"l", 0, []int{0, 1}}, {"k", 1, []int{0, 1}}, {"k", 0, []int{0}}, {"k", 0, []int{1}}} {
		m, err := publish.FindMark(t.Context(), other.key, other.again, b.sinksOf(other.order...))
		if m != nil || err != nil {
			t.Fatalf("%+v: %v %v", other, m, err)
		}
	}
	names := map[string]bool{}
	for _, key := range []string{"a", "b", `a" 0`, ""} {
		for again := range 3 {
			names[publish.MarkName(key, again, b.sinksOf(0, 1))] = true
		}
	}
	if len(names) != 12 {
		t.Fatalf("%d names", len(names))
	}
}

// TestMarkOfAnother: the loser of a race finds out, at the survey and at the decision, decides nothing, and can be aborted.
func TestMarkOfAnother(t *testing.T) {
	b := newBench(t, "k", 2, "a", "b")
	ours := b.journal
	theirs := b.begin("/rival", rival, "k", 2)
	t.Cleanup(func() { _ = theirs.Close() })
	first := b.settler()
	b.ok(first.Survey(t.Context()))
	b.journal = theirs
	b.decide()
	b.journal = ours
	for range 2 {
		err := first.Decide(t.Context())
		if foreign, ok := errors.AsType[*publish.ForeignMark](err); !ok || foreign.Mark.Run != rival {
			t.Fatal(err)
		}
	}
	if err := b.settler().Survey(t.Context()); err == nil {
		t.Fatal("not seen by the survey")
	}
	if ours.State().Decision != runstate.Undecided {
		t.Fatal("it is decided")
	}
	b.ok(b.settler().Abort(t.Context(), "lost the race"))
	for _, l := range b.sinks {
		if len(l.staged) != 2 || len(l.final) > 0 {
			t.Fatalf("staged %v, published %v", l.staged, l.final)
		}
	}
}

// TestMarkRepliesLost: the reply to the put is lost, or the read back is denied: what stands there decides, later if need be.
func TestMarkRepliesLost(t *testing.T) {
	b := newBench(t, "k", 1, "a")
	l := b.sinks[0]
	s := b.settler()
	b.ok(s.Survey(t.Context()))
	l.onPutNote = func(n int, name string) (error, bool) { return errNoAnswer, n == 1 }
	if err := s.Decide(t.Context()); !errors.Is(err, errNoAnswer) {
		t.Fatal(err)
	}
	l.onNote = func(n int, _ string) (error, bool) { return errNoAnswer, n == 3 } // two looks were the survey's
	if err := s.Decide(t.Context()); !errors.Is(err, errNoAnswer) || b.journal.State().Decision != runstate.Undecided {
		t.Fatal(err)
	}
	b.ok(s.Decide(t.Context()))
	b.ok(s.Decide(t.Context())) // decided already
	l.onNote = func(int, string) (error, bool) { return fs.ErrNotExist, true }
	b2 := newBench(t, "k", 1, "b")
	b2.sinks[0].onNote = l.onNote
	s = b2.settler()
	b2.ok(s.Survey(t.Context()))
	if err := s.Decide(t.Context()); err == nil {
		t.Fatal("a mark that is not there has decided")
	}
}

// TestJournalOlderThanItsMark is told, with the mark.
func TestJournalOlderThanItsMark(t *testing.T) {
	b := newBench(t, "k", 3, "a")
	old, err := b.journal.Lines()
	b.ok(err)
	lines := bytes.SplitAfter(old, []byte("\n"))
	b.decide()
	b.ok(b.fsys.Mkdir("/older"))
	older, err := runstate.Import(b.fsys, "/older", bytes.Join(lines[:3], nil), runstate.Options{Now: b.clock})
	b.ok(err)
	whole := b.journal
	b.journal = older
	for what, f := range map[string]func(*publish.Settler) error{
		"survey": func(s *publish.Settler) error { return s.Survey(t.Context()) },
		"abort":  func(s *publish.Settler) error { return s.Abort(t.Context(), "a test") },
	} {
		own, ok := errors.AsType[*publish.OwnMark](f(b.settler()))
		if !ok || own.Mark.Run != token {
			t.Fatalf("%s: not told", what)
		}
	}
	b.ok(older.Close())
	b.journal = whole
}

// TestHereIsAskedBeforeTheDecision: nothing is decided, and no mark made, in a state directory that was replaced.
func TestHereIsAskedBeforeTheDecision(t *testing.T) {
	for _, key := range []string{"", "k"} {
		b := newBench(t, key, 1, "a")
		s := b.settler()
		b.ok(s.Survey(t.Context()))
		b.here = runstate.ErrReplaced
		if err := s.Decide(t.Context()); !errors.Is(err, runstate.ErrReplaced) {
			t.Fatal(err)
		}
		if err := s.Abort(t.Context(), "a test"); !errors.Is(err, runstate.ErrReplaced) {
			t.Fatal(err)
		}
		if len(b.sinks[0].notes) > 0 || b.journal.State().Decision != runstate.Undecided {
			t.Fatal("it was decided")
		}
	}
}

// TestGate: nothing is decided before everything is covered.
func TestGate(t *testing.T) {
	b := newBench(t, "", 3, "a", "b")
	delete(b.sinks[1].staged, nameOf(2))
	s := b.settler()
	b.ok(s.Survey(t.Context()))
	if u := b.journal.State().Units; u[0].Dropped || !u[1].Dropped || u[2].Dropped {
		t.Fatalf("%+v", u)
	}
	if b.sinks[0].staged[nameOf(2)] {
		t.Fatal("what is left of the dropped unit is still staged")
	}
	if err := s.Decide(t.Context()); err == nil || !strings.Contains(err.Error(), "does not cover") {
		t.Fatal(err)
	}
	if publish.Gate(b.journal.State()) == nil {
		t.Fatal("the gate lets it through")
	}
	b.ok(s.Abort(t.Context(), "a test"))
	if publish.Gate(b.journal.State()) == nil {
		t.Fatal("the gate lets an aborted run through")
	}
}

// TestSurvey: what is published decides a run that is whole, and stops one that is not; what does not answer, and what is
// foreign, leave the run as it is.
func TestSurvey(t *testing.T) {
	for _, key := range []string{"", "k"} {
		b := newBench(t, key, 2, "a", "b")
		b.sinks[1].final[nameOf(1)] = "ours"
		b.ok(b.settler().Survey(t.Context()))
		if b.journal.State().Decision != runstate.Commit || (len(b.home().notes) > 0) != (key != "") {
			t.Fatal("the world has not decided it")
		}
	}
	b := newBench(t, "", 2, "a", "b")
	b.sinks[1].final[nameOf(1)] = "ours"
	b.ok(b.journal.Append(runstate.Record{Dropped: &runstate.Dropped{UnitID: runstate.UnitID{Checkpoint: 2}}}))
	if _, older := errors.AsType[*publish.OlderError](b.settler().Survey(t.Context())); !older {
		t.Fatal("a part of a run has decided it")
	}
	b = newBench(t, "", 2, "a", "b")
	b.sinks[0].final[nameOf(7)] = "ours"
	if _, older := errors.AsType[*publish.OlderError](b.settler().Survey(t.Context())); !older {
		t.Fatal("an artifact that the journal does not know was not seen")
	}
	b = newBench(t, "", 2, "a", "b")
	b.sinks[0].final[nameOf(1)] = "theirs"
	b.sinks[1].onInspect = func(_ int, h runstate.Handle) (stage.Evidence, error, bool) {
		return stage.Evidence{}, errNoAnswer, h.Name == nameOf(2)
	}
	delete(b.sinks[1].staged, nameOf(1))
	err := b.settler().Survey(t.Context())
	if b.sinks[0].final[nameOf(1)] != "theirs" || b.journal.State().Units[0].Dropped {
		t.Fatal("something was done about it")
	}
	if _, ok := errors.AsType[*publish.OlderError](err); !ok { // a name of the run's is visible: known, and foreign
		got := problems(t, err)
		slices.Sort(got)
		if !slices.Equal(got, []publish.Fate{publish.Conflict, publish.Unknown}) {
			t.Fatal(got)
		}
	}
}
