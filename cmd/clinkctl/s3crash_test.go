package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// The connection is lost, or the process dies, at each request of a run and of what follows it. In the end every row is
// published once, and nothing is left.

// crashWorld is a machine whose run has two artifacts of two parts, and whose requests are seen one by one: on a connection
// of its own each, so that none is repeated behind our back.
func crashWorld(t *testing.T) *s3World {
	w := newS3World(t)
	w.twoParts()
	w.around = closing
	return w
}

// every is the step of a sweep: -short takes some points only.
func every() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// requestsOf counts the requests of something that goes well.
func (w *s3World) requestsOf(do func()) int {
	before := len(w.store.Requests())
	do()
	return len(w.store.Requests()) - before
}

// ends carries the run to its end after whatever has happened to it.
func (w *s3World) ends(e ended) {
	w.t.Helper()
	switch e.code {
	case 0, 1, 3:
	default:
		w.t.Fatalf("%s: exit %d: %s", e.args[0], e.code, e.err)
	}
	w.store.Unset()
	w.run().exits(0, "")
	w.once()
}

var losses = []s3test.Switch{s3test.DropRequest, s3test.DropReplyAfter}

func TestLostConnectionInRun(t *testing.T) {
	clean := crashWorld(t)
	n := clean.requestsOf(func() { clean.run().exits(0, "") })
	for _, sw := range losses {
		for i := 1; i <= n; i += every() {
			t.Run(fmt.Sprint(sw, i), func(t *testing.T) {
				w := crashWorld(t)
				w.set(sw, s3test.On{From: i, Times: 1})
				w.ends(w.run())
			})
		}
	}
}

// stops are moments in which a run was left, and a further one carries it on.
var stops = map[string]func(w *s3World){
	"one unit prepared": func(w *s3World) {
		w.set(s3test.Deny, s3test.On{Verb: s3test.UploadPart, Key: "-000002."})
		w.run().exits(3, w.resumes())
		w.unset()
	},
	"decided": (*s3World).decided,
	"one published": func(w *s3World) {
		w.set(s3test.DropRequest, s3test.On{Verb: s3test.CompleteMultipartUpload, Key: "-000002."})
		w.run().exits(3, w.resumes())
		w.unset()
	},
	"published and not journaled": func(w *s3World) {
		around := w.around
		w.around = func(next http.RoundTripper) http.RoundTripper { return blindAfterComplete(around(next)) }
		w.run().exits(3, w.resumes())
		w.around = around
	},
}

func TestLostConnectionInResume(t *testing.T) {
	for name, stop := range stops {
		clean := crashWorld(t)
		stop(clean)
		n := clean.requestsOf(func() { clean.resume().exits(0, "") })
		for _, sw := range losses {
			for i := 1; i <= n; i += every() {
				t.Run(fmt.Sprint(name, sw, i), func(t *testing.T) {
					w := crashWorld(t)
					stop(w)
					w.set(sw, s3test.On{From: i, Times: 1})
					w.ends(w.resume())
				})
			}
		}
	}
}

// dying is a process that is killed when its n-th request comes: before it is answered, or after that was done.
func (w *s3World) dying(n int, done bool, args ...string) ended {
	var seen atomic.Int64
	var p atomic.Pointer[process]
	started := make(chan struct{})
	kill := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		<-started
		if seen.Add(1) < int64(n) {
			w.store.ServeHTTP(rw, r)
			return
		}
		if done {
			w.store.ServeHTTP(httptest.NewRecorder(), r)
		}
		_ = p.Load().cmd.Process.Kill() // it may be dead
		panic(http.ErrAbortHandler)
	})
	w.handle.Store(&kill)
	p.Store(w.start(args...))
	close(started)
	e := w.end(p.Load())
	w.handle.Store(nil)
	return e
}

func TestDyingInRun(t *testing.T) {
	clean := crashWorld(t)
	n := clean.requestsOf(func() { clean.run().exits(0, "") })
	for _, done := range []bool{false, true} {
		for i := 1; i <= n; i += every() {
			t.Run(fmt.Sprint("done ", done, i), func(t *testing.T) {
				w := crashWorld(t)
				if e := w.dying(i, done, "run", w.job(), "--progress", "none"); e.code != -1 {
					t.Fatalf("it was not killed: exit %d", e.code)
				}
				w.forgetProbe()
				w.run().exits(0, "")
				w.once()
			})
		}
	}
}

// forgetProbe removes the upload of a probe whose process was killed: no journal names it.
func (w *s3World) forgetProbe() {
	for _, u := range w.store.Uploads(bucket) {
		if len(w.runs()) == 0 {
			w.store.ForgetUpload(bucket, u.ID)
		}
	}
}

func TestDyingInResume(t *testing.T) {
	for name, stop := range stops {
		clean := crashWorld(t)
		stop(clean)
		n := clean.requestsOf(func() { clean.resume().exits(0, "") })
		for i := 1; i <= n; i += every() {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				w := crashWorld(t)
				stop(w)
				w.dying(i, i%2 == 0, "resume", "--progress", "none")
				w.resume().exits(0, "")
				w.once()
			})
		}
	}
}

// A probe whose upload is lost on the way, or cannot be given up at once, leaves nothing.
func TestProbeLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		sw   s3test.Switch
		verb s3test.Verb
	}{
		{s3test.DropReplyAfter, s3test.CreateMultipartUpload},
		{s3test.DropReplyAfter, s3test.UploadPart},
		{s3test.DropRequest, s3test.AbortMultipartUpload},
	} {
		w := newS3World(t)
		w.set(c.sw, s3test.On{Verb: c.verb, Key: "/probe-", Times: 1})
		w.run().exits(1, "")
		w.unset()
		w.shows(0, 0)
	}
}

// A run with a key makes its mark at the store: it is its own, whatever becomes of the reply.
func TestLostConnectionWithKey(t *testing.T) {
	small := func(t *testing.T) *s3World {
		w := newS3World(t)
		w.around = closing
		return w
	}
	clean := small(t)
	n := clean.requestsOf(func() { clean.run("--key", "k").exits(0, "") })
	for _, sw := range losses {
		for i := 1; i <= n; i += every() {
			t.Run(fmt.Sprint(sw, i), func(t *testing.T) {
				w := small(t)
				w.set(sw, s3test.On{From: i, Times: 1})
				if e := w.run("--key", "k"); e.code != 0 && e.code != 1 && e.code != 3 {
					t.Fatalf("exit %d: %s", e.code, e.err)
				}
				w.store.Unset()
				w.run("--key", "k").exits(0, "")
				w.once()
			})
		}
	}
}

// Where a call is repeated after its reply was lost, what it meets is its own doing, and the run ends well.
func TestLostReplyAndRepeated(t *testing.T) {
	for _, verb := range []s3test.Verb{s3test.PutObject, s3test.CreateMultipartUpload, s3test.UploadPart, s3test.AbortMultipartUpload,
		s3test.CompleteMultipartUpload, s3test.HeadObject, s3test.ListParts} {
		for _, key := range []string{"/.clinkctl/", "/sub0-", "_manifest"} {
			t.Run(fmt.Sprint(verb, key), func(t *testing.T) {
				w := newS3World(t)
				w.around = closing
				w.options["retries"] = "3"
				w.set(s3test.DropReplyAfter, s3test.On{Verb: verb, Key: key, Times: 1})
				w.run("--key", "k").exits(0, "")
				w.exactlyOnce()
			})
		}
	}
}
