package main

// This file is a process of KeyModel after the decision: publish, manifests, end, abort, resolve.

// publish takes the artifacts of the run being settled to their final names, one sink after the other. The stage is
// looked at before the destination: another settler links before it unlinks, so what has left the one is in the other.
func (x *keySteps) publish() {
	if x.p.pc == keyStage && int(x.p.at) == x.m.Sinks {
		x.handlesDone()
		return
	}
	n, run, sink := x.s, x.p.settling, x.m.sinkAt(x.p.dir, x.p.at)
	artifact := &n.run[run-1].artifact[sink]
	switch x.p.pc {
	case keyStage:
		if x.p.resolved&(1<<sink) != 0 {
			x.missing(sink, say("P%d: sink %d is resolved as lost", x.who(), sink))
			return
		}
		x.inspectFirst(*artifact, sink)
	case keyDestination:
		x.inspectSecond(*artifact, sink)
	case keyLink:
		switch {
		case artifact.has(isVisible):
			x.foundPublished(sink)
		case !artifact.has(isStaged):
			x.goTo(n, keyStage, x.p.at, say("P%d: the staged name at sink %d has gone, looks again", x.who(), sink))
		default:
			*artifact |= isVisible
			x.goTo(n, keySync, x.p.at, say("P%d links run %d to its final name at sink %d", x.who(), run, sink))
		}
	case keySync:
		*artifact |= isDurable
		x.goTo(n, keyUnlink, x.p.at, say("P%d syncs the destination of sink %d", x.who(), sink))
	case keyUnlink:
		*artifact &^= isStaged
		x.goTo(n, keyStage, x.p.at+1, say("P%d unlinks the staged name at sink %d; finished", x.who(), sink))
	}
}

func (x *keySteps) inspectFirst(artifact keyArtifact, sink uint8) {
	if !x.m.keeps(StageBeforeDestination) {
		if artifact.has(isVisible) {
			x.foundPublished(sink)
			return
		}
		x.goTo(x.s, keyDestination, x.p.at, say("P%d sees nothing at the destination of sink %d", x.who(), sink))
		return
	}
	if artifact.has(isStaged) {
		x.goTo(x.s, keyLink, x.p.at, say("P%d sees run %d staged at sink %d", x.who(), x.p.settling, sink))
		return
	}
	x.goTo(x.s, keyDestination, x.p.at, say("P%d sees nothing staged at sink %d", x.who(), sink))
}

func (x *keySteps) inspectSecond(artifact keyArtifact, sink uint8) {
	if !x.m.keeps(StageBeforeDestination) {
		if artifact.has(isStaged) {
			x.goTo(x.s, keyLink, x.p.at, say("P%d sees run %d staged at sink %d", x.who(), x.p.settling, sink))
			return
		}
	} else if artifact.has(isVisible) {
		x.foundPublished(sink)
		return
	}
	x.missing(sink, say("P%d: run %d is neither staged nor published at sink %d", x.who(), x.p.settling, sink))
}

// foundPublished goes on as the path that puts it there does: sync, then unlink.
func (x *keySteps) foundPublished(sink uint8) {
	pc := keySync
	if !x.m.keeps(FoundArtifactSynced) {
		pc = keyUnlink
	}
	x.goTo(x.s, pc, x.p.at, say("P%d finds run %d published at sink %d", x.who(), x.p.settling, sink))
}

func (x *keySteps) missing(sink uint8, label Label) {
	p := x.p
	p.lost |= 1 << sink
	p.pc, p.at = keyStage, p.at+1
	x.move(x.s, p, label)
}

// handlesDone fixes the outcome of the run: done, partial by a person's word, or what a manifest of this run that is
// already at a destination says.
func (x *keySteps) handlesDone() {
	p := x.p
	p.pc, p.at = keyManifest, 0
	switch open := p.lost &^ p.resolved; {
	case p.lost == 0:
		p.outcome = manifestDone
		if !x.m.keeps(ManifestsOfTheMark) && p.dir == 1 {
			p.outcome = manifestDoneB
		}
	case open == 0:
		p.outcome = manifestPartial + p.dir
	default:
		p.outcome = x.outcomeThere()
	}
	if p.outcome == manifestNone {
		x.exit(x.s, 4, say("P%d exit 4, LOST", x.who()))
		if x.s.run[x.p.settling-1].early {
			x.edges[len(x.edges)-1].Violation = LostThoughInTime
		}
		return
	}
	p.resolved = 0
	if x.m.keeps(OneOutcomeARun) {
		p.lost = 0
	}
	x.move(x.s, p, say("P%d: every handle of run %d is accounted for", x.who(), p.settling))
}

// outcomeThere is the outcome that a manifest of the run at any of the sinks tells.
func (x *keySteps) outcomeThere() uint8 {
	if !x.m.keeps(FoundOutcomeTaken) {
		return manifestNone
	}
	outcome := manifestNone
	for _, manifest := range x.s.run[x.p.settling-1].manifest {
		if manifest.now != manifestNone {
			outcome = manifest.now
		}
	}
	return outcome
}

// publishManifests puts a manifest at every sink and ends the run.
func (x *keySteps) publishManifests() {
	n, run := x.s, x.p.settling
	sink := x.m.sinkAt(x.p.dir, min(x.p.at, uint8(x.m.Sinks-1)))
	switch {
	case x.p.pc == keyManifestSync:
		manifest := &n.run[run-1].manifest[sink]
		manifest.disk = manifest.now
		x.goTo(n, keyManifest, x.p.at+1, say("P%d syncs the manifest at sink %d", x.who(), sink))
	case x.p.pc == keyManifest && int(x.p.at) < x.m.Sinks:
		x.linkManifest(sink)
	default:
		result, phase := manifestDone, phaseDone
		if saysPartial(x.p.outcome) {
			result, phase = manifestPartial, phasePartial
		}
		x.setPhase(&n, run, x.p.setGone, phase)
		x.conclude(n, result, say("P%d run %d: appends ended", x.who(), run))
	}
}

// linkManifest never replaces a manifest of this run: it takes its outcome.
func (x *keySteps) linkManifest(sink uint8) {
	n, p := x.s, x.p
	manifest := &n.run[p.settling-1].manifest[sink]
	mine := p.outcome
	if !x.m.keeps(OneOutcomeARun) && p.lost&(1<<sink) == 0 {
		mine = manifestDone
	}
	p.pc = keyManifestSync
	switch {
	case manifest.now == manifestNone || manifest.now == mine:
		manifest.now = mine
		x.move(n, p, say("P%d links the manifest of run %d at sink %d, or finds it", x.who(), p.settling, sink))
	case x.m.keeps(ManifestNeverReplaced):
		if saysPartial(manifest.now) != saysPartial(p.outcome) {
			p.outcome = manifest.now
		}
		x.move(n, p, say("P%d finds another manifest of run %d at sink %d", x.who(), p.settling, sink))
	default:
		manifest.now = mine
		x.move(n, p, say("P%d replaces the manifest of run %d at sink %d", x.who(), p.settling, sink))
		x.edges[len(x.edges)-1].Violation = ManifestReplaced
	}
}

// conclude: the key's run is finished, with this result. A loser now ends its own run, aborted.
func (x *keySteps) conclude(n KeyState, result uint8, label Label) {
	p := keyProcess{command: x.p.command, dir: x.p.dir, own: x.p.own, ownGone: x.p.ownGone, result: result}
	if p.own != 0 {
		p.pc = keyAbort
		if !x.m.keeps(LoserEnds) {
			x.exit(n, 3, say("P%d exit 3, its own run %d stays open", x.who(), p.own))
			return
		}
	}
	x.move(n, p, label)
}

// abort ends an undecided run whose mark does not exist; and it is what resolve does to one handle.
func (x *keySteps) abort() {
	n, own := x.s, x.p.own
	switch x.p.pc {
	case keyAbandonLook:
		if n.mark[x.m.markSink(x.p.dir)].now == own && x.m.keeps(AbandonLooksForMark) {
			x.goTo(n, keyMarkSync, 0, say("P%d: the mark of run %d is there, so it is decided; goes on", x.who(), own))
			return
		}
		x.goTo(n, keyAbort, 0, say("P%d finds no mark of run %d", x.who(), own))
	case keyAbort:
		x.setPhase(&n, own, x.p.ownGone, phaseAbort)
		x.goTo(n, keyAborted, 0, say("P%d run %d: appends decided abort", x.who(), own))
	case keyAborted:
		for sink := range n.run[own-1].artifact {
			n.run[own-1].artifact[sink] &^= isStaged
		}
		x.setPhase(&n, own, x.p.ownGone, phaseAborted)
		p := keyProcess{command: x.p.command, dir: x.p.dir, result: x.p.result}
		if p.command == keyAbandon && p.result == manifestNone {
			x.exit(n, 1, say("P%d unlinks what run %d staged; ended aborted; exit 1", x.who(), own))
			return
		}
		x.move(n, p, say("P%d unlinks what run %d staged; ended aborted", x.who(), own))
	case keyResolveAbort, keyResolveLook:
		x.resolve()
	}
}

// resolve --as lost aborts first and looks at the destination after that: a publish that the abort was too late for
// is seen, and one that comes later finds nothing to publish.
func (x *keySteps) resolve() {
	n, run, sink := x.s, x.p.settling, x.p.at
	artifact := &n.run[run-1].artifact[sink]
	unlinksFirst := x.m.keeps(AbortUnlinksFirst)
	if x.p.pc == keyResolveAbort {
		n.person = n.person || artifact.has(isStaged)
		*artifact &^= isStaged
		label := say("P%d aborts sink %d: unlinks what is staged, syncs", x.who(), sink)
		if unlinksFirst {
			x.goTo(n, keyResolveLook, sink, label)
			return
		}
		x.resolved(n, sink, label)
		return
	}
	label := say("P%d sees nothing at the destination of sink %d", x.who(), sink)
	switch {
	case artifact.has(isVisible):
		x.goTo(n, keyStage, 0, say("P%d: resolve refused, sink %d shows the artifact", x.who(), sink))
	case unlinksFirst:
		x.resolved(n, sink, label)
	default:
		x.goTo(n, keyResolveAbort, sink, label)
	}
}

func (x *keySteps) resolved(n KeyState, sink uint8, label Label) {
	p := x.p
	p.resolved |= 1 << sink
	if !p.setGone {
		n.run[p.settling-1].journal[p.dir].resolved |= 1 << sink
	}
	p.pc, p.at = keyStage, 0
	x.move(n, p, label)
}
