package pipeline_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// rejecting is a machine whose source has three bad records, which the plan lets in.
func rejecting(t *testing.T) *world {
	t.Helper()
	return newShaped(t, *seed, shapes(t)["rejects"])
}

// nothingVisible fails if a destination shows an artifact.
func (w *world) nothingVisible(t *testing.T) {
	t.Helper()
	for _, dir := range []string{outA, outB, outBad} {
		names, err := w.mem.Outside().List(dir)
		must(t, err)
		for _, name := range names {
			if _, err := runstate.ParseName(name); err == nil {
				t.Fatalf("%s in %s is visible", name, dir)
			}
		}
	}
}

// TestTooManyRejects: more than are allowed end the run, in one process or in two, and nothing is visible.
func TestTooManyRejects(t *testing.T) {
	t.Parallel()
	s := shapes(t)["rejects"]
	few := *s
	few.plan = func(p *pipeline.Plan) {
		s.plan(p)
		p.MaxRejects = 2
	}
	w := newShaped(t, *seed, &few)
	for _, w := range w.atEveryOperation(func(e *pipeline.Engine) {
		r := e.Run(t.Context(), w.plan(), "k", 0)
		if pipeline.WorstOf(r) != pipeline.BadData || !strings.Contains(r[0].Error, "3 records are refused, and max_rejects is 2") {
			t.Fatal(show(r))
		}
	}) {
		w.mem.ProcessDeath(false)
		w.mem.OnOp(nil)
		e, _ := w.process()
		e.Resume(t.Context(), nil, pipeline.Carry{})
		if r := e.Run(t.Context(), w.plan(), "k", 0); pipeline.WorstOf(r) != pipeline.BadData {
			t.Fatal(show(r))
		}
		w.nothingVisible(t)
	}
}

// TestMaxRejectsOfNow: what the command says holds for the whole run, also for what other processes have put aside, and for those
// that go on from there.
func TestMaxRejectsOfNow(t *testing.T) {
	less, more := rejecting(t), rejecting(t)
	p := less.plan()
	p.Subtasks = 1
	less.dieAt(t, p, "k", 1, func(vfs.Op) bool { j := less.journals(state); return len(j) > 0 && less.view(t).State.Rejected() == 1 })
	p.MaxRejects = 0
	r := less.run(t, p, "k", pipeline.BadData)
	if !strings.Contains(r[0].Error, "1 record is refused, and max_rejects is 0") {
		t.Fatal(show(r))
	}
	less.nothingVisible(t)
	if left := less.staged(); len(left) > 0 {
		t.Fatalf("left staged: %v", left)
	}

	p = more.plan()
	p.Subtasks, p.MaxRejects = 1, 1
	more.dieAt(t, p, "k", 1, func(vfs.Op) bool { j := more.journals(state); return len(j) > 0 && more.view(t).State.Rejected() == 1 })
	p.MaxRejects = 3
	more.dieAt(t, p, "k", 1, func(vfs.Op) bool { return more.view(t).State.Rejected() > 1 })
	r = more.resume(t, pipeline.Done)
	if r[0].Rejected != 3 || r[0].Rejects != outBad || slices.Contains(r[0].Sinks, outBad) {
		t.Fatal(show(r))
	}
	more.checkWhole(t, nil)
}

// TestRejectsReadAgain: staged artifacts disappear before the decision, and the same process reads their records again. None of
// these is counted twice.
func TestRejectsReadAgain(t *testing.T) {
	for _, dir := range []string{outA, outBad} {
		w := rejecting(t)
		gone := 0
		w.mem.OnOp(func(vfs.Op) vfs.Fault {
			if gone > 0 || len(w.journals(state)) == 0 {
				return vfs.Fault{}
			}
			s := w.view(t).State
			if s.Rejected() < 3 || len(s.Open()) > 0 {
				return vfs.Fault{}
			}
			hidden := path.Join(dir, stage.Hidden, string(s.Begun.Run))
			names, err := w.mem.Outside().List(hidden)
			must(t, err)
			for _, name := range names {
				must(t, w.mem.Outside().Remove(path.Join(hidden, name)))
				gone++
			}
			return vfs.Fault{}
		})
		r := w.run(t, w.plan(), "k", pipeline.Done)
		w.mem.OnOp(nil)
		if gone < 2 || r[0].Rejected != 3 {
			t.Fatalf("%d artifacts were removed: %s", gone, show(r))
		}
		w.checkWhole(t, nil)
	}
}

// TestRejectsRescale resumes with other numbers of subtasks at every record: what is kept stays as it is, and is counted.
func TestRejectsRescale(t *testing.T) {
	t.Parallel()
	for _, n := range [][2]int{{2, 4}, {4, 2}, {1, 3}} {
		for _, key := range keys {
			w := rejecting(t)
			p := w.plan()
			p.Subtasks, p.Source.SplitBytes, p.Checkpoint.Bytes = n[0], 30, 30
			for _, at := range worlds(t, w, p, key) {
				before := kept(at.view(t).State)
				e, _ := at.process()
				if r := e.Resume(t.Context(), nil, pipeline.Carry{Subtasks: n[1]}); pipeline.WorstOf(r) != pipeline.Done {
					t.Fatal(show(r))
				}
				if r := at.run(t, p, key, pipeline.Done); r[0].Rejected != 3 || r[0].Rows != sweepRows {
					t.Fatal(show(r))
				}
				at.checkWhole(t, nil)
				after := kept(at.view(t).State)
				for id, digest := range before {
					if after[id] != digest {
						t.Fatalf("%v had the digest %s, and has %s", id, digest, after[id])
					}
				}
			}
		}
	}
}

// TestRejectsSameBytes: the artifacts do not depend on the timing of the subtasks.
func TestRejectsSameBytes(t *testing.T) {
	var first []string
	for round := range 10 {
		w := rejecting(t)
		p := w.plan()
		p.Subtasks, p.Source.SplitBytes = 3, 50
		w.run(t, p, "k", pipeline.Done)
		var digests []string
		for h := range w.view(t).State.Kept() {
			digests = append(digests, fmt.Sprintf("%d %s %d %s", h.Sink, h.Name, h.Rows, h.Digest))
		}
		slices.Sort(digests)
		if round == 0 {
			first = digests
		} else if !slices.Equal(first, digests) {
			t.Fatalf("%v\n%v", first, digests)
		}
	}
}

// TestFaultAmongRejects makes every operation in the folder of rejects fail, in ways that a disk can.
func TestFaultAmongRejects(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]vfs.Fault{"ENOSPC": vfs.Fail(syscall.ENOSPC), "failed fsync": vfs.FailSync(syscall.EIO), "death": vfs.Die()} {
		w := rejecting(t)
		for n := 1; ; n += stride {
			f, seen := w.fork(), 0
			met := runUntil(t, f, "k", func(op vfs.Op) vfs.Fault {
				if !op.Modifies() || !strings.HasPrefix(op.Path, outBad+"/") {
					return vfs.Fault{}
				}
				if seen++; seen == n {
					return fault
				}
				return vfs.Fault{}
			})
			if !met {
				t.Logf("%s: %d operations", name, n-1)
				break
			}
			for _, c := range crashes {
				f := f.fork()
				c.apply(f)
				recoverWorld(t, f, "k", 1+n%3)
			}
		}
	}
}

// TestAllRefused: a source whose records are all refused holds no row, and on_empty says what that means.
func TestAllRefused(t *testing.T) {
	t.Parallel()
	for value, test := range map[pipeline.OnEmpty]struct {
		code      pipeline.Code
		artifacts int
	}{
		pipeline.EmptySkip: {pipeline.Done, 0}, pipeline.EmptyWrite: {pipeline.Done, 1}, pipeline.EmptyFail: {pipeline.BadData, 0},
	} {
		s := *shapes(t)["rejects"]
		s.files = map[string]string{"1.csv": header + "x,bad\n7\n", "2.csv": header}
		s.rows, s.bad = nil, []string{"/src/1.csv:2 x,bad\n", "/src/1.csv:3 7\n"}
		w := newShaped(t, *seed, &s)
		p := w.plan()
		p.OnEmpty = value
		all := w.atEveryOperation(func(e *pipeline.Engine) { w.expect(t, e.Run(t.Context(), p, "k", 0), test.code) })
		for k, at := range append(all, w) {
			at.mem.PowerLoss()
			at.mem.OnOp(nil)
			at.run(t, p, "k", test.code)
			if test.code == pipeline.BadData {
				at.nothingVisible(t)
				continue
			}
			at.empty(t, test.artifacts, true)
			if err := at.whole(outBad, s.bad); err != nil {
				t.Fatalf("%s, at operation %d: %v\n%s", value, k+1, err, at.tree())
			}
		}
	}
}

// TestRejectsCleared: whoever has mended the records that were refused clears their folder. That makes nothing of the run undone.
func TestRejectsCleared(t *testing.T) {
	for _, key := range keys {
		w := rejecting(t)
		w.run(t, w.plan(), key, pipeline.Done)
		names, err := w.mem.Outside().List(outBad)
		must(t, err)
		for _, name := range names {
			if name != stage.Hidden {
				must(t, w.mem.Outside().Remove(path.Join(outBad, name)))
			}
		}
		if r := w.run(t, w.plan(), key, pipeline.Done); !r[0].Already {
			t.Fatalf("key %q: %s", key, show(r))
		}
		wipe(w.mem.Outside(), outBad)
		if r := w.run(t, w.plan(), key, pipeline.Done); !r[0].Already {
			t.Fatalf("key %q: %s", key, show(r))
		}
		if key == "" {
			continue
		}
		wipe(w.mem.Outside(), state) // the key is kept beside the rows
		if r := w.run(t, w.plan(), key, pipeline.Done); !r[0].Already {
			t.Fatal(show(r))
		}
		p := w.plan()
		p.Sinks = p.Sinks[:2] // the same key without a place for rejects
		w.run(t, p, key, pipeline.Usage)
		for _, dir := range []string{outA, outB} {
			if err := w.whole(dir, w.shape.rows); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRejectsDiscarded: what was put aside in a unit that fails is removed, like its rows.
func TestRejectsDiscarded(t *testing.T) {
	w := rejecting(t)
	p := w.plan()
	p.Subtasks, p.Checkpoint.Bytes = 1, 1<<20
	met := false
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Path != "/src/2.csv" || !slices.ContainsFunc(w.staged(), func(name string) bool { return strings.HasPrefix(name, outBad) }) {
			return vfs.Fault{}
		}
		met = true
		return vfs.Fail(syscall.EIO)
	})
	w.run(t, p, "k", pipeline.Open)
	w.mem.OnOp(nil)
	if !met {
		t.Fatal("nothing was put aside")
	}
	for _, left := range w.staged() {
		names, err := w.mem.Outside().List(left)
		must(t, err)
		if len(names) > 0 {
			t.Fatalf("left staged: %s", names)
		}
	}
	w.resume(t, pipeline.Done)
	w.checkWhole(t, nil)
}

// TestRejectsGone: at every operation of a keyed run the process dies, its state is lost, and so are all rejects. The rows are
// there once in every case; what is said of the rejects, once they were decided, is that they are lost.
func TestRejectsGone(t *testing.T) {
	t.Parallel()
	start := rejecting(t)
	all := start.atEveryOperation(func(e *pipeline.Engine) { start.expect(t, e.Run(t.Context(), start.plan(), "k", 0), pipeline.Done) })
	lost, again := 0, 0
	for k := 0; k < len(all); k += stride {
		w := all[k]
		w.mem.ProcessDeath(false)
		wipe(w.mem.Outside(), state)
		w.clear(t, outBad)
		e, _ := w.process()
		r := e.Run(t.Context(), w.plan(), "k", 0)
		switch pipeline.WorstOf(r) {
		case pipeline.Done:
			again++
		case pipeline.Person:
			for lost++; len(r) > 0 && strings.Contains(r[0].Next, " resolve "); r = e.Resume(t.Context(), nil, pipeline.Carry{}) {
				w.type_(t, e, r[0])
			}
		default:
			t.Fatalf("at operation %d: %s\n%s", k+1, show(r), w.tree())
		}
		for _, dir := range []string{outA, outB} {
			if err := w.whole(dir, w.shape.rows); err != nil {
				t.Fatalf("at operation %d: %v\n%s\n%s", k+1, err, show(r), w.tree())
			}
		}
	}
	if lost == 0 || again == 0 {
		t.Fatalf("lost %d times, %d times not", lost, again)
	}
}

// clear removes what a destination holds, but for its id.
func (w *world) clear(t *testing.T, dir string) {
	t.Helper()
	for _, in := range []string{dir, path.Join(dir, stage.Hidden)} {
		names, err := w.mem.Outside().List(in)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its folder is made when it is first needed
		}
		must(t, err)
		for _, name := range names {
			if name != stage.Hidden && name != "id" {
				wipe(w.mem.Outside(), path.Join(in, name))
			}
		}
	}
}
