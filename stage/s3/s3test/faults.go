package s3test

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// On says when a switch fires. The zero value is: always. Requests that a switch cannot be about are not counted, and
// neither are requests that would be answered alike without it.
type On struct {
	Verb  Verb   // "": every verb that the switch is for
	Key   string // keys that contain this
	From  int    // the first such request that it fires for, counted from 1 on
	Times int    // how often it fires; 0: without end

	N        int    // of bytes, parts or requests, as the switch says
	Status   int    // of the answer, where the switch says so
	Code     string // of the answer, with Status
	Location string // of Redirect
	Region   string // of Redirect
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
	Throttle:          {UploadPart},
	DenyHead:          {HeadObject},
	DenyList:          {ListObjectsV2, ListMultipartUploads},
	ErrorIn200:        {CompleteMultipartUpload},
	ErrorIn200Done:    {CompleteMultipartUpload},
	LateComplete:      {CompleteMultipartUpload},
	AbortAlways204:    {AbortMultipartUpload},
	CorruptPart:       {UploadPart},
	MissingIs403:      {HeadObject, GetObject},
	IgnoreIfNoneMatch: {PutObject, CompleteMultipartUpload},
}

func (r *rule) isFor(sw Switch, c *call) bool {
	if r.sw != sw || !strings.Contains(c.key, r.Key) {
		return false
	}
	if r.Verb != "" {
		return r.Verb == c.verb
	}
	verbs := verbsOf[sw]
	return len(verbs) == 0 || slices.Contains(verbs, c.verb)
}

// Set turns a switch on. Set again, it is on in both ways, and the one that was set first and can still fire does.
func (s *Server) Set(sw Switch, on On) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.rules = append(s.faults.rules, &rule{sw: sw, On: on})
}

// Unset turns switches off, in whatever ways they are on. With none, all of them.
func (s *Server) Unset(switches ...Switch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.rules = slices.DeleteFunc(s.faults.rules, func(r *rule) bool {
		return len(switches) == 0 || slices.Contains(switches, r.sw)
	})
}

// Fired says how often a switch has changed what a request met.
func (s *Server) Fired(sw Switch) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.fired[sw]
}

// Unused gives the switches that are on in a way in which they have never fired.
func (s *Server) Unused() []Switch {
	s.mu.Lock()
	defer s.mu.Unlock()
	unused := map[Switch]bool{}
	for _, r := range s.faults.rules {
		if r.used == 0 {
			unused[r.sw] = true
		}
	}
	return slices.Sorted(maps.Keys(unused))
}

// AwaitFired waits until a switch has fired n times.
func (s *Server) AwaitFired(ctx context.Context, sw Switch, n int) error {
	return s.await(ctx, func() bool { return s.Fired(sw) >= n })
}

// AwaitRequests waits until n requests of a verb have come.
func (s *Server) AwaitRequests(ctx context.Context, verb Verb, n int) error {
	return s.await(ctx, func() bool { return s.Count(verb) >= n })
}

func (s *Server) await(ctx context.Context, reached func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
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
func (s *Server) fires(sw Switch, c *call) *On {
	return s.firesIf(sw, c, func(*On) bool { return true })
}

// firesIf is fires for a switch that is about a request or not by what it is set to.
func (s *Server) firesIf(sw Switch, c *call, about func(*On) bool) (fired *On) {
	for _, r := range s.faults.rules {
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
		s.count(sw)
	}
	return fired
}

// ignoresSums asks IgnoreChecksums once for each request.
func (s *Server) ignoresSums(c *call) bool {
	if c.ignoresSums == nil {
		ignores := s.fires(IgnoreChecksums, c) != nil
		c.ignoresSums = &ignores
	}
	return *c.ignoresSums
}

func (s *Server) count(sw Switch) {
	s.faults.fired[sw]++
	s.notify()
}

// notify wakes those up that wait for a request or a switch.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait stands still if a switch says so. It answers false if the client did not wait as long.
func (s *Server) wait(sw Switch, c *call) bool {
	s.mu.Lock()
	released := s.faults.released
	stands := !s.closed && s.fires(sw, c) != nil
	s.mu.Unlock()
	if !stands {
		return true
	}
	select {
	case <-released:
		return true
	case <-c.r.Context().Done():
		return false
	}
}
