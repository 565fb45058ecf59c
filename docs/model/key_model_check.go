package main

// The invariants of KeyModel, by the names under which they are reported. Some are those of RunModel.
const (
	RowsTwice         = "two runs of one key are published at one sink: rows twice"
	PartialForNothing = "a manifest says partial though every artifact is published"
	DoneWithAGap      = "a manifest says done though an artifact is not durably published"
	ManifestsDiffer   = "the sinks have manifests of two makings that both say done"
	ReadAgain         = "what a mark names is read again"
	ManifestReplaced  = "a published manifest is replaced by another"
	KeyNotWhole       = "exit 0 while no run of the key is whole and durable at every sink"
	OthersOutstanding = "exit 0 while a dead run of the job is outstanding in this state"
)

// Broken lists the invariants that the state itself breaks.
func (m KeyModel) Broken(s KeyState) []string {
	var broken []string
	visible := [maxSinks]int{}
	for r := range m.Runs {
		run := s.run[r]
		anywhere := false
		for sink := range m.Sinks {
			if run.artifact[sink].has(isVisible) {
				anywhere = true
				visible[sink]++
			}
		}
		if anywhere && !m.durablyDecided(s, r) {
			broken = append(broken, VisibleUndecided)
		}
		for _, journal := range run.journal {
			if anywhere && (journal.phase == phaseAbort || journal.phase == phaseAborted) {
				broken = append(broken, AbortedVisible)
			}
		}
		if m.rowVanished(s, r) {
			broken = append(broken, RowVanished)
		}
		broken = append(broken, m.brokenManifests(run)...)
	}
	for _, runs := range visible {
		if runs > 1 {
			broken = append(broken, RowsTwice)
		}
	}
	return broken
}

// durablyDecided: with a key it is the mark, on the disk, that decides; without one a journal.
func (m KeyModel) durablyDecided(s KeyState, run int) bool {
	if !m.Keyed {
		return s.decided(run)
	}
	for _, mark := range s.mark {
		if int(mark.disk) == run+1 {
			return true
		}
	}
	return false
}

func (m KeyModel) rowVanished(s KeyState, run int) bool {
	return s.deletions == 0 && !s.person && s.decided(run) &&
		!m.all(s.run[run], func(sink int) bool { return s.run[run].artifact[sink] != 0 })
}

// brokenManifests compares what manifests say with what is there.
func (m KeyModel) brokenManifests(run keyRun) []string {
	var broken []string
	published := m.all(run, func(sink int) bool { return run.artifact[sink].has(isVisible) })
	durable := m.all(run, func(sink int) bool { return run.artifact[sink].has(isDurable) })
	done := manifestNone
	for sink := range m.Sinks {
		manifest := run.manifest[sink].now
		switch {
		case manifest == manifestNone:
		case saysPartial(manifest):
			if published {
				broken = append(broken, PartialForNothing)
			}
		case !durable:
			broken = append(broken, DoneWithAGap)
		case done != manifestNone && done != manifest:
			broken = append(broken, ManifestsDiffer)
		default:
			done = manifest
		}
	}
	return broken
}

// Out: no process runs, no journal is unfinished, and the key is whole, partial and said so, or free.
func (m KeyModel) Out(s KeyState) bool {
	for _, p := range s.proc {
		if p.command != keyIdle {
			return false
		}
	}
	if m.RunAlone && m.waitsForPerson(s) {
		return true
	}
	answered, visible := false, false
	for r := range m.Runs {
		run := s.run[r]
		for _, journal := range run.journal {
			if journal.phase.isUnfinished() {
				return false
			}
		}
		answered = answered || m.isWhole(run) || m.isPartial(run)
		for _, artifact := range run.artifact {
			visible = visible || artifact.has(isVisible)
		}
	}
	free := !visible
	for _, mark := range s.mark {
		free = free && mark.now == 0
	}
	return answered || free
}

// waitsForPerson: something is lost, and nobody has given a word on it yet.
func (m KeyModel) waitsForPerson(s KeyState) bool {
	for r := range m.Runs {
		run := s.run[r]
		if !s.decided(r) {
			continue
		}
		lost := !m.all(run, func(sink int) bool { return run.artifact[sink] != 0 })
		word := run.manifest[0].now != manifestNone || run.manifest[1].now != manifestNone
		for _, journal := range run.journal {
			word = word || journal.resolved != 0
		}
		if lost && !word {
			return true
		}
	}
	return false
}

// answer is the exit of a process that knows how the key's run ended.
func (x *keySteps) answer(result uint8) {
	switch {
	case result == manifestDone:
		x.exit(x.s, 0, say("P%d exit 0, this key is committed", x.who()))
	case x.m.keeps(PartialAnswersFour):
		x.exit(x.s, 4, say("P%d exit 4, the run of this key ended partial", x.who()))
	default:
		x.exit(x.s, 0, say("P%d exit 0, this key was committed before (partial)", x.who()))
	}
}

// exit is the end of a process, with what its code claims.
func (x *keySteps) exit(n KeyState, code int, label Label) {
	n.proc[x.i] = keyProcess{}
	edge := Edge[KeyState]{To: n, Label: label}
	switch {
	case code == 0:
		edge.Violation = x.m.exitZero(n, x.p.dir)
	case code == 4 && n.deletions == 0 && !n.person:
		edge.Violation = NeedlessPerson
	}
	x.edges = append(x.edges, edge)
}

func (m KeyModel) exitZero(n KeyState, dir uint8) string {
	whole := false
	for _, run := range n.run {
		whole = whole || m.isWhole(run)
	}
	if !whole {
		return KeyNotWhole
	}
	for r := range n.run {
		if n.run[r].journal[dir].phase.isUnfinished() && !n.isHeld(r, dir) {
			return OthersOutstanding
		}
	}
	return ""
}
