package runstate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/runstate"
)

// refusing begins a run whose third sink is for records that are refused.
var refusing = []runstate.Record{with(begun(), func(r *runstate.Record) {
	r.Begun.Sinks = append(r.Begun.Sinks, runstate.SinkID{To: "/bad", Identity: "file:3", Rejects: true})
}), attempt(1, 2)}

// refused is a unit that has put records aside, with handles in some sinks.
func refused(ckpt int, rows, rejected int64, r runstate.Range, sinks ...int) runstate.Record {
	u := runstate.Unit{Attempt: 1, Checkpoint: ckpt, Rows: rows, Rejected: rejected, Ranges: []runstate.Range{r}}
	for _, i := range sinks {
		u.Handles = append(u.Handles, handle(1, 0, ckpt, i))
	}
	return runstate.Record{Prepared: &u}
}

// TestRejects: a unit has a handle in the sink for rejects if it has refused something, and in all others if it has rows.
func TestRejects(t *testing.T) {
	end := cover(0, 0, 100, true)
	for what, test := range map[string]struct {
		next runstate.Record
		ok   bool
	}{
		"rows":                               {refused(1, 5, 0, end, 0, 1), true},
		"rows and rejects":                   {refused(1, 5, 2, end, 0, 1, 2), true},
		"rejects alone":                      {refused(1, 0, 2, end, 2), true},
		"neither":                            {refused(1, 0, 0, end), true},
		"rejects, and artifacts without row": {refused(1, 0, 2, end, 0, 1, 2), true},
		"rejects that are nowhere":           {refused(1, 5, 2, end, 0, 1), false},
		"rejects among the rows":             {refused(1, 0, 2, end, 0, 1), false},
		"rows among the rejects":             {refused(1, 5, 0, end, 2), false},
		"an artifact without rejects":        {refused(1, 5, 0, end, 0, 1, 2), false},
		"rows that one sink lacks":           {refused(1, 5, 2, end, 0, 2), false},
		"fewer than none":                    {refused(1, 5, -1, end, 0, 1), false},
		"rejects of no range":                {with(refused(1, 0, 2, end, 2), func(r *runstate.Record) { r.Prepared.Ranges = nil }), false},
	} {
		s, want := replay(t, refusing), replay(t, refusing)
		if err := s.Apply(test.next); (err == nil) != test.ok {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(want, s, cmp.AllowUnexported(runstate.State{})); diff != "" && !test.ok {
			t.Errorf("%s has changed the state: %s", what, diff)
		}
	}
	if err := replay(t, reading).Apply(refused(1, 5, 2, end, 0, 1)); err == nil {
		t.Error("a run without a place for rejects has some")
	}
}

// TestRejectsBegun: the sink for rejects is one, and the last.
func TestRejectsBegun(t *testing.T) {
	rows, rejects := runstate.SinkID{To: "/x"}, runstate.SinkID{To: "/bad", Rejects: true}
	for _, sinks := range [][]runstate.SinkID{{rejects}, {rejects, rows}, {rows, rejects, rows}, {rows, rejects, rejects}} {
		if err := runstate.NewState().Apply(with(begun(), func(r *runstate.Record) { r.Begun.Sinks = sinks })); err == nil {
			t.Errorf("begun with %+v", sinks)
		}
	}
	less := int64(-1)
	if err := replay(t, refusing).Apply(with(attempt(2, 1), func(r *runstate.Record) { r.Attempt.MaxRejects = &less })); err == nil {
		t.Error("fewer than no records may be refused")
	}
}

// TestCounts are of the units that are kept, and the run ends with a manifest at each sink.
func TestCounts(t *testing.T) {
	nulled := refused(1, 5, 2, cover(0, 0, 60, false), 0, 1, 2)
	nulled.Prepared.Handles[0].Nulled, nulled.Prepared.Handles[1].Nulled = 3, 1
	story := slices.Concat(refusing, []runstate.Record{nulled, refused(2, 0, 7, cover(0, 60, 100, true), 2), refused(3, 4, 0, cover(1, 10, 50, true), 0, 1)})
	s := replay(t, story)
	if s.Rows() != 9 || s.Rejected() != 9 || s.Nulled() != 4 || s.Tiled() != nil {
		t.Errorf("%d rows, %d rejected, %d nulled, %v", s.Rows(), s.Rejected(), s.Nulled(), s.Tiled())
	}
	less := replay(t, slices.Concat(story, []runstate.Record{dropped(0, 1)}))
	if less.Rows() != 4 || less.Rejected() != 7 || less.Nulled() != 0 {
		t.Errorf("after a drop: %d rows, %d rejected, %d nulled", less.Rows(), less.Rejected(), less.Nulled())
	}
	story = append(story, decided(runstate.Commit))
	for _, h := range s.Outstanding() {
		id := h.ID()
		story = append(story, runstate.Record{Finished: &id})
	}
	story = append(story, manifest(0, runstate.Done), manifest(1, runstate.Done))
	if err := replay(t, story).Apply(ended(runstate.Done)); err == nil {
		t.Error("ended without a manifest of the rejects")
	}
	replay(t, append(story, manifest(2, runstate.Done), ended(runstate.Done)))
}
