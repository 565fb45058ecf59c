package pipeline_test

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

var (
	long = flag.Bool("long", false, "sweep every pair of crashes, not a sample")
	seed = flag.Uint64("seed", 1, "seed of what power losses take and of the samples")
)

const sweepRows = 24

// crash is what ends a process, or a machine.
type crash struct {
	name  string
	apply func(w *world)
}

var crashes = []crash{
	{"process death", func(w *world) { w.mem.ProcessDeath(false) }},
	{"power loss", func(w *world) { w.mem.PowerLoss() }},
}

// recoverWorld brings whatever a crash has left to its end, as a person or a crontab would: resume with some number of
// subtasks, then run again. Both must exit 0.
func recoverWorld(t *testing.T, w *world, key string, subtasks int) {
	t.Helper()
	w.mem.OnOp(nil)
	e, _ := w.process()
	if r := e.Resume(t.Context(), nil, pipeline.Carry{Subtasks: subtasks}); pipeline.WorstOf(r) != pipeline.Done {
		t.Fatalf("resume: %s\n%s", show(r), w.tree())
	}
	if r := e.Run(t.Context(), w.plan(), key, 0); pipeline.WorstOf(r) != pipeline.Done {
		t.Fatalf("run: %s\n%s", show(r), w.tree())
	}
	w.checkWhole(t, sourceRows(sweepRows))
}

// runUntil runs the job in a world whose process dies, or meets a fault, at an operation. It tells whether it came so far.
func runUntil(t *testing.T, w *world, key string, plan func(vfs.Op) vfs.Fault) bool {
	t.Helper()
	met := false
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		f := plan(op)
		met = met || f != vfs.Fault{}
		return f
	})
	e, _ := w.process()
	results := e.Run(t.Context(), w.plan(), key, 0)
	w.mem.OnOp(nil)
	if !met && pipeline.WorstOf(results) != pipeline.Done {
		t.Fatalf("without a fault: %s", show(results))
	}
	return met
}

// sweep calls f for every operation, until a run gets through without meeting it.
func sweep(t *testing.T, f func(t *testing.T, k int) (met bool)) {
	for k := 1; ; k += stride {
		if !f(t, k) {
			t.Logf("%d operations, each %d.", k-1, stride)
			return
		}
		if t.Failed() {
			t.Fatalf("at operation %d", k)
		}
	}
}

// atEveryOperation lets a process work on a machine, and gives the machine as it is before each operation that modifies:
// what a crash at that operation leaves. Each has a seed of its own for what a power loss takes.
func (w *world) atEveryOperation(work func(e *pipeline.Engine)) []*world {
	var all []*world
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Modifies() {
			f := w.fork()
			f.mem.Reseed(*seed + uint64(op.N))
			all = append(all, f)
		}
		return vfs.Fault{}
	})
	e, _ := w.process()
	work(e)
	w.mem.OnOp(nil)
	return all
}

// TestCrashAtEveryOperation ends the run at operation k, for every k, and then, with every number of subtasks, resumes;
// and again with a power loss at operation j of that resume: at every j with -long, else at a sample.
func TestCrashAtEveryOperation(t *testing.T) {
	for _, key := range keys {
		for _, c := range crashes {
			t.Run(fmt.Sprintf("key=%s/%s", key, c.name), func(t *testing.T) {
				t.Parallel()
				sample := rand.New(rand.NewPCG(*seed, 7))
				w := newWorld(t, *seed, sweepRows)
				pairs := 0
				all := w.atEveryOperation(func(e *pipeline.Engine) { e.Run(t.Context(), w.plan(), key, 0) })
				w.checkWhole(t, sourceRows(sweepRows))
				for k := 0; k < len(all); k += stride {
					w := all[k]
					c.apply(w)
					for subtasks := 1; subtasks <= 3; subtasks++ {
						recoverWorld(t, w.fork(), key, subtasks)
						if *long || sample.IntN(12) == 0 {
							pairs += crashRecovery(t, w, key, subtasks, sample)
						}
					}
					if t.Failed() {
						t.Fatalf("at operation %d", k+1)
					}
				}
				t.Logf("%d operations, %d pairs", len(all), pairs)
			})
		}
	}
}

// crashRecovery resumes with a power loss at operation j of the resume, and then brings that to its end. It tells for how
// many j.
func crashRecovery(t *testing.T, w *world, key string, subtasks int, sample *rand.Rand) (pairs int) {
	t.Helper()
	f := w.fork()
	all := f.atEveryOperation(func(e *pipeline.Engine) { e.Resume(t.Context(), nil, pipeline.Carry{Subtasks: subtasks}) })
	for j, f := range all {
		if !*long && sample.IntN(16) > 0 {
			continue
		}
		f.mem.PowerLoss()
		recoverWorld(t, f, key, subtasks)
		pairs++
		if t.Failed() {
			t.Fatalf("at operation %d of the resume with %d subtasks", j+1, subtasks)
		}
	}
	return pairs
}

// TestFaultAtEveryOperation makes operation k fail in a way that a disk can, for every k. The run may end well or not; what
// follows is exit 0 with every row once.
func TestFaultAtEveryOperation(t *testing.T) {
	faults := map[string]func(op vfs.Op) vfs.Fault{
		"ENOSPC":        func(vfs.Op) vfs.Fault { return vfs.Fail(syscall.ENOSPC) },
		"EIO":           func(vfs.Op) vfs.Fault { return vfs.Fail(syscall.EIO) },
		"short write":   func(op vfs.Op) vfs.Fault { return vfs.ShortWrite(op.Bytes/2, io.ErrShortWrite) },
		"failed fsync":  func(vfs.Op) vfs.Fault { return vfs.FailSync(syscall.EIO) },
		"half a record": func(op vfs.Op) vfs.Fault { return vfs.DieWriting(op.Bytes / 2) },
	}
	for name, fault := range faults {
		for _, key := range keys {
			t.Run(fmt.Sprintf("%s/key=%s", name, key), func(t *testing.T) {
				t.Parallel()
				sweep(t, func(t *testing.T, k int) bool {
					w := newWorld(t, *seed+uint64(k), sweepRows)
					met := runUntil(t, w, key, func(op vfs.Op) vfs.Fault {
						if op.Modifies() && op.N == k {
							return fault(op)
						}
						return vfs.Fault{}
					})
					if !met {
						return false
					}
					for _, c := range []crash{{"none", func(*world) {}}, crashes[0], crashes[1], {"eviction", func(w *world) { w.mem.ProcessDeath(true) }}} {
						f := w.fork()
						c.apply(f)
						recoverWorld(t, f, key, 1+k%3)
					}
					return true
				})
			})
		}
	}
}
