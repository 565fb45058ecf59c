package s3test

import (
	"net/http"
	"slices"
)

// lateComplete is a Complete whose moment has not come yet.
type lateComplete struct {
	c     *call
	taken *upload     // nil: only the object is late
	left  int         // how many requests are yet to see nothing of it
	ever  bool        // false: only Release ends it
	reply chan answer // holds one
}

// postpone keeps a Complete for later, if a switch says so.
func (s *Server) postpone(c *call) (answer, bool) {
	u, err := s.open(c)
	if err != nil || s.closed {
		return answer{}, false
	}
	invisible, late := s.fires(InvisibleWhileCompleting, c), s.fires(LateComplete, c)
	if invisible == nil && late == nil {
		return answer{}, false
	}
	l := &lateComplete{c: c, reply: make(chan answer, 1)}
	if invisible != nil {
		u.taken = true
		l.taken, l.left = u, invisible.N
	} else {
		l.left = late.N
	}
	l.ever = l.left > 0
	s.late = append(s.late, l)
	switch {
	case late == nil:
		return answer{later: l.reply}, true
	case late.Status == 0:
		return answer{drop: true}, true
	case late.Status == http.StatusOK:
		return c.errorIn200(), true
	}
	return c.answerError(late.fail(http.StatusInternalServerError, "InternalError", internal)), true
}

// landDue lets those Completes happen whose moment is this request, and counts it for the others. The lock is held.
func (s *Server) landDue(c *call) {
	for _, l := range slices.Clone(s.late) {
		switch {
		case !l.ever || !l.sees(c):
		case l.left > 0:
			l.left--
		default:
			s.land(l)
		}
	}
}

// sees says whether a request is one that a late Complete waits for.
func (l *lateComplete) sees(c *call) bool {
	if l.taken == nil {
		return true
	}
	looks := c.verb == HeadObject || c.verb == GetObject || c.verb == ListParts
	return looks && c.bucket == l.c.bucket && c.key == l.c.key
}

// land carries a late Complete out, as things are now.
func (s *Server) land(l *lateComplete) {
	s.late = slices.DeleteFunc(s.late, func(other *lateComplete) bool { return other == l })
	l.c.landing = true
	a, err := s.complete(l.c)
	if err != nil {
		a = l.c.answerError(err)
	}
	if l.taken != nil {
		l.taken.taken = false
	}
	l.reply <- a
}

// Release lets everything happen that a switch holds back now.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
}

func (s *Server) release() {
	for _, l := range slices.Clone(s.late) {
		s.land(l)
	}
	close(s.faults.released)
	s.faults.released = make(chan struct{})
}

// Close releases everything, and lets nothing be held back any more, so that a server in front of this can close.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.release()
}
