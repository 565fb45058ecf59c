// Package s3test is an object store of the S3 kind in memory that misbehaves on purpose. Without switches it answers as
// AWS S3 does; with them it does what other stores, networks and unlucky moments do.
//
//	s := s3test.New(s3test.Options{Buckets: []string{"lake"}})
//	server := httptest.NewServer(s)
//	defer server.Close()
//	defer s.Close()
//	s.Set(s3test.DropReplyAfter, s3test.On{Verb: s3test.CompleteMultipartUpload, Times: 1})
//	...
//	if s.Fired(s3test.DropReplyAfter) != 1 { ... }
//
// Buckets are found in the path, or in the host name where that is <bucket>.localhost or <bucket>.s3.<anything>.
//
// Go's HTTP client repeats GET and HEAD by itself when a connection breaks that it has used before. A test that counts
// what is asked after a dropped reply may find one request more of them.
package s3test

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Options are what a store is made with.
type Options struct {
	Buckets []string // those that exist from the start
	Region  string   // us-east-1 when empty; signatures for another one are refused if it is set
	Owner   string   // the account; requests that expect another one are refused. Empty: none is compared

	// AccessKey and SecretKey are what requests must be signed with, in their headers, and SessionToken is the token that
	// they must carry. With no SecretKey nothing is verified. Signatures of single chunks of a body never are.
	AccessKey, SecretKey, SessionToken string

	Now   func() time.Time                           // time.Now when nil
	Pause func(context.Context, time.Duration) error // how Throttle waits: a timer when nil
}

// Server is a store. All its methods may be called at any time from any goroutine.
type Server struct {
	region, owner string
	strictRegion  bool
	now           func() time.Time
	pause         func(context.Context, time.Duration) error

	mu      sync.Mutex
	closed  bool
	valid   credentials
	expired []credentials
	buckets map[string]*bucket
	serial  int // of uploads and versions
	log     []Request
	changed chan struct{} // closed and replaced at every request, and whenever a switch has fired
	faults  faults
	late    []*lateComplete
}

// New makes a store.
func New(o Options) *Server {
	s := &Server{
		region: o.Region, strictRegion: o.Region != "", owner: o.Owner, now: o.Now, pause: o.Pause,
		valid:   credentials{o.AccessKey, o.SecretKey, o.SessionToken},
		buckets: map[string]*bucket{},
		changed: make(chan struct{}),
		faults:  faults{fired: map[Switch]int{}, released: make(chan struct{})},
	}
	if s.region == "" {
		s.region = "us-east-1"
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.pause == nil {
		s.pause = pause
	}
	for _, name := range o.Buckets {
		s.buckets[name] = newBucket(s.now())
	}
	return s
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.arrive(r)
	a := s.handle(c)
	s.mu.Lock()
	s.log[c.number].Status = a.status
	s.mu.Unlock()
	a.write(w, c)
}

// handle waits where a switch says so, and works on the request in between.
func (s *Server) handle(c *call) answer {
	if err := s.receive(c); err != nil {
		return c.answerError(err)
	}
	if !s.wait(Stall, c) {
		return answer{drop: true}
	}
	a := s.work(c)
	if a.later != nil {
		select {
		case a = <-a.later:
		case <-c.r.Context().Done():
			return answer{drop: true}
		}
	}
	if !s.wait(StallReply, c) {
		return answer{drop: true}
	}
	return a
}

// work makes the answer, all of it at one moment.
func (s *Server) work(c *call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a answer
	err := s.refused(c)
	if err == nil {
		a, err = s.do(c)
	}
	if err != nil {
		a = c.answerError(err)
	}
	return s.spoil(c, a)
}

// spoil makes of the answer what switches make of it.
func (s *Server) spoil(c *call, a answer) answer {
	if a.status/100 == 2 {
		if s.fires(DropReplyAfter, c) != nil {
			return answer{drop: true}
		}
		if on := s.fires(ErrorAfter, c); on != nil {
			return c.answerError(on.fail(http.StatusInternalServerError, "InternalError", internal))
		}
	}
	a.cut = len(a.body) > 0 && c.r.Method != http.MethodHead && s.fires(CutReply, c) != nil
	return a
}

// do carries out what the request asks for.
func (s *Server) do(c *call) (answer, error) {
	handler, ok := handlers[c.verb]
	if !ok {
		return answer{}, fail(http.StatusNotImplemented, "NotImplemented", "A header or query you provided implies functionality that is not implemented.")
	}
	if err := s.authorize(c); err != nil {
		return answer{}, err
	}
	if c.bucket == "" || c.verb == CreateBucket {
		return handler(s, c)
	}
	if s.buckets[c.bucket] == nil && (c.verb == PutObject || c.verb == CreateMultipartUpload) && s.fires(CreatesBuckets, c) != nil {
		s.buckets[c.bucket] = newBucket(s.now())
	}
	if s.buckets[c.bucket] == nil {
		return answer{}, fail(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	}
	return handler(s, c)
}
