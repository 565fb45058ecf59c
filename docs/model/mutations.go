package main

// Mutation leaves rules out of a protocol that is otherwise whole, and says what then goes wrong.
type Mutation struct {
	Rule      string // what the protocol demands
	Bounds    string // the model in which leaving it out is looked at
	Finds     string // the invariant that breaks; empty if another rule guards this one
	GuardedBy string // that other rule
	Explore   func(Bounds) Result
}

// smallRun is a run small enough to explore in a blink, with every kind of fault.
var smallRun = RunModel{Units: 1, Sinks: 1, Deletions: 1, PutBacks: 1, SourceChanges: true, FsyncFails: true}

// RunMutations are the mutations of RunModel.
func RunMutations() []Mutation {
	mutations := []Mutation{}
	add := func(finds string, without RunRule, rule string) {
		model := smallRun
		model.Without = without
		mutations = append(mutations, Mutation{Rule: rule, Bounds: model.String(), Finds: finds,
			Explore: func(b Bounds) Result { return Explore(Model[RunState](model), b) }})
	}
	add(StagedUnowned, StageAfterBegun, "nothing is staged before `begun` is durable")
	add(RowVanished, StageSyncedBeforePrepared, "what is staged is durable before `prepared` is journaled")
	add(VisibleUndecided, CopyOnOpening, "the journal is copied and synced before it is acted on")
	add(VisibleUndecided, NoUseAfterFailedFsync, "after a failed fsync the process does not use the journal again")
	add(NeedlessPerson, TornLineIsCut, "a last line with a wrong checksum is cut, as an unfinished one is")
	add(LostThoughInTime, LastLook, "every kept handle is inspected before `decided`, those of this process too")
	add(VisibleUndecided, PublishAfterDecided, "nothing is published before `decided` is durable")
	add(RowVanished, DestinationBeforeUnlink, "the destination's directory is synced before the staged name is unlinked")
	add(RowVanished, DestinationBeforeStage, "the destination's directory is synced before the staging directory")
	add(DoneNotDurable, EvidenceSyncs, "who finds an artifact published syncs what its publisher syncs")
	add(DoneNotDurable, FinishedAfterSync, "`finished` is journaled after the destination is synced")
	add(NeedlessPerson, LossLooksAtDestination, "an empty stage is no loss: the destination is looked at")
	add(ManifestMissing, ManifestSynced, "a manifest's directory is synced before `ended`")
	add(LeftBehind, SweepBeforeEnded, "the sweep comes before `ended`")
	add(Stuck, PublishedIsDecided, "ours at its final name before `decided` means that the decision was commit")
	add(AbortedVisible, AbortLooksAtDestination, "abort looks at the destination before it is decided")
	add("", DropLooksAtDestination, "an empty stage is no reason to drop a unit: the destination is looked at")
	mutations[len(mutations)-1].GuardedBy = "ours at its final name before `decided` means that the decision was commit"
	add(PublishedTwice, DropLooksAtDestination|PublishedIsDecided, "the rule above and its guard")
	return mutations
}

// The bounds of KeyModel in which its mutations are looked at.
var (
	oneProcess   = KeyModel{Sinks: 1, Runs: 2, Dirs: 2, Procs: 1, Keyed: true, Wipes: 1}
	twoProcesses = KeyModel{Sinks: 1, Runs: 2, Dirs: 2, Procs: 2, Keyed: true}
	twoSinks     = KeyModel{Sinks: 2, Runs: 2, Dirs: 2, Procs: 1, Keyed: true}
	losses       = KeyModel{Sinks: 2, Runs: 1, Dirs: 2, Procs: 1, Keyed: true, Deletions: 1}
	oneRun       = KeyModel{Sinks: 1, Runs: 1, Dirs: 2, Procs: 2, Keyed: true}
	defaultKey   = KeyModel{Sinks: 1, Runs: 2, Dirs: 1, Procs: 2, Wipes: 1}
)

// KeyMutations are the mutations of KeyModel.
func KeyMutations() []Mutation {
	mutations := []Mutation{}
	add := func(finds string, without KeyRule, model KeyModel, rule string) {
		model.Without = without
		mutations = append(mutations, Mutation{Rule: rule, Bounds: model.String(), Finds: finds,
			Explore: func(b Bounds) Result { return Explore(Model[KeyState](model), b) }})
	}
	guarded := func(by string, without KeyRule, model KeyModel, rule string) {
		add("", without, model, rule)
		mutations[len(mutations)-1].GuardedBy = by
	}
	otherOrder, putBack, alone, aloneLosses, anyResolve := twoSinks, oneProcess, oneProcess, losses, oneRun
	twoProcessesWiped := twoProcesses
	twoProcessesWiped.Wipes = 1
	otherOrder.OrderDiffers = true
	putBack.PutBacks = 1
	alone.Wipes, alone.RunAlone = 0, true
	aloneLosses.RunAlone = true
	anyResolve.ResolveAny = true

	add(RowsTwice, MarkBeforeDecided, twoProcesses, "the mark comes before `decided`")
	add(RowsTwice, MarkLinkedIfAbsent, twoProcesses, "the mark is linked if absent, never replaced")
	add(RowsTwice, MarkIsDurable, oneProcess, "the mark is durable before `decided`")
	add(Stuck, MarkIsAtomic, oneProcess, "the mark appears whole")
	add(RowsTwice, MarkAtSortedFirst, otherOrder, "the mark is at the sink that sorts first, not at the first of the job file")
	add(LostThoughInTime, InspectBeforeMark, losses, "every kept handle is inspected before the mark, which is the decision")
	add(ReadAgain, OwnMarkIsTaken, putBack, "who finds its own run's mark takes the mark's records for the decision")
	add(VisibleUndecided, FinderSyncsMark, oneProcess, "who finds a mark syncs it before acting on it")
	add(Stuck, FinderFinishes, oneProcess, "who finds a mark finishes that run; it does not wait for its owner")
	add(KeyNotWhole, EveryManifestChecked, twoSinks, "done by another means: the manifests of every sink are there")
	add(KeyNotWhole, FoundManifestSynced, twoProcesses, "manifests found are synced before exit 0")
	add(Stuck, LoserEnds, alone, "who lost to a mark ends its own run, aborted")
	add(OthersOutstanding, LookAtJournalsLast, twoProcesses, "before an exit 0 the job's journals are looked at once more")
	add(NeedlessPerson, StageBeforeDestination, oneRun,
		"the stage is looked at before the destination (or the destination again)")
	add(KeyNotWhole, FoundArtifactSynced, oneRun, "an artifact that another settler published is synced before `finished`")
	add(ManifestsDiffer, ManifestsOfTheMark, twoSinks, "every finisher publishes the mark's manifests unchanged")
	add(ManifestReplaced, ManifestNeverReplaced, losses, "a manifest with this run's token is never replaced")
	add(Stuck, FoundOutcomeTaken, aloneLosses, "who finds a manifest with this run's token takes its outcome")
	add(KeyNotWhole, OneOutcomeARun, losses, "the outcome is the run's: the manifests of all its sinks say the same")
	add(KeyNotWhole, PartialAnswersFour, losses, "a partial key answers 4")
	add(RowVanished, AbandonLooksForMark, oneProcess,
		"abandon looks for the run's own mark, and goes on to finish if it is there")
	add(PartialForNothing, AbortUnlinksFirst, anyResolve, "abort unlinks first and looks at the destination after that")
	add(AbortedVisible, DecidedNotAbandoned, defaultKey, "a decided run is not abandoned (default key)")
	guarded("abandon looks for the mark", DecidedNotAbandoned, oneProcess, "a decided run is not abandoned (key)")
	add(AbortedVisible, DecidedNotAbandoned|AbandonLooksForMark, oneProcess, "the rule above and its guard")
	add(RowsTwice, ChooseInOneHold, defaultKey, "choosing is one hold of the job's lock (default key)")
	guarded("the mark", ChooseInOneHold, twoProcesses, "choosing is one hold of the job's lock (key)")
	add(RowsTwice, PathsAreChecked, defaultKey, "paths of lock and journal are checked before `decided` (default key)")
	guarded("the mark", PathsAreChecked, twoProcessesWiped, "paths of lock and journal are checked before `decided` (key)")
	return mutations
}
