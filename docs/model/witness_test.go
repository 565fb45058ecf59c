package main

import "testing"

// witness reports the interesting states that a model reaches, in place of broken invariants: a protocol that holds
// because nothing interesting ever happens would be no protocol.
type witness struct {
	KeyModel
	seen func(KeyState) []string
}

func (w witness) Broken(s KeyState) []string { return w.seen(s) }

func TestInterestingStatesAreReached(t *testing.T) {
	const (
		twoSettlers = "owner and adopter settle one run at once"
		ghost       = "a process settles on after its state was lost, beside an adopter in the new state"
		adopted     = "an adopter has ended a run whose own journal is undecided"
		lostState   = "a run is done in the other state after its own was lost"
		mixed       = "two sinks have partial manifests by two settlers"
		aborted     = "the loser has ended aborted beside a whole run"
	)
	model := KeyModel{Sinks: 1, Runs: 2, Dirs: 2, Procs: 2, Keyed: true, Wipes: 1}
	result := Explore[KeyState](witness{model, func(s KeyState) []string {
		var seen []string
		a, b, run := s.proc[0], s.proc[1], s.run[0]
		if a.settling != 0 && a.settling == b.settling && a.dir != b.dir {
			seen = append(seen, twoSettlers)
		}
		if a.setGone && a.settling == b.settling && a.dir == b.dir && !b.setGone {
			seen = append(seen, ghost)
		}
		if run.journal[0].phase == phasePrepared && run.journal[1].phase == phaseDone {
			seen = append(seen, adopted)
		}
		if s.wiped > 0 && run.journal[0].phase == phaseNone && run.journal[1].phase == phaseDone && model.isWhole(run) {
			seen = append(seen, lostState)
		}
		if model.isWhole(run) && s.run[1].journal[1].phase == phaseAborted {
			seen = append(seen, aborted)
		}
		return seen
	}}, Bounds{States: 5_000_000})
	wantSeen(t, result, twoSettlers, ghost, adopted, lostState, aborted)

	result = Explore[KeyState](witness{losses, func(s KeyState) []string {
		manifest := s.run[0].manifest
		if saysPartial(manifest[0].now) && saysPartial(manifest[1].now) && manifest[0].now != manifest[1].now {
			return []string{mixed}
		}
		return nil
	}}, Bounds{States: 5_000_000})
	wantSeen(t, result, mixed)
}

func wantSeen(t *testing.T, result Result, names ...string) {
	t.Helper()
	for _, name := range names {
		if !result.Has(name) {
			t.Errorf("never: %s", name)
		}
	}
}
