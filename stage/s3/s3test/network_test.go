package s3test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// meanwhile starts a request, and gives a function that waits for its answer.
func (c *client) meanwhile(ctx context.Context, method, path, body string, headers ...string) (answer func() reply) {
	c.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	setHeaders(r, headers)
	got := make(chan reply, 1)
	go func() { got <- c.send(r) }()
	return func() reply { return <-got }
}

func (c *client) await(sw Switch, n int) {
	c.Helper()
	if err := c.s.AwaitFired(c.Context(), sw, n); err != nil {
		c.Fatal(err)
	}
}

var networkScenes = map[Switch]func(*client){
	DropReplyAfter: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(DropReplyAfter, On{Verb: CompleteMultipartUpload, Times: 1})
		if got := c.ask("POST", up, doc); got.err == nil {
			c.Error(got)
		}
		c.holds("k", "data")
		requests := c.s.Requests(CompleteMultipartUpload)
		if len(requests) != 1 || requests[0].Status != 0 {
			c.Errorf("%+v", requests)
		}
		c.want(200, "", "POST", up, doc)
	},
	ErrorAfter: func(c *client) {
		c.s.Set(ErrorAfter, On{Verb: PutObject, Times: 1})
		c.s.Set(ErrorAfter, On{Verb: PutObject, Times: 1, Status: http.StatusGatewayTimeout})
		c.want(404, "NoSuchBucket", "PUT", "/none/k", "x")
		c.want(500, "InternalError", "PUT", "/b/k", "x")
		c.holds("k", "x")
		c.want(504, "GatewayTimeout", "PUT", "/b/k", "y")
		c.holds("k", "y")
	},
	CutReply: func(c *client) {
		c.s.PutObject("b", "k", []byte("0123456789"), nil)
		c.s.Set(CutReply, On{Times: 1})
		c.want(200, "", "HEAD", "/b/k", "")
		if got := c.ask("GET", "/b/k", ""); got.status != 200 || got.body != "01234" || got.err == nil {
			c.Error(got)
		}
	},
	DropRequest: func(c *client) {
		c.s.Set(DropRequest, On{Times: 1})
		if got := c.ask("PUT", "/b/k", "x"); got.err == nil {
			c.Error(got)
		}
		c.holds("k", "")
	},
	Stall: func(c *client) {
		c.s.Set(Stall, On{Verb: PutObject, Times: 2})
		left, leave := context.WithCancel(c.Context())
		gone := c.meanwhile(left, "PUT", "/b/gone", "x")
		c.await(Stall, 1)
		leave()
		if got := gone(); got.err == nil {
			c.Error(got)
		}
		stays := c.meanwhile(c.Context(), "PUT", "/b/k", "x")
		c.await(Stall, 2)
		c.holds("k", "")
		c.s.Release()
		if got := stays(); got.status != 200 {
			c.Error(got)
		}
		c.holds("k", "x")
	},
	StallReply: func(c *client) {
		c.s.Set(StallReply, On{Verb: PutObject, Times: 1})
		got := c.meanwhile(c.Context(), "PUT", "/b/k", "x")
		c.await(StallReply, 1)
		c.holds("k", "x")
		c.s.Release()
		if got := got(); got.status != 200 {
			c.Error(got)
		}
	},
	Throttle: func(c *client) {
		c.s.Set(Throttle, On{N: 1 << 20, Times: 1})
		up := c.create("k")
		c.part(up, "1", "x")
	},
}

// What Throttle says is how long it waits, not how it is done.
func TestThrottle(t *testing.T) {
	var waited atomic.Int64
	c := start(t, Options{Pause: func(_ context.Context, d time.Duration) error {
		waited.Add(int64(d))
		return nil
	}})
	c.s.Set(Throttle, On{N: 1000})
	up := c.create("k")
	c.part(up, "1", strings.Repeat("x", 3000))
	if got := time.Duration(waited.Load()); got < 3*time.Second || got > 4*time.Second {
		t.Errorf("3,000 bytes at 1,000 a second took %v", got)
	}
}

// A server in front of a store that holds requests back can close once the store has.
func TestCloseReleases(t *testing.T) {
	c := start(t, Options{})
	up, doc := c.upload("k", "data")
	c.s.Set(Stall, On{Verb: GetObject})
	c.s.Set(LateComplete, On{})
	got := c.meanwhile(c.Context(), "GET", "/b/k", "")
	c.await(Stall, 1)
	if got := c.ask("POST", up, doc); got.err == nil {
		t.Error(got)
	}
	c.s.Close()
	got()
	c.holds("k", "data")
	c.want(200, "", "GET", "/b/k", "")
}

func TestAwaitRequests(t *testing.T) {
	c := start(t, Options{})
	got := c.meanwhile(t.Context(), "PUT", "/b/k", "x")
	if err := c.s.AwaitRequests(t.Context(), PutObject, 1); err != nil {
		t.Fatal(err)
	}
	got()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.s.AwaitRequests(ctx, PutObject, 2); err != context.Canceled {
		t.Error(err)
	}
}
