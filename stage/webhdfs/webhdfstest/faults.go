package webhdfstest

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// On says when a switch fires. The zero value is: always. Requests that a switch cannot be about are not counted, and
// neither are requests that would be answered alike without it.
type On struct {
	Verb     Verb   // "": every verb that the switch is for
	Path     string // paths that contain this
	NameNode int    // the number of a server; 0: all
	From     int    // the first such request that it fires for, counted from 1 on
	Times    int    // how often it fires; 0: without end

	N       int    // of bytes, entries or requests, as the switch says
	Status  int    // of the answer, where the switch says so
	Code    string // of the answer: an exception's simple name, or its whole javaClassName; or what the switch says
	Message string // of an exception
}

// rule is a switch that is on.
type rule struct {
	On
	sw         Switch
	seen, used int
}

type faults struct {
	rules    []*rule
	fired    map[Switch]int
	released chan struct{} // closed and replaced by Release
}

// verbsOf are what a switch is for if On does not say it; none are all.
var verbsOf = map[Switch][]Verb{
	SafeMode:               {Mkdirs, CreateData, Rename, SetTimes, SetPermission, SetXAttr, Delete},
	RedirectNowhere:        {Create, Open, GetFileChecksum},
	RedirectRefused:        {Create, Open, GetFileChecksum},
	NoDataNode:             {Create, Open, GetFileChecksum},
	LateCreate:             {CreateData},
	CutUpload:              {CreateData},
	StaysOpen:              {CreateData},
	CorruptUpload:          {CreateData},
	RenameFalse:            {Rename},
	RenameFalseDone:        {Rename},
	RenameExistsOverwrites: {Rename},
	RenameExistsFalse:      {Rename},
	RenameOptionsIgnored:   {Rename},
	DeleteFalse:            {Delete},
	DeleteFalseDone:        {Delete},
	ListEnds:               {ListStatus, ListStatusBatch},
	NoFileID:               {GetFileStatus, ListStatus, ListStatusBatch},
	ChecksumUnsupported:    {GetFileChecksum},
	ChecksumOther:          {GetFileChecksumData},
}

func (r *rule) isFor(sw Switch, c *call) bool {
	if r.sw != sw || !strings.Contains(c.path, r.Path) || r.NameNode != 0 && r.NameNode != c.node.number {
		return false
	}
	if r.Verb != "" {
		return r.Verb == c.verb
	}
	verbs := verbsOf[sw]
	return len(verbs) == 0 || slices.Contains(verbs, c.verb)
}

// Set turns a switch on. Set again, it is on in both ways, and the one that was set first and can still fire does.
func (ns *Namespace) Set(sw Switch, on On) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.faults.rules = append(ns.faults.rules, &rule{sw: sw, On: on})
}

// Unset turns switches off, in whatever ways they are on. With none, all of them.
func (ns *Namespace) Unset(switches ...Switch) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.faults.rules = slices.DeleteFunc(ns.faults.rules, func(r *rule) bool {
		return len(switches) == 0 || slices.Contains(switches, r.sw)
	})
}

// Fired says how often a switch has changed what a request met.
func (ns *Namespace) Fired(sw Switch) int {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.faults.fired[sw]
}

// Unused gives the switches that are on in a way in which they have never fired.
func (ns *Namespace) Unused() []Switch {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	unused := map[Switch]bool{}
	for _, r := range ns.faults.rules {
		if r.used == 0 {
			unused[r.sw] = true
		}
	}
	return slices.Sorted(maps.Keys(unused))
}

// AwaitFired waits until a switch has fired n times.
func (ns *Namespace) AwaitFired(ctx context.Context, sw Switch, n int) error {
	return ns.await(ctx, func() bool { return ns.Fired(sw) >= n })
}

// AwaitRequests waits until n requests of a verb have come.
func (ns *Namespace) AwaitRequests(ctx context.Context, verb Verb, n int) error {
	return ns.await(ctx, func() bool { return ns.Count(verb) >= n })
}

// AwaitOpen waits until the file at a path is open: until an upload of it has begun.
func (ns *Namespace) AwaitOpen(ctx context.Context, path string) error {
	return ns.await(ctx, func() bool { return slices.Contains(ns.OpenFiles(), path) })
}

func (ns *Namespace) await(ctx context.Context, reached func() bool) error {
	for {
		ns.mu.Lock()
		changed := ns.changed
		ns.mu.Unlock()
		if reached() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// fires counts a request that a switch is about, and gives what it fires with, or nil. The lock is held.
func (ns *Namespace) fires(sw Switch, c *call) *On {
	return ns.firesIf(sw, c, func(*On) bool { return true })
}

// firesIf is fires for a switch that is about a request or not by what it is set to.
func (ns *Namespace) firesIf(sw Switch, c *call, about func(*On) bool) (fired *On) {
	for _, r := range ns.faults.rules {
		if !r.isFor(sw, c) || !about(&r.On) {
			continue
		}
		r.seen++
		if fired == nil && r.seen >= r.From && (r.Times == 0 || r.used < r.Times) {
			r.used++
			fired = &r.On
		}
	}
	if fired != nil {
		ns.faults.fired[sw]++
		ns.notify()
	}
	return fired
}

// notify wakes those up that wait for something.
func (ns *Namespace) notify() {
	close(ns.changed)
	ns.changed = make(chan struct{})
}

// wait stands still if a switch says so. It answers false if the client did not wait as long.
func (ns *Namespace) wait(sw Switch, c *call) bool {
	ns.mu.Lock()
	released := ns.faults.released
	stands := !ns.closed && ns.fires(sw, c) != nil
	ns.mu.Unlock()
	if !stands {
		return true
	}
	// That a client leaves is seen only once its body was read.
	if err := c.readAll(); err != nil {
		return false
	}
	select {
	case <-released:
		return true
	case <-c.r.Context().Done():
		return false
	}
}
