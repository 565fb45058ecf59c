package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/csv"
	"github.com/clinkctl/clinkctl/format/lines"
	"github.com/clinkctl/clinkctl/format/ndjson"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/job"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// written is a format that can be written and not read, as parquet is.
type written struct{}

func (written) Name() string { return "written" }
func (written) Ext() string  { return "wrt" }
func (written) NewEncoder(w io.Writer, _ format.Target) (format.Encoder, error) {
	return format.CopyRecords(w, nil)
}

// world is a file system of a few names: folders, files and links.
type world struct {
	folders, files []string
	links          map[string]string
}

func (w world) stat(name string) (vfs.Info, error) {
	for _, f := range w.folders {
		if f == name {
			return vfs.Info{Dir: true}, nil
		}
	}
	for _, f := range w.files {
		if f == name {
			return vfs.Info{Regular: true}, nil
		}
	}
	return vfs.Info{}, fs.ErrNotExist
}

func (w world) real(name string) (string, error) {
	for link, target := range w.links {
		if name == link || strings.HasPrefix(name, link+"/") {
			return path.Join(target, strings.TrimPrefix(name, link)), nil
		}
	}
	return name, nil
}

func (w world) env(file string) job.Env {
	return job.Env{
		File: file, Getwd: func() (string, error) { return "/home/ann", nil }, Real: w.real, Stat: w.stat,
		Kinds: []format.Kind{csv.Kind(), ndjson.Kind(), lines.Kind(), {Name: "written", Exts: []string{"wrt"},
			New: func(map[string]any) (format.Format, error) { return written{}, nil }}},
		Backends: []stage.Backend{{Name: "file", Store: noStore}, {Name: "mem", Scheme: "mem"}},
	}
}

func noStore(context.Context, stage.Place) (stage.Store, error) { return nil, nil }

type m = map[string]any

// at7 says that everything at a path or under it was written in line 7 of orders.yaml, and that the rest is not known.
func at7(under string) func(string) job.Place {
	return func(path string) job.Place {
		if path == under || strings.HasPrefix(path, under+".") {
			return job.Place{Name: "orders.yaml", Line: 7}
		}
		return job.Place{Name: "orders.yaml"}
	}
}

// good is a job that is right.
func good() m {
	return m{
		"source": m{"path": "in/*.csv", "columns": []any{m{"name": "id", "type": "int64", "required": true}, m{"name": "zip", "type": "string"}}},
		"sinks":  []any{m{"to": "out/", "format": "ndjson"}},
	}
}

func decode(t *testing.T, settings m, where func(string) job.Place, env job.Env) (*job.Job, []string) {
	t.Helper()
	j, err := job.Decode(settings, where, env)
	if err == nil {
		return j, nil
	}
	problems, ok := errors.AsType[*job.Problems](err)
	if !ok {
		t.Fatalf("the error is no list of problems: %v", err)
	}
	return nil, strings.Split(problems.Error(), "\n")
}

func TestDefaults(t *testing.T) {
	j, problems := decode(t, good(), at7(""), world{}.env("orders.yaml"))
	if problems != nil {
		t.Fatal(problems)
	}
	want := &job.Job{Grace: 8 * time.Second, Plan: pipeline.Plan{
		Name:       "orders",
		Source:     pipeline.SourcePlan{Path: "/home/ann/in/*.csv", Format: "csv"},
		Columns:    []runstate.Column{{Name: "id", Type: "int64", Required: true}, {Name: "zip", Type: "string"}},
		Sinks:      []pipeline.SinkPlan{{To: "/home/ann/out", Format: "ndjson", Ext: "ndjson"}},
		Subtasks:   1,
		Checkpoint: pipeline.Checkpoint{Bytes: 512 << 20},
		OnEmpty:    pipeline.EmptySkip, OnPending: pipeline.PendingResume, CommitWait: pipeline.Duration(30 * time.Second),
		MaxRun: pipeline.Duration(6 * time.Hour), MaxDowntime: pipeline.Duration(12 * time.Hour),
	}}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Error(diff)
	}
}

func TestEverythingGiven(t *testing.T) {
	settings := m{
		"name": "nightly", "guarantee": "exactly_once", "subtasks": "4", "on_pending": "abort", "on_empty": "fail", "state": "st",
		"grace": "2s", "commit_wait": "1m", "max_run": "1h", "max_downtime": "48h", "checkpoint": m{"bytes": "3MiB", "rows": 1000},
		"source": m{"path": "/data/../data/o.tsv", "format": "csv", "csv": m{"delimiter": ";"}, "split_bytes": 4096,
			"columns": "id:int64!, amount:Decimal(18, 2) ,at:timestamp"},
		"sinks": []any{m{"to": "mem://lake/a", "format": "csv", "csv": m{"null": "NULL"}}, m{"to": "/srv/b", "format": "ndjson"}},
	}
	j, problems := decode(t, settings, at7(""), world{}.env("orders.yaml"))
	if problems != nil {
		t.Fatal(problems)
	}
	want := &job.Job{Grace: 2 * time.Second, State: "/home/ann/st", Plan: pipeline.Plan{
		Name:    "nightly",
		Source:  pipeline.SourcePlan{Path: "/data/o.tsv", Format: "csv", Options: m{"delimiter": ";"}, SplitBytes: 4096},
		Columns: []runstate.Column{{Name: "id", Type: "int64", Required: true}, {Name: "amount", Type: "decimal(18,2)"}, {Name: "at", Type: "timestamp"}},
		Sinks: []pipeline.SinkPlan{{To: "mem://lake/a", Format: "csv", Options: m{"null": "NULL"}, Ext: "csv"},
			{To: "/srv/b", Format: "ndjson", Ext: "ndjson"}},
		Subtasks: 4, Checkpoint: pipeline.Checkpoint{Bytes: 3 << 20, Rows: 1000}, ExactlyOnce: true,
		OnEmpty: pipeline.EmptyFail, OnPending: pipeline.PendingAbort, CommitWait: pipeline.Duration(time.Minute),
		MaxRun: pipeline.Duration(time.Hour), MaxDowntime: pipeline.Duration(48 * time.Hour),
	}}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Error(diff)
	}
}

// TestPlanSurvivesTheJournal checks that a plan that was journaled is the plan that was decoded.
func TestPlanSurvivesTheJournal(t *testing.T) {
	settings := good()
	settings["source"].(m)["csv"] = m{"null": "NULL"}
	j, problems := decode(t, settings, at7(""), world{}.env("orders.yaml"))
	if problems != nil {
		t.Fatal(problems)
	}
	text, err := json.Marshal(j.Plan)
	if err != nil {
		t.Fatal(err)
	}
	var back pipeline.Plan
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	now, err1 := j.Plan.Digest()
	then, err2 := back.Digest()
	if now != then || err1 != nil || err2 != nil {
		t.Errorf("the digest was %s (%v) and is %s (%v)", now, err1, then, err2)
	}
}

func TestCopies(t *testing.T) {
	for name, c := range map[string]struct {
		path, from, to string
		ext            string
	}{
		"csv by default":    {"a.csv", "", "", "csv"},
		"csv to csv":        {"a.csv", "", "csv", "csv"},
		"csv to lines":      {"a.csv", "", "lines", "csv"},
		"jsonl by default":  {"a.jsonl", "", "", "ndjson"},
		"lines by default":  {"a.txt", "", "", "txt"},
		"format over names": {"a.log", "lines", "", "txt"},
	} {
		t.Run(name, func(t *testing.T) {
			source, sink := m{"path": c.path}, m{"to": "out"}
			if c.from != "" {
				source["format"] = c.from
			}
			if c.to != "" {
				sink["format"] = c.to
			}
			j, problems := decode(t, m{"source": source, "sinks": []any{sink}}, at7(""), world{}.env("j.yaml"))
			if problems != nil {
				t.Fatal(problems)
			}
			want := pipeline.SinkPlan{To: "/home/ann/out", Format: "lines", Ext: c.ext}
			if diff := cmp.Diff(want, j.Plan.Sinks[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinksAreResolved(t *testing.T) {
	w := world{links: map[string]string{"/home/ann/in": "/data/in", "/home/ann/out": "/srv/out"}}
	j, problems := decode(t, m{"source": m{"path": "in/2026/*.csv"}, "sinks": []any{m{"to": "out/x"}}}, at7(""), w.env("j.yaml"))
	if problems != nil {
		t.Fatal(problems)
	}
	if j.Plan.Source.Path != "/data/in/2026/*.csv" || j.Plan.Sinks[0].To != "/srv/out/x" {
		t.Errorf("from %s to %s", j.Plan.Source.Path, j.Plan.Sinks[0].To)
	}
}

func TestNames(t *testing.T) {
	for file, want := range map[string]string{"Nightly Orders.yaml": "nightly-orders", "a.b_c.yml": "a.b_c", "": "in-", "_.yaml": "in-"} {
		settings := good()
		settings["source"].(m)["path"] = "data/in-*.csv"
		j, problems := decode(t, settings, at7(""), world{}.env(file))
		if problems != nil {
			t.Fatal(problems)
		}
		if got := j.Plan.Name; got != want && !(want == "in-" && strings.HasPrefix(got, want) && len(got) == len("in-12345678")) {
			t.Errorf("the job of file %q is called %s and not %s", file, got, want)
		}
	}
}

// TestDefaultNameIsOfFromToAndFormat checks that what is another export has another name.
func TestDefaultNameIsOfFromToAndFormat(t *testing.T) {
	name := func(change func(m)) string {
		settings := good()
		change(settings)
		j, problems := decode(t, settings, at7(""), world{}.env(""))
		if problems != nil {
			t.Fatal(problems)
		}
		return j.Plan.Name
	}
	same := name(func(m) {})
	if again := name(func(s m) { s["subtasks"] = 3 }); again != same {
		t.Errorf("%s became %s", same, again)
	}
	for what, other := range map[string]string{
		"from":   name(func(s m) { s["source"].(m)["path"] = "in/b.csv" }),
		"to":     name(func(s m) { s["sinks"].([]any)[0].(m)["to"] = "other" }),
		"format": name(func(s m) { s["sinks"].([]any)[0].(m)["format"] = "csv" }),
	} {
		if other == same {
			t.Errorf("another %s has the same name, %s", what, same)
		}
	}
}

func TestErrorsOfTheMachine(t *testing.T) {
	broken := errors.New("input/output error")
	env := world{}.env("orders.yaml")
	env.Real = func(string) (string, error) { return "", broken }
	if _, err := job.Decode(good(), at7(""), env); !errors.Is(err, broken) {
		t.Errorf("a path that cannot be resolved is %v", err)
	}
	env = world{}.env("orders.yaml")
	env.Getwd = func() (string, error) { return "", broken }
	if _, err := job.Decode(good(), at7(""), env); !errors.Is(err, broken) {
		t.Errorf("a working directory that is gone is %v", err)
	}
}
