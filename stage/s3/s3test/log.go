package s3test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// Request is one request as it came.
type Request struct {
	Method      string
	Verb        Verb // "" for one that the store does not know
	Bucket, Key string
	Query       url.Values
	Header      http.Header // without Authorization
	Host        string
	TLS         bool
	Virtual     bool  // the bucket was in the host name
	Length      int64 // of the body as it was sent; -1 where that was not said
	Status      int   // of the answer; 0 while there is none, and where the connection was dropped
}

// record puts a request into the log.
func (s *Server) record(c *call) {
	header := c.r.Header.Clone()
	header.Del("Authorization")
	s.log = append(s.log, Request{
		Method: c.r.Method, Verb: c.verb, Bucket: c.bucket, Key: c.key, Query: maps.Clone(c.query), Header: header,
		Host: c.r.Host, TLS: c.r.TLS != nil, Virtual: c.virtual, Length: c.r.ContentLength,
	})
	s.notify()
}

// Requests gives every request so far, in the order of arrival. With verbs, only those.
func (s *Server) Requests(verbs ...Verb) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var requests []Request
	for _, r := range s.log {
		if len(verbs) == 0 || slices.Contains(verbs, r.Verb) {
			requests = append(requests, r)
		}
	}
	return requests
}

// Count says how many requests of a verb have come.
func (s *Server) Count(verb Verb) int { return len(s.Requests(verb)) }
