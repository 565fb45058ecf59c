package main

// The invariants of RunModel, by the names under which they are reported.
const (
	VisibleUndecided = "something is visible without a durable decision"
	PublishedTwice   = "a row is published twice"
	AbortedVisible   = "an aborted run has something visible"
	RowVanished      = "a kept row is neither staged nor published, and nobody took it"
	StagedUnowned    = "something is staged that belongs to no journal"
	DoneNotDurable   = "exit 0 while an artifact is not durably published"
	ManifestMissing  = "exit 0 while a manifest is not durable"
	LeftBehind       = "exit 0 and something staged is left behind"
	NeedlessPerson   = "exit 4 although there were only crashes"
	LostThoughInTime = "a stage deleted before the last look ends as a loss"
)

// Broken lists the invariants that the state itself breaks.
func (m RunModel) Broken(s RunState) []string {
	var broken []string
	visible, twice, staged := false, false, s.orphan
	for unit := range m.Units {
		for sink := range m.Sinks {
			versions := 0
			for version := range maxVersions {
				i := artifactOf(unit, version, sink)
				staged = staged || s.staged[i].isPresent()
				if s.final[i].isPresent() {
					versions++
				}
			}
			visible = visible || versions > 0
			twice = twice || versions > 1
		}
	}
	if visible && s.disk.decision != recCommit && s.putBacks == 0 {
		broken = append(broken, VisibleUndecided)
	}
	if twice {
		broken = append(broken, PublishedTwice)
	}
	if visible && s.disk.ended == recAborted {
		broken = append(broken, AbortedVisible)
	}
	if staged && !s.disk.begun {
		broken = append(broken, StagedUnowned)
	}
	if m.rowVanished(s) {
		broken = append(broken, RowVanished)
	}
	return broken
}

// rowVanished: a kept row that nobody deleted has to be somewhere until the run is aborted. A journal that was put
// back may have forgotten that it was.
func (m RunModel) rowVanished(s RunState) bool {
	fold := s.disk
	if s.deletions > 0 || fold.decision == recAbort || s.putBacks > 0 && fold.decision != recCommit {
		return false
	}
	for handle := range maxHandles {
		unit, sink := handle/maxSinks, handle%maxSinks
		if unit >= m.Units || sink >= m.Sinks || fold.kept[unit] == 0 {
			continue
		}
		i := artifactOf(unit, int(fold.kept[unit])-1, sink)
		if !s.staged[i].isPresent() && !s.final[i].isPresent() {
			return true
		}
	}
	return false
}

// Out: no process runs, and the run has ended. A unit that would be read a third time is the model's bound.
func (m RunModel) Out(s RunState) bool {
	for unit := range m.Units {
		if s.disk.kept[unit] == 0 && s.disk.prepared[unit] >= maxVersions {
			return true
		}
	}
	return s.pc == runIdle && s.disk.ended != noRecord && s.tail.kind == noRecord && s.torn == notTorn
}

// exit is the end of a process, with what its code claims.
func (x *runSteps) exit(code int, label Label) {
	edge := Edge[RunState]{To: stopped(x.s), Label: label}
	switch {
	case code == 0:
		edge.Violation = x.m.exitZero(x.s)
	case code == 4 && x.s.deletions == 0 && x.s.putBacks == 0 && !x.s.sourceChanged:
		edge.Violation = NeedlessPerson
	}
	x.edges = append(x.edges, edge)
}

// exitLost is the exit 4 of a process that found a loss after the decision.
func (x *runSteps) exitLost() {
	x.exit(4, say("exit 4, LOST"))
	edge := &x.edges[len(x.edges)-1]
	if edge.Violation == "" && x.s.deletedEarly {
		edge.Violation = LostThoughInTime
	}
}

func (m RunModel) exitZero(s RunState) string {
	for unit := range m.Units {
		for sink := range m.Sinks {
			kept := s.disk.kept[unit]
			if kept == 0 || !s.final[artifactOf(unit, int(kept)-1, sink)].isDurable() {
				return DoneNotDurable
			}
		}
	}
	for sink := range m.Sinks {
		if !s.manifest[sink].isDurable() {
			return ManifestMissing
		}
	}
	left := s.orphan
	for _, e := range s.staged {
		left = left || e.isPresent()
	}
	if left {
		return LeftBehind
	}
	return ""
}
