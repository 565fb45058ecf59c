package main

// RunModel is one run in one state directory, down to what the file system may do to it. Kills, power losses and (if
// FsyncFails) failed fsyncs are unlimited; what third parties do has a budget.
type RunModel struct {
	Units, Sinks  int
	Deletions     uint8 // staged artifacts that a third party may delete
	PutBacks      uint8 // how often the journal may be put back to what it was one record earlier
	SourceChanges bool
	FsyncFails    bool
	RunAlone      bool    // the way out may use run alone: a crontab, and nobody awake
	Without       RunRule // the rules that a mutation breaks
}

// RunRule is a rule of the protocol that RunModel can do without, to show what it is there for. Rules are bits.
type RunRule uint32

// The rules.
const (
	StageAfterBegun RunRule = 1 << iota
	StageSyncedBeforePrepared
	CopyOnOpening
	NoUseAfterFailedFsync
	TornLineIsCut
	LastLook
	DropLooksAtDestination
	PublishAfterDecided
	DestinationBeforeUnlink
	DestinationBeforeStage
	EvidenceSyncs
	FinishedAfterSync
	LossLooksAtDestination
	ManifestSynced
	SweepBeforeEnded
	PublishedIsDecided
	AbortLooksAtDestination
)

func (m RunModel) keeps(rule RunRule) bool { return m.Without&rule == 0 }

// runSteps collects the edges out of one state.
type runSteps struct {
	m     RunModel
	s     RunState
	edges []Edge[RunState]
}

// Init is a world in which nothing has happened.
func (m RunModel) Init() RunState {
	var s RunState
	for i := range s.staged {
		s.staged[i], s.final[i] = absent, absent
	}
	for i := range s.manifest {
		s.manifest[i] = absent
	}
	return s
}

// Next lists what the world, a person and the process can do.
func (m RunModel) Next(s RunState, edges []Edge[RunState]) []Edge[RunState] {
	x := runSteps{m: m, s: s, edges: edges}
	x.crashes()
	x.thirdParties()
	if s.pc == runIdle {
		x.commands()
	} else {
		x.process()
	}
	return x.edges
}

func (x *runSteps) step(to RunState, label Label) {
	x.edges = append(x.edges, Edge[RunState]{To: to, Label: label})
}

func (x *runSteps) fault(to RunState, label Label) {
	x.edges = append(x.edges, Edge[RunState]{To: to, Label: label, Fault: true})
}

// goTo is a step after which the process stands at pc.
func (x *runSteps) goTo(to RunState, pc runPC, at uint8, label Label) {
	to.pc, to.at = pc, at
	x.step(to, label)
}

// failed is a failed fsync of anything but the journal's tail: nothing new is durable, and the process stops.
func (x *runSteps) failed(label Label) {
	if x.m.FsyncFails {
		x.fault(stopped(x.s), label)
	}
}

// stopped is the state after the process is gone, whatever ended it. It takes nothing along but its memory.
func stopped(s RunState) RunState {
	s.command, s.pc, s.at, s.lost, s.trusted = noCommand, runIdle, 0, 0, false
	return s
}

// append writes a record; the process stands before its fsync.
func (x *runSteps) append(to RunState, r record, pc runPC, at uint8, label Label) {
	if to.tail.kind != noRecord {
		// Mutations only: the page of the trusted tail is written again together with the new record.
		x.m.land(&to)
	}
	to.tail, to.lied, to.trusted = r, false, false
	x.goTo(to, pc, at, label)
}

// syncTail is the fsync of what append wrote.
func (x *runSteps) syncTail(pc runPC, at uint8) {
	durable := x.s
	x.m.land(&durable)
	x.goTo(durable, pc, at, say("fsync journal"))
	if !x.m.FsyncFails {
		return
	}
	failed := x.s
	failed.lied = true
	x.fault(stopped(failed), say("fsync journal FAILS (its page is dropped and counts as clean), exit 3"))
	if !x.m.keeps(NoUseAfterFailedFsync) {
		failed.trusted, failed.pc, failed.at = true, pc, at
		x.fault(failed, say("fsync journal FAILS; tried again it says nil; the process goes on"))
	}
}

// land makes the tail durable.
func (m RunModel) land(s *RunState) {
	if s.tail.kind == noRecord {
		return
	}
	s.before, s.hasBefore = runFold{}, false
	if s.putBacks < m.PutBacks && s.tail.kind != recBegun {
		s.before, s.hasBefore = s.disk, true
	}
	s.disk.apply(s.tail)
	s.tail, s.lied, s.trusted = record{}, false, false
}

// commands are what a person, or a crontab, can type while no process runs.
func (x *runSteps) commands() {
	n := x.s
	n.command, n.pc = cmdRun, runOpen
	x.step(n, say("$ clinkctl run (or resume)"))
	if !x.s.disk.begun || x.s.disk.ended != noRecord {
		return
	}
	n.command = cmdAbandon
	x.person(n, say("$ clinkctl abandon"))
	if x.s.disk.decision == recCommit {
		n.command = cmdResolve
		x.person(n, say("$ clinkctl resolve --as lost"))
	}
}

// person is a step that takes somebody awake.
func (x *runSteps) person(to RunState, label Label) {
	x.edges = append(x.edges, Edge[RunState]{To: to, Label: label, Fault: x.m.RunAlone})
}

// process is the next step of the process, by where it stands.
func (x *runSteps) process() {
	switch x.s.pc {
	case runBegunSync:
		x.syncTail(runWork, 0)
	case runOpen:
		x.open()
	case runInspect:
		x.inspect()
	case runDropSync:
		x.syncTail(runInspect, x.s.at)
	case runWork:
		x.work()
	case runStaged, runStageDurable, runPreparedSync:
		x.stage()
	case runDecidedSync:
		x.syncTail(runPublish, 0)
	case runPublish:
		x.publish()
	case runLinked, runDestinationSynced, runUnlinkedEarly, runUnlinked, runStageSynced, runBothSynced:
		x.finish()
	case runFinishedSync:
		x.syncTail(runPublish, 0)
	case runManifests, runManifestSync, runManifestLinked:
		x.publishManifests()
	case runSweep, runEnd, runEndedSync, runExit:
		x.end()
	case runResolvedSync:
		x.syncTail(runPublish, 0) // resolve goes on into settle: one path
	default:
		x.abort()
	}
}
