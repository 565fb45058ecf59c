package main

// This file is what happens to RunModel from outside: crashes and third parties.

// crashes: kill, power loss, and the eviction of a page whose fsync failed.
func (x *runSteps) crashes() {
	if x.s.pc != runIdle {
		x.fault(stopped(x.s), say("KILL"))
	}
	x.powerLoss()
	if x.s.lied && x.s.pc == runIdle {
		n := x.s
		n.tail, n.lied = record{}, false
		x.fault(n, say("EVICT the page of the failed fsync: its record is gone"))
		n.torn = tornShort
		x.fault(n, say("EVICT the page of the failed fsync: zeros where its record was"))
	}
}

func (x *runSteps) thirdParties() {
	if x.m.SourceChanges && !x.s.sourceChanged {
		n := x.s
		n.sourceChanged = true
		x.fault(n, say("SOURCE CHANGES"))
	}
	if x.s.deletions < x.m.Deletions && x.s.disk.ended == noRecord {
		x.deleteStaged()
	}
	if x.s.pc == runIdle && x.s.putBacks < x.m.PutBacks && x.s.tail.kind == noRecord && x.s.hasBefore {
		n := x.s
		n.disk, n.before, n.hasBefore = n.before, runFold{}, false
		n.putBacks++
		x.fault(n, say("JOURNAL PUT BACK to one record earlier"))
	}
}

// deleteStaged: a third party removes a staged file that was promised and is not published.
func (x *runSteps) deleteStaged() {
	for handle := range maxHandles {
		unit, sink := handle/maxSinks, handle%maxSinks
		if unit >= x.m.Units || sink >= x.m.Sinks || x.s.disk.kept[unit] == 0 {
			continue
		}
		i := artifactOf(unit, int(x.s.disk.kept[unit])-1, sink)
		if !x.s.staged[i].isPresent() || x.s.final[i].isPresent() {
			continue
		}
		n := x.s
		n.staged[i] = absent
		n.deletions++
		n.deletedEarly = n.disk.decision == noRecord && n.tail.kind != recCommit
		x.fault(n, say("DELETE what is staged of handle %d (third party)", uint8(handle)))
	}
}

// powerLoss lets every open entry alone take one of its two values, and the journal's tail survive, vanish or be torn.
func (x *runSteps) powerLoss() {
	outcomes := []RunState{stopped(x.s)}
	for i := range x.s.staged {
		if x.s.staged[i].isOpen() {
			outcomes = split(outcomes, func(s *RunState) *entry { return &s.staged[i] })
		}
		if x.s.final[i].isOpen() {
			outcomes = split(outcomes, func(s *RunState) *entry { return &s.final[i] })
		}
	}
	for i := range x.s.manifest {
		if x.s.manifest[i].isOpen() {
			outcomes = split(outcomes, func(s *RunState) *entry { return &s.manifest[i] })
		}
	}
	for _, n := range outcomes {
		x.powerLossOfTail(n)
	}
}

// split doubles the outcomes: one with the entry absent, one with it there.
func split(outcomes []RunState, entryOf func(*RunState) *entry) []RunState {
	doubled := make([]RunState, 0, 2*len(outcomes))
	for _, s := range outcomes {
		*entryOf(&s) = absent
		doubled = append(doubled, s)
		*entryOf(&s) = standing
		doubled = append(doubled, s)
	}
	return doubled
}

func (x *runSteps) powerLossOfTail(n RunState) {
	if n.tail.kind == noRecord {
		if n != x.s {
			x.fault(n, say("POWER LOSS"))
		}
		return
	}
	if !n.lied {
		whole := n
		x.m.land(&whole)
		x.fault(whole, say("POWER LOSS, the record survives"))
	}
	n.tail, n.lied = record{}, false
	x.fault(n, say("POWER LOSS, the record is gone"))
	n.torn = tornShort
	x.fault(n, say("POWER LOSS, the record is cut short"))
	n.torn = tornWrongChecksum
	x.fault(n, say("POWER LOSS, the record has its LF but lost its first page"))
}
