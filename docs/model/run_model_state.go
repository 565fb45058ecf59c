package main

import "fmt"

const (
	maxUnits    = 3
	maxSinks    = 2
	maxVersions = 2 // a unit whose stage was gone is read again under a new checkpoint number, once
	maxHandles  = maxUnits * maxSinks
	maxStaged   = maxUnits * maxVersions * maxSinks
)

// entry is a directory entry: what processes see now, and what power loss may leave of it. Each entry that is not
// synced is decided alone by power loss: POSIX promises no order between two of them.
type entry uint8

const (
	present  entry   = 1 << iota // seen now
	mayGo                        // power loss may leave it absent
	mayStay                      // power loss may leave it present
	absent   = mayGo             // absent, durably
	standing = present | mayStay
)

func (e entry) isPresent() bool { return e&present != 0 }
func (e entry) isDurable() bool { return e == standing }
func (e entry) isOpen() bool    { return e&(mayGo|mayStay) == mayGo|mayStay }
func (e entry) create() entry   { return e | standing }
func (e entry) remove() entry   { return e&^present | mayGo }

func (e entry) sync() entry {
	if e.isPresent() {
		return standing
	}
	return absent
}

type recordKind uint8

const (
	noRecord recordKind = iota
	recBegun
	recPrepared // of a unit
	recDropped  // of a unit
	recCommit   // decided commit
	recAbort    // decided abort
	recFinished // of a handle
	recResolved // lost, of a handle
	recManifest // of a sink
	recDone     // ended
	recAborted  // ended
	recPartial  // ended
)

// record is one line of the journal; of says which unit, handle or sink it is about.
type record struct {
	kind recordKind
	of   uint8
}

// runFold is the state that a journal's records add up to.
type runFold struct {
	begun     bool
	prepared  [maxUnits]uint8 // how often the unit was journaled
	kept      [maxUnits]uint8 // the version that is kept, from 1; 0 none
	finished  uint8           // a bit a handle
	resolved  uint8           // a bit a handle
	manifests uint8           // a bit a sink
	decision  recordKind      // recCommit, recAbort or none
	ended     recordKind      // recDone, recAborted, recPartial or none
}

func (f *runFold) apply(r record) {
	switch r.kind {
	case recBegun:
		f.begun = true
	case recPrepared:
		f.prepared[r.of]++
		f.kept[r.of] = f.prepared[r.of]
	case recDropped:
		f.kept[r.of] = 0
	case recCommit, recAbort:
		f.decision = r.kind
	case recFinished:
		f.finished |= 1 << r.of
	case recResolved:
		f.resolved |= 1 << r.of
	case recManifest:
		f.manifests |= 1 << r.of
	case recDone, recAborted, recPartial:
		f.ended = r.kind
	}
}

// tornKind says what power loss left of the last line.
type tornKind uint8

const (
	notTorn tornKind = iota
	tornShort
	tornWrongChecksum // whole, LF included, its first page lost
)

// RunState is one run: its journal, its sinks, and the process that works on it, if any.
type RunState struct {
	disk    runFold // what is durable of the journal
	tail    record  // appended and visible, not known to be durable
	lied    bool    // the tail's fsync failed: its page counts as clean and is not on the disk
	trusted bool    // mutations only: a process acts on such a tail
	torn    tornKind

	before    runFold // the journal one record earlier, for whoever puts that one back
	hasBefore bool

	staged, final [maxStaged]entry
	manifest      [maxSinks]entry
	orphan        bool // something staged that has lost even its name to a later stage

	sourceChanged bool
	deletions     uint8
	putBacks      uint8
	deletedEarly  bool // the deletion came before the last look that precedes the decision

	command runCommand
	pc      runPC
	at      uint8 // the unit, handle or sink that pc is about
	lost    uint8 // handles that this process found lost
}

type runCommand uint8

const (
	noCommand runCommand = iota
	cmdRun               // run and resume are one path
	cmdAbandon
	cmdResolve
)

type runPC uint8

const (
	runIdle runPC = iota
	runBegunSync
	runOpen
	runInspect
	runDropSync
	runWork
	runStaged
	runStageDurable
	runPreparedSync
	runDecidedSync
	runPublish
	runLinked
	runDestinationSynced
	runUnlinkedEarly // mutations only: unlinked before any sync
	runUnlinked
	runStageSynced // mutations only
	runBothSynced
	runFinishedSync
	runManifests
	runManifestSync
	runManifestLinked
	runSweep
	runEnd
	runEndedSync
	runExit
	runAbortLook
	runAbortSync
	runAbortUnlink
	runAbortUnlinked
	runAbortEnd
	runAbortEndedSync
	runResolvedSync
)

// view is the journal as the process sees it. It differs from the disk only where a mutation trusts a lying fsync.
func (s *RunState) view() runFold {
	fold := s.disk
	if s.trusted {
		fold.apply(s.tail)
	}
	return fold
}

func artifactOf(unit, version, sink int) int { return (unit*maxVersions+version)*maxSinks + sink }
func handleOf(unit, sink int) int            { return unit*maxSinks + sink }

func presence(entries []entry) string {
	text := make([]byte, len(entries))
	for i, e := range entries {
		text[i] = '0'
		if e.isPresent() {
			text[i] = '1'
		}
	}
	return string(text)
}

// Show prints what matters of a state at the end of a trace.
func (m RunModel) Show(s RunState) string {
	return fmt.Sprintf("kept=%v decision=%d finished=%06b ended=%d tail=%d torn=%d staged=%s final=%s manifests=%s",
		s.disk.kept[:m.Units], s.disk.decision, s.disk.finished, s.disk.ended, s.tail.kind, s.torn,
		presence(s.staged[:]), presence(s.final[:]), presence(s.manifest[:m.Sinks]))
}
