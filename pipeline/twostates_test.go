package pipeline_test

import (
	"sync"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

const otherState = "/state2"

// other is an engine in a process of its own, on the other state directory.
func (w *world) other() *pipeline.Engine {
	e, _ := w.process()
	e.State = otherState
	return e
}

// removeAll removes a folder and what is in it.
func removeAll(t *testing.T, fsys vfs.FS, dir string) {
	t.Helper()
	names, err := fsys.List(dir)
	must(t, err)
	for _, name := range names {
		at := dir + "/" + name
		info, err := fsys.Stat(at)
		must(t, err)
		if info.Dir {
			removeAll(t, fsys, at)
		} else {
			must(t, fsys.Remove(at))
		}
	}
	must(t, fsys.Remove(dir))
}

// TestTwoStatesOneKey kills a process at every operation; another one, with another state directory, then does the same
// key, whether or not the first one's state is lost; and the first one resumes.
func TestTwoStatesOneKey(t *testing.T) {
	for _, c := range crashes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sweep(t, func(t *testing.T, k int) bool {
				w, p := small(t, *seed+uint64(k))
				w.mem.OnOp(vfs.DieAt(k))
				e, process := w.process()
				e.Run(t.Context(), p, "k", 0)
				w.mem.OnOp(nil)
				if _, err := process.Stat("/"); err == nil {
					return false
				}
				c.apply(w)
				wiped := w.fork()
				w.expect(t, w.other().Run(t.Context(), p, "k", 0), pipeline.Done)
				w.wholeRows(t, sourceRows(smallRows))
				w.resume(t, pipeline.Done)
				w.checkWhole(t, sourceRows(smallRows))
				w.run(t, p, "k", pipeline.Done)
				w.checkWhole(t, sourceRows(smallRows))

				if _, err := wiped.mem.Outside().Stat(state); err == nil {
					removeAll(t, wiped.mem.Outside(), state)
				}
				wiped.expect(t, wiped.other().Run(t.Context(), p, "k", 0), pipeline.Done)
				wiped.wholeRows(t, sourceRows(smallRows))
				wiped.run(t, p, "k", pipeline.Done)
				wiped.wholeRows(t, sourceRows(smallRows))
				return true
			})
		})
	}
}

// both runs two commands at once, each in a process of its own.
func both(a, b func() []pipeline.Result) (x, y []pipeline.Result) {
	var wait sync.WaitGroup
	wait.Go(func() { x = a() })
	wait.Go(func() { y = b() })
	wait.Wait()
	return x, y
}

// TestTwoProcesses starts a job twice at once, many times.
func TestTwoProcesses(t *testing.T) {
	tests := []struct {
		name       string
		keyA, keyB string
		second     string // state directory of B
		one        bool   // only one of them exports
	}{
		{name: "same key", keyA: "k", keyB: "k", second: state, one: true},
		{name: "no key", second: state, one: true},
		{name: "two states", keyA: "k", keyB: "k", second: otherState, one: true},
		{name: "different keys", keyA: "k", keyB: "l", second: state},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			seen := map[[2]pipeline.Code]int{}
			for round := range 100 {
				w, p := small(t, *seed+uint64(round))
				w.clock.still = true
				a, _ := w.process()
				b, _ := w.process()
				b.State = test.second
				x, y := both(func() []pipeline.Result { return a.Run(t.Context(), p, test.keyA, 0) },
					func() []pipeline.Result { return b.Run(t.Context(), p, test.keyB, 0) })
				codes := [2]pipeline.Code{pipeline.WorstOf(x), pipeline.WorstOf(y)}
				seen[codes]++
				for _, c := range codes {
					if c != pipeline.Done && (c != pipeline.Held || !test.one || test.second != state) {
						t.Fatalf("round %d: exits %v\n%s\n%s", round, codes, show(x), show(y))
					}
				}
				if codes[0] != pipeline.Done && codes[1] != pipeline.Done {
					t.Fatalf("round %d: nobody exported: %s\n%s", round, show(x), show(y))
				}
				if test.one {
					w.wholeRows(t, sourceRows(smallRows))
				} else {
					w.eachRow(t, 2)
				}
				if left := w.staged(); len(left) > 0 {
					t.Fatalf("round %d: left staged: %v\n%s\n%s", round, left, show(x), show(y))
				}
			}
			t.Logf("exits %v", seen)
		})
	}
}

// eachRow fails unless every row can be read so many times at every destination.
func (w *world) eachRow(t *testing.T, times int) {
	t.Helper()
	for _, dir := range []string{outA, outB} {
		rows := w.visibleRows(t, dir)
		for _, row := range sourceRows(smallRows) {
			if rows[row] != times {
				t.Fatalf("%d times %q in %s\n%s", rows[row], row, dir, w.tree())
			}
		}
	}
}

// TestAdoptedWhileFinished: the owner and an adopter finish one run at once, from every record at which its key is decided.
func TestAdoptedWhileFinished(t *testing.T) {
	w, p := small(t, *seed)
	w.clock.still = true
	for i, at := range worlds(t, w, p, "k") {
		for range 10 {
			w := at.fork()
			a, _ := w.process()
			b := w.other()
			x, y := both(func() []pipeline.Result { return a.Resume(t.Context(), nil, pipeline.Carry{}) },
				func() []pipeline.Result { return b.Run(t.Context(), p, "k", 0) })
			w.expect(t, append(x, y...), pipeline.Done)
			w.wholeRows(t, sourceRows(smallRows))
			if left := w.staged(); len(left) > 0 {
				t.Fatalf("record %d: left staged: %v", i+1, left)
			}
		}
	}
}
