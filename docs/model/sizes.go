package main

import (
	"fmt"
	"strings"
)

// Size is the whole protocol within some bounds.
type Size struct {
	Model, Bounds string
	Explore       func(Bounds) Result
}

func runSize(model RunModel) Size {
	return Size{"run", model.String(), func(b Bounds) Result { return Explore(Model[RunState](model), b) }}
}

func keySize(model KeyModel) Size {
	return Size{"key", model.String(), func(b Bounds) Result { return Explore(Model[KeyState](model), b) }}
}

// QuickSizes take some seconds together.
func QuickSizes() []Size {
	return []Size{
		runSize(smallRun),
		runSize(RunModel{Units: 1, Sinks: 2, Deletions: 1, PutBacks: 1, SourceChanges: true, FsyncFails: true}),
		runSize(RunModel{Units: 2, Sinks: 1, Deletions: 1, PutBacks: 1, SourceChanges: true, FsyncFails: true}),
		runSize(RunModel{Units: 2, Sinks: 1, PutBacks: 1, FsyncFails: true, RunAlone: true}),
		keySize(KeyModel{Sinks: 1, Runs: 2, Dirs: 2, Procs: 1, Keyed: true, Wipes: 1, Deletions: 1}),
		keySize(KeyModel{Sinks: 2, Runs: 1, Dirs: 2, Procs: 1, Keyed: true, Wipes: 1, Deletions: 1, OrderDiffers: true}),
		keySize(KeyModel{Sinks: 1, Runs: 1, Dirs: 2, Procs: 2, Keyed: true, Wipes: 1, Deletions: 1, ResolveAny: true}),
		keySize(KeyModel{Sinks: 2, Runs: 1, Dirs: 2, Procs: 2, Keyed: true, PutBacks: 1}),
		keySize(KeyModel{Sinks: 1, Runs: 2, Dirs: 2, Procs: 2, Keyed: true, Wipes: 1, RunAlone: true}),
		keySize(KeyModel{Sinks: 2, Runs: 2, Dirs: 2, Procs: 1, Keyed: true, Wipes: 1, OrderDiffers: true, RunAlone: true}),
		keySize(KeyModel{Sinks: 1, Runs: 2, Dirs: 1, Procs: 2, Wipes: 1, Deletions: 1}),
	}
}

// LongSizes take some minutes and some gigabytes.
func LongSizes() []Size {
	return []Size{
		runSize(RunModel{Units: 2, Sinks: 2, Deletions: 1, PutBacks: 1, SourceChanges: true, FsyncFails: true}),
		runSize(RunModel{Units: 2, Sinks: 2, PutBacks: 1, FsyncFails: true, RunAlone: true}),
		runSize(RunModel{Units: 3, Sinks: 1, Deletions: 1, PutBacks: 1, SourceChanges: true, FsyncFails: true}),
		runSize(RunModel{Units: 3, Sinks: 2, Deletions: 1, FsyncFails: true}),
		keySize(KeyModel{Sinks: 2, Runs: 2, Dirs: 2, Procs: 2, Keyed: true, Wipes: 1, Deletions: 1, OrderDiffers: true}),
		keySize(KeyModel{Sinks: 2, Runs: 2, Dirs: 2, Procs: 2, Keyed: true, Wipes: 1, PutBacks: 1, RunAlone: true}),
		keySize(KeyModel{Sinks: 2, Runs: 2, Dirs: 2, Procs: 2, Keyed: true, Deletions: 1, ResolveAny: true}),
		keySize(KeyModel{Sinks: 2, Runs: 2, Dirs: 2, Procs: 1, Keyed: true, Wipes: 2, Deletions: 2, PutBacks: 1,
			OrderDiffers: true}),
		keySize(KeyModel{Sinks: 1, Runs: 3, Dirs: 2, Procs: 2, Keyed: true, Wipes: 1, Deletions: 1}),
		keySize(KeyModel{Sinks: 2, Runs: 3, Dirs: 1, Procs: 2, Wipes: 1, Deletions: 1}),
	}
}

// String names the bounds.
func (m RunModel) String() string {
	text := fmt.Sprintf("units %d, sinks %d", m.Units, m.Sinks)
	if m.Deletions > 0 {
		text += fmt.Sprintf(", deletions %d", m.Deletions)
	}
	if m.PutBacks > 0 {
		text += fmt.Sprintf(", put back %d", m.PutBacks)
	}
	return text + flags(map[string]bool{"source changes": m.SourceChanges, "fsync fails": m.FsyncFails, "run alone": m.RunAlone})
}

// String names the bounds.
func (m KeyModel) String() string {
	text := fmt.Sprintf("sinks %d, runs %d, dirs %d, processes %d", m.Sinks, m.Runs, m.Dirs, m.Procs)
	if m.Wipes > 0 {
		text += fmt.Sprintf(", wipes %d", m.Wipes)
	}
	if m.Deletions > 0 {
		text += fmt.Sprintf(", deletions %d", m.Deletions)
	}
	if m.PutBacks > 0 {
		text += fmt.Sprintf(", put back %d", m.PutBacks)
	}
	return text + flags(map[string]bool{"default key": !m.Keyed, "sinks listed in another order": m.OrderDiffers,
		"resolve anything": m.ResolveAny, "run alone": m.RunAlone})
}

// flags lists the names that hold, in a fixed order.
func flags(set map[string]bool) string {
	var text strings.Builder
	for _, name := range []string{"source changes", "fsync fails", "default key", "sinks listed in another order",
		"resolve anything", "run alone"} {
		if set[name] {
			text.WriteString(", " + name)
		}
	}
	return text.String()
}
