package runstate

import (
	"fmt"
	"slices"
)

// State is the fold of a journal: all that is known of a run. It changes only by Apply.
type State struct {
	Begun     *Begun
	Attempts  []Attempt
	Units     []UnitState // in the order of their records
	Decision  Decision
	Why       string   // of the decision
	Fixed     []string // manifests that were fixed with the decision, by sink; nil if none were
	Finished  map[HandleID]bool
	Resolved  map[HandleID]Resolved
	Manifests map[int]ManifestRecord // by sink
	Ended     *Ended

	units   map[UnitID]int   // index into Units
	handles map[HandleID]int // index into Units, of every handle ever prepared
	last    map[int]int      // highest checkpoint of each subtask
	covered [][]Range        // of each split, by the start: the ranges of units that count
}

// UnitState is a unit, and whether it still counts.
type UnitState struct {
	Unit
	Dropped bool
}

// NewState is the state before the first record.
func NewState() *State {
	return &State{Finished: map[HandleID]bool{}, Resolved: map[HandleID]Resolved{}, Manifests: map[int]ManifestRecord{},
		units: map[UnitID]int{}, handles: map[HandleID]int{}, last: map[int]int{}}
}

// Apply adds a record. A record that breaks the protocol is an error, and changes nothing.
func (s *State) Apply(r Record) error {
	if err := s.Check(r); err != nil {
		return err
	}
	switch {
	case r.Begun != nil:
		s.Begun = r.Begun
		s.covered = make([][]Range, len(r.Begun.Splits))
	case r.Attempt != nil:
		s.Attempts = append(s.Attempts, *r.Attempt)
	case r.Prepared != nil:
		u := *r.Prepared
		s.units[u.ID()] = len(s.Units)
		for _, h := range u.Handles {
			s.handles[h.ID()] = len(s.Units)
		}
		s.cover(u.Ranges)
		s.last[u.Subtask] = u.Checkpoint
		s.Units = append(s.Units, UnitState{Unit: u})
	case r.Dropped != nil:
		u := &s.Units[s.units[r.Dropped.UnitID]]
		u.Dropped = true
		s.uncover(u.Ranges)
	case r.Decided != nil:
		s.Decision, s.Why, s.Fixed = r.Decided.Decision, r.Decided.Why, r.Decided.Manifests
	case r.Finished != nil:
		s.Finished[*r.Finished] = true
	case r.Resolved != nil:
		s.Resolved[r.Resolved.HandleID] = *r.Resolved
	case r.Manifest != nil:
		s.Manifests[r.Manifest.Sink] = *r.Manifest
	case r.Ended != nil:
		s.Ended = r.Ended
	}
	return nil
}

// Check tells whether a record may follow.
func (s *State) Check(r Record) error {
	if n := r.count(); n != 1 {
		return fmt.Errorf("a record says exactly one thing, this one says %d", n)
	}
	if r.Begun != nil {
		return s.checkBegun(r.Begun)
	}
	if s.Begun == nil {
		return fmt.Errorf("the first record is not begun")
	}
	if s.Ended != nil {
		return fmt.Errorf("a record follows ended")
	}
	switch {
	case r.Attempt != nil:
		return s.checkAttempt(r.Attempt)
	case r.Prepared != nil:
		return s.checkPrepared(r.Prepared)
	case r.Dropped != nil:
		return s.checkDropped(r.Dropped)
	case r.Decided != nil:
		return s.checkDecided(r.Decided)
	case r.Finished != nil:
		return s.checkFinished(*r.Finished)
	case r.Resolved != nil:
		return s.checkResolved(r.Resolved)
	case r.Manifest != nil:
		return s.checkManifest(r.Manifest)
	default:
		return s.checkEnded(r.Ended)
	}
}

func (r Record) count() int {
	n := 0
	for _, set := range [...]bool{r.Begun != nil, r.Attempt != nil, r.Prepared != nil, r.Dropped != nil, r.Decided != nil,
		r.Finished != nil, r.Resolved != nil, r.Manifest != nil, r.Ended != nil} {
		if set {
			n++
		}
	}
	return n
}

func (s *State) checkBegun(b *Begun) error {
	if s.Begun != nil {
		return fmt.Errorf("begun twice")
	}
	if b.Journal < 1 {
		return fmt.Errorf("begun without the journal's format")
	}
	if _, err := ParseToken(string(b.Run)); err != nil {
		return err
	}
	for i, sp := range b.Splits {
		if sp.From < 0 || sp.To < sp.From && sp.To != Unknown {
			return fmt.Errorf("split %d is [%d, %d)", i, sp.From, sp.To)
		}
	}
	if len(b.Sinks) == 0 || b.Sinks[0].Rejects {
		return fmt.Errorf("begun without sinks for rows")
	}
	for i, id := range b.Sinks[:len(b.Sinks)-1] {
		if id.Rejects {
			return fmt.Errorf("sink %d of %d is for records that are refused, and is not the last one", i, len(b.Sinks))
		}
	}
	return nil
}

func (s *State) checkAttempt(a *Attempt) error {
	if a.Number != len(s.Attempts)+1 {
		return fmt.Errorf("attempt %d follows attempt %d", a.Number, len(s.Attempts))
	}
	if a.Subtasks < 1 || a.MaxRejects != nil && *a.MaxRejects < 0 {
		return fmt.Errorf("attempt %d has %d subtasks, or may refuse less than nothing", a.Number, a.Subtasks)
	}
	return nil
}

func (s *State) checkPrepared(u *Unit) error {
	switch {
	case s.Decision != Undecided:
		return fmt.Errorf("a unit is prepared after the decision")
	case len(s.Attempts) == 0 || u.Attempt != s.Attempts[len(s.Attempts)-1].Number:
		return fmt.Errorf("a unit of attempt %d is prepared in attempt %d", u.Attempt, len(s.Attempts))
	case u.Subtask < 0 || u.Subtask >= s.Attempts[len(s.Attempts)-1].Subtasks:
		return fmt.Errorf("subtask %d of %d prepared a unit", u.Subtask, s.Attempts[len(s.Attempts)-1].Subtasks)
	case u.Checkpoint <= s.last[u.Subtask]:
		return fmt.Errorf("subtask %d prepared checkpoint %d after %d", u.Subtask, u.Checkpoint, s.last[u.Subtask])
	case u.Rows < 0 || u.Rejected < 0 || u.Rows+u.Rejected > 0 && len(u.Ranges) == 0:
		return fmt.Errorf("a unit of %d rows, and %d records that were refused, has %d ranges", u.Rows, u.Rejected, len(u.Ranges))
	}
	if err := s.checkHandles(u); err != nil {
		return err
	}
	return s.checkRanges(u.Ranges)
}

func (s *State) checkHandles(u *Unit) error {
	seen := map[HandleID]bool{}
	sinks := map[int]bool{}
	for _, h := range u.Handles {
		a, err := ParseName(h.Name)
		if err != nil {
			return err
		}
		if a.Run != s.Begun.Run || a.Subtask != u.Subtask || a.Checkpoint != u.Checkpoint || h.Subtask != u.Subtask ||
			h.Checkpoint != u.Checkpoint || h.Attempt != u.Attempt {
			return fmt.Errorf("handle %s is not of subtask %d, checkpoint %d, attempt %d", h.Name, u.Subtask, u.Checkpoint, u.Attempt)
		}
		if h.Sink < 0 || h.Sink >= len(s.Begun.Sinks) || seen[h.ID()] {
			return fmt.Errorf("handle %s is of sink %d, or comes twice", h.Name, h.Sink)
		}
		seen[h.ID()], sinks[h.Sink] = true, true
	}
	return s.checkSinks(u, sinks)
}

// checkSinks tells whether a unit has handles where it must. One without rows has them in every sink for rows, or in none of these.
func (s *State) checkSinks(u *Unit, has map[int]bool) error {
	inRows := u.Rows > 0
	for i, id := range s.Begun.Sinks {
		inRows = inRows || !id.Rejects && has[i]
	}
	for i, id := range s.Begun.Sinks {
		want := inRows
		if id.Rejects {
			want = u.Rejected > 0
		}
		if has[i] != want {
			return fmt.Errorf("a unit of %d rows, and %d records that were refused, has handles in %d of %d sinks", u.Rows, u.Rejected, len(has), len(s.Begun.Sinks))
		}
	}
	if u.Rejected > 0 && !s.Begun.Sinks[len(s.Begun.Sinks)-1].Rejects {
		return fmt.Errorf("a unit has %d records that were refused, and the run has no place for them", u.Rejected)
	}
	return nil
}

func (s *State) checkDropped(d *Dropped) error {
	i, ok := s.units[d.UnitID]
	if !ok || s.Units[i].Dropped {
		return fmt.Errorf("subtask %d checkpoint %d is dropped, and was not kept", d.Subtask, d.Checkpoint)
	}
	if s.Decision != Undecided {
		return fmt.Errorf("a unit is dropped after the decision")
	}
	return nil
}

func (s *State) checkDecided(d *Decided) error {
	if s.Decision != Undecided {
		return fmt.Errorf("decided twice")
	}
	switch d.Decision {
	case Commit:
		if n := len(d.Manifests); n != 0 && n != len(s.Begun.Sinks) {
			return fmt.Errorf("decided with %d manifests for %d sinks", n, len(s.Begun.Sinks))
		}
		return s.Tiled()
	case Abort:
		return nil
	}
	return fmt.Errorf("decided %q", d.Decision)
}

// Handle finds a handle of a unit that is kept.
func (s *State) Handle(id HandleID) (Handle, bool) {
	i, ok := s.handles[id]
	if !ok || s.Units[i].Dropped {
		return Handle{}, false
	}
	handles := s.Units[i].Handles
	return handles[slices.IndexFunc(handles, func(h Handle) bool { return h.ID() == id })], true
}

func (s *State) checkFinished(id HandleID) error {
	if s.Decision == Undecided {
		return fmt.Errorf("%s is finished before the decision", id.Name)
	}
	return s.checkOpen(id)
}

func (s *State) checkOpen(id HandleID) error {
	if _, ok := s.Handle(id); !ok {
		return fmt.Errorf("no kept unit has %s at sink %d", id.Name, id.Sink)
	}
	if _, resolved := s.Resolved[id]; resolved || s.Finished[id] {
		return fmt.Errorf("%s at sink %d is finished twice", id.Name, id.Sink)
	}
	return nil
}

func (s *State) checkResolved(r *Resolved) error {
	if s.Decision != Commit {
		return fmt.Errorf("%s is resolved, and the run is not decided to commit", r.Name)
	}
	if r.As != AsPublished && r.As != AsLost {
		return fmt.Errorf("%s is resolved as %q", r.Name, r.As)
	}
	return s.checkOpen(r.HandleID)
}

func (s *State) checkManifest(m *ManifestRecord) error {
	if s.Decision != Commit || len(s.Outstanding()) > 0 {
		return fmt.Errorf("a manifest before every artifact is finished")
	}
	if m.Sink < 0 || m.Sink >= len(s.Begun.Sinks) || DigestOf([]byte(m.Bytes)) != m.Digest {
		return fmt.Errorf("the manifest of sink %d is not what its digest says", m.Sink)
	}
	if m.Outcome != Done && m.Outcome != Partial {
		return fmt.Errorf("the manifest of sink %d has the outcome %q", m.Sink, m.Outcome)
	}
	return nil
}

func (s *State) checkEnded(e *Ended) error {
	switch {
	case e.Outcome == Aborted && s.Decision != Abort, e.Outcome != Aborted && s.Decision != Commit:
		return fmt.Errorf("ended %q after the decision %q", e.Outcome, s.Decision)
	case e.Outcome == Aborted:
		return nil
	case len(s.Outstanding()) > 0:
		return fmt.Errorf("ended %s with artifacts outstanding", e.Outcome)
	case len(s.Manifests) < len(s.Begun.Sinks):
		return fmt.Errorf("ended %s with a manifest at %d of %d sinks", e.Outcome, len(s.Manifests), len(s.Begun.Sinks))
	case e.Outcome != s.Outcome():
		return fmt.Errorf("ended %q, and its manifests say %q", e.Outcome, s.Outcome())
	}
	return nil
}

// Outcome is what the manifests say together: done only if every one does.
func (s *State) Outcome() Outcome {
	for _, m := range s.Manifests {
		if m.Outcome != Done {
			return Partial
		}
	}
	return Done
}

// Lost gives the artifacts that a person has declared lost, in the order of their units.
func (s *State) Lost() []Handle {
	var lost []Handle
	for h := range s.Kept() {
		if s.Resolved[h.ID()].As == AsLost {
			lost = append(lost, h)
		}
	}
	return lost
}

// Kept yields the handles of all units that count, in the order of their records.
func (s *State) Kept() func(func(Handle) bool) {
	return func(yield func(Handle) bool) {
		for _, u := range s.Units {
			for _, h := range u.Handles {
				if !u.Dropped && !yield(h) {
					return
				}
			}
		}
	}
}

// Outstanding gives the handles that are neither finished nor resolved, in the order of their records.
func (s *State) Outstanding() []Handle {
	return slices.Collect(func(yield func(Handle) bool) {
		for h := range s.Kept() {
			_, resolved := s.Resolved[h.ID()]
			if !s.Finished[h.ID()] && !resolved && !yield(h) {
				return
			}
		}
	})
}

// Rows is how many rows the kept units hold.
func (s *State) Rows() int64 {
	var n int64
	for _, u := range s.Units {
		if !u.Dropped {
			n += u.Rows
		}
	}
	return n
}

// Rejected is how many records the kept units have put aside.
func (s *State) Rejected() int64 {
	var n int64
	for _, u := range s.Units {
		if !u.Dropped {
			n += u.Rejected
		}
	}
	return n
}

// Nulled is how many values in the kept units' artifacts are NULL because an option asks for it.
func (s *State) Nulled() int64 {
	var n int64
	for h := range s.Kept() {
		n += h.Nulled
	}
	return n
}

// NextCheckpoint is the lowest id that no unit of the subtask was ever journaled under.
func (s *State) NextCheckpoint(subtask int) int { return s.last[subtask] + 1 }
