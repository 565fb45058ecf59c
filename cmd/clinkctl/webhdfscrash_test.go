package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	hdfs "github.com/clinkctl/clinkctl/stage/webhdfs/webhdfstest"
)

// The connection is lost, or the process dies, at each request of a run and of what follows it. In the end every row is
// published once. A process that is killed may leave the folder of a note that it was writing, and nothing else.

// requests counts the requests of something that goes well.
func (w *hdfsWorld) requests(do func()) int {
	before := len(w.ns.Requests())
	do()
	return len(w.ns.Requests()) - before
}

// noteFoldersOnly checks what is left: of a run that could not be swept, and says so, its empty folder as well, and of a
// probe whose run was not begun what no journal names.
func (w *hdfsWorld) noteFoldersOnly(probe bool) {
	w.t.Helper()
	warned := map[string]bool{}
	for _, dir := range w.runs() {
		s := w.stateOf(dir)
		warned[string(s.Begun.Run)+"/"] = s.Ended != nil && len(s.Ended.Warnings) > 0
	}
	for _, name := range w.left() {
		if !strings.HasPrefix(name, "tmp-") && !warned[name] && !(probe && strings.HasPrefix(name, "probe-")) {
			w.t.Errorf("%s is left", name)
		}
	}
}

// ends carries the run to its end after whatever has happened to it.
func (w *hdfsWorld) ends(e ended, gone bool) {
	w.t.Helper()
	if e.code != 0 && e.code != 1 && e.code != 3 {
		w.t.Fatalf("%s: exit %d: %s", e.args[0], e.code, e.err)
	}
	begun := len(w.runs()) > 0
	w.ns.Unset()
	w.run("--key", "k").exits(0, "")
	w.once()
	w.noteFoldersOnly(!begun && gone)
}

func TestHDFSLostConnectionInRun(t *testing.T) {
	clean := newHDFSWorld(t)
	clean.source(3, 3, 8)
	n := clean.requests(func() { clean.run("--key", "k").exits(0, "") })
	for i := 1; i <= n; i += every() {
		for k, c := range []struct {
			sw    hdfs.Switch
			times int // 0: the network is gone from then on
		}{{hdfs.DropRequest, 0}, {hdfs.DropReplyAfter, 1}} {
			if i%2 != k {
				continue // for speed, one at each
			}
			t.Run(fmt.Sprint(c.sw, i), func(t *testing.T) {
				w := newHDFSWorld(t)
				w.source(3, 3, 8)
				w.options["retries"] = "1"
				w.set(c.sw, hdfs.On{From: i, Times: c.times})
				w.ends(w.run("--key", "k"), c.times == 0)
			})
		}
	}
}

func TestHDFSLostConnectionInResume(t *testing.T) {
	for name, stop := range map[string]func(*hdfsWorld){"decided": (*hdfsWorld).decided, "published": (*hdfsWorld).published} {
		clean := newHDFSWorld(t)
		stop(clean)
		n := clean.requests(func() { clean.resume().exits(0, "") })
		for i := 1; i <= n; i += 3 * every() {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				w := newHDFSWorld(t)
				stop(w)
				w.options["retries"] = "1"
				w.set([]hdfs.Switch{hdfs.DropRequest, hdfs.DropReplyAfter}[i%2], hdfs.On{From: i, Times: i % 2})
				if e := w.resume(); e.code != 0 {
					e.exits(3, w.resumes())
				}
				w.ns.Unset()
				w.resume().exits(0, "")
				w.once()
				w.noteFoldersOnly(false)
			})
		}
	}
}

// dies is a process that is killed when its n-th request comes: before it is answered, or after that was done.
func (w *hdfsWorld) dies(n int, done bool, args ...string) ended {
	var seen atomic.Int64
	var p atomic.Pointer[process]
	started := make(chan struct{})
	kill := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		<-started
		if seen.Add(1) < int64(n) {
			w.node.ServeHTTP(rw, r)
			return
		}
		if done {
			w.node.ServeHTTP(httptest.NewRecorder(), r)
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

func TestHDFSDyingInRun(t *testing.T) {
	clean := newHDFSWorld(t)
	n := clean.requests(func() { clean.run().exits(0, "") })
	for i := 1; i <= n; i += 5 * every() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := newHDFSWorld(t)
			if e := w.dies(i, i%2 == 0, "run", w.job(), "--progress", "none"); e.code != -1 {
				t.Fatalf("it was not killed: exit %d", e.code)
			}
			begun := len(w.runs()) > 0
			w.run().exits(0, "")
			w.once()
			w.noteFoldersOnly(!begun)
		})
	}
}

// What is read from HDFS is what was written there, over connections that break.
func TestHDFSSource(t *testing.T) {
	w := newHDFSWorld(t)
	w.source(3000, 3000, 400)
	w.ns.Put("/in/a.csv", []byte(w.read("orders.csv")))
	for _, hidden := range []string{"/in/.b.csv", "/in/_c.csv", "/in/.clinkctl/d.csv"} {
		w.ns.Put(hidden, []byte("other\n1\n"))
	}
	breaks := 0
	w.around = func(next http.RoundTripper) http.RoundTripper {
		return closing(roundTrip(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err == nil && r.URL.Query().Get("op") == "OPEN" && strings.Contains(r.URL.Path, "/in/") && r.URL.Query().Get("datanode") == "true" {
				breaks++
				answer.Body = http.MaxBytesReader(nil, answer.Body, 300<<10)
			}
			return answer, err
		}))
	}
	w.fromHDFS("/in/*.csv").exits(0, "")
	w.exactlyOnce()
	if breaks < 4 {
		t.Errorf("%d answers", breaks)
	}
}

// fromHDFS runs the job with a source at the same HDFS.
func (w *hdfsWorld) fromHDFS(at string) ended {
	w.t.Helper()
	w.job()
	text := strings.Replace(w.read("orders.yaml"), fmt.Sprintf("source: {path: %q}", w.path("orders.csv")), "source: {path: \"webhdfs://"+w.host()+at+"\"}", 1)
	w.write("orders.yaml", text)
	return w.call("run", w.path("orders.yaml"), "--progress", "none")
}

// A file that is replaced by an equal one while it is read is another file: no row of it is published.
func TestHDFSSourceChanges(t *testing.T) {
	for name, change := range map[string]func(was []byte) []byte{
		"appended": func(was []byte) []byte { return append(was, "7,late\n"...) },
		"replaced": func(was []byte) []byte { return was },
	} {
		t.Run(name, func(t *testing.T) {
			w := newHDFSWorld(t)
			w.source(3000, 1000, 400)
			data, err := os.ReadFile(w.path("orders.csv"))
			if err != nil {
				t.Fatal(err)
			}
			w.ns.Put("/in/a.csv", data)
			reads := 0
			w.around = func(next http.RoundTripper) http.RoundTripper {
				return closing(roundTrip(func(r *http.Request) (*http.Response, error) {
					answer, err := next.RoundTrip(r)
					if err == nil && r.URL.Query().Get("op") == "OPEN" && strings.Contains(r.URL.Path, "/in/") && r.URL.Query().Get("datanode") == "true" {
						if reads++; r.URL.Query().Get("offset") == "0" && reads > 1 { // it is read for columns first
							w.ns.Put("/in/a.csv", change(data))
						}
						answer.Body = http.MaxBytesReader(nil, answer.Body, 500<<10)
					}
					return answer, err
				}))
			}
			if e := w.fromHDFS("/in/a.csv"); e.code != 4 && e.code != 65 {
				t.Errorf("exit %d: %s", e.code, e.err)
			}
			for _, name := range w.names() {
				if _, err := runstate.ParseName(path.Base(name)); err == nil {
					t.Errorf("%s is published", name)
				}
			}
		})
	}
}
