package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// TestRescale resumes with other numbers of subtasks than the run began with, at every record: each handle is finished
// once, under the name that its own attempt gave it, and no id is used twice.
func TestRescale(t *testing.T) {
	for _, n := range [][2]int{{4, 2}, {2, 4}, {1, 3}, {3, 1}, {2, 2}} {
		for _, key := range keys {
			t.Run(fmt.Sprintf("%d to %d/key=%s", n[0], n[1], key), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, *seed, sweepRows)
				p := w.plan()
				p.Subtasks, p.Source.SplitBytes = n[0], 30
				sample := rand.New(rand.NewPCG(*seed, 13))
				for _, at := range worlds(t, w, p, key) {
					for v := at.view(t).State; v.Ended == nil; v = at.view(t).State {
						before := kept(v)
						e, _ := at.process()
						// Die again on the way, so that many attempts come together.
						base := at.mem.Ops()
						at.mem.OnOp(vfs.DieAt(base + 20 + sample.IntN(60)))
						e.Resume(t.Context(), nil, pipeline.Carry{Subtasks: n[1]})
						at.mem.OnOp(nil)
						at.mem.ProcessDeath(false)
						for id, digest := range before {
							if after := kept(at.view(t).State); after[id] != digest {
								t.Fatalf("%v had the digest %s, and has %s", id, digest, after[id])
							}
						}
					}
					at.run(t, p, key, pipeline.Done)
					at.checkWhole(t, sourceRows(sweepRows))
					seen := map[runstate.UnitID]bool{}
					for _, u := range at.view(t).State.Units {
						if seen[u.ID()] {
							t.Fatalf("unit %+v twice, again in attempt %d", u.ID(), u.Attempt)
						}
						seen[u.ID()] = true
					}
				}
			})
		}
	}
}

// TestSameBytes: one world, one plan, the same artifacts, byte by byte, whatever the timing of the subtasks.
func TestSameBytes(t *testing.T) {
	var first []string
	for round := range 20 {
		w := newWorld(t, *seed, 500)
		p := w.plan()
		p.Checkpoint.Bytes, p.Source.SplitBytes = 700, 1500
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

// TestWipedState: the state directory is wiped, and made again by somebody else, under a running process, at every
// operation. It is noticed before the decision; with a key no row is ever there twice.
func TestWipedState(t *testing.T) {
	for _, key := range keys {
		t.Run("key="+key, func(t *testing.T) {
			t.Parallel()
			noticed := 0
			for k := 1; ; k += stride {
				w, p := small(t, *seed+uint64(k))
				begun := false
				decided := false
				w.mem.OnOp(func(op vfs.Op) vfs.Fault {
					if !op.Modifies() || op.N != k {
						return vfs.Fault{}
					}
					journals := w.journals(state)
					if begun = len(journals) > 0; !begun {
						return vfs.Fault{}
					}
					v, err := runstate.Read(w.mem.Outside(), path.Dir(journals[0]), runstate.Format)
					decided = err == nil && v.State.Decision != runstate.Undecided || w.marked(t)
					wipe(w.mem.Outside(), state)
					return vfs.Fault{}
				})
				e, _ := w.process()
				code := pipeline.WorstOf(e.Run(t.Context(), p, key, 0))
				w.mem.OnOp(nil)
				if w.mem.Ops() < k {
					break
				}
				if begun && !decided && code == pipeline.World && len(w.visibleRows(t, outA)) == 0 {
					noticed++ // run it again, says exit 1: so nothing may be left
					if left := w.staged(); len(left) > 0 {
						t.Fatalf("at operation %d: left staged: %v", k, left)
					}
				}
				if key == "" && len(w.visibleRows(t, outA)) > 0 && begun {
					continue // what such a run has published, nothing knows of: hence its label
				}
				w.run(t, p, key, pipeline.Done)
				w.wholeRows(t, sourceRows(smallRows))
			}
			if noticed < 20/stride {
				t.Fatalf("noticed %d times", noticed)
			}
		})
	}
}

// wipe is rm -rf, as far as it gets.
func wipe(fsys vfs.FS, dir string) {
	names, _ := fsys.List(dir)
	for _, name := range names {
		wipe(fsys, path.Join(dir, name))
	}
	_ = fsys.Remove(dir)
}
