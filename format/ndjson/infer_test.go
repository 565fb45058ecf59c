package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// inferred gives the columns of chunks, as --columns has them.
func inferred(t testing.TB, chunks ...string) string {
	t.Helper()
	columns, err := sampled(t, chunks...)
	if err != nil {
		t.Errorf("%q: %v", chunks, err)
	}
	return columnar.FormatColumns(columns)
}

func newSampler(t testing.TB) format.Sampler {
	t.Helper()
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.NewSampler()
}

func sampled(t testing.TB, chunks ...string) ([]columnar.Column, error) {
	t.Helper()
	p := newSampler(t)
	var all error
	for _, chunk := range chunks {
		all = errors.Join(all, p.AddHead(nil), p.Sample([]byte(chunk), 0))
	}
	return formattest.Seen(p.Columns()), all
}

func TestInferValues(t *testing.T) {
	for _, test := range []struct{ values, want string }{ // values of one key, one a line
		{"true\nfalse", "bool"}, {"null", "string"}, {"null\n1", "int64"}, {"null\ntrue\nnull", "bool"},
		{"1\n-5", "int64"}, {"9007199254740993", "int64"}, {"9007199254740993\n0.5", "decimal(38,1)"}, {"18446744073709551615", "decimal(38,0)"},
		{"1234567890\n12345678901234567890", "decimal(38,0)"}, {"0.10\n1", "decimal(18,2)"}, {"1e5", "json"}, {"1\n1E0", "json"}, {"-0", "json"}, {"0.5\n-0.0", "json"},
		{strings.Repeat("9", 39), "json"}, {"1\ntrue", "json"}, {"1\n\"1\"", "json"}, {"\"a\"\n1", "json"}, {"\"a\"\nfalse", "json"},
		{`"a"`, "string"}, {`""`, "string"}, {`"1"`, "string"}, {`"true"`, "string"}, {`"007"`, "string"}, {`"1.5"`, "string"}, {`"null"`, "string"},
		{`"2026-11-30"`, "date"}, {`"2026-11-30T01:02:03.5"`, "timestamp"}, {`"2026-11-30T01:02:03+01:00"`, "timestamptz"}, {`"01:02:03"`, "time"},
		{`"\u0032026-11-30"`, "date"}, {"\"2026-11-30\"\n\"\"", "string"}, {"\"2026-11-30\"\n\"2026-11-30 01:02:03\"", "string"}, {`"01/02/2026"`, "string"},
		{"\"2026-11-30\"\nnull", "date"}, {"\"2026-11-30\"\n20261130", "json"},
		{"[]", "json"}, {"[]\nnull", "json"}, {"[]\n[1]", "list<int64>"}, {"[null]", "list<string>"}, {"[1,null,0.5]", "list<decimal(18,1)>"},
		{"[1]\n[\"a\"]", "list<json>"}, {`["2026-11-30","2026-12-01"]`, "list<date>"}, {"[[1],[]]", "list<list<int64>>"}, {"[[]]", "list<json>"},
		{"[{\"a\":1},{\"b\":true}]", "list<struct<a:int64,b:bool>>"}, {"[1]\n1", "json"}, {"[1]\n{}", "json"},
		{"{}", "json"}, {"{}\n{\"a\":1}", "struct<a:int64>"}, {"{\"a\":null}", "struct<a:string>"}, {"{\"a\":{}}", "struct<a:json>"},
		{"{\"b\":1}\n{\"a\":\"x\",\"b\":1.5}", "struct<b:decimal(18,1),a:string>"}, {"{\"a\":1}\n{\"a\":[]}", "struct<a:json>"}, {"{\"a\":1}\n[1]", "json"},
		{"{\"a b\":{\"\":1}}", `struct<"a b":struct<"":int64>>`}, {"{\"\\u00e9\":1}\n{\"é\":2}", "struct<é:int64>"},
	} {
		var lines strings.Builder
		for line := range strings.SplitSeq(test.values, "\n") {
			fmt.Fprintf(&lines, "{\"v\": %s }\n", line)
		}
		if got := inferred(t, lines.String()); got != "v:"+test.want {
			t.Errorf("%s\n\tis %s, want %s", test.values, got, test.want)
		}
	}
}

func TestInferColumns(t *testing.T) {
	for _, test := range []struct {
		chunks []string
		want   string
	}{
		{nil, ""}, {[]string{""}, ""}, {[]string{"\n \r\n"}, ""}, {[]string{"{}\n"}, ""},
		{[]string{"{\"b\":1,\"a\":2}\n{\"c\":true,\"a\":0.5}\n"}, "b:int64,a:decimal(18,1),c:bool"},
		{[]string{"{\"a\":1}\n", "{\"b\":\"x\"}\n\n", "{\"a\":\"x\"}\n"}, "a:json,b:string"},
		{[]string{"{\"a\":1,\"a\":2}\r\n"}, "a:int64"},
		{[]string{"{\"\":1}\n"}, `"":int64`},
	} {
		if got := inferred(t, test.chunks...); got != test.want {
			t.Errorf("%q: %s, want %s", test.chunks, got, test.want)
		}
	}
}

func TestInferRefusals(t *testing.T) {
	p := newSampler(t)
	err := p.Sample([]byte("{\"a\":1}\n {\"b\":1,\"a\":x}\n[1]\n{\"a\":0.5}\n"), 100)
	e, ok := errors.AsType[*format.DataError](err)
	if !ok || e.Offset != 100+20 || e.Start != 100+9 || !strings.Contains(e.Reason, "not JSON: x where a value should be") {
		t.Errorf("%+v", err)
	}
	if got := columnar.FormatColumns(p.Columns()); got != "a:decimal(18,1)" {
		t.Errorf("the records around it: %s", got)
	}
	if err := p.Sample([]byte("{\"a\":1}\n"), 0); err != nil {
		t.Error(err)
	}
}

// object gives an object with n keys of their own.
func object(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",\"k%d\":%d", from+i, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func TestInferWideObjects(t *testing.T) {
	if got := inferred(t, "{\"v\":"+object(0, maxFields)+"}\n"); !strings.HasPrefix(got, "v:struct<k0:int64,k1:") || strings.Count(got, ":") != 1+maxFields {
		t.Errorf("%d keys: %s", maxFields, got)
	}
	for _, chunk := range []string{
		"{\"v\":" + object(0, maxFields+1) + "}\n",
		"{\"v\":" + object(0, maxFields) + "}\n{\"v\":{\"one more\":1}}\n{\"v\":{}}\n",
	} {
		if got := inferred(t, chunk); got != "v:json" {
			t.Errorf("%d keys: %s", maxFields+1, got)
		}
	}
	if got := inferred(t, object(0, 2000)+"\n"); strings.Count(got, ":int64") != 2000 {
		t.Errorf("2000 columns: %s", got)
	}
}

func TestInferDeepValues(t *testing.T) {
	for _, of := range []struct{ open, closing string }{{"[", "]"}, {`{"a":`, "}"}} {
		for _, depth := range []int{maxTypeDepth, maxTypeDepth + 1, 1000} {
			got := inferred(t, `{"v":`+strings.Repeat(of.open, depth)+"1"+strings.Repeat(of.closing, depth)+"}\n")
			columns, err := columnar.ParseColumns(got)
			if err != nil {
				t.Fatalf("%d deep: %v", depth, err)
			}
			if (depth > maxTypeDepth) != strings.Contains(got, "json") || columnar.FormatColumns(columns) != got {
				t.Errorf("%d deep: %s", depth, got)
			}
		}
	}
}

// TestInferBounded gives a sampler ever new keys: the names that it keeps do not fill the memory.
func TestInferBounded(t *testing.T) {
	p := newSampler(t)
	long := strings.Repeat("x", 100_000)
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		err = p.Sample(fmt.Appendf(nil, "{\"%d%s\":1}\n", i, long), 7)
	}
	if e, ok := errors.AsType[*format.DataError](err); !ok || e.Offset != 7+100_000+7 || e.Reason != "is one more column than can be inferred" {
		t.Errorf("columns without end: %v", err)
	}
	p = newSampler(t)
	for i := range 1000 {
		if err := p.Sample(fmt.Appendf(nil, "{\"v%d\":{\"%s\":1}}\n", i, long), 7); err != nil {
			t.Fatal(err)
		}
	}
	columns := formattest.Seen(p.Columns())
	if got := columnar.FormatColumns(columns[999:]); got != "v999:json" || columns[0].Type.Kind != columnar.Struct || len(columns) != 1000 {
		t.Errorf("fields without end: %s", got)
	}
}

// documents gives objects at random, whose keys and kinds of values are few, so that they meet.
func documents() *rapid.Generator[[]string] {
	key := rapid.SampledFrom([]string{"a", "b", "c", "d e", "é", ""})
	scalars := []string{"null", "null", "true", "false", "0", "7", "-12", "9007199254740993", "18446744073709551615", "0.5", "1.50", "1e5", "-0", "-0.0",
		`""`, `"x"`, `"1"`, `"2026-11-30"`, `"2026-11-30 01:02:03"`, `"2026-11-30T01:02:03.25"`, `"2026-11-30T01:02:03+01:00"`, `"01:02:03"`, `"\u00e9\n\""`}
	var value func(depth int) *rapid.Generator[string]
	object := func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var members []string
			for _, k := range rapid.SliceOfNDistinct(key, 0, 3, func(k string) string { return k }).Draw(t, "keys") {
				members = append(members, fmt.Sprintf("%q : %s", k, value(depth+1).Draw(t, "value")))
			}
			return "{" + strings.Join(members, ", ") + "}"
		})
	}
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 5).Draw(t, "kind")
			switch {
			case depth < 4 && kind == 0:
				return object(depth+1).Draw(t, "object")
			case depth < 4 && kind == 1:
				return "[" + strings.Join(rapid.SliceOfN(value(depth+1), 0, 3).Draw(t, "array"), " ,") + "]"
			}
			return rapid.SampledFrom(scalars).Draw(t, "scalar")
		})
	}
	return rapid.SliceOfN(object(0), 0, 6)
}

// TestInferHoldsWhatItHasSeen reads records by the columns that were inferred of them, and writes them again.
func TestInferHoldsWhatItHasSeen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := documents().Draw(rt, "records")
		file := strings.Join(append(records, ""), "\n")
		columns, err := sampled(t, file)
		if err != nil {
			rt.Fatal(err)
		}
		if len(columns) == 0 {
			return
		}
		pinned, err := columnar.ParseColumns(columnar.FormatColumns(columns))
		if err != nil {
			rt.Fatal(err)
		}
		schema := &columnar.Schema{Columns: pinned, Closed: true}
		f, err := New(nil)
		if err != nil {
			rt.Fatal(err)
		}
		b, err := formattest.Decode(f, schema, []byte(file))
		if err != nil {
			rt.Fatalf("%s\ninferred %s: %v", file, columnar.FormatColumns(columns), err)
		}
		out, err := formattest.Encode(f, format.Target{Schema: schema}, b)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(meanings(t, file), meanings(t, string(out))); diff != "" {
			rt.Fatalf("%s\ninferred %s: %s", file, columnar.FormatColumns(columns), diff)
		}
	})
}

// meanings gives the records of a file as encoding/json reads them, without what a Guess does not tell apart, and without null.
func meanings(t testing.TB, file string) []any {
	t.Helper()
	var all []any
	d := json.NewDecoder(strings.NewReader(file))
	d.UseNumber()
	for d.More() {
		var record any
		if err := d.Decode(&record); err != nil {
			t.Fatal(err)
		}
		all = append(all, meaning(record))
	}
	return all
}

func meaning(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, of := range v {
			if v[k] = meaning(of); of == nil {
				delete(v, k)
			}
		}
	case []any:
		for i, of := range v {
			v[i] = meaning(of)
		}
	case json.Number:
		if s := v.String(); strings.Contains(s, ".") && !strings.Contains(s, "-0.0") {
			return json.Number(strings.TrimSuffix(strings.TrimRight(s, "0"), "."))
		}
	case string:
		for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
			if at, err := time.Parse(layout, strings.Replace(v, "T", " ", 1)); err == nil {
				return at.UTC().Format(layout + ".000000")
			}
		}
	}
	return v
}

func TestInferDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := documents().Draw(rt, "records")
		permuted := rapid.Permutation(records).Draw(rt, "permuted")
		columns, err := sampled(t, strings.Join(append(slices.Clone(records), ""), "\n"))
		others, errOther := sampled(t, strings.Join(append(slices.Clone(permuted), ""), "\n"))
		if err != nil || errOther != nil {
			rt.Fatal(err, errOther)
		}
		if a, b := columnar.FormatColumns(sorted(columns)), columnar.FormatColumns(sorted(others)); a != b {
			rt.Fatalf("%s\nand permuted %s", a, b)
		}
	})
}

// sorted puts columns, and the fields in them, in the order of their names.
func sorted(columns []columnar.Column) []columnar.Column {
	for i := range columns {
		sorted(columns[i].Type.Fields)
	}
	slices.SortFunc(columns, func(a, b columnar.Column) int { return strings.Compare(a.Name, b.Name) })
	return columns
}

func FuzzInfer(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[null,{"c":"2026-11-30"}]}` + "\n" + `{"a":0.5,"b":[]}` + "\n"))
	f.Add([]byte("{\"a\":tru\n[\n\"\\u00\n{\"a\":{}}\n{\"\\ud800\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		chunk = append(chunk, '\n')
		f, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		p := f.NewSampler()
		refused := p.Sample(bytes.Clone(chunk), 0)
		columns := formattest.Seen(p.Columns())
		pinned, err := columnar.ParseColumns(columnar.FormatColumns(columns))
		if len(columns) == 0 || refused != nil {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		decoder, err := f.NewDecoder(format.Reading{Schema: &columnar.Schema{Columns: pinned, Closed: true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := decoder.Decode(bytes.Clone(chunk), 0, &columnar.Batch{}); err != nil && !ofText(err) {
			t.Fatalf("%q: inferred %s: %v", chunk, columnar.FormatColumns(columns), err)
		}
	})
}

// ofText tells whether an error is of what a sampler does not look at: keys that are twice, and what is no character.
func ofText(err error) bool {
	for _, reason := range []string{"twice", "surrogate", "UTF-8", "key that is not declared"} {
		if strings.Contains(err.Error(), reason) {
			return true
		}
	}
	return false
}
