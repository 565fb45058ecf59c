package job_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// with is the good job with one setting changed; nil takes it away.
func with(path string, value any) m {
	settings := good()
	elements := strings.Split(path, ".")
	var at any = settings
	for _, e := range elements[:len(elements)-1] {
		switch v := at.(type) {
		case m:
			if v[e] == nil {
				v[e] = m{}
			}
			at = v[e]
		case []any:
			i, _ := strconv.Atoi(e)
			at = v[i]
		}
	}
	last := elements[len(elements)-1]
	switch {
	case value == nil:
		delete(at.(m), last)
	default:
		if list, ok := at.([]any); ok {
			i, _ := strconv.Atoi(last)
			list[i] = value
		} else {
			at.(m)[last] = value
		}
	}
	return settings
}

// TestProblems changes one thing in a good job. Every problem has the line and the path of what was changed, unless where
// says another path.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		path  string
		value any
		want  string // after "orders.yaml:7: <path>: "
	}{
		{"nam", "x", "unknown key; did you mean name?"},
		{"zzzzzzzz", 1, "unknown key: there are checkpoint, commit_wait, grace, guarantee, max_downtime, max_rejects, max_run, name, on_bad_row, on_empty, on_pending, rejects_to, sinks, source, state, subtasks"},
		{"source.pth", "x", "unknown key; did you mean path?"},
		{"checkpoint.row", 1, "unknown key; did you mean rows?"},
		{"sinks.0.marker", "_SUCCESS", "unknown key: there are csv, format, lines, ndjson, to, written"},
		{"source.columns.0.typ", "x", "unknown key; did you mean type?"},

		{"name", "Orders", `is "Orders", and must be lower-case letters, digits, dots, underscores and hyphens, and begin with a letter or digit`},
		{"name", "../x", `is "../x", and must be lower-case letters, digits, dots, underscores and hyphens, and begin with a letter or digit`},
		{"name", strings.Repeat("a", 101), "has 101 bytes, and can have 100"},
		{"name", "20261130t013000z7f3a9c1e", `is "20261130t013000z7f3a9c1e", which looks like the token of a run`},
		{"name", true, "is true, and must be a text"},
		{"name", "", "is empty"},
		{"guarantee", "at_least_once", `is "at_least_once", and can only be exactly_once, or left out`},
		{"subtasks", "two", `is the text "two", and must be a whole number`},
		{"subtasks", 1.5, "is 1.5, and must be a whole number"},
		{"subtasks", 0, "is 0, and must be from 1 to 1000"},
		{"on_pending", "abrot", `is "abrot", and can be resume, abort; did you mean abort?`},
		{"on_empty", "maybe-not", `is "maybe-not", and can be skip, write, fail`},
		{"grace", 8, "is 8, and must be a duration: write it with its unit: 500ms, 30s, 5m, 1h30m"},
		{"grace", "8", `is "8", which is no duration: write it with its unit: 500ms, 30s, 5m, 1h30m`},
		{"commit_wait", "-1s", "is -1s, and cannot be negative"},
		{"state", "s3://x", "no state can be kept at s3://; there are a local directory, sink, and the addresses of destinations that can"},
		{"state", "~/x", `is "~/x": ~ is not expanded here; write the home directory out`},
		{"checkpoint", 5, "is 5, and must be a mapping (key: value)"},
		{"checkpoint.bytes", "512MB", `is "512MB": MB can mean a power of 1000 or of 1024; write MiB, which is 1048576 bytes`},
		{"checkpoint.bytes", "1k", `is "1k": k can mean a power of 1000 or of 1024; write KiB, which is 1024 bytes`},
		{"checkpoint.bytes", "lots", `is "lots": write a whole number of bytes, or one with KiB, MiB, GiB or TiB`},
		{"checkpoint.bytes", "1.5GiB", `is "1.5GiB": write a whole number of bytes, or one with KiB, MiB, GiB or TiB`},
		{"checkpoint.bytes", "99999999999TiB", `is "99999999999TiB", which is more than there can be`},
		{"checkpoint.bytes", 0, "is 0, and must be at least 1"},
		{"checkpoint.bytes", []any{}, "is a list, and must be a size: write a whole number of bytes, or one with KiB, MiB, GiB or TiB"},
		{"checkpoint.rows", -1, "is -1, and must be at least 1"},

		{"source", "in.csv", `is the text "in.csv", and must be a mapping (key: value)`},
		{"source.path", 3.5, "is 3.5, and must be a text"},
		{"source.path", "-", "is - (standard input), which cannot be read yet, as it cannot be read twice: write it to a file first"},
		{"source.path", "s3://b/*.csv", "there is no source for s3://; there are: paths of the local file system"},
		{"source.path", "in/**/x.csv", "** is not known; write one * for each folder between"},
		{"source.path", "in/[a.csv", `is "in/[a.csv", which is no pattern: a [ is not closed, or \ stands last`},
		{"source.path", "in/{key}/x.csv", "has {key}, which is not filled in yet: write the name out"},
		{"source.path", "in/{date:2006}.csv", "has {date:2006}, which is not filled in yet: write the name out"},
		{"source.format", "csvv", `is "csvv", and can be csv, ndjson, lines, written; did you mean csv?`},
		{"source.format", "written", "written can be written, and not read; what can be read is csv, ndjson, lines"},
		{"source.csv", "x", `is the text "x", and must be a mapping (key: value)`},
		{"source.csv.delimiter", ";;", "csv option delimiter must be one character, and no line end or NUL"},
		{"source.csv.delimeter", ";", "csv option delimeter is unknown; did you mean delimiter?"},
		{"source.ndjson", m{"x": 1}, "are options of ndjson, and the format is csv"},
		{"source.split_bytes", 0, "is 0, and must be at least 1"},
		{"source.columns", 5, "is 5, and must be a list:\n  columns:\n    - {name: id, type: int64, required: true}\n    - {name: amount, type: \"decimal(18,2)\"}"},
		{"source.columns", "id", `"id" is no column: write id:int64,amount:decimal(18,2)! (! where a value is required)`},
		{"source.columns", "id:int46", `unknown type "int46": the types are bool, int8 to int64, uint8 to uint64, float32, float64, decimal(p,s), date, time, timestamp, timestamptz, string, binary, uuid, json, list<...>, struct<name:type,...>`},
		{"source.columns.0", "id", `is the text "id", and must be a mapping (key: value)`},
		{"source.columns.0.type", "decimal", `type "decimal" needs its digits: decimal(18,2) is 18 digits in all, 2 of them after the point`},
		{"source.columns.0.required", "yes", `is the text "yes", and must be true or false`},
		{"source.columns.1", m{"name": "id", "type": "string"}, "column id is declared twice"},
		{"source.columns.0.cast", "exact", "is for sources whose values have types; csv is text, and is read as the type that is declared"},
		{"source.columns.0.cast", "loose", `is "loose", and can be safe, exact, lossy; did you mean lossy?`},
		{"source.columns.0.value", "x", `"x" is not an int64`},
		{"source.columns.0.value", "{fil}", "has {fil}, which is not known: there are {key}, {job}, {run}, {file}, {path}, {row}; did you mean file?"},
		{"source.columns.1", m{"name": "b", "type": "list<int64>", "value": "[]"}, "value: cannot be of type list<int64>"},
		{"source.columns.1", m{"name": "b", "type": "string", "value": "x", "from": "y"}, "value: stands for a column that is not in the source, which has no from and no cast"},
		{"source.columns", []any{m{"name": "a", "type": "int64"}, m{"name": "b", "from": "a", "type": "string"}}, "column b: a is read as int64 already: declare it once, and cast where it is read"},
		{"source.sample_rows", 0, "is 0, and must be at least 1"},
		{"sinks.0.ndjson", m{"compression": "bzip2"}, "compression: bzip2 can be read, and not written: there are gzip and zstd"},

		{"sinks", m{"to": "x"}, "is a mapping, and must be a list:\n  sinks:\n    - {to: out/, format: parquet}"},
		{"sinks", []any{}, "is empty: name the folder to export to with sinks: [{to: ...}], or --to"},
		{"sinks.0", "out/", `is the text "out/", and must be a mapping (key: value)`},
		{"sinks.0.to", "-", "is - (standard output), where nothing can be staged and published once: name a folder"},
		{"sinks.0.to", "s3://b/x", "there is no backend for s3://; there are: paths of the local file system, mem://"},
		{"sinks.0.to", "out/{run}/", "has {run}, which is not filled in yet: write the name out"},
		{"sinks.0.to", "out/x.ndjson", "out/x.ndjson names a single file, which cannot be written yet: name a folder (with a slash at the end if it shall be called so)"},
		{"sinks.0.to", "afile", "/home/ann/afile is a file; name a folder"},
		{"sinks.0.format", "lines", "lines takes records unparsed, and columns are declared: name one of csv, ndjson, written, or declare no columns"},
		{"sinks.0.format", "parquet", `is "parquet", and can be csv, ndjson, lines, written`},
	} {
		t.Run(c.path, func(t *testing.T) {
			w := world{files: []string{"/home/ann/afile"}}
			_, problems := decode(t, with(c.path, c.value), at7(c.path), w.env("orders.yaml"))
			at := c.path + ": "
			if _, of, ok := strings.Cut(c.want, ": "); ok && (of != "" && strings.HasPrefix(c.want, "value: ")) {
				at = c.path + "."
			}
			if diff := cmp.Diff("orders.yaml:7: "+at+c.want, strings.Join(problems, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProblemsElsewhere is of problems that are not told of what was changed.
func TestProblemsElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		settings m
		want     string // after "orders.yaml: "
	}{
		"no source": {with("source", nil), "source: is missing: name the files to export with source.path, or --from\n" +
			"orders.yaml: sinks.0.format: ..."},
		"no path":   {with("source.path", nil), "source.path: is missing: name the files to export, or give --from"},
		"no sinks":  {with("sinks", nil), "sinks: is missing: name the folder to export to with sinks: [{to: ...}], or --to"},
		"no to":     {with("sinks.0.to", nil), "sinks.0.to: is missing: name a folder, or give --to"},
		"no format": {with("sinks.0.format", nil), "sinks.0.format: is required where columns are declared: one of csv, ndjson, written"},
		"no name":   {with("source.columns.0.name", nil), "source.columns.0.name: is missing"},
		"no type":   {with("source.columns.0.type", nil), "source.columns.0.type: is missing: the types are bool, int8 to int64, uint8 to uint64, float32, float64, decimal(p,s), date, time, timestamp, timestamptz, string, binary, uuid, json, list<...>, struct<name:type,...>"},
		"extension": {with("source.path", "in/x.gz"), "source.format: is missing, and the extension .gz does not tell: it is one of csv, ndjson, lines"},
		"none":      {with("source.path", "in/x"), "source.format: is missing, and the path has no extension that tells: it is one of csv, ndjson, lines"},
		"lines":     {with("source.format", "lines"), "source.columns: are declared, and lines have none: name the source's format, one of csv, ndjson"},
		"lines to another format": {m{"source": m{"path": "a.txt"}, "sinks": []any{m{"to": "out", "format": "csv"}}},
			"sinks.0.format: lines have no columns, so that they cannot become csv: name the source's format"},
		"lines beside columns": {m{"source": m{"path": "a.csv"}, "sinks": []any{m{"to": "out", "format": "ndjson"}, m{"to": "copy", "format": "lines"}}},
			"sinks.1.format: lines takes records unparsed, and another sink or the source needs columns: name one of csv, ndjson, written"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := decode(t, c.settings, at7("nowhere"), world{}.env("orders.yaml"))
			want, _, _ := strings.Cut(c.want, "\norders.yaml: sinks.0.format: ...")
			if diff := cmp.Diff("orders.yaml: "+want, strings.Join(problems, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	settings := m{"nam": "x", "subtasks": "two", "checkpoint": m{"bytes": "1MB"}, "sinks": []any{m{"to": "-", "frmat": "csv"}}}
	_, problems := decode(t, settings, at7("sinks"), world{}.env("orders.yaml"))
	var paths []string
	for _, p := range problems {
		rest := strings.TrimPrefix(strings.TrimPrefix(p, "orders.yaml: "), "orders.yaml:7: ")
		path, _, _ := strings.Cut(rest, ": ")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	want := []string{"checkpoint.bytes", "nam", "sinks.0.frmat", "sinks.0.to", "source", "subtasks"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("%s\n%s", diff, strings.Join(problems, "\n"))
	}
	if !strings.HasPrefix(problems[len(problems)-1], "orders.yaml:7: sinks.0.") {
		t.Errorf("problems are not in the order of their lines: %q", problems)
	}
}

func TestSourceAndDestinationApart(t *testing.T) {
	w := world{links: map[string]string{"/link.csv": "/out/sub0-20261130t013000z7f3a9c1e-000001.csv"}}
	artifacts := "can match artifacts (such as sub0-20261130t013000z7f3a9c1e-000001.csv) of sinks.0.to"
	for _, c := range []struct{ from, to, want string }{
		{"/data/*.csv", "/data", artifacts},
		{"/data/*.csv", "/data/out", ""},
		{"/data/orders-*.csv", "/data", ""},
		{"/data/*-000012.csv", "/data", "can match artifacts (such as sub0-20261130t013000z7f3a9c1e-000012.csv) of sinks.0.to"},
		{"/data/sub1-*.csv", "/data", "can match artifacts (such as sub1-20261130t013000z7f3a9c1e-000001.csv) of sinks.0.to"},
		{"/data/in.csv", "/data", ""},
		{"/*/*.csv", "/data", artifacts},
		{"/data/*/*.csv", "/data/out", artifacts},
		{"/data/*/x.csv", "/data/out", ""},
		{"/data/*", "/data/out", "can match the folder of sinks.0.to"},
		{"/data/*/*/x.csv", "/data/out", ""},
		{"/out/.clinkctl/x.csv", "/out", "can match .clinkctl of sinks.0.to"},
		{"/out/sub0-20261130t013000z7f3a9c1e-000001.csv", "/out", "can match the artifact sub0-20261130t013000z7f3a9c1e-000001.csv of sinks.0.to"},
		{"/out/_manifest-20261130t013000z7f3a9c1e.json", "/out", "can match the manifest _manifest-20261130t013000z7f3a9c1e.json of sinks.0.to"},
		{"/link.csv", "/out", "can match the artifact sub0-20261130t013000z7f3a9c1e-000001.csv of sinks.0.to"},
		{"/data/*.csv", "mem://data", ""},
	} {
		settings := m{"source": m{"path": c.from, "format": "csv"}, "sinks": []any{m{"to": c.to}}}
		_, problems := decode(t, settings, at7("source.path"), w.env("orders.yaml"))
		want := ""
		if c.want != "" {
			want = "orders.yaml:7: source.path: " + c.want + ", which this job writes: keep source and destination apart"
		}
		if diff := cmp.Diff(want, strings.Join(problems, "\n")); diff != "" {
			t.Errorf("from %s to %s: %s", c.from, c.to, diff)
		}
	}
}

func TestSinksApart(t *testing.T) {
	w := world{links: map[string]string{"/link": "/a"}}
	for _, c := range []struct {
		a, b string
		bad  bool
	}{
		{"/a", "/a/", true}, {"/a", "/x/../a", true}, {"/a", "/link", true}, {"/a", "/a/.clinkctl", true}, {"/a/.clinkctl/x", "/a", true},
		{"mem://a", "mem://a", true}, {"/a", "/a/b", false}, {"/a", "/ab", false},
	} {
		settings := m{"source": m{"path": "/in.csv"}, "sinks": []any{m{"to": c.a}, m{"to": c.b}}}
		_, problems := decode(t, settings, at7("sinks.1"), w.env("orders.yaml"))
		if got := len(problems) == 1 && strings.HasPrefix(problems[0], "orders.yaml:7: sinks.1.to: is the place of sinks.0.to, too"); got != c.bad {
			t.Errorf("%s and %s: %q", c.a, c.b, problems)
		}
	}
}
