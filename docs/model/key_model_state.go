package main

import (
	"fmt"
	"strings"
)

const (
	maxRuns  = 3
	maxDirs  = 2
	maxProcs = 2
)

type keyPhase uint8

// The phases of a run as one journal tells them. The unfinished ones come first.
const (
	phaseNone keyPhase = iota
	phaseBegun
	phasePrepared
	phaseCommit // decided
	phaseAbort  // decided
	phaseDone
	phaseAborted
	phasePartial
)

func (p keyPhase) isUnfinished() bool { return p >= phaseBegun && p <= phaseAbort }

// keyJournal is the journal of one run in one state directory: the run's own, or one that an adopter made from the mark.
type keyJournal struct {
	phase    keyPhase
	resolved uint8 // a bit a sink: a person said lost
}

// keyArtifact is the artifact of one run at one sink: a staged name and a final name.
type keyArtifact uint8

const (
	isStaged  keyArtifact = 1 << iota
	isVisible             // under its final name
	isDurable             // and the final name's directory is synced
)

func (a keyArtifact) has(bit keyArtifact) bool { return a&bit != 0 }

// What a manifest says. Those made by an adopter in words of its own, and partial ones of another state directory,
// differ in their bytes.
const (
	manifestNone     uint8 = iota
	manifestDone           // as it stands in the mark
	manifestPartial        // by a settler in state directory A
	manifestPartialB       // by a settler in state directory B
	manifestDoneB          // mutations only: an adopter's own words
)

func saysPartial(manifest uint8) bool {
	return manifest == manifestPartial || manifest == manifestPartialB
}

// keyName is a directory entry with a content: what is seen now and what power loss may leave instead.
type keyName struct{ now, disk uint8 }

type keyRun struct {
	used     bool
	early    bool // a deletion came before the last look that precedes the decision
	artifact [maxSinks]keyArtifact
	manifest [maxSinks]keyName
	journal  [maxDirs]keyJournal
}

// markEmpty is the content of a mark that is there and says nothing yet: mutations only.
const markEmpty uint8 = maxRuns + 1

type keyCommand uint8

const (
	keyIdle keyCommand = iota
	keyRunCommand
	keyAbandon
	keyResolve
)

// keyProcess is a process and its memory. Runs are named by index plus one; zero is none.
type keyProcess struct {
	command  keyCommand
	dir      uint8 // of its state
	pc       keyPC
	at       uint8 // how many sinks of a loop are done
	own      uint8 // an undecided run whose lock it holds
	settling uint8 // a decided run whose lock it holds
	found    uint8 // the run that a mark names
	ownGone  bool  // the state directory was wiped: what is held is no longer what the path names
	setGone  bool  // the same of the run that is being settled
	lost     uint8 // a bit a sink: neither staged nor published
	resolved uint8 // a bit a sink, from the journal
	outcome  uint8 // what the manifest of the run being settled says
	result   uint8 // what it is going to answer: a manifest's outcome
}

// KeyState is the world of KeyModel.
type KeyState struct {
	run       [maxRuns]keyRun
	mark      [maxSinks]keyName // of the key: a run's index plus one
	proc      [maxProcs]keyProcess
	wiped     uint8
	deletions uint8
	putBacks  uint8
	person    bool // somebody called a handle lost that was still staged
}

type keyPC uint8

const (
	keyChoose keyPC = iota
	keyLook         // for a mark, before anything of its own exists
	keyBegin
	keyLookOwn // for a mark, with an undecided run in hand
	keyRead
	keyInspect
	keyMarkLink
	keyMarkWrite // mutations only
	keyMarkSync
	keyCheckPaths
	keyDecide
	keyFound
	keyFoundSync
	keyAdoptSync
	keyAdopt
	keyStage // look for the staged name
	keyDestination
	keyLink
	keySync
	keyUnlink
	keyManifest
	keyManifestSync
	keyAbandonLook
	keyAbort
	keyAborted
	keyResolveAbort
	keyResolveLook
)

// artifacts and manifests of all sinks in use
func (m KeyModel) all(run keyRun, holds func(sink int) bool) bool {
	for sink := range m.Sinks {
		if !holds(sink) {
			return false
		}
	}
	return run.used
}

// isWhole: every artifact and every manifest of the run is durable, and the manifests say done.
func (m KeyModel) isWhole(run keyRun) bool {
	return m.all(run, func(sink int) bool {
		manifest := run.manifest[sink]
		return run.artifact[sink].has(isDurable) && manifest.now == manifest.disk &&
			manifest.now != manifestNone && !saysPartial(manifest.now)
	})
}

// isPartial: every manifest of the run is durable, and they say partial.
func (m KeyModel) isPartial(run keyRun) bool {
	return m.all(run, func(sink int) bool {
		return run.manifest[sink].now == run.manifest[sink].disk && saysPartial(run.manifest[sink].now)
	})
}

// decided: the mark names the run, or a journal says commit.
func (s *KeyState) decided(run int) bool {
	for _, mark := range s.mark {
		if int(mark.now) == run+1 {
			return true
		}
	}
	for _, journal := range s.run[run].journal {
		if journal.phase == phaseCommit || journal.phase == phaseDone || journal.phase == phasePartial {
			return true
		}
	}
	return false
}

// isHeld: a living process holds the lock file that the run's path in that state directory names.
func (s *KeyState) isHeld(run int, dir uint8) bool {
	for _, p := range s.proc {
		if p.command == keyIdle || p.dir != dir {
			continue
		}
		if int(p.own) == run+1 && !p.ownGone || int(p.settling) == run+1 && !p.setGone {
			return true
		}
	}
	return false
}

// Show prints what matters of a state at the end of a trace.
func (m KeyModel) Show(s KeyState) string {
	var text strings.Builder
	for i, run := range s.run[:m.Runs] {
		if run.used {
			fmt.Fprintf(&text, "run %d {artifacts %v manifests %v journals %v} ",
				i+1, run.artifact[:m.Sinks], run.manifest[:m.Sinks], run.journal)
		}
	}
	fmt.Fprintf(&text, "mark %v", s.mark[:m.Sinks])
	return text.String()
}
