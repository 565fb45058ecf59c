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
		if sp.To == Unknown {
			if err := s.checkEnd(r); err != nil {
				return err
			}
			sp.To = r.To
		} else if r.From >= r.To || r.End != (r.To == sp.To) {
			return fmt.Errorf("range [%d, %d) of split %d, which ends at %d", r.From, r.To, r.Split, sp.To)
		}
		if r.From < sp.From || r.To > sp.To {
			return fmt.Errorf("range [%d, %d) of split %d, which is [%d, %d)", r.From, r.To, r.Split, sp.From, sp.To)
		}
		if slices.ContainsFunc(ranges[:i], r.overlaps) {
			return fmt.Errorf("a unit covers [%d, %d) of split %d twice", r.From, r.To, r.Split)
		}
		of := s.covered[r.Split]
		at, _ := find(of, r)
		for _, near := range of[max(at-1, 0):min(at+1, len(of))] { // they do not overlap each other
			if r.overlaps(near) {
				return fmt.Errorf("range [%d, %d) of split %d overlaps [%d, %d), which is covered", r.From, r.To, r.Split, near.From, near.To)
			}
		}
	}
	return nil
}

// checkEnd checks a range of a split whose length was not known when the run was begun: nothing lies beyond the end that one
// of them has reached. A range may be empty if all it says is where that end is.
func (s *State) checkEnd(r Range) error {
	if r.From > r.To || r.From == r.To && !r.End {
		return fmt.Errorf("range [%d, %d) of split %d", r.From, r.To, r.Split)
	}
	for _, o := range s.covered[r.Split] {
		if o.End && (r.End || r.To > o.To) || r.End && o.To > r.To {
			return fmt.Errorf("range [%d, %d) of split %d, and [%d, %d) is covered of it, which does not end so", r.From, r.To, r.Split, o.From, o.To)
		}
	}
	return nil
}

// find gives the place of a range among ranges that are sorted by their start.
func find(of []Range, r Range) (int, bool) {
	return slices.BinarySearchFunc(of, r, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
}

func (s *State) cover(ranges []Range) {
	for _, r := range ranges {
		at, _ := find(s.covered[r.Split], r)
		s.covered[r.Split] = slices.Insert(s.covered[r.Split], at, r)
	}
}

func (s *State) uncover(ranges []Range) {
	for _, r := range ranges {
		if at, ok := find(s.covered[r.Split], r); ok {
			s.covered[r.Split] = slices.Delete(s.covered[r.Split], at, at+1)
		}
	}
}

func (r Range) overlaps(o Range) bool { return r.Split == o.Split && r.From < o.To && o.From < r.To }

// Covered gives the kept ranges of every split, by their start. They are not changed by whoever asks.
func (s *State) Covered() [][]Range { return s.covered }

// Open gives the ranges that no kept unit covers, in the order of the splits. Their digests are empty; one whose end is not
// known ends at Endless.
func (s *State) Open() []Range {
	var open []Range
	for i, covered := range s.Covered() {
		sp := s.Begun.Splits[i]
		if sp.To == Unknown {
			sp.To = Endless
			if n := len(covered); n > 0 && covered[n-1].End {
				sp.To = covered[n-1].To
			}
		}
		at := sp.From
		for _, r := range append(slices.Clip(covered), Range{From: sp.To, To: sp.To}) {
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
