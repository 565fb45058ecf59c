package pipeline_test

import (
	"path"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// fullDisk makes the disk of the state directory full from the n-th operation on that would take space there, until a
// reserve is removed. It tells whether it was met.
func (w *world) fullDisk(n int) (met func() bool) {
	seen, full := 0, true
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		if !strings.HasPrefix(op.Path, state+"/") {
			return vfs.Fault{}
		}
		switch op.Name {
		case vfs.OpRemove:
			if path.Base(op.Path) == "reserve" {
				full = false
			}
		case vfs.OpCreate, vfs.OpWrite, vfs.OpAllocate, vfs.OpMkdir:
			if seen++; seen >= n && full {
				return vfs.Fail(syscall.ENOSPC)
			}
		}
		return vfs.Fault{}
	})
	return func() bool { return seen >= n }
}

// TestFullDiskUnderTheState fills the disk of the state directory at every operation of a run that takes space there. The
// exit is by the table; on the disk that is still full what is undecided can be abandoned and what is decided finished.
func TestFullDiskUnderTheState(t *testing.T) {
	for _, key := range keys {
		t.Run("key="+key, func(t *testing.T) {
			t.Parallel()
			codes := map[pipeline.Code]int{}
			for n := 1; ; n++ {
				w, p := small(t, *seed)
				met := w.fullDisk(n)
				e, _ := w.process()
				code := pipeline.WorstOf(e.Run(t.Context(), p, key, 0))
				if !met() {
					break
				}
				codes[code]++
				w.afterFullDisk(t, p, key, code)
				if t.Failed() {
					t.Fatalf("full from operation %d on, exit %d", n, code)
				}
			}
			if codes[pipeline.Done] == 0 || codes[pipeline.World] == 0 || codes[pipeline.Open] == 0 {
				t.Fatalf("the exits were %v", codes)
			}
			t.Logf("exits %v", codes)
		})
	}
}

func (w *world) afterFullDisk(t *testing.T, p pipeline.Plan, key string, code pipeline.Code) {
	t.Helper()
	open := w.openRuns(t)
	switch code {
	case pipeline.Done:
		w.checkWhole(t, sourceRows(smallRows))
	case pipeline.World:
		if len(open) > 0 {
			t.Fatalf("exit 1, and %d runs are open", len(open))
		}
	case pipeline.Open:
		if len(open) != 1 {
			t.Fatalf("exit 3, and %d runs are open", len(open))
		}
	default:
		t.Fatalf("exit %d", code)
	}
	for _, run := range open {
		f := w.fork()
		f.mem.SetCapacity(f.mem.Used())
		e, _ := f.process()
		if run.View.State.Decision == runstate.Undecided {
			f.expect(t, []pipeline.Result{e.Abandon(t.Context(), run.Run, "the disk is full")}, pipeline.Done)
		} else {
			f.expect(t, e.Resume(t.Context(), nil, pipeline.Carry{}), pipeline.Done)
			f.checkWhole(t, sourceRows(smallRows))
		}
	}
	w.mem.OnOp(nil)
	w.run(t, p, key, pipeline.Done)
	w.checkWhole(t, sourceRows(smallRows))
}

// openRuns are the runs that are begun and not ended.
func (w *world) openRuns(t *testing.T) []pipeline.Entry {
	t.Helper()
	e := w.engine(w.mem.Outside())
	runs, err := e.Runs("job")
	must(t, err)
	var open []pipeline.Entry
	for _, r := range runs {
		if r.Err != nil || r.View.State.Ended == nil {
			open = append(open, r)
		}
	}
	return open
}

// TestFullDiskWhileAbandoning fills the disk at every operation of abandon, and of abandon --damaged.
func TestFullDiskWhileAbandoning(t *testing.T) {
	w, p := small(t, *seed)
	at := stateOf(t, worlds(t, w, p, ""), allPrepared)
	run := at.view(t).State.Begun.Run
	broken := at.fork()
	journal, text := broken.journal(t)
	text[len(text)/2] ^= 1
	broken.replace(t, journal, text)
	for n := 1; ; n++ {
		f, g := at.fork(), broken.fork()
		met := f.fullDisk(n)
		e, _ := f.process()
		f.expect(t, []pipeline.Result{e.Abandon(t.Context(), run, "why not")}, pipeline.Done)
		if left := f.staged(); len(left) > 0 {
			t.Fatalf("left: %v", left)
		}
		metDamaged := g.fullDisk(n)
		e, _ = g.process()
		r, aside := e.AbandonDamaged(t.Context(), run, "why not")
		g.expect(t, []pipeline.Result{r}, pipeline.Done)
		if aside == nil {
			t.Fatal("nothing was put aside")
		}
		if !met() && !metDamaged() {
			break
		}
	}
}

// TestFullDiskOfTheDestination: where state and destination share a full disk, nothing is lost, and space is all it takes.
func TestFullDiskOfTheDestination(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		for _, at := range worlds(t, w, p, key) {
			at.mem.SetCapacity(at.mem.Used())
			e, _ := at.process()
			code := pipeline.WorstOf(e.Resume(t.Context(), nil, pipeline.Carry{}))
			if code != pipeline.Done && code != pipeline.Open {
				t.Fatalf("exit %d", code)
			}
			at.mem.SetCapacity(-1)
			at.resume(t, pipeline.Done)
			at.run(t, p, key, pipeline.Done)
			at.checkWhole(t, sourceRows(smallRows))
		}
	}
}
