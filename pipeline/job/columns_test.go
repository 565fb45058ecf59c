package job_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/job"
	"github.com/clinkctl/clinkctl/runstate"
)

// plan decodes a job that has to be right.
func plan(t *testing.T, settings m) pipeline.Plan {
	t.Helper()
	j, err := job.Decode(settings, at7(""), world{}.env("orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return j.Plan
}

// TestColumnWork: selection, order, names of the source, values that are not in it.
func TestColumnWork(t *testing.T) {
	p := plan(t, with("source.columns", []any{
		m{"name": "zip", "type": "String", "from": "postcode"},
		m{"name": "id", "from": "id", "type": "int64", "required": true, "cast": "safe"},
		m{"name": "day", "value": "{key}", "type": "date"},
		m{"name": "origin", "value": "{file}:{row}"},
	}))
	want := []runstate.Column{
		{Name: "zip", Type: "string", From: "postcode"},
		{Name: "id", Type: "int64", Required: true},
		{Name: "day", Type: "date", Value: "{key}"},
		{Name: "origin", Type: "string", Value: "{file}:{row}"},
	}
	if diff := cmp.Diff(want, p.Columns); diff != "" || p.Infer {
		t.Error(diff, p.Infer)
	}
}

// TestWhereColumnsAreInferred: wherever a sink is written otherwise than the source is, and nobody has declared columns.
func TestWhereColumnsAreInferred(t *testing.T) {
	source := m{"path": "a.csv"}
	for name, c := range map[string]struct {
		source m
		sinks  []any
		infer  bool
	}{
		"copied":         {source, []any{m{"to": "out"}}, false},
		"as lines":       {source, []any{m{"to": "out", "format": "lines"}}, false},
		"same format":    {source, []any{m{"to": "out", "format": "csv"}}, false},
		"same dialect":   {m{"path": "a.csv", "csv": m{"delimiter": ";"}}, []any{m{"to": "out", "csv": m{"delimiter": ";"}}}, false},
		"compressed":     {source, []any{m{"to": "out", "csv": m{"compression": "gzip"}}}, false},
		"other dialect":  {source, []any{m{"to": "out", "csv": m{"delimiter": ";"}}}, true},
		"other format":   {source, []any{m{"to": "out", "format": "ndjson"}}, true},
		"one of two":     {source, []any{m{"to": "out"}, m{"to": "b", "format": "ndjson"}}, true},
		"asked for":      {m{"path": "a.csv", "sample_rows": 10}, []any{m{"to": "out"}}, true},
		"declared":       {m{"path": "a.csv", "columns": "id:int64"}, []any{m{"to": "out", "format": "ndjson"}}, false},
		"lines are none": {m{"path": "a.txt"}, []any{m{"to": "out"}}, false},
	} {
		p := plan(t, m{"source": c.source, "sinks": c.sinks})
		if p.Infer != c.infer || (p.Source.SampleRows > 0) != c.infer {
			t.Errorf("%s: %v, sample %d", name, p.Infer, p.Source.SampleRows)
		}
	}
}

// TestCompressedNames: what is compressed is known by its name, both ways.
func TestCompressedNames(t *testing.T) {
	p := plan(t, m{"source": m{"path": "in/*.csv.gz"}, "sinks": []any{m{"to": "a"}, m{"to": "b", "csv": m{"compression": "zstd"}}}})
	want := []pipeline.SinkPlan{{To: "/home/ann/a", Format: "lines", Ext: "csv"},
		{To: "/home/ann/b", Format: "lines", Ext: "csv.zst", Options: m{"compression": "zstd"}}}
	if diff := cmp.Diff(want, p.Sinks); diff != "" || p.Source.Format != "csv" {
		t.Error(diff, p.Source.Format)
	}
	p = plan(t, m{"source": m{"path": "in/*.ndjson.bz2"}, "sinks": []any{m{"to": "a", "format": "csv", "csv": m{"compression": "gzip"}}}})
	if p.Source.Format != "ndjson" || p.Sinks[0].Ext != "csv.gz" || p.Sinks[0].Format != "csv" {
		t.Errorf("%+v", p)
	}
}
