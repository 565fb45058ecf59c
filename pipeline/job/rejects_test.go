package job_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/pipeline"
)

func TestRejects(t *testing.T) {
	settings := good()
	settings["on_bad_row"], settings["rejects_to"] = "reject", "bad/"
	p := plan(t, settings)
	want := []pipeline.SinkPlan{{To: "/home/ann/out", Format: "ndjson", Ext: "ndjson"}, {To: "/home/ann/bad", Format: "ndjson", Ext: "rejects.ndjson", Rejects: true}}
	if diff := cmp.Diff(want, p.Sinks); diff != "" || p.MaxRejects != 1000 || !p.Rejects() {
		t.Error(diff, p.MaxRejects)
	}
	settings["max_rejects"] = 0
	if p := plan(t, settings); p.MaxRejects != 0 || !p.Rejects() {
		t.Error(p.MaxRejects)
	}
	if p := plan(t, good()); p.Rejects() || len(p.Sinks) != 1 {
		t.Errorf("%+v", p.Sinks)
	}
}

func TestRejectsProblems(t *testing.T) {
	for name, c := range map[string]struct {
		set  m
		want string
	}{
		"no place":         {m{"on_bad_row": "reject"}, "rejects_to: is missing: name a folder"},
		"not asked for":    {m{"rejects_to": "bad/"}, "rejects_to: is for on_bad_row: reject"},
		"no bound":         {m{"max_rejects": 5}, "max_rejects: is for on_bad_row: reject"},
		"a negative bound": {m{"on_bad_row": "reject", "rejects_to": "bad", "max_rejects": -1}, "max_rejects: is -1, and must be at least 0"},
		"a sink's place":   {m{"on_bad_row": "reject", "rejects_to": "out"}, "rejects_to: is the place of sinks.0.to, too"},
		"inside a sink":    {m{"on_bad_row": "reject", "rejects_to": "out/bad"}, "rejects_to: is inside sinks.0.to, where readers of /home/ann/out would"},
		"around a sink":    {m{"on_bad_row": "reject", "rejects_to": "."}, "rejects_to: has sinks.0.to inside it"},
		"a file":           {m{"on_bad_row": "reject", "rejects_to": "bad.ndjson"}, "rejects_to: bad.ndjson names a single file"},
		"neither":          {m{"on_bad_row": "drop", "rejects_to": "bad"}, `on_bad_row: is "drop", and can be fail, reject`},
		"the source":       {m{"on_bad_row": "reject", "rejects_to": "in", "source": m{"path": "in/*.ndjson", "format": "csv"}}, "source.path: can match artifacts (such as sub0-20261130t013000z7f3a9c1e-000001.rejects.ndjson) of rejects_to"},
	} {
		settings := good()
		for k, v := range c.set {
			settings[k] = v
		}
		_, problems := decode(t, settings, at7("nowhere"), world{}.env("orders.yaml"))
		if len(problems) != 1 || !strings.HasPrefix(problems[0], "orders.yaml: "+c.want) {
			t.Errorf("%s: %q, want %s", name, problems, c.want)
		}
	}
}
