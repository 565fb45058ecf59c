package main

// This file is a process of KeyModel up to the decision: choosing, looking for the mark, making it, adopting another's.

// choose is one hold of the job's lock: fold the journals, and take a run's lock or begin a run.
func (x *keySteps) choose() {
	if x.p.pc == keyLook {
		x.look()
		return
	}
	stale := x.p.pc == keyBegin && !x.m.keeps(ChooseInOneHold)
	if !stale && x.carryOn() {
		return
	}
	if x.p.pc == keyBegin {
		x.begin()
		return
	}
	pc := keyLook
	if !x.m.Keyed {
		pc = keyBegin
	}
	x.goTo(x.s, pc, 0, say("P%d folds the journals: nothing to carry on", x.who()))
}

// carryOn takes up a dead run of the job or, when there is none, answers from the journals. It reports false when
// neither is possible: then a run is to be begun.
func (x *keySteps) carryOn() bool {
	dead, held := false, false
	answer := x.p.result
	for run := range x.m.Runs {
		switch phase := x.s.run[run].journal[x.p.dir].phase; {
		case phase.isUnfinished() && x.s.isHeld(run, x.p.dir):
			held = true
		case phase.isUnfinished() && (x.p.result == manifestNone || x.m.keeps(LookAtJournalsLast)):
			dead = true
			x.enter(uint8(run + 1))
		case phase == phaseDone && answer == manifestNone && !held:
			answer = manifestDone
		case phase == phasePartial && answer == manifestNone && !held:
			answer = manifestPartial
		}
	}
	switch {
	case dead:
	case answer != manifestNone && (x.p.result != manifestNone || !held):
		x.answer(answer)
	case held:
		x.exit(x.s, 5, say("P%d exit 5, another process holds the run", x.who()))
	default:
		return false
	}
	return true
}

// enter takes the lock of a dead run and goes on by its phase.
func (x *keySteps) enter(run uint8) {
	p := keyProcess{command: x.p.command, dir: x.p.dir, result: x.p.result}
	journal := x.s.run[run-1].journal[p.dir]
	switch journal.phase {
	case phaseCommit:
		p.settling, p.resolved, p.pc = run, journal.resolved, keyStage
	case phaseAbort:
		p.own, p.pc = run, keyAborted
	default:
		p.own, p.pc = run, keyLookOwn
	}
	x.move(x.s, p, say("P%d locks run %d", x.who(), run))
}

func (x *keySteps) begin() {
	for run := range x.m.Runs {
		if x.s.run[run].used {
			continue
		}
		n, p := x.s, x.p
		n.run[run].used = true
		n.run[run].journal[p.dir].phase = phaseBegun
		p.own, p.pc = uint8(run+1), keyRead
		x.move(n, p, say("P%d begins run %d", x.who(), p.own))
		return
	}
	x.exit(x.s, 1, say("P%d exit 1: the model's bound, no further run", x.who()))
}

// look looks for a mark before anything of its own exists.
func (x *keySteps) look() {
	mark := x.s.mark[x.m.markSink(x.p.dir)].now
	if mark == 0 {
		x.goTo(x.s, keyBegin, 0, say("P%d finds no mark", x.who()))
		return
	}
	x.find(mark)
}

// find is the sight of a mark that is not of one's own run.
func (x *keySteps) find(mark uint8) {
	if mark == markEmpty {
		x.exit(x.s, 3, say("P%d exit 3, an empty mark", x.who()))
		return
	}
	p := x.p
	p.found, p.pc, p.at = mark, keyFound, 0
	x.move(x.s, p, say("P%d finds the mark of run %d", x.who(), mark))
}

// decide takes an undecided run, locked, to its decision.
func (x *keySteps) decide() {
	n := x.s
	switch x.p.pc {
	case keyLookOwn:
		x.lookOwn()
	case keyRead:
		x.read()
	case keyInspect:
		x.inspectKept()
	case keyMarkLink:
		x.linkMark()
	case keyMarkWrite:
		n.mark[x.m.markSink(x.p.dir)].now = x.p.own
		x.goTo(n, keyMarkSync, 0, say("P%d writes the mark", x.who()))
	case keyMarkSync:
		mark := &n.mark[x.m.markSink(x.p.dir)]
		mark.disk = mark.now
		x.afterMark(n, say("P%d syncs the mark's directory", x.who()))
	case keyCheckPaths:
		if x.p.ownGone && x.m.keeps(PathsAreChecked) {
			x.exit(x.s, 3, say("P%d exit 3, its lock and journal are no longer what the paths name", x.who()))
			return
		}
		x.goTo(n, keyDecide, 0, say("P%d checks the paths of lock and journal", x.who()))
	case keyDecide:
		x.setPhase(&n, x.p.own, x.p.ownGone, phaseCommit)
		label := say("P%d run %d: appends decided commit", x.who(), x.p.own)
		if x.m.Keyed && !x.m.keeps(MarkBeforeDecided) {
			x.goTo(n, keyMarkLink, 0, label)
			return
		}
		x.settleOwn(n, label)
	}
}

// read stages every unit that is not kept and journals it: one step here, which RunModel has in full.
func (x *keySteps) read() {
	n, run := x.s, int(x.p.own-1)
	n.run[run].early = false // whatever was gone is staged again
	for sink := range x.m.Sinks {
		n.run[run].artifact[sink] = isStaged
	}
	x.setPhase(&n, x.p.own, x.p.ownGone, phasePrepared)
	x.goTo(n, x.afterRead(), 0, say("P%d run %d: everything is staged and journaled", x.who(), x.p.own))
	if x.s.decided(run) {
		x.edges[len(x.edges)-1].Violation = ReadAgain
	}
}

// lookOwn looks for a mark before anything is read. If the run's own is there, the run is decided as the mark's records
// say: the journal here may be shorter, if somebody put it back.
func (x *keySteps) lookOwn() {
	mark := x.s.mark[x.m.markSink(x.p.dir)].now
	phase := x.s.run[x.p.own-1].journal[x.p.dir].phase
	switch {
	case mark == x.p.own && phase == phaseBegun && !x.m.keeps(OwnMarkIsTaken):
		x.goTo(x.s, keyRead, 0, say("P%d finds the mark of its own run, and units that its journal does not have", x.who()))
	case mark == x.p.own:
		x.goTo(x.s, keyMarkSync, 0, say("P%d finds the mark of its own run: that is the decision", x.who()))
	case mark != 0:
		x.find(mark)
	case phase == phaseBegun:
		x.goTo(x.s, keyRead, 0, say("P%d finds no mark", x.who()))
	default:
		x.goTo(x.s, x.afterRead(), 0, say("P%d finds no mark, and everything kept", x.who()))
	}
}

func (x *keySteps) afterRead() keyPC {
	if x.m.keeps(InspectBeforeMark) {
		return keyInspect
	}
	return x.afterInspect()
}

func (x *keySteps) afterInspect() keyPC {
	if !x.m.Keyed || !x.m.keeps(MarkBeforeDecided) {
		return keyCheckPaths
	}
	return keyMarkLink
}

// inspectKept is the last look at every kept handle before the mark, which is the decision. What is gone is read again.
func (x *keySteps) inspectKept() {
	run := x.s.run[x.p.own-1]
	if x.m.all(run, func(sink int) bool { return run.artifact[sink] != 0 }) {
		x.goTo(x.s, x.afterInspect(), 0, say("P%d run %d: every kept handle is inspected", x.who(), x.p.own))
		return
	}
	x.goTo(x.s, keyRead, 0, say("P%d run %d: a stage is gone; appends dropped", x.who(), x.p.own))
}

// linkMark puts the mark under its name, whole, if there is none yet.
func (x *keySteps) linkMark() {
	n, k := x.s, x.m.markSink(x.p.dir)
	mark := n.mark[k].now
	replaces := mark != 0 && mark != markEmpty && !x.m.keeps(MarkLinkedIfAbsent)
	switch {
	case mark == x.p.own:
		x.goTo(n, keyMarkSync, 0, say("P%d finds its own mark", x.who()))
	case mark == 0 && !x.m.keeps(MarkIsAtomic):
		n.mark[k].now = markEmpty
		x.goTo(n, keyMarkWrite, 0, say("P%d creates the mark, still empty", x.who()))
	case mark == 0 || replaces:
		n.mark[k].now = x.p.own
		label := say("P%d puts up the mark of run %d at sink %d", x.who(), x.p.own, k)
		if !x.m.keeps(MarkIsDurable) {
			x.afterMark(n, label)
			return
		}
		x.goTo(n, keyMarkSync, 0, label)
	default:
		x.find(mark)
	}
}

func (x *keySteps) afterMark(n KeyState, label Label) {
	if !x.m.keeps(MarkBeforeDecided) {
		x.settleOwn(n, label)
		return
	}
	x.goTo(n, keyCheckPaths, 0, label)
}

// settleOwn turns the run in hand into the one that is settled.
func (x *keySteps) settleOwn(n KeyState, label Label) {
	p := x.p
	p.settling, p.setGone, p.own, p.ownGone = p.own, p.ownGone, 0, false
	p.pc, p.at = keyStage, 0
	x.move(n, p, label)
}

// adopt answers from another run's manifests if they are all there, and finishes that run from its mark otherwise.
func (x *keySteps) adopt() {
	n, found := x.s, x.p.found
	mark := &n.mark[x.m.markSink(x.p.dir)]
	switch x.p.pc {
	case keyFound:
		switch {
		case x.manifestsThere(found):
			x.goTo(n, keyFoundSync, 0, say("P%d finds the manifests of run %d", x.who(), found))
		case x.m.keeps(FinderFinishes):
			x.goTo(n, keyAdoptSync, 0, say("P%d finds that run %d is not finished", x.who(), found))
		default:
			x.exit(n, 3, say("P%d exit 3, it waits for the owner of run %d", x.who(), found))
		}
	case keyFoundSync:
		mark.disk = mark.now
		result := manifestDone
		for sink := range n.run[found-1].manifest {
			manifest := &n.run[found-1].manifest[sink]
			if x.m.keeps(FoundManifestSynced) {
				manifest.disk = manifest.now
			}
			if saysPartial(manifest.now) {
				result = manifestPartial
			}
		}
		x.conclude(n, result, say("P%d syncs mark and manifests of run %d", x.who(), found))
	case keyAdoptSync:
		if x.m.keeps(FinderSyncsMark) {
			mark.disk = mark.now
		}
		x.goTo(n, keyAdopt, 0, say("P%d syncs the mark of run %d", x.who(), found))
	case keyAdopt:
		x.makeJournal()
	}
}

func (x *keySteps) manifestsThere(found uint8) bool {
	manifests := x.s.run[found-1].manifest
	if !x.m.keeps(EveryManifestChecked) {
		return manifests[x.m.sinkAt(x.p.dir, 0)].now != manifestNone
	}
	return x.m.all(x.s.run[found-1], func(sink int) bool { return manifests[sink].now != manifestNone })
}

// makeJournal makes a journal from the mark, under the job's lock, or takes the one that is here.
func (x *keySteps) makeJournal() {
	n, found := x.s, x.p.found
	journal := n.run[found-1].journal[x.p.dir]
	switch {
	case journal.phase.isUnfinished() && n.isHeld(int(found-1), x.p.dir):
		x.exit(n, 5, say("P%d exit 5, another process holds run %d", x.who(), found))
	case journal.phase == phaseDone:
		x.conclude(n, manifestDone, say("P%d: run %d has ended here", x.who(), found))
	case journal.phase == phasePartial:
		x.conclude(n, manifestPartial, say("P%d: run %d has ended here, partial", x.who(), found))
	case journal.phase == phaseAbort || journal.phase == phaseAborted:
		x.exit(n, 4, say("P%d exit 4, run %d is aborted here and has a mark", x.who(), found))
	default:
		x.setPhase(&n, found, false, phaseCommit)
		p := x.p
		p.found, p.settling, p.setGone, p.resolved = 0, found, false, journal.resolved
		p.pc, p.at = keyStage, 0
		x.move(n, p, say("P%d makes a journal of run %d from its mark and locks it", x.who(), found))
	}
}
