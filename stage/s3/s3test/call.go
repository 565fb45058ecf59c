package s3test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// call is a request that is being answered.
type call struct {
	r           *http.Request
	number      int // in the log
	verb        Verb
	bucket, key string
	virtual     bool // the bucket was in the host name
	query       url.Values
	header      http.Header // and the trailers, once the body is there
	body        []byte
	ignoresSums *bool // what IgnoreChecksums says, once it was asked
	landing     bool  // a late Complete whose moment has come
}

// arrive takes a request in, before its body is read.
func (s *Server) arrive(r *http.Request) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{r: r, number: len(s.log), query: r.URL.Query(), header: r.Header.Clone()}
	name, virtual := bucketOf(r.Host)
	c.address(name, virtual)
	if virtual && s.fires(PathStyleOnly, c) != nil {
		c.address("", false)
	}
	s.record(c)
	s.landDue(c)
	return c
}

// address finds out what a request is about.
func (c *call) address(bucket string, virtual bool) {
	c.bucket, c.key, c.virtual = bucket, strings.TrimPrefix(c.r.URL.Path, "/"), virtual
	if !virtual {
		c.bucket, c.key, _ = strings.Cut(c.key, "/")
	}
	c.verb = verbOf(c.r.Method, c.bucket, c.key, c.query, c.r.Header)
}

// bucketOf finds a bucket in a host name.
func bucketOf(host string) (bucket string, virtual bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if bucket, virtual = strings.CutSuffix(host, ".localhost"); virtual {
		return bucket, true
	}
	bucket, _, virtual = strings.Cut(host, ".s3.")
	return bucket, virtual
}

// receive reads the body and takes its transfer coding off.
func (s *Server) receive(c *call) error {
	var body bytes.Buffer
	if c.r.ContentLength > 0 && c.r.ContentLength <= 64<<20 {
		body.Grow(int(c.r.ContentLength) + bytes.MinRead)
	}
	_, err := body.ReadFrom(s.throttled(c))
	raw := body.Bytes()
	if err != nil {
		return fail(http.StatusBadRequest, "IncompleteBody", "You did not provide the number of bytes specified by the Content-Length HTTP header")
	}
	c.body = raw
	sum := c.header.Get("X-Amz-Content-Sha256")
	if strings.HasPrefix(sum, "STREAMING-") {
		return c.unchunk(raw)
	}
	if digest := sha256.Sum256(raw); len(sum) == 64 && hex.EncodeToString(digest[:]) != sum {
		return fail(http.StatusBadRequest, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.")
	}
	return nil
}

// throttled gives the body, as slowly as Throttle says.
func (s *Server) throttled(c *call) io.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on := s.fires(Throttle, c); on != nil && on.N > 0 {
		return &slowReader{s: s, c: c, perSecond: on.N}
	}
	return c.r.Body
}

// slowReader gives the bytes of a tenth of a second, and then waits for one.
type slowReader struct {
	s         *Server
	c         *call
	perSecond int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if err := r.s.pause(r.c.r.Context(), time.Second/10); err != nil {
		return 0, err
	}
	return r.c.r.Body.Read(p[:min(len(p), max(1, r.perSecond/10))])
}

// answer is what goes back.
type answer struct {
	status int
	header http.Header
	body   []byte
	drop   bool        // nothing goes back: the connection is closed
	cut    bool        // half of the body goes back
	later  chan answer // the answer comes from here
}

func (a answer) write(w http.ResponseWriter, c *call) {
	if a.drop {
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	h.Set("Server", "AmazonS3")
	h.Set("X-Amz-Request-Id", c.id())
	h.Set("X-Amz-Id-2", "host")
	if len(a.body) > 0 {
		h.Set("Content-Length", fmt.Sprint(len(a.body)))
	}
	w.WriteHeader(a.status)
	if c.r.Method == http.MethodHead {
		return
	}
	if a.cut {
		a.body = a.body[:len(a.body)/2]
	}
	// A client that has left notices nothing of this, and no more does the store.
	_, _ = io.Copy(w, bytes.NewReader(a.body))
	if a.cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// id numbers requests as AWS does, in capitals.
func (c *call) id() string { return fmt.Sprintf("REQ%013d", c.number+1) }
