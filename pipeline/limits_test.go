package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/stage"
)

// forgetful is a sink that keeps what is staged for a while only.
type forgetful struct {
	stage.Sink
	stage.Bytes
	limits stage.Limits
}

func (s forgetful) Limits(context.Context) (stage.Limits, error) { return s.limits, nil }

// The time that a sink holds what is staged must exceed run, outage and recovery; what it is goes into the label.
func TestHoldIsCompared(t *testing.T) {
	day := 24 * time.Hour
	tests := []struct {
		name          string
		hold          time.Duration
		run, downtime time.Duration
		want          string // label, or what the refusal says
	}{
		{"no end", 0, 6 * time.Hour, 36 * time.Hour, "exactly_once"},
		{"long enough", 2 * day, 6 * time.Hour, 36 * time.Hour, "exactly_once until 2026-12-02T01:00:00Z"},
		{"one day, and an outage of 36 h", day, 6 * time.Hour, 36 * time.Hour, "keeps what is staged for 24h0m0s (a rule), and a run may need 43h0m0s"},
		{"exactly as long", 43 * time.Hour, 6 * time.Hour, 36 * time.Hour, "keeps what is staged for 43h0m0s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, 1, 20)
			w.wrap = func(s stage.Sink) stage.Sink {
				return forgetful{s, s.(stage.Bytes), stage.Limits{Hold: test.hold, HoldBy: "a rule"}}
			}
			p := w.plan()
			p.MaxRun, p.MaxDowntime = pipeline.Duration(test.run), pipeline.Duration(test.downtime)
			results := w.engine(w.mem.Process()).Run(t.Context(), p, "k", 0)
			r := results[len(results)-1]
			if refused := r.Code == pipeline.Usage; refused != strings.HasPrefix(test.want, "keeps") {
				t.Fatalf("%+v", r)
			}
			if r.Code == pipeline.Done && r.Label != test.want || !strings.Contains(r.Error+r.Label, test.want) {
				t.Fatalf("%+v", r)
			}
		})
	}
}
