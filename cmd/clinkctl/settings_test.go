package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// TestOptionsAreOneTable checks that flags and variables follow from the keys, and that none is there twice.
func TestOptionsAreOneTable(t *testing.T) {
	names := map[string]bool{}
	for _, o := range append(runOptions(), subtasksOption()) {
		if o.help == "" {
			t.Errorf("--%s has no help", o.name())
		}
		if names[o.name()] && o.name() != "subtasks" { // of resume, and of run
			t.Errorf("--%s is there twice", o.name())
		}
		names[o.name()] = true
		if want := "CLINKCTL_" + strings.ToUpper(strings.ReplaceAll(o.name(), "-", "_")); o.env() != want {
			t.Errorf("the variable of --%s is %s", o.name(), o.env())
		}
	}
	for _, name := range strings.Fields("name from from-format to format columns checkpoint-bytes checkpoint-rows subtasks on-pending " +
		"on-empty guarantee grace commit-wait state key again wait progress log-format source-split-bytes") {
		if !names[name] {
			t.Errorf("there is no --%s", name)
		}
	}
}

func TestUnknownVariables(t *testing.T) {
	got := unknownVariables([]string{"CLINKCTL_ON_BADROW=reject", "CLINKCTL_ON_BAD_ROW=reject", "CLINKCTL_TEST_CACHE=x", "CLINKCTL_ZZZZZZZZ=", "HOME=/"}, runOptions())
	want := []string{"the variable CLINKCTL_ON_BADROW is no setting, and does nothing; did you mean CLINKCTL_ON_BAD_ROW?", "the variable CLINKCTL_ZZZZZZZZ is no setting, and does nothing"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSets(t *testing.T) {
	for _, c := range []struct {
		path string
		text string
		want any
	}{
		{"a.b", "1", m{"a": m{"b": 1}}},
		{"A.b", "1", m{"a": m{"b": 1}}},
		{"a.0.b", "x", m{"a": []any{m{"b": "x"}}}},
		{"sinks.1.format", "csv", m{"sinks": []any{m{"to": "x"}, m{"format": "csv"}}}},
		{"sinks.0.to", "y", m{"sinks": []any{m{"to": "y"}}}},
		{"a", "", m{"a": ""}},
		{"a", ";", m{"a": ";"}},
		{"a", ",", m{"a": ","}},
		{"a", "|", m{"a": "|"}},
		{"a", "#", m{"a": "#"}},
		{"a", "~", m{"a": "~"}},
		{"a", "&", m{"a": "&"}},
		{"a", "x #y", m{"a": "x #y"}},
		{"a", "x: y", m{"a": "x: y"}},
		{"a", "- x", m{"a": "- x"}},
		{"a", "!!str 1", m{"a": "!!str 1"}},
		{"a", `\N`, m{"a": `\N`}},
		{"a", `"1"`, m{"a": "1"}},
		{"a", "[x, 2]", m{"a": []any{"x", 2}}},
		{"a", "{b: true}", m{"a": m{"b": true}}},
	} {
		s := &settings{values: m{}}
		if strings.HasPrefix(c.path, "sinks") {
			s.values = m{"sinks": []any{m{"to": "x"}}}
		}
		value, _ := scalar(c.text)
		if err := s.set(c.path, value); err != nil {
			t.Errorf("%s=%s: %v", c.path, c.text, err)
		}
		if diff := cmp.Diff(c.want, any(s.values)); diff != "" {
			t.Errorf("%s=%s: %s", c.path, c.text, diff)
		}
	}
	for _, path := range []string{"sinks.2.to", "sinks.x", "sinks.-1", "sinks.0.to.x"} {
		s := &settings{values: m{"sinks": []any{m{"to": "x"}}}}
		if err := s.set(path, 1); err == nil {
			t.Errorf("%s was set: %v", path, s.values)
		}
	}
}

type m = map[string]any

func TestLines(t *testing.T) {
	places, err := linesOf("dir/j.yaml", []byte("name: x\nsource:\n  Path: a\n  columns:\n    - {name: id}\n    - name: b\n      type: int64\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, line := range map[string]int{"name": 1, "source": 2, "source.path": 3, "source.columns": 4, "source.columns.0": 5,
		"source.columns.0.name": 5, "source.columns.1.type": 7} {
		if got := places[path]; got.Name != "j.yaml" || got.Line != line {
			t.Errorf("%s is at %v and not in line %d", path, got, line)
		}
	}
	s := settings{places: places}
	for path, want := range map[string]string{"source.columns.1.required": "j.yaml:6", "sinks": "j.yaml", "source.csv.null": "j.yaml:2"} {
		if got := s.where(path).String(); got != want {
			t.Errorf("%s would be at %s and not at %s", path, got, want)
		}
	}
	if places, err := linesOf("empty.yaml", nil); err != nil || len(places) != 1 {
		t.Errorf("an empty file is %v, %v", places, err)
	}
}

// TestSettingsOfCommandsHaveNoPlace checks that what is wrong with a job is not told of a flag that is none of the job's.
func TestSettingsOfCommandsHaveNoPlace(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(flags, runOptions()...)
	if err := flags.Parse([]string{"--key", "k"}); err != nil {
		t.Fatal(err)
	}
	s, err := readSettings("", flags, runOptions())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.values) != 0 || s.where("source").String() != "" || s.text(keyOption()) != "k" {
		t.Errorf("%v, %v, %q", s.values, s.where("source"), s.text(keyOption()))
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{"/var/lib/x-1": "/var/lib/x-1", "my state": "'my state'", "it's": `'it'\''s'`, "": "''", "$HOME": "'$HOME'"} {
		if got := quote(text); got != want {
			t.Errorf("%q is quoted as %s", text, got)
		}
	}
}

func TestAgeText(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m1s",
		90 * time.Minute: "1h30m", 49*time.Hour + time.Minute: "2d1h"} {
		if got := ageText(d); got != want {
			t.Errorf("%v is %s", d, got)
		}
	}
}
