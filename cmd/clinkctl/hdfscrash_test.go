package main

import (
	"bytes"
	"flag"
	"fmt"
	"testing"
)

// The connection to a real NameNode is lost, or the process dies, at each request of a run and of what follows it: before the
// request is passed on, or when it is done and not answered. In the end every row is published once. What may be left is what
// noteFoldersOnly says.

var long = flag.Bool("long", false, "lose each request to a real NameNode in each way, not a sample")

// step is the step of a sweep: a point takes a quarter of a second, and there are 3,000. -long takes all of them, and -short
// a few, where they are to show races.
func step() int {
	switch {
	case *long:
		return 1
	case testing.Short():
		return 101
	}
	return 37
}

// points are what is lost at requests 1 to n: there and from there on, or only there. Each way begins elsewhere, so that what one
// leaves out another one has.
func points(n int, ways ...loss) []loss {
	var all []loss
	for k, l := range ways {
		for l.from = 1 + k*step()/len(ways); l.from <= n; l.from += step() {
			all = append(all, l)
		}
	}
	return all
}

func losing() []loss { return []loss{{}, {done: true}, {once: true}, {done: true, once: true}} }

func (l loss) String() string { return fmt.Sprintf("%d done %t once %t", l.from, l.done, l.once) }

// ends carries the run to its end after whatever has happened to it. gone says that even a probe may be left.
func (w *nativeWorld) ends(e ended, gone bool) {
	w.t.Helper()
	begun := len(w.runs()) > 0
	w.t.Logf("exit %d, begun %t", e.code, begun)
	switch {
	case e.code == 3:
		e.exits(3, w.resumes())
		w.resume().exits(0, "")
	case e.code == 1 && begun, e.code != 0 && e.code != 1:
		w.t.Fatalf("%s: exit %d with %d runs begun: %s", e.args[0], e.code, len(w.runs()), e.err)
	}
	w.run("--key", "k").exits(0, "")
	w.once()
	w.noteFoldersOnly(!begun && gone)
}

// wasLost ends what is lost, which must have been something.
func (w *nativeWorld) wasLost() {
	w.t.Helper()
	if !w.proxy.unset() {
		w.t.Fatal("nothing was lost")
	}
}

func TestNativeLostConnectionInRun(t *testing.T) {
	h := newRealHDFS(t)
	clean := h.world(t)
	n := clean.proxy.requests(func() { clean.run("--key", "k").exits(0, "") })
	t.Logf("%d requests", n)
	for _, l := range points(n, losing()...) {
		t.Run(l.String(), func(t *testing.T) {
			w := h.world(t)
			w.proxy.set(l)
			e := w.run("--key", "k")
			w.wasLost()
			w.ends(e, true)
		})
	}
}

// Where calls are tried again, one that is lost is no matter, also where it was done and the next try meets what it did.
func TestNativeLostAndTriedAgain(t *testing.T) {
	h := newRealHDFS(t)
	clean := h.world(t)
	n := clean.proxy.requests(func() { clean.run("--key", "k").exits(0, "") })
	t.Logf("%d requests", n)
	for _, l := range points(n, loss{once: true}, loss{done: true, once: true}) {
		t.Run(l.String(), func(t *testing.T) {
			w := h.world(t)
			w.options["retries"] = "3"
			w.proxy.set(l)
			w.run("--key", "k").exits(0, "")
			w.wasLost()
			w.exactlyOnce()
		})
	}
}

// naming are requests that have all of these texts.
func naming(texts ...string) func([]byte) bool {
	return func(request []byte) bool {
		for _, text := range texts {
			if !bytes.Contains(request, []byte(text)) {
				return false
			}
		}
		return true
	}
}

// leave makes a run that is left open by what is lost.
func (w *nativeWorld) leave(l loss) {
	w.t.Helper()
	l.from = 1
	w.proxy.set(l)
	w.run("--key", "k").exits(3, w.resumes())
	w.wasLost()
}

// nativeStops are moments in which a run was left, and a further one carries it on.
func nativeStops() map[string]func(w *nativeWorld) {
	rename, second := naming("rename2", "/sub0-"), naming("rename2", "-000002.")
	return map[string]func(w *nativeWorld){
		"one unit prepared": func(w *nativeWorld) {
			w.leave(loss{of: naming("create", "-000002.")})
			w.shows(0, 1)
		},
		"decided": func(w *nativeWorld) {
			w.leave(loss{of: rename})
			w.shows(0, 2)
			w.isOpen(2)
		},
		"one published": func(w *nativeWorld) {
			w.leave(loss{of: second})
			w.shows(1, 1)
			w.isOpen(1)
		},
		"published and not journaled": func(w *nativeWorld) {
			w.source(3, 3, 8)
			renamed := false
			w.leave(loss{done: true, of: func(request []byte) bool {
				renamed = renamed || rename(request)
				return renamed && bytes.Contains(request, []byte("/sub0-"))
			}})
			w.shows(1, 0)
			w.isOpen(1)
		},
	}
}

func TestNativeLostConnectionInResume(t *testing.T) {
	h := newRealHDFS(t)
	for name, stop := range nativeStops() {
		clean := h.world(t)
		stop(clean)
		n := clean.proxy.requests(func() { clean.resume().exits(0, "") })
		t.Logf("%s: %d requests", name, n)
		for _, l := range points(n, losing()...) {
			t.Run(name+" "+l.String(), func(t *testing.T) {
				w := h.world(t)
				stop(w)
				w.proxy.set(l)
				e := w.resume()
				w.wasLost()
				w.ends(e, false)
			})
		}
	}
}

func TestNativeDyingInRun(t *testing.T) {
	h := newRealHDFS(t)
	clean := h.world(t)
	n := clean.proxy.requests(func() { clean.run("--key", "k").exits(0, "") })
	t.Logf("%d requests", n)
	for _, l := range points(n, loss{}, loss{done: true}) {
		t.Run(l.String(), func(t *testing.T) {
			w := h.world(t)
			w.dies(l, "run", w.job(), "--key", "k", "--progress", "none")
			w.endsAfterDeath()
		})
	}
}

// endsAfterDeath carries the run of a process that was killed to its end.
func (w *nativeWorld) endsAfterDeath() {
	w.t.Helper()
	begun := len(w.runs()) > 0
	w.resume().exits(0, "")
	w.run("--key", "k").exits(0, "")
	w.once()
	w.noteFoldersOnly(!begun)
}

func TestNativeDyingInResume(t *testing.T) {
	h := newRealHDFS(t)
	for name, stop := range nativeStops() {
		clean := h.world(t)
		stop(clean)
		n := clean.proxy.requests(func() { clean.resume().exits(0, "") })
		t.Logf("%s: %d requests", name, n)
		for _, l := range points(n, loss{}, loss{done: true}) {
			t.Run(name+" "+l.String(), func(t *testing.T) {
				w := h.world(t)
				stop(w)
				w.dies(l, "resume", "--progress", "none")
				w.endsAfterDeath()
			})
		}
	}
}
