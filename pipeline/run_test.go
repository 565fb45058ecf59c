package pipeline_test

import (
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
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
