package pipeline_test

import (
	"path"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// What somebody does to destination and state from outside, between two commands.

// TestConsumedAndAnOlderJournal: the artifacts of a committed run are taken away, as their reader may, and the journal is
// put back from before its decision. The manifest that stands there says that the decision was commit: nothing is exported
// again.
func TestConsumedAndAnOlderJournal(t *testing.T) {
	for _, key := range keys {
		for _, reached := range []func(*runstate.State) bool{onePrepared, allPrepared} {
			w, p := small(t, *seed)
			old, text := stateOf(t, worlds(t, w, p, key), reached).journal(t)
			for _, dir := range []string{outA, outB} {
				for name := range w.artifacts(t, dir) {
					must(t, w.mem.Outside().Remove(path.Join(dir, name)))
				}
			}
			w.replace(t, old, text)
			w.resume(t, pipeline.Person)
			for _, dir := range []string{outA, outB} {
				if n := len(w.artifacts(t, dir)); n > 0 {
					t.Fatalf("key %q: %d artifacts were published again in %s", key, n, dir)
				}
			}
		}
	}
}

// artifacts gives the names in a destination that are artifacts.
func (w *world) artifacts(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names, err := w.mem.Outside().List(dir)
	must(t, err)
	found := map[string]bool{}
	for _, name := range names {
		if _, err := runstate.ParseName(name); err == nil {
			found[name] = true
		}
	}
	return found
}

// TestDestinationThatLostItsID: a run counts while its manifest is there, whoever has cleared what is hidden.
func TestDestinationThatLostItsID(t *testing.T) {
	for _, lost := range [][]string{{"id"}, {"id", ""}} { // the file; the folder with it
		w, p := small(t, *seed)
		w.run(t, p, "", pipeline.Done)
		for _, name := range lost {
			must(t, w.mem.Outside().Remove(path.Join(outB, stage.Hidden, name)))
		}
		if r := w.run(t, p, "", pipeline.Done); !r[0].Already {
			t.Fatalf("exported again: %s", show(r))
		}
		w.checkWhole(t, sourceRows(smallRows))
	}
}

// TestTouchedAndRunAgain: without a key, run is the recovery command of a run whose source was touched since, too.
func TestTouchedAndRunAgain(t *testing.T) {
	for _, reached := range []func(*runstate.State) bool{onePrepared, allPrepared, decided, halfFinished} {
		w, p := small(t, *seed)
		w = stateOf(t, worlds(t, w, p, ""), reached)
		hands := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		w.mem.Now = func() time.Time { return hands }
		text, err := vfs.ReadFile(w.mem.Outside(), "/src/1.csv")
		must(t, err)
		w.replace(t, "/src/1.csv", text)
		w.run(t, p, "", pipeline.Done)
		w.checkWhole(t, sourceRows(smallRows))
	}
}

// TestDestinationGoneForGood: a destination that is removed for ever keeps no run open for ever.
func TestDestinationGoneForGood(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		for _, at := range worlds(t, w, p, key) {
			s := at.view(t).State
			if s.Ended != nil {
				continue
			}
			for _, dir := range []string{outA, outB} {
				wipe(at.mem.Outside(), dir)
			}
			at.resume(t, pipeline.Open)
			e, _ := at.process()
			r, aside := e.AbandonDamaged(t.Context(), s.Begun.Run, "the disk is gone")
			if r.Code != pipeline.Done || aside == nil || aside.Unseen == "" {
				t.Fatalf("%+v %+v", r, aside)
			}
			at.resume(t, pipeline.Done)
			at.run(t, p, key, pipeline.Done)
			at.checkWhole(t, sourceRows(smallRows))
		}
	}
}
