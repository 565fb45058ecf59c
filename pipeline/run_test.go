package pipeline_test

import (
	"path"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/stage"
)

func TestRunExportsEveryRowOnce(t *testing.T) {
	for _, key := range []string{"", "2026-11-30"} {
		t.Run("key="+key, func(t *testing.T) {
			w := newWorld(t, 1, 24)
			e, _ := w.process()
			results := e.Run(t.Context(), w.plan(), key, 0)
			if code := pipeline.WorstOf(results); code != pipeline.Done {
				t.Fatal(show(results))
			}
			w.checkWhole(t, sourceRows(24))

			again := e.Run(t.Context(), w.plan(), key, 0)
			if code := pipeline.WorstOf(again); code != pipeline.Done || !again[0].Already {
				t.Fatal(show(again))
			}
			w.checkWhole(t, sourceRows(24))
			t.Logf("%d operations", w.mem.Ops())
		})
	}
}

// Without a key a run counts only while its manifest is at the destination.
func TestARunWithoutKeyCountsWhileItsManifestIsThere(t *testing.T) {
	w := newWorld(t, 1, 24)
	e, _ := w.process()
	first := e.Run(t.Context(), w.plan(), "", 0)
	out := w.mem.Outside()
	for _, dir := range []string{outA, outB} {
		names, err := out.List(dir)
		must(t, err)
		for _, name := range names {
			if name != stage.Hidden {
				must(t, out.Remove(path.Join(dir, name)))
			}
		}
	}
	again := e.Run(t.Context(), w.plan(), "", 0)
	if pipeline.WorstOf(again) != pipeline.Done || again[0].Already || again[0].Run == first[0].Run {
		t.Fatal(show(again))
	}
	w.checkWhole(t, sourceRows(24))
}
