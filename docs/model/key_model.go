package main

// KeyModel is one run key, its sinks, two state directories and two living processes. Appending to a journal is one
// durable step here (RunModel has the detail); what waits for a sync is marks, artifacts and manifests. Kills and power
// losses are unlimited; a lost state directory and third parties have budgets.
type KeyModel struct {
	Sinks, Runs, Dirs, Procs int

	Keyed        bool    // --key: there is a mark. Otherwise the default key, which protects within one state directory
	Wipes        uint8   // how often state directory A is lost. Without a mark: only before a decision, as the label says
	Deletions    uint8   // staged artifacts that a third party may delete
	PutBacks     uint8   // how often a journal may be put back to what it was one record earlier
	OrderDiffers bool    // the job file under B lists its sinks the other way round
	ResolveAny   bool    // a person may call a handle lost that is still staged
	RunAlone     bool    // the way out may use run alone: a crontab, and nobody awake
	Without      KeyRule // the rules that a mutation breaks
}

// KeyRule is a rule of the protocol that KeyModel can do without, to show what it is there for. Rules are bits.
type KeyRule uint32

// The rules.
const (
	ChooseInOneHold KeyRule = 1 << iota
	InspectBeforeMark
	MarkAtSortedFirst
	MarkIsAtomic
	MarkLinkedIfAbsent
	MarkIsDurable
	MarkBeforeDecided
	PathsAreChecked
	OwnMarkIsTaken
	FinderSyncsMark
	FinderFinishes
	EveryManifestChecked
	FoundManifestSynced
	LoserEnds
	LookAtJournalsLast
	StageBeforeDestination
	FoundArtifactSynced
	ManifestsOfTheMark
	ManifestNeverReplaced
	FoundOutcomeTaken
	OneOutcomeARun
	PartialAnswersFour
	AbandonLooksForMark
	DecidedNotAbandoned
	AbortUnlinksFirst
)

func (m KeyModel) keeps(rule KeyRule) bool { return m.Without&rule == 0 }

// Init is a world in which nothing has happened.
func (m KeyModel) Init() KeyState { return KeyState{} }

// keySteps collects the edges out of one state. i is the process that moves.
type keySteps struct {
	m     KeyModel
	s     KeyState
	i     int
	p     keyProcess
	edges []Edge[KeyState]
}

// Next lists what the world, a person and each process can do.
func (m KeyModel) Next(s KeyState, edges []Edge[KeyState]) []Edge[KeyState] {
	x := keySteps{m: m, s: s, edges: edges}
	x.faults()
	for i := range m.Procs {
		x.i, x.p = i, s.proc[i]
		if x.p.command != keyIdle {
			x.process()
			continue
		}
		if i == 0 || s.proc[0].command != keyIdle { // the two are alike: the first one is started first
			x.commands()
		}
	}
	return x.edges
}

// move is a step of the process at hand; it becomes p.
func (x *keySteps) move(n KeyState, p keyProcess, label Label) {
	n.proc[x.i] = p
	x.edges = append(x.edges, Edge[KeyState]{To: n, Label: label})
}

// goTo is a move to pc that changes nothing else of the process.
func (x *keySteps) goTo(n KeyState, pc keyPC, at uint8, label Label) {
	p := x.p
	p.pc, p.at = pc, at
	x.move(n, p, label)
}

func (x *keySteps) who() uint8 { return uint8(x.i + 1) }

// commands are what a person or a crontab can type.
func (x *keySteps) commands() {
	for dir := range uint8(x.m.Dirs) {
		x.move(x.s, keyProcess{command: keyRunCommand, dir: dir}, say("P%d $ run --key K, state %c", x.who(), 'A'+dir))
		for run := range x.m.Runs {
			if x.s.isHeld(run, dir) {
				continue
			}
			phase := x.s.run[run].journal[dir].phase
			undecided := phase == phaseBegun || phase == phasePrepared
			if undecided || phase == phaseCommit && !x.m.keeps(DecidedNotAbandoned) {
				p := keyProcess{command: keyAbandon, dir: dir, pc: keyAbandonLook, own: uint8(run + 1)}
				x.person(x.s, p, say("P%d $ abandon run %d, state %c", x.who(), p.own, 'A'+dir))
			}
			if phase == phaseCommit {
				x.resolveCommands(dir, run)
			}
		}
	}
}

func (x *keySteps) resolveCommands(dir uint8, run int) {
	for sink := range x.m.Sinks {
		journal, artifact := x.s.run[run].journal[dir], x.s.run[run].artifact[sink]
		gone := !artifact.has(isStaged) && !artifact.has(isVisible)
		if journal.resolved&(1<<sink) != 0 || !gone && !(x.m.ResolveAny && artifact.has(isStaged)) {
			continue
		}
		p := keyProcess{command: keyResolve, dir: dir, pc: keyResolveAbort, at: uint8(sink), settling: uint8(run + 1)}
		p.resolved = journal.resolved
		if !x.m.keeps(AbortUnlinksFirst) {
			p.pc = keyResolveLook
		}
		x.person(x.s, p, say("P%d $ resolve run %d sink %d --as lost", x.who(), p.settling, uint8(sink)))
	}
}

// person is a step that takes somebody awake.
func (x *keySteps) person(n KeyState, p keyProcess, label Label) {
	x.move(n, p, label)
	x.edges[len(x.edges)-1].Fault = x.m.RunAlone
}

// process is the next step of the process at hand, by where it stands.
func (x *keySteps) process() {
	switch x.p.pc {
	case keyChoose, keyLook, keyBegin:
		x.choose()
	case keyLookOwn, keyRead, keyInspect, keyMarkLink, keyMarkWrite, keyMarkSync, keyCheckPaths, keyDecide:
		x.decide()
	case keyFound, keyFoundSync, keyAdoptSync, keyAdopt:
		x.adopt()
	case keyStage, keyDestination, keyLink, keySync, keyUnlink:
		x.publish()
	case keyManifest, keyManifestSync:
		x.publishManifests()
	default:
		x.abort()
	}
}

// sinkAt is the sink that a process of that state directory handles as its at-th.
func (m KeyModel) sinkAt(dir, at uint8) uint8 {
	if m.OrderDiffers && dir == 1 {
		return uint8(m.Sinks) - 1 - at
	}
	return at
}

// markSink is where a process looks for the mark and makes it: at the sink that sorts first, in whatever order the job
// file lists them.
func (m KeyModel) markSink(dir uint8) uint8 {
	if m.keeps(MarkAtSortedFirst) {
		return 0
	}
	return m.sinkAt(dir, 0)
}

// setPhase appends to the journal of a run, unless what the process holds was wiped: then nobody will ever read it.
func (x *keySteps) setPhase(n *KeyState, run uint8, gone bool, phase keyPhase) {
	if !gone {
		n.run[run-1].journal[x.p.dir].phase = phase
	}
}
