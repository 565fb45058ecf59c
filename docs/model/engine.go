package main

import (
	"fmt"
	"slices"
)

// Label says in words what a step does. It is formatted only when a trace is printed: exploration makes millions.
type Label struct {
	format string
	args   [3]uint8
	count  uint8
}

func say(format string, args ...uint8) Label {
	label := Label{format: format, count: uint8(len(args))}
	copy(label.args[:], args)
	return label
}

func (l Label) String() string {
	args := make([]any, l.count)
	for i := range args {
		args[i] = l.args[i]
	}
	return fmt.Sprintf(l.format, args...)
}

// Edge is one atomic step. A fault (kill, power loss, failed fsync, a third party) may happen at any time, but nobody
// can count on it: it is no part of a way out. Violation names the invariant that taking this step breaks, if any.
type Edge[S comparable] struct {
	To        S
	Label     Label
	Fault     bool
	Violation string
}

// Model is a finite transition system with its invariants.
type Model[S comparable] interface {
	Init() S
	Next(state S, edges []Edge[S]) []Edge[S] // appends every step that is possible in state
	Broken(state S) []string                 // the invariants that state breaks
	Out(state S) bool                        // nothing is pending: whoever was paged can go back to bed
	Show(state S) string
}

// Stuck is the name under which Result lists states from which no command leads out.
const Stuck = "stuck: no command leads out"

// Finding is one broken invariant: in how many states or edges, and a shortest way there.
type Finding struct {
	Name  string
	Count int
	Trace []string
}

// Result is what an exploration found. A truncated one proves nothing about what it did not reach.
type Result struct {
	States, Edges int
	Findings      []Finding
	Truncated     bool
}

// Has reports whether an invariant of that name was found broken.
func (r Result) Has(name string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Name == name })
}

// explorer holds the reached part of the graph. States are numbered in breadth-first order, so the parents that it
// keeps lie on shortest paths.
type explorer[S comparable] struct {
	model  Model[S]
	states *stateSet[S]
	parent []int32
	// The edges that are no faults: those out of state i lead to targets[first[i]:first[i+1]].
	first   []uint32
	targets []int32
	result  Result
}

// Bounds end an exploration early: at a number of states, or once an invariant of that name was found broken.
type Bounds struct {
	States int
	Until  string
}

// Explore visits every reachable state breadth first, within bounds, and then asks from which states there is no way
// out.
func Explore[S comparable](model Model[S], bounds Bounds) Result {
	e := &explorer[S]{model: model, states: newStateSet[S]()}
	e.add(model.Init(), -1)
	var edges []Edge[S]
	for i := 0; i < e.states.count; i++ {
		if e.states.count > bounds.States || e.result.Has(bounds.Until) {
			e.result.Truncated = true
			break
		}
		state := *e.states.at(int32(i))
		edges = model.Next(state, edges[:0])
		e.visit(int32(i), state, edges)
	}
	e.first = append(e.first, uint32(len(e.targets)))
	e.result.States = e.states.count
	if !e.result.Truncated {
		e.findStuck()
	}
	slices.SortStableFunc(e.result.Findings, func(a, b Finding) int { return len(a.Trace) - len(b.Trace) })
	return e.result
}

func (e *explorer[S]) add(state S, parent int32) int32 {
	i, isNew := e.states.add(&state)
	if isNew {
		e.parent = append(e.parent, parent)
	}
	return i
}

func (e *explorer[S]) visit(i int32, state S, edges []Edge[S]) {
	for _, name := range e.model.Broken(state) {
		e.found(name, func() []string { return e.trace(i, say("=>")) })
	}
	e.first = append(e.first, uint32(len(e.targets)))
	for _, edge := range edges {
		e.result.Edges++
		j := e.add(edge.To, i)
		if !edge.Fault {
			e.targets = append(e.targets, j)
		}
		if edge.Violation != "" {
			e.found(edge.Violation, func() []string { return e.trace(i, edge.Label) })
		}
	}
}

// found counts a broken invariant. The first one seen has a shortest trace, because states come in breadth-first order.
func (e *explorer[S]) found(name string, trace func() []string) {
	for i := range e.result.Findings {
		if e.result.Findings[i].Name == name {
			e.result.Findings[i].Count++
			return
		}
	}
	e.result.Findings = append(e.result.Findings, Finding{Name: name, Count: 1, Trace: trace()})
}

// trace walks back from state i to the initial state and lets the model name each step again. last is a step that
// comes after i, or a bare arrow.
func (e *explorer[S]) trace(i int32, last Label) []string {
	lines := []string{last.String() + " " + e.model.Show(*e.states.at(i))}
	for e.parent[i] >= 0 {
		before := e.parent[i]
		for _, edge := range e.model.Next(*e.states.at(before), nil) {
			if edge.To == *e.states.at(i) {
				lines = append(lines, edge.Label.String())
				break
			}
		}
		i = before
	}
	slices.Reverse(lines)
	return lines
}

// findStuck computes backwards, over edges that are no faults, from which states one that is Out can be reached. Most
// ways out lead to states with higher numbers, so a few passes from the last state to the first are enough, and cheaper
// than turning the edges round.
func (e *explorer[S]) findStuck() {
	reaches := make([]bool, e.states.count)
	for i := range reaches {
		reaches[i] = e.model.Out(*e.states.at(int32(i)))
	}
	for changed := true; changed; {
		changed = false
		for i := len(reaches) - 1; i >= 0; i-- {
			if !reaches[i] && e.leadsOut(i, reaches) {
				reaches[i] = true
				changed = true
			}
		}
	}
	for i := range reaches {
		if !reaches[i] {
			e.found(Stuck, func() []string { return e.trace(int32(i), say("=>")) })
		}
	}
}

func (e *explorer[S]) leadsOut(i int, reaches []bool) bool {
	for _, target := range e.targets[e.first[i]:e.first[i+1]] {
		if reaches[target] {
			return true
		}
	}
	return false
}

// Steps is the length of the trace; its last line only shows the state.
func (f Finding) Steps() int { return len(f.Trace) - 1 }
