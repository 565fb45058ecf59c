package pipeline_test

import (
	"path"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// stagedFile is where a kept handle's artifact is staged.
func (w *world) stagedFile(t *testing.T, sink int, n int) (string, runstate.Handle) {
	t.Helper()
	for h := range w.view(t).State.Kept() {
		if h.Sink != sink {
			continue
		}
		if n--; n == 0 {
			stem := strings.TrimSuffix(h.Name, ".csv")
			return path.Join([]string{outA, outB}[sink], stage.Hidden, string(w.view(t).State.Begun.Run), stem+".a1"), h
		}
	}
	t.Fatal("no such handle")
	return "", runstate.Handle{}
}

// TestStageDeletedBeforeTheDecision: it is no loss. The unit is dropped in all sinks and read again under another id.
func TestStageDeletedBeforeTheDecision(t *testing.T) {
	for _, key := range keys {
		for sink := range 2 {
			w, p := small(t, *seed)
			at := stateOf(t, worlds(t, w, p, key), allPrepared)
			name, lost := at.stagedFile(t, sink, 2)
			must(t, at.mem.Outside().Remove(name))
			at.resume(t, pipeline.Done)
			at.checkWhole(t, sourceRows(smallRows))
			s := at.view(t).State
			dropped := 0
			for _, u := range s.Units {
				if u.Dropped {
					dropped++
				}
			}
			if _, still := s.Handle(lost.ID()); still || dropped != 1 {
				t.Fatalf("%d units dropped; %v still counts: %v", dropped, lost.ID(), still)
			}
			if last := s.Units[len(s.Units)-1]; last.Attempt != 2 || last.Checkpoint != 4 {
				t.Fatalf("read again as attempt %d, checkpoint %d", last.Attempt, last.Checkpoint)
			}
		}
	}
}

// TestStageDeletedAfterTheDecision: it is LOST, with its rows; the other artifacts are published all the same; resolve
// leads out, and the manifests of all sinks say what is missing.
func TestStageDeletedAfterTheDecision(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		at := stateOf(t, worlds(t, w, p, key), decided)
		name, lost := at.stagedFile(t, 0, 2)
		must(t, at.mem.Outside().Remove(name))
		r := at.resume(t, pipeline.Person)
		if !strings.Contains(r[0].Error, "LOST: "+lost.Name) || !strings.Contains(r[0].Error, "2 rows") {
			t.Fatal(show(r))
		}
		if got := len(at.visibleRows(t, outB)); got != smallRows {
			t.Fatalf("%d rows at the other sink", got)
		}
		at.run(t, p, key, pipeline.Person)
		e, _ := at.process()
		run := r[0].Run
		for _, refused := range []pipeline.Result{
			e.Resolve(t.Context(), run, lost.Name, "", runstate.AsPublished, "it is there, I think"),
			e.Resolve(t.Context(), run, lost.Name, "", runstate.AsLost, ""),
			e.Resolve(t.Context(), run, "sub0-"+string(run)+"-000009.csv", "", runstate.AsLost, "no such thing"),
		} {
			if refused.Code != pipeline.Person && refused.Code != pipeline.Usage {
				t.Fatalf("not refused: %+v", refused)
			}
		}
		at.expect(t, []pipeline.Result{e.Resolve(t.Context(), run, lost.Name, "", runstate.AsLost, "the disk was cleaned")}, pipeline.Done)
		for _, dir := range []string{outA, outB} {
			text, err := vfs.ReadFile(at.mem.Outside(), path.Join(dir, runstate.ManifestName(run)))
			must(t, err)
			m, err := publish.ReadManifest(text)
			must(t, err)
			if m.Outcome != runstate.Partial {
				t.Fatalf("%s says %s", dir, m.Outcome)
			}
			if dir == outA && (len(m.Lost) != 1 || m.Lost[0].Why != "the disk was cleaned" || len(m.Lost[0].Ranges) != 2 || m.Rows != smallRows-2) {
				t.Fatalf("%s", text)
			}
		}
		at.run(t, p, key, pipeline.Person) // whoever asks for the key is told
		at.neverTwice(t)
	}
}

// TestUnmountedDestination: what cannot be looked at is unknown; nothing is lost, and a remount is all it takes.
func TestUnmountedDestination(t *testing.T) {
	for name, other := range map[string]bool{"empty": false, "another destination": true} {
		for _, key := range keys {
			t.Run(name+"/key="+key, func(t *testing.T) {
				w, p := small(t, *seed)
				must(t, w.mem.Mount(outB))
				for i, at := range worlds(t, w, p, key) {
					must(t, at.mem.Unmount(outB))
					if other {
						must(t, mkdirAll(at.mem.Outside(), outB+"/.clinkctl"))
						must(t, write(at.mem.Outside(), outB+"/.clinkctl/id", strings.Repeat("ab", 16)+"\n"))
					}
					ended := at.view(t).State.Ended != nil
					before, _ := vfs.ReadFile(at.mem.Outside(), at.journals(state)[0])
					if !ended {
						at.resume(t, pipeline.Open)
						e, _ := at.process()
						run := at.view(t).State.Begun.Run
						at.expect(t, []pipeline.Result{e.Abandon(t.Context(), run, "why")}, pipeline.Open)
					}
					after, _ := vfs.ReadFile(at.mem.Outside(), at.journals(state)[0])
					if string(before) != string(after) {
						t.Fatalf("record %d: the journal says more than before", i+1)
					}
					must(t, at.mem.Mount(outB))
					at.resume(t, pipeline.Done)
					at.run(t, p, key, pipeline.Done)
					at.checkWhole(t, sourceRows(smallRows))
				}
			})
		}
	}
}

// TestForeignFileInTheWay: other bytes under an artifact's name stop the run, before the decision and after it; both files
// stay, and moving the foreign one away is the way out that loses nothing.
func TestForeignFileInTheWay(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		for _, at := range worlds(t, w, p, key) {
			s := at.view(t).State
			var open []runstate.Handle
			if s.Ended == nil {
				open = s.Outstanding()
			}
			for _, h := range open[:min(len(open), 3)] {
				w := at.fork()
				name := path.Join(h.Place, h.Name)
				if _, err := w.mem.Outside().Stat(name); err == nil {
					continue // published, and not finished yet
				}
				must(t, write(w.mem.Outside(), name, "not ours\n"))
				r := w.resume(t, pipeline.Person)
				if !strings.Contains(r[0].Error, h.Name) || !strings.HasPrefix(r[0].Next, "clinkctl resume ") {
					t.Fatal(show(r))
				}
				w.run(t, p, key, pipeline.Person)
				text, err := vfs.ReadFile(w.mem.Outside(), name)
				must(t, err)
				if string(text) != "not ours\n" {
					t.Fatalf("%s was changed", name)
				}
				must(t, w.mem.Outside().Rename(name, "/src/moved"))
				w.resume(t, pipeline.Done)
				w.checkWhole(t, sourceRows(smallRows))
			}
		}
	}
}

// TestForeignManifest: something else has the manifest's name.
func TestForeignManifest(t *testing.T) {
	w, p := small(t, *seed)
	at := stateOf(t, worlds(t, w, p, "k"), halfFinished)
	name := path.Join(outA, runstate.ManifestName(at.view(t).State.Begun.Run))
	must(t, write(at.mem.Outside(), name, "{}"))
	at.resume(t, pipeline.Person)
	must(t, at.mem.Outside().Remove(name))
	at.resume(t, pipeline.Done)
	at.checkWhole(t, sourceRows(smallRows))
}

// TestUnknownArtifact: a name with the run's token that the journal does not know shows that the journal is older.
func TestUnknownArtifact(t *testing.T) {
	w, p := small(t, *seed)
	at := stateOf(t, worlds(t, w, p, ""), onePrepared)
	run := at.view(t).State.Begun.Run
	name := path.Join(outA, "sub7-"+string(run)+"-000001.csv")
	must(t, write(at.mem.Outside(), name, header))
	r := at.resume(t, pipeline.Person)
	if !strings.Contains(r[0].Next, "abandon --damaged") {
		t.Fatal(show(r))
	}
	e, _ := at.process()
	res, aside := e.AbandonDamaged(t.Context(), run, "tests")
	at.expect(t, []pipeline.Result{res}, pipeline.Done)
	if len(aside.Visible) != 1 || aside.Visible[0].Names[0] != path.Base(name) {
		t.Fatalf("%+v", aside)
	}
	at.run(t, p, "", pipeline.Person) // while something of it is visible, its key is not free
	must(t, at.mem.Outside().Remove(name))
	at.run(t, p, "", pipeline.Done)
	at.wholeRows(t, sourceRows(smallRows))
}
