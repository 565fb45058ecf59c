package main

// This file is the process of RunModel after the decision: publish, manifests, end, abort.

// publish picks any open handle and looks where its artifact is.
func (x *runSteps) publish() {
	left := false
	for handle := range maxHandles {
		if x.m.isOpen(x.s, handle) && x.s.lost&(1<<handle) == 0 {
			left = true
			x.publishOne(handle)
		}
	}
	if left {
		return
	}
	if x.s.lost != 0 {
		x.exitLost()
		return
	}
	x.goTo(x.s, runManifests, 0, say("every handle is finished"))
}

func (x *runSteps) publishOne(handle int) {
	n, h, i := x.s, uint8(handle), x.s.kept(handle)
	final := n.hasFinal(handle) && (n.hasStaged(handle) || x.m.keeps(LossLooksAtDestination))
	switch {
	case final && !x.m.keeps(EvidenceSyncs):
		x.goTo(n, runBothSynced, h, say("inspect handle %d: published (and not synced)", h))
	case final:
		x.goTo(n, runLinked, h, say("inspect handle %d: published", h))
	case n.hasStaged(handle):
		n.final[i] = n.final[i].create()
		x.goTo(n, runLinked, h, say("link handle %d to its final name", h))
	default:
		n.lost |= 1 << handle
		x.goTo(n, runPublish, 0, say("inspect handle %d: neither staged nor published: LOST", h))
	}
}

// finish takes one handle from "there is a link" to its finished record. The order is the point: the destination's
// directory is durable before the staged name goes, so that power loss always leaves one of the two names.
func (x *runSteps) finish() {
	handle := x.s.at
	sink := int(handle) % maxSinks
	switch x.s.pc {
	case runLinked:
		x.afterLink(sink)
	case runDestinationSynced:
		x.unlink(runUnlinked)
	case runUnlinkedEarly:
		if !x.m.keeps(DestinationBeforeStage) {
			x.syncDirectory(&x.s.staged, sink, runStageSynced, say("sync staging directory"))
			return
		}
		x.syncDirectory(&x.s.final, sink, runUnlinked, say("sync destination directory"))
	case runUnlinked:
		x.syncDirectory(&x.s.staged, sink, runBothSynced, say("sync staging directory"))
	case runStageSynced:
		x.syncDirectory(&x.s.final, sink, runBothSynced, say("sync destination directory"))
	case runBothSynced:
		x.append(x.s, record{recFinished, handle}, runFinishedSync, 0, say("append finished (handle %d)", handle))
	}
}

func (x *runSteps) afterLink(sink int) {
	switch {
	case !x.m.keeps(FinishedAfterSync):
		x.goTo(x.s, runBothSynced, x.s.at, say("(no sync before finished)"))
	case !x.m.keeps(DestinationBeforeUnlink) || !x.m.keeps(DestinationBeforeStage):
		x.unlink(runUnlinkedEarly)
	default:
		x.syncDirectory(&x.s.final, sink, runDestinationSynced, say("sync destination directory"))
	}
}

func (x *runSteps) unlink(pc runPC) {
	n := x.s
	i := n.kept(int(n.at))
	n.staged[i] = n.staged[i].remove()
	x.goTo(n, pc, n.at, say("unlink the staged name"))
}

// syncDirectory syncs every entry of one sink's staging or destination directory: one fsync serves them all. entries
// points into x.s, which tells the two apart.
func (x *runSteps) syncDirectory(entries *[maxStaged]entry, sink int, pc runPC, label Label) {
	before := x.s
	for i := range entries {
		if i%maxSinks == sink {
			entries[i] = entries[i].sync()
		}
	}
	n := x.s
	x.s = before
	x.goTo(n, pc, n.at, label)
	x.failed(say("sync of a directory FAILS, exit 3"))
}

// publishManifests journals each manifest before it is published, so that its bytes never change.
func (x *runSteps) publishManifests() {
	n, sink := x.s, x.s.at
	switch {
	case n.pc == runManifestSync:
		x.syncTail(runManifests, sink)
	case n.pc == runManifestLinked:
		if x.m.keeps(ManifestSynced) {
			n.manifest[sink] = n.manifest[sink].sync()
		}
		x.goTo(n, runManifests, sink+1, say("sync the directory of manifest %d", sink))
		x.failed(say("sync of a manifest's directory FAILS, exit 3"))
	case int(sink) == x.m.Sinks:
		pc := runSweep
		if !x.m.keeps(SweepBeforeEnded) {
			pc = runEnd
		}
		x.goTo(n, pc, 0, say("every manifest is published"))
	case n.view().manifests&(1<<sink) == 0:
		x.append(n, record{recManifest, sink}, runManifestSync, sink, say("append manifest %d", sink))
	default:
		n.manifest[sink] = n.manifest[sink].create()
		x.goTo(n, runManifestLinked, sink, say("link manifest %d, or find it there", sink))
	}
}

// end sweeps and closes a committed run.
func (x *runSteps) end() {
	switch x.s.pc {
	case runSweep:
		n := x.s
		for i := range n.staged {
			n.staged[i] = n.staged[i].remove().sync()
		}
		n.orphan = false
		pc := runEnd
		if n.view().ended != noRecord {
			pc = runExit
		}
		x.goTo(n, pc, 0, say("sweep what is staged and named by no live handle"))
	case runEnd:
		kind := recDone
		if x.s.view().resolved != 0 {
			kind = recPartial
		}
		x.append(x.s, record{kind: kind}, runEndedSync, 0, say("append ended"))
	case runEndedSync:
		pc := runExit
		if !x.m.keeps(SweepBeforeEnded) {
			pc = runSweep
		}
		x.syncTail(pc, 0)
	case runExit:
		switch x.s.view().ended {
		case recDone:
			x.exit(0, say("exit 0, done"))
		case recAborted:
			x.exit(1, say("exit 1, aborted"))
		default:
			x.exit(4, say("exit 4, partial"))
		}
	}
}

// abort ends an undecided run, or goes on with an abort that was decided before. It looks at the destination first.
func (x *runSteps) abort() {
	n := x.s
	switch x.s.pc {
	case runAbortLook:
		if _, published := x.m.coverage(n); published && x.m.keeps(AbortLooksAtDestination) {
			x.exit(4, say("abandon refused: something is published; exit 4"))
			return
		}
		x.append(n, record{kind: recAbort}, runAbortSync, 0, say("append decided abort"))
	case runAbortSync:
		x.syncTail(runAbortUnlink, 0)
	case runAbortUnlink:
		for i := range n.staged {
			n.staged[i] = n.staged[i].remove()
		}
		n.orphan = false
		x.goTo(n, runAbortUnlinked, 0, say("unlink everything staged"))
	case runAbortUnlinked:
		for i := range n.staged {
			n.staged[i] = n.staged[i].sync()
		}
		x.goTo(n, runAbortEnd, 0, say("sync the staging directories"))
		x.failed(say("sync of a staging directory FAILS, exit 3"))
	case runAbortEnd:
		x.append(n, record{kind: recAborted}, runAbortEndedSync, 0, say("append ended aborted"))
	case runAbortEndedSync:
		x.syncTail(runExit, 0)
	}
}
