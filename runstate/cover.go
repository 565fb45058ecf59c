package runstate

import (
	"cmp"
	"fmt"
	"slices"
)

// checkRanges tells whether a unit's ranges are ranges of the splits that no kept unit covers, nor another of its own.
func (s *State) checkRanges(ranges []Range) error {
	for i, r := range ranges {
		if r.Split < 0 || r.Split >= len(s.Begun.Splits) {
			return fmt.Errorf("range of split %d of %d", r.Split, len(s.Begun.Splits))
		}
		sp := s.Begun.Splits[r.Split]
		if r.From < sp.From || r.To > sp.To || r.From >= r.To || r.End != (r.To == sp.To) {
			return fmt.Errorf("range [%d, %d) of split %d, which is [%d, %d)", r.From, r.To, r.Split, sp.From, sp.To)
		}
		for _, o := range ranges[:i] {
			if r.overlaps(o) {
				return fmt.Errorf("a unit covers [%d, %d) of split %d twice", r.From, r.To, r.Split)
			}
		}
		for _, u := range s.Units {
			if !u.Dropped && slices.ContainsFunc(u.Ranges, r.overlaps) {
				return fmt.Errorf("range [%d, %d) of split %d overlaps subtask %d checkpoint %d", r.From, r.To, r.Split, u.Subtask, u.Checkpoint)
			}
		}
	}
	return nil
}

func (r Range) overlaps(o Range) bool { return r.Split == o.Split && r.From < o.To && o.From < r.To }

// Covered gives the kept ranges of every split, by their start.
func (s *State) Covered() [][]Range {
	all := make([][]Range, len(s.Begun.Splits))
	for _, u := range s.Units {
		if u.Dropped {
			continue
		}
		for _, r := range u.Ranges {
			all[r.Split] = append(all[r.Split], r)
		}
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	}
	return all
}

// Open gives the ranges that no kept unit covers, in the order of the splits. Their digests are empty.
func (s *State) Open() []Range {
	var open []Range
	for i, covered := range s.Covered() {
		sp := s.Begun.Splits[i]
		at := sp.From
		for _, r := range append(covered, Range{From: sp.To, To: sp.To}) {
			if at < r.From {
				open = append(open, Range{Split: i, From: at, To: r.From, End: r.From == sp.To})
			}
			at = r.To
		}
	}
	return open
}

// Tiled fails, naming the first hole, unless the kept ranges tile every split from its start to its end.
func (s *State) Tiled() error {
	if open := s.Open(); len(open) > 0 {
		r := open[0]
		return fmt.Errorf("what is prepared does not cover the source: nothing covers [%d, %d) of %s", r.From, r.To, s.Begun.Splits[r.Split].Part)
	}
	return nil
}
