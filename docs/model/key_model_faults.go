package main

// faults is what happens to KeyModel from outside. The destination is a file system of the same machine: power loss
// ends every process.
func (x *keySteps) faults() {
	for i := range x.m.Procs {
		if x.s.proc[i].command != keyIdle {
			n := x.s
			n.proc[i] = keyProcess{}
			x.fault(n, say("KILL P%d", uint8(i+1)))
		}
	}
	x.powerLoss()
	x.wipe()
	if x.s.putBacks < x.m.PutBacks {
		x.putBack()
	}
	if x.s.deletions < x.m.Deletions {
		x.deleteStaged()
	}
}

func (x *keySteps) fault(n KeyState, label Label) {
	x.edges = append(x.edges, Edge[KeyState]{To: n, Label: label, Fault: true})
}

// powerLoss lets every name that is not synced alone keep its new content or fall back to the old one.
func (x *keySteps) powerLoss() {
	start := x.s
	start.proc = [maxProcs]keyProcess{}
	outcomes := []KeyState{start}
	for k := range x.m.Sinks {
		outcomes = splitName(outcomes, x.s.mark[k], func(s *KeyState) *keyName { return &s.mark[k] })
		for r := range x.m.Runs {
			outcomes = splitName(outcomes, x.s.run[r].manifest[k],
				func(s *KeyState) *keyName { return &s.run[r].manifest[k] })
			artifact := x.s.run[r].artifact[k]
			if artifact.has(isVisible) && !artifact.has(isDurable) {
				outcomes = splitArtifact(outcomes, r, k)
			}
		}
	}
	for _, n := range outcomes {
		if n != x.s {
			x.fault(n, say("POWER LOSS"))
		}
	}
}

func splitName(outcomes []KeyState, name keyName, nameOf func(*KeyState) *keyName) []KeyState {
	if name.now == name.disk {
		return outcomes
	}
	doubled := make([]KeyState, 0, 2*len(outcomes))
	for _, s := range outcomes {
		*nameOf(&s) = keyName{name.now, name.now}
		doubled = append(doubled, s)
		*nameOf(&s) = keyName{name.disk, name.disk}
		doubled = append(doubled, s)
	}
	return doubled
}

func splitArtifact(outcomes []KeyState, run, sink int) []KeyState {
	doubled := make([]KeyState, 0, 2*len(outcomes))
	for _, s := range outcomes {
		s.run[run].artifact[sink] |= isDurable
		doubled = append(doubled, s)
		s.run[run].artifact[sink] &^= isVisible | isDurable
		doubled = append(doubled, s)
	}
	return doubled
}

// wipe loses state directory A. A living process keeps its open files, which no path names any more.
func (x *keySteps) wipe() {
	if x.s.wiped >= x.m.Wipes || !x.m.Keyed && x.s.decidesIn(0) {
		return
	}
	n, any := x.s, false
	for r := range n.run {
		any = any || n.run[r].journal[0].phase != phaseNone
		n.run[r].journal[0] = keyJournal{}
	}
	if !any {
		return
	}
	n.wiped++
	for i := range n.proc {
		p := &n.proc[i]
		if p.command != keyIdle && p.dir == 0 {
			p.ownGone = p.own != 0
			p.setGone = p.settling != 0
		}
	}
	x.fault(n, say("STATE A IS LOST"))
}

// decidesIn: a run in that state directory is decided, or its process has passed the check that precedes the decision.
// Between that check and the append lies a window that nothing local can close; without a mark the label names it.
func (s *KeyState) decidesIn(dir int) bool {
	for _, run := range s.run {
		switch run.journal[dir].phase {
		case phaseCommit, phaseDone, phasePartial:
			return true
		}
	}
	for _, p := range s.proc {
		if p.command != keyIdle && int(p.dir) == dir && p.pc == keyDecide {
			return true
		}
	}
	return false
}

// deleteStaged: a third party removes what is staged and not yet durably published.
func (x *keySteps) deleteStaged() {
	for r := range x.m.Runs {
		for k := range x.m.Sinks {
			artifact := x.s.run[r].artifact[k]
			if !artifact.has(isStaged) || artifact.has(isDurable) {
				continue
			}
			n := x.s
			n.run[r].artifact[k] &^= isStaged
			n.deletions++
			n.run[r].early = n.run[r].early || !x.s.decided(r) && !x.s.isInspected(r)
			x.fault(n, say("DELETE what is staged of run %d at sink %d (third party)", uint8(r+1), uint8(k)))
		}
	}
}

// isInspected: a process has had its last look at the run and is about to decide it.
func (s *KeyState) isInspected(run int) bool {
	for _, p := range s.proc {
		if p.command == keyIdle || int(p.own) != run+1 {
			continue
		}
		switch p.pc {
		case keyMarkLink, keyMarkWrite, keyMarkSync, keyCheckPaths, keyDecide:
			return true
		}
	}
	return false
}

// before says which phase a journal tells without its last record.
var before = [...]keyPhase{
	phasePrepared: phaseBegun,
	phaseCommit:   phasePrepared,
	phaseAbort:    phasePrepared,
	phaseDone:     phaseCommit,
	phaseAborted:  phaseAbort,
	phasePartial:  phaseCommit,
}

// putBack puts the journal of a run that nobody holds back to what it was one record earlier.
func (x *keySteps) putBack() {
	for r := range x.m.Runs {
		for dir := range x.m.Dirs {
			n := x.s
			journal := &n.run[r].journal[dir]
			if n.isHeld(r, uint8(dir)) || before[journal.phase] == phaseNone {
				continue
			}
			n.putBacks++
			if journal.phase == phaseCommit && journal.resolved != 0 {
				journal.resolved = 0
			} else {
				journal.phase = before[journal.phase]
			}
			x.fault(n, say("JOURNAL of run %d in state %c PUT BACK to one record earlier", uint8(r+1), 'A'+uint8(dir)))
		}
	}
}
