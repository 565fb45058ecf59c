package pipeline_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// trapRows fill files of several fingerprint blocks, so that a change in the middle is in none of them.
const trapRows = 4000

// trapped is a machine whose run died after its first unit, in the middle of the first file, and one whose clock of files
// can be set back.
func trapped(t *testing.T) (*world, pipeline.Plan, *time.Time) {
	t.Helper()
	w := newWorld(t, *seed, trapRows)
	hands := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	w.mem.Now = func() time.Time { return hands }
	out := w.mem.Outside()
	for _, name := range []string{"/src/1.csv", "/src/2.csv"} { // written at the time that can be set
		text, err := vfs.ReadFile(out, name)
		must(t, err)
		w.replace(t, name, text)
	}
	p := w.plan()
	p.Subtasks, p.Checkpoint.Bytes = 1, 20_000
	hands = hands.Add(time.Hour)
	w.dieAt(t, p, "k", 2, func(op vfs.Op) bool { return op.Name == vfs.OpSync && strings.Contains(op.Path, ".clinkctl/2026") })
	if units := w.view(t).State.Units; len(units) != 0 {
		t.Fatalf("%d units", len(units))
	}
	// One unit prepared: die at the stage of the second one.
	w.resumeUntil(t, p, 3)
	if s := w.view(t).State; len(s.Units) != 1 || s.Units[0].Ranges[0].End {
		t.Fatalf("units: %+v", s.Units)
	}
	return w, p, &hands
}

// resumeUntil resumes in a process that dies when it syncs the n-th staged file.
func (w *world) resumeUntil(t *testing.T, p pipeline.Plan, n int) {
	t.Helper()
	seen := 0
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpSync && strings.Contains(op.Path, ".clinkctl/2026") {
			if seen++; seen == n {
				return vfs.Die()
			}
		}
		return vfs.Fault{}
	})
	e, _ := w.process()
	e.Run(t.Context(), p, "k", 0)
	w.mem.OnOp(nil)
	w.mem.ProcessDeath(false)
}

// kept gives name and digest of what is prepared, by sink.
func kept(s *runstate.State) map[runstate.HandleID]string {
	all := map[runstate.HandleID]string{}
	for h := range s.Kept() {
		all[h.ID()] = h.Digest
	}
	return all
}

// lowSlack is how much of a source may be read without being exported: heads and the blocks of fingerprints.
const lowSlack = 20 * 4096

func TestSourceTraps(t *testing.T) {
	original, p, hands := trapped(t)
	unit := original.view(t).State.Units[0]
	keptBytes := unit.Ranges[0].To - unit.Ranges[0].From
	written := hands.Add(-time.Hour)
	text, err := vfs.ReadFile(original.mem.Outside(), "/src/1.csv")
	must(t, err)
	middle := func(at int64) []byte { // other digits in a row around an offset that no fingerprint block has
		changed := bytes.Clone(text)
		i := at + int64(bytes.IndexByte(changed[at:], '-')) + 1
		changed[i] = 'x'
		return changed
	}
	tests := []struct {
		name string
		do   func(t *testing.T, w *world)
		want pipeline.Code
		rest int64 // bytes that may be read of the first file beside what is exported: kept ranges that are compared
	}{
		{"unchanged", func(*testing.T, *world) {}, pipeline.Done, 0},
		{"changed in a kept range, mtime put back", func(t *testing.T, w *world) {
			*hands = written
			w.replace(t, "/src/1.csv", middle(6000))
		}, pipeline.Person, keptBytes},
		{"the same bytes, in another file", func(t *testing.T, w *world) { w.replace(t, "/src/1.csv", text) }, pipeline.Done, keptBytes},
		{"hard-linked", func(t *testing.T, w *world) { must(t, w.mem.Outside().Link("/src/1.csv", "/src/other.name")) }, pipeline.Done, keptBytes},
		{"moved to another device", func(t *testing.T, w *world) {
			two, err := vfs.ReadFile(w.mem.Outside(), "/src/2.csv")
			must(t, err)
			must(t, w.mem.Mount("/src"))
			*hands = written
			must(t, write(w.mem.Outside(), "/src/1.csv", string(text)))
			must(t, write(w.mem.Outside(), "/src/2.csv", string(two)))
		}, pipeline.Done, keptBytes},
		{"grown", func(t *testing.T, w *world) {
			w.replace(t, "/src/1.csv", append(bytes.Clone(text), "9999,late\n"...))
		}, pipeline.Done, keptBytes},
		{"shrunk", func(t *testing.T, w *world) { w.replace(t, "/src/1.csv", text[:len(text)-10]) }, pipeline.Person, 0},
		{"removed", func(t *testing.T, w *world) { must(t, w.mem.Outside().Remove("/src/2.csv")) }, pipeline.Person, 0},
		{"another header", func(t *testing.T, w *world) {
			w.replace(t, "/src/2.csv", []byte(strings.Replace(string(text), "id", "di", 1)))
		}, pipeline.Person, 0},
		{"a new file", func(t *testing.T, w *world) { must(t, write(w.mem.Outside(), "/src/3.csv", header+"9999,new\n")) }, pipeline.Done, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			*hands = written.Add(2 * time.Hour)
			w := original.fork()
			test.do(t, w)
			before := w.mem.BytesRead("/src/1.csv")
			first := kept(w.view(t).State)
			e, _ := w.process()
			w.expect(t, e.Resume(t.Context(), nil, pipeline.Carry{}), test.want)
			read := w.mem.BytesRead("/src/1.csv") - before
			if most := int64(len(text)) - keptBytes + test.rest + lowSlack; read > most {
				t.Errorf("%d bytes read of the first file, at most %d are needed", read, most)
			}
			after := kept(w.view(t).State)
			for id, digest := range first {
				if after[id] != digest {
					t.Errorf("%v had the digest %s, and has %s", id, digest, after[id])
				}
			}
			if test.want == pipeline.Done {
				w.checkWhole(t, sourceRows(trapRows))
				return
			}
			w.putBack(t, original, p)
		})
	}
}

// putBack is the way out of a changed source: the files are put back. The other way is to abandon the run.
func (w *world) putBack(t *testing.T, original *world, p pipeline.Plan) {
	t.Helper()
	abandoned := w.fork()
	e, _ := abandoned.process()
	abandoned.expect(t, []pipeline.Result{e.Abandon(t.Context(), abandoned.view(t).State.Begun.Run, "changed")}, pipeline.Done)
	if left := abandoned.staged(); len(left) > 0 {
		t.Fatalf("left staged: %v", left)
	}
	for _, name := range []string{"/src/1.csv", "/src/2.csv"} {
		text, err := vfs.ReadFile(original.mem.Outside(), name)
		must(t, err)
		_ = w.mem.Outside().Remove(name) // it may be the one that is gone
		must(t, write(w.mem.Outside(), name, string(text)))
	}
	w.resume(t, pipeline.Done)
	w.checkWhole(t, sourceRows(trapRows))
}

// TestSourceChangesWhileRead changes the source at a moment when the process reads it.
func TestSourceChangesWhileRead(t *testing.T) {
	text := []byte(header + strings.Join(sourceRows(trapRows)[:trapRows/2], ""))
	changed := bytes.Replace(text, []byte("50,name-50\n"), []byte("50,name-xx\n"), 1)
	tests := []struct {
		name string
		now  []byte
		want pipeline.Code
	}{
		{"replaced by other bytes", changed, pipeline.Person},
		{"replaced by the same bytes", text, pipeline.Done},
		{"grown", append(bytes.Clone(text), "9999,late\n"...), pipeline.Done},
		{"shrunk", text[:len(text)-30], pipeline.Person},
		{"removed", nil, pipeline.Person},
	}
	for _, test := range tests {
		for _, key := range keys {
			t.Run(test.name+"/key="+key, func(t *testing.T) {
				w := newWorld(t, *seed, trapRows)
				p := w.plan()
				p.Subtasks, p.Checkpoint.Bytes = 1, 5000
				created := 0
				w.mem.OnOp(func(op vfs.Op) vfs.Fault {
					if op.Name == vfs.OpCreate && strings.Contains(op.Path, ".clinkctl/2026") {
						if created++; created == 5 {
							out := w.mem.Outside()
							_ = out.Remove("/src/1.csv") // it is there
							if test.now != nil {
								_ = vfs.WriteNew(out, "/src/1.csv", test.now) // checked by what the run finds
							}
						}
					}
					return vfs.Fault{}
				})
				r := w.run(t, p, key, test.want)
				w.mem.OnOp(nil)
				if test.want == pipeline.Done {
					w.checkWhole(t, sourceRows(trapRows))
					return
				}
				if !strings.Contains(r[0].Next, "abandon") {
					t.Fatal(show(r))
				}
				if rows := w.visibleRows(t, outA); len(rows) > 0 {
					t.Fatalf("%d rows are visible", len(rows))
				}
			})
		}
	}
}

// TestOneFileTwice: by a link, or by another name of its folder.
func TestOneFileTwice(t *testing.T) {
	w := newWorld(t, *seed, sweepRows)
	must(t, w.mem.Outside().Link("/src/1.csv", "/src/4.csv"))
	w.run(t, w.plan(), "k", pipeline.Usage)
	if len(w.journals(state)) > 0 {
		t.Fatal("a run was begun")
	}
	w = newWorld(t, *seed, sweepRows)
	must(t, w.mem.Symlink("/src/1.csv", "/src/4.csv"))
	w.run(t, w.plan(), "", pipeline.Usage)
}

// TestRecordEndsMove: bytes that were not read yet have changed so that records end elsewhere than where the file was cut.
func TestRecordEndsMove(t *testing.T) {
	w := newWorld(t, *seed, trapRows)
	p := w.plan()
	p.Source.SplitBytes, p.Checkpoint.Bytes, p.Subtasks = 9000, 3000, 1
	w.dieAt(t, p, "k", 3, func(op vfs.Op) bool { return op.Name == vfs.OpSync && strings.Contains(op.Path, ".clinkctl/2026") })
	if s := w.view(t).State; len(s.Units) != 1 {
		t.Fatalf("%d units", len(s.Units))
	}
	at := w.view(t).State.Begun.Splits[0].To
	text, err := vfs.ReadFile(w.mem.Outside(), "/src/1.csv")
	must(t, err)
	if text[at-1] != '\n' {
		t.Fatal("the split does not end with a record")
	}
	text[at-1], text[at+1] = 'x', '\n'
	w.replace(t, "/src/1.csv", text)
	w.resume(t, pipeline.Person)
	if rows := w.visibleRows(t, outA); len(rows) > 0 {
		t.Fatalf("%d rows are visible", len(rows))
	}
}
