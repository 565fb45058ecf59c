package webhdfstest

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// Request is one request as it came.
type Request struct {
	NameNode    int // the number of the server
	Method      string
	Verb        Verb   // "" for one that is not known
	Path        string // of the file, "/" for the root
	Destination string // of Rename
	User        string // user.name; "" where it is missing
	Delegation  string // the token; "" where it is missing
	BasicUser   string // of the Authorization header; "" where it is missing
	Query       url.Values
	Header      http.Header // without Authorization
	Host        string
	TLS         bool
	Length      int64 // of the body as it was announced; -1 where that was not said
	Status      int   // of the answer; 0 while there is none, and where the connection was dropped
}

// record puts a request into the log.
func (ns *Namespace) record(c *call) {
	header := c.r.Header.Clone()
	header.Del("Authorization")
	user, _, _ := c.r.BasicAuth()
	ns.log = append(ns.log, Request{
		NameNode: c.node.number, Method: c.r.Method, Verb: c.verb, Path: c.path, Destination: c.query.Get("destination"),
		User: c.query.Get("user.name"), Delegation: c.query.Get("delegation"), BasicUser: user,
		Query: maps.Clone(c.r.URL.Query()), Header: header, Host: c.r.Host, TLS: c.r.TLS != nil, Length: c.r.ContentLength,
	})
	ns.notify()
}

// Requests gives every request so far, in the order of arrival. With verbs, only those.
func (ns *Namespace) Requests(verbs ...Verb) []Request {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	var requests []Request
	for _, r := range ns.log {
		if len(verbs) == 0 || slices.Contains(verbs, r.Verb) {
			requests = append(requests, r)
		}
	}
	return requests
}

// Count says how many requests of a verb have come.
func (ns *Namespace) Count(verb Verb) int { return len(ns.Requests(verb)) }
