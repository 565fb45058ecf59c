package s3test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Of many that complete an upload of theirs at one key if nothing is there, one does.
func TestRacingCompletes(t *testing.T) {
	c := start(t, Options{})
	var won atomic.Int32
	var racers sync.WaitGroup
	for i := range 8 {
		up, doc := c.upload("k", fmt.Sprint(i))
		for range 2 {
			racers.Go(func() {
				r := c.meanwhile(t.Context(), "POST", up, doc, "If-None-Match: *")()
				if r.status == 200 {
					won.Add(1)
				} else if r.code() != "PreconditionFailed" {
					t.Errorf("%d: %s %v", i, r.body, r.err)
				}
			})
			// Whatever else may be asked meanwhile.
			racers.Go(func() {
				c.s.Set(SlowDown, On{Verb: ListBuckets, Times: 1})
				c.s.Uploads("b")
				c.s.Object("b", "k")
				c.s.Requests()
				c.s.Release()
				c.s.Unused()
				c.s.Unset(SlowDown)
			})
		}
	}
	racers.Wait()
	// Both that complete the same upload have won.
	if won.Load() != 2 {
		t.Errorf("%d have won", won.Load())
	}
}

// TLS is seen.
func TestTLS(t *testing.T) {
	s := New(Options{Buckets: []string{"b"}})
	server := httptest.NewTLSServer(s)
	defer server.Close()
	c := &client{T: t, s: s, url: server.URL, do: server.Client().Do}
	c.want(200, "", "PUT", "/b/k", strings.Repeat("x", 1<<20))
	if r := s.Requests(); len(r) != 1 || !r[0].TLS {
		t.Errorf("%+v", r)
	}
}
