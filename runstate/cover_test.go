package runstate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/runstate"
)

// endless begins a run of one split whose end is not known.
var endless = []runstate.Record{with(begun(), func(r *runstate.Record) {
	r.Begun.Splits = []runstate.Split{{Part: "/z.gz", From: 4, To: runstate.Unknown}}
}), attempt(1, 1)}

// TestUnknownEnd: a split whose length is not known is tiled once a range has reached its end and none is missing before it.
func TestUnknownEnd(t *testing.T) {
	first, middle, last := unit(1, 0, 1, cover(0, 4, 50, false)), unit(1, 0, 2, cover(0, 50, 70, false)), unit(1, 0, 3, cover(0, 70, 90, true))
	end := func(at int64) runstate.Record {
		return with(unit(1, 0, 4, cover(0, at, at, true)), func(r *runstate.Record) { r.Prepared.Rows, r.Prepared.Handles = 0, nil })
	}
	rest := func(from int64) []runstate.Range {
		return []runstate.Range{{From: from, To: runstate.Endless, End: true}}
	}
	for what, test := range map[string]struct {
		story []runstate.Record
		open  []runstate.Range
	}{
		"nothing":                  {nil, rest(4)},
		"the beginning":            {[]runstate.Record{first}, rest(50)},
		"all":                      {[]runstate.Record{first, middle, last}, nil},
		"an end without rows":      {[]runstate.Record{first, middle, end(70)}, nil},
		"no row at all":            {[]runstate.Record{end(4)}, nil},
		"all, and the end dropped": {[]runstate.Record{first, middle, last, dropped(0, 3)}, rest(70)},
		"the middle dropped":       {[]runstate.Record{first, middle, last, dropped(0, 2)}, []runstate.Range{{From: 50, To: 70}}},
		"an empty end dropped":     {[]runstate.Record{first, middle, end(70), dropped(0, 4)}, rest(70)},
	} {
		s := replay(t, slices.Concat(endless, test.story))
		if diff := cmp.Diff(test.open, s.Open()); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		if got := s.Check(decided(runstate.Commit)) == nil; got != (test.open == nil) {
			t.Errorf("%s: can be committed: %v", what, got)
		}
	}
	for what, r := range map[string]runstate.Range{
		"beyond the end":       cover(0, 90, 95, false),
		"another end":          cover(0, 90, 95, true),
		"the same end":         cover(0, 90, 90, true),
		"an end too early":     cover(0, 60, 65, true),
		"backwards":            cover(0, 65, 60, false),
		"empty, and no end":    cover(0, 60, 60, false),
		"before the split":     cover(0, 3, 4, false),
		"over what is covered": cover(0, 40, 60, false),
	} {
		s := replay(t, slices.Concat(endless, []runstate.Record{first, last}))
		if err := s.Apply(unit(1, 0, 9, r)); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}
