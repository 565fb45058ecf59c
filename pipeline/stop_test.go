package pipeline_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// TestStopAtEveryOperation asks the process to stop at operation k, for every k: the units at hand are prepared and
// journaled, nothing new is started, the exit is 3 (0 if all was done), and resume finishes.
func TestStopAtEveryOperation(t *testing.T) {
	for _, key := range keys {
		t.Run("key="+key, func(t *testing.T) {
			t.Parallel()
			codes := map[pipeline.Code]int{}
			for k := 1; ; k += stride {
				w := newWorld(t, *seed+uint64(k), sweepRows)
				stop := make(chan struct{})
				e, _ := w.process()
				e.Stop = stop
				w.mem.OnOp(func(op vfs.Op) vfs.Fault {
					if op.Modifies() && op.N == k {
						close(stop)
					}
					return vfs.Fault{}
				})
				code := pipeline.WorstOf(e.Run(t.Context(), w.plan(), key, 0))
				w.mem.OnOp(nil)
				if w.mem.Ops() < k {
					break
				}
				codes[code]++
				if code != pipeline.Done && code != pipeline.Open {
					t.Fatalf("stopped at operation %d: exit %d", k, code)
				}
				recoverWorld(t, w, key, 1+k%3)
			}
			if codes[pipeline.Open] < 20/stride {
				t.Fatalf("the exits were %v", codes)
			}
		})
	}
}

// TestStopPreparesTheUnitAtHand: all subtasks finish their units, and no row that was read is read again.
func TestStopPreparesTheUnitAtHand(t *testing.T) {
	w := newWorld(t, *seed, trapRows)
	p := w.plan()
	p.Checkpoint.Bytes = 1 << 20 // never reached
	p.Source.SplitBytes = 5000
	stop := make(chan struct{})
	created := 0
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpCreate && strings.Contains(op.Path, ".clinkctl/2026") {
			if created++; created == 4 { // both subtasks have begun a unit, in both sinks
				close(stop)
			}
		}
		return vfs.Fault{}
	})
	e, _ := w.process()
	e.Stop = stop
	w.expect(t, e.Run(t.Context(), p, "k", 0), pipeline.Open)
	s := w.view(t).State
	if len(s.Units) != 2 || s.Rows() != e.Progress.Rows.Load() {
		t.Fatalf("%d units of %d rows, and %d rows were read", len(s.Units), s.Rows(), e.Progress.Rows.Load())
	}
	w.resume(t, pipeline.Done)
	w.checkWhole(t, sourceRows(trapRows))
}

// TestCancelAtEveryOperation: a cancelled context starts no modification but what takes back the unit at hand.
func TestCancelAtEveryOperation(t *testing.T) {
	for k := 1; ; k += 2 * stride {
		w := newWorld(t, *seed+uint64(k), sweepRows)
		ctx, cancel := context.WithCancel(t.Context())
		var after []string
		done := false
		w.mem.OnOp(func(op vfs.Op) vfs.Fault {
			if done && (op.Name == vfs.OpLink || op.Name == vfs.OpCreate && strings.Contains(op.Path, ".clinkctl/2026")) {
				after = append(after, op.Name+" "+op.Path)
			}
			if op.Modifies() && op.N == k {
				cancel()
				done = true
			}
			return vfs.Fault{}
		})
		e, _ := w.process()
		code := pipeline.WorstOf(e.Run(ctx, w.plan(), "k", 0))
		w.mem.OnOp(nil)
		cancel()
		if !done {
			return
		}
		if code != pipeline.Done && code != pipeline.Open && code != pipeline.World {
			t.Fatalf("cancelled at operation %d: exit %d", k, code)
		}
		if len(after) > 4 { // what every subtask and the settler had in hand
			t.Fatalf("cancelled at operation %d, and then: %v", k, after)
		}
		recoverWorld(t, w, "k", 1+k%3)
	}
}

// TestNothingRunsOn: when Run is back, so are all its goroutines, however it ends.
func TestNothingRunsOn(t *testing.T) {
	before := runtime.NumGoroutine()
	for k := 1; k < 200; k += 9 {
		w := newWorld(t, *seed, sweepRows)
		w.mem.OnOp(func(op vfs.Op) vfs.Fault {
			if op.Modifies() && op.N == k {
				return vfs.Fail(errors.New("the disk is in a mood"))
			}
			return vfs.Fault{}
		})
		e, _ := w.process()
		e.Run(t.Context(), w.plan(), "k", 0)
		ops := w.mem.Ops()
		if n := runtime.NumGoroutine(); n > before+1 { // a discard's timer may be about to go
			t.Fatalf("%d goroutines, and %d before", n, before)
		}
		if w.mem.Ops() != ops {
			t.Fatal("operations went on")
		}
	}
}

// TestLockOfALiveRun answers 5 at once where nobody waits, and waits as long as it is told.
func TestLockOfALiveRun(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		at := stateOf(t, worlds(t, w, p, key), decided)
		owner := at.mem.Process()
		_, err := runstate.TakeLock(owner, strings.TrimSuffix(at.journals(state)[0], "/journal"))
		must(t, err)
		start := at.clock.Now()
		r := at.run(t, p, key, pipeline.Held)
		if !strings.Contains(r[0].Error, "another process") || at.clock.Now().Sub(start) > time.Second {
			t.Fatal(show(r))
		}
		e, _ := at.process()
		e.Wait = time.Minute
		at.expect(t, e.Run(t.Context(), p, key, 0), pipeline.Held)
		if waited := at.clock.Now().Sub(start); waited < time.Minute {
			t.Fatalf("waited %v", waited)
		}
		tries := 0
		sleep := e.Patience.Sleep
		e.Patience.Sleep = func(ctx context.Context, d time.Duration) error {
			if tries++; tries == 3 {
				owner.Kill()
			}
			return sleep(ctx, d)
		}
		at.expect(t, e.Run(t.Context(), p, key, 0), pipeline.Done)
		at.checkWhole(t, sourceRows(smallRows))
	}
}
