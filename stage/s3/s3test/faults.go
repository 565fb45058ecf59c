package s3test

import (
	"cmp"
	"context"
	"maps"
	"net/http"
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
	changed  chan struct{} // closed and replaced whenever a switch has fired
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
	CorruptPart:       {UploadPart},
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

// Unused gives the switches that are on, and have never fired.
func (s *Server) Unused() []Switch {
	s.mu.Lock()
	defer s.mu.Unlock()
	unused := map[Switch]bool{}
	for _, r := range s.faults.rules {
		if s.faults.fired[r.sw] == 0 {
			unused[r.sw] = true
		}
	}
	return slices.Sorted(maps.Keys(unused))
}

// AwaitFired waits until a switch has fired n times.
func (s *Server) AwaitFired(ctx context.Context, sw Switch, n int) error {
	for {
		s.mu.Lock()
		fired, changed := s.faults.fired[sw], s.faults.changed
		s.mu.Unlock()
		if fired >= n {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// armed gives what a switch would fire with, if it can. The lock is held.
func (s *Server) armed(sw Switch, c *call) *On {
	for _, r := range s.faults.rules {
		if r.isFor(sw, c) && r.seen+1 >= r.From && (r.Times == 0 || r.used < r.Times) {
			return &r.On
		}
	}
	return nil
}

// fires counts a request that a switch is about, and gives what it fires with, or nil. The lock is held.
func (s *Server) fires(sw Switch, c *call) (fired *On) {
	for _, r := range s.faults.rules {
		if !r.isFor(sw, c) {
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

func (s *Server) count(sw Switch) {
	s.faults.fired[sw]++
	close(s.faults.changed)
	s.faults.changed = make(chan struct{})
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

// refused gives the refusal of a switch that lets nothing be done, or nil. The lock is held.
func (s *Server) refused(c *call) error {
	simple := []struct {
		sw            Switch
		status        int
		code, message string
	}{
		{SlowDown, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate."},
		{Internal, http.StatusInternalServerError, "InternalError", "We encountered an internal error. Please try again."},
		{ClockSkew, http.StatusForbidden, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."},
		{ExpiredToken, http.StatusBadRequest, "ExpiredToken", "The provided token has expired."},
		{Deny, http.StatusForbidden, "AccessDenied", "Access Denied"},
		{DenyHead, http.StatusForbidden, "AccessDenied", "Access Denied"},
		{DenyList, http.StatusForbidden, "AccessDenied", "Access Denied"},
		{Unsupported, http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented."},
	}
	if s.fires(DropRequest, c) != nil {
		return errDropped
	}
	for _, r := range simple {
		if on := s.fires(r.sw, c); on != nil {
			return fail(cmp.Or(on.Status, r.status), cmp.Or(on.Code, r.code), r.message)
		}
	}
	if on := s.fires(Redirect, c); on != nil {
		return redirect(on)
	}
	return s.style(c)
}

// style refuses what stores refuse for its form.
func (s *Server) style(c *call) error {
	switch {
	case c.bucket != "" && !c.virtual && s.fires(VirtualStyleOnly, c) != nil:
		return fail(http.StatusForbidden, "SecondLevelDomainForbidden", "Please use virtual hosted style to access.")
	case c.hasChecksums():
		if on := s.fires(RejectChecksums, c); on != nil {
			return fail(cmp.Or(on.Status, http.StatusBadRequest), cmp.Or(on.Code, "InvalidArgument"), "Unsupported header or transfer coding.")
		}
	}
	if c.bucket != "" && c.header.Get("X-Amz-Request-Payer") != "requester" && s.fires(RequesterPays, c) != nil {
		return fail(http.StatusForbidden, "AccessDenied", "Bucket is requester pays bucket")
	}
	return nil
}

func redirect(on *On) error {
	e := &apiError{status: cmp.Or(on.Status, http.StatusTemporaryRedirect), code: "TemporaryRedirect", header: http.Header{},
		message: "Please re-send this request to the specified temporary endpoint."}
	if e.status == http.StatusMovedPermanently {
		e.code, e.message = "PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint."
	}
	if on.Location != "" {
		e.header.Set("Location", on.Location)
	}
	if on.Region != "" {
		e.header.Set("X-Amz-Bucket-Region", on.Region)
	}
	return e
}
