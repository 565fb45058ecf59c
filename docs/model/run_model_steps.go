package main

// This file is the process of RunModel, up to the decision. What it does afterwards is in run_model_settle.go.

// open takes the lock and copies the valid prefix of the journal to a new file that is synced and renamed over the old
// one: whatever was visible, even if an earlier fsync lied about it, is durable before it is acted on.
func (x *runSteps) open() {
	if x.s.torn == tornWrongChecksum && !x.m.keeps(TornLineIsCut) {
		x.exit(4, say("exit 4, last line has a wrong checksum"))
		return
	}
	n := x.s
	n.torn = notTorn
	if n.lied && !x.m.keeps(CopyOnOpening) {
		n.trusted = true // fsync of the same file answers nil this time
	} else {
		x.m.land(&n)
	}
	x.failed(say("copy of the journal FAILS, exit 3"))
	opened := say("lock the run; copy the journal, fsync, rename, sync its directory")
	fold := n.view()
	switch {
	case !fold.begun:
		x.begin(n)
	case fold.ended != noRecord:
		x.goTo(n, runExit, 0, opened)
	case n.command == cmdResolve:
		x.resolve(n)
	case fold.decision == recAbort:
		x.goTo(n, runAbortUnlink, 0, opened)
	case fold.decision == recCommit && n.command == cmdAbandon:
		x.step(stopped(n), say("abandon refused: decided; exit 3"))
	case fold.decision == recCommit:
		x.goTo(n, runPublish, 0, opened)
	case n.command == cmdAbandon:
		x.goTo(n, runAbortLook, 0, opened)
	default:
		x.goTo(n, runInspect, 0, opened)
	}
}

// begin: a folder without a whole begun is nothing, so the run begins here.
func (x *runSteps) begin(n RunState) {
	if !x.m.keeps(StageAfterBegun) {
		x.append(n, record{kind: recBegun}, runWork, 0, say("append begun, and go on before its fsync"))
		return
	}
	x.append(n, record{kind: recBegun}, runBegunSync, 0, say("create the run's folder; append begun"))
}

// resolve records a person's word that a handle is lost, if stage and destination both show nothing.
func (x *runSteps) resolve(n RunState) {
	for handle := range maxHandles {
		if x.m.isOpen(n, handle) && !n.hasStaged(handle) && !n.hasFinal(handle) {
			x.append(n, record{recResolved, uint8(handle)}, runResolvedSync, 0,
				say("append resolved lost (handle %d)", uint8(handle)))
		}
	}
	x.step(stopped(n), say("resolve: nothing to resolve; exit 64"))
}

// inspect looks at the kept units one after the other. A unit that is gone is dropped and read again; one that is
// published says that the journal is older than the world.
func (x *runSteps) inspect() {
	if covered, published := x.m.coverage(x.s); published && x.m.keeps(PublishedIsDecided) {
		if !covered {
			x.exit(4, say("exit 4, published artifacts that this journal does not cover"))
			return
		}
		n := x.s
		n.deletedEarly = false
		x.append(n, record{kind: recCommit}, runDecidedSync, 0, say("ours is published: append decided commit again"))
		return
	}
	unit := int(x.s.at)
	if unit == x.m.Units {
		x.goTo(x.s, runWork, 0, say("every kept handle is inspected"))
		return
	}
	if x.s.view().kept[unit] != 0 && x.m.isGone(x.s, unit) {
		n := x.s
		n.deletedEarly = false
		x.append(n, record{recDropped, uint8(unit)}, runDropSync, uint8(unit),
			say("inspect unit %d: gone; append dropped", uint8(unit)))
		return
	}
	x.goTo(x.s, runInspect, x.s.at+1, say("inspect unit %d: nothing to do", uint8(unit)))
}

// work stages a unit that is not kept, or decides.
func (x *runSteps) work() {
	if x.s.sourceChanged {
		x.exit(4, say("exit 4, the source has changed"))
		return
	}
	fold := x.s.view()
	complete := true
	for unit := range x.m.Units {
		if fold.kept[unit] != 0 {
			continue
		}
		complete = false
		if fold.prepared[unit] < maxVersions {
			x.read(unit, int(fold.prepared[unit]))
		}
	}
	if complete {
		x.decide()
	}
}

func (x *runSteps) read(unit, version int) {
	n := x.s
	for sink := range x.m.Sinks {
		i := artifactOf(unit, version, sink)
		n.orphan = n.orphan || n.staged[i].isPresent() // an attempt that died here; the new one has a name of its own
		n.staged[i] = absent.create()
	}
	x.goTo(n, runStaged, uint8(unit), say("read unit %d, create its staged files", uint8(unit)))
}

// decide has a last look at every kept handle, those that this process staged itself included.
func (x *runSteps) decide() {
	n := x.s
	if x.m.keeps(LastLook) {
		for unit := range x.m.Units {
			if x.m.isGone(x.s, unit) {
				x.goTo(n, runInspect, 0, say("last look: unit %d is gone", uint8(unit)))
				return
			}
		}
		n.deletedEarly = false
	}
	pc := runDecidedSync
	if !x.m.keeps(PublishAfterDecided) {
		pc = runPublish
	}
	x.append(n, record{kind: recCommit}, pc, 0, say("append decided commit"))
	if pc == runPublish {
		// The mutation acts on what it has only just appended.
		x.edges[len(x.edges)-1].To.trusted = true
	}
}

// stage makes one unit's staged files durable and then journals their handles.
func (x *runSteps) stage() {
	unit := x.s.at
	switch x.s.pc {
	case runStaged:
		if !x.m.keeps(StageSyncedBeforePrepared) {
			x.goTo(x.s, runStageDurable, unit, say("(no fsync of what is staged)"))
			return
		}
		n := x.s
		version := int(n.view().prepared[unit])
		for sink := range x.m.Sinks {
			i := artifactOf(int(unit), version, sink)
			n.staged[i] = n.staged[i].sync()
		}
		x.goTo(n, runStageDurable, unit, say("fsync the staged files and their directories"))
		x.failed(say("fsync of a staged file FAILS, exit 3"))
	case runStageDurable:
		x.append(x.s, record{recPrepared, unit}, runPreparedSync, unit, say("append prepared (unit %d)", unit))
	case runPreparedSync:
		x.syncTail(runWork, 0)
	}
}

// coverage says whether the journal keeps every unit, and whether any artifact that it keeps is published.
func (m RunModel) coverage(s RunState) (covered, published bool) {
	covered = true
	fold := s.view()
	for unit := range m.Units {
		covered = covered && fold.kept[unit] != 0
		for sink := range m.Sinks {
			published = published || fold.kept[unit] != 0 && s.hasFinal(handleOf(unit, sink))
		}
	}
	return covered, published
}

// isGone: at some sink both stage and destination answer, both without the artifact.
func (m RunModel) isGone(s RunState, unit int) bool {
	for sink := range m.Sinks {
		handle := handleOf(unit, sink)
		if !s.hasStaged(handle) && (!s.hasFinal(handle) || !m.keeps(DropLooksAtDestination)) {
			return true
		}
	}
	return false
}

// isOpen: the handle exists and is neither finished nor resolved.
func (m RunModel) isOpen(s RunState, handle int) bool {
	unit, sink := handle/maxSinks, handle%maxSinks
	fold := s.view()
	return unit < m.Units && sink < m.Sinks && fold.kept[unit] != 0 && (fold.finished|fold.resolved)&(1<<handle) == 0
}

// kept is where the entries of the kept version of a handle are.
func (s *RunState) kept(handle int) int {
	unit, sink := handle/maxSinks, handle%maxSinks
	return artifactOf(unit, int(s.view().kept[unit])-1, sink)
}

func (s *RunState) hasStaged(handle int) bool { return s.staged[s.kept(handle)].isPresent() }
func (s *RunState) hasFinal(handle int) bool  { return s.final[s.kept(handle)].isPresent() }
