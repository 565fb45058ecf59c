package ndjson

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// agrees checks that encoding/json reads a file as the rows that it was made of.
func agrees(t interface{ Fatalf(string, ...any) }, schema *columnar.Schema, b *columnar.Batch, file []byte) {
	rows := formattest.Rows(schema, b)
	lines := bytes.SplitAfter(file, []byte("\n"))
	if len(lines) != len(rows)+1 || len(lines[len(rows)]) > 0 {
		t.Fatalf("%q: %d lines for %d rows", file, len(lines), len(rows))
	}
	for i, row := range rows {
		d := json.NewDecoder(bytes.NewReader(lines[i]))
		d.UseNumber()
		var members map[string]any
		if err := d.Decode(&members); err != nil || !json.Valid(lines[i]) || len(members) != len(schema.Columns) {
			t.Fatalf("%q: %v", lines[i], err)
		}
		for c, column := range schema.Columns {
			if want := ofRow(column.Type, row[c]); !reflect.DeepEqual(members[column.Name], want) {
				t.Fatalf("%q: column %s is %#v, want %#v", lines[i], column.Name, members[column.Name], want)
			}
		}
	}
}

// ofRow gives a value that formattest.Rows shows as encoding/json has it.
func ofRow(t columnar.Type, shown string) (v any) {
	if shown == "NULL" {
		return nil
	}
	text, err := strconv.Unquote(shown)
	if err != nil {
		panic(err)
	}
	switch t.Kind {
	case columnar.String, columnar.Binary, columnar.UUID, columnar.Date, columnar.Time, columnar.Timestamp, columnar.TimestampTZ:
		return text
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

func roundTrip(t interface{ Fatalf(string, ...any) }, f Format, schema *columnar.Schema, b *columnar.Batch) []byte {
	file, err := formattest.Encode(f, format.Target{Schema: schema}, b)
	if err != nil {
		t.Fatalf("%v", err)
	}
	back, err := formattest.Decode(f, schema, slices.Clone(file))
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	if diff := cmp.Diff(formattest.Rows(schema, b), formattest.Rows(schema, back)); diff != "" {
		t.Fatalf("%q: %s", file, diff)
	}
	return file
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := formattest.Schema().Draw(t, "schema")
		b := formattest.Batch(schema).Draw(t, "batch")
		agrees(t, schema, b, roundTrip(t, made(), schema, b))
	})
}

func TestCorpusRoundTrip(t *testing.T) {
	for _, typ := range formattest.Types {
		schema := &columnar.Schema{Columns: []columnar.Column{{Name: "v", Type: typ}}}
		b := formattest.CorpusBatch(typ)
		agrees(t, schema, b, roundTrip(t, made(), schema, b))
		if typ.Kind == columnar.Binary {
			roundTrip(t, with(t, "binary=hex"), schema, b)
		}
	}
}

// nestedType gives a type at random, nested at most so deep.
func nestedType(t *rapid.T, depth int) columnar.Type {
	switch n := rapid.IntRange(0, 3).Draw(t, "nested"); {
	case n < 2 && depth > 0:
		element := columnar.Column{Name: columnar.Element, Type: nestedType(t, depth-1), Required: rapid.Bool().Draw(t, "required")}
		return columnar.Type{Kind: columnar.List, Fields: []columnar.Column{element}}
	case n == 2 && depth > 0:
		s := columnar.Type{Kind: columnar.Struct}
		for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
			field := columnar.Column{Name: string(rune('a' + i)), Type: nestedType(t, depth-1), Required: rapid.Bool().Draw(t, "required")}
			s.Fields = append(s.Fields, field)
		}
		return s
	}
	return rapid.SampledFrom(formattest.Types).Draw(t, "type")
}

// nestedText gives a value of a column at random, as it is written.
func nestedText(t *rapid.T, c columnar.Column) string {
	if !c.Required && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return "null"
	}
	switch c.Type.Kind {
	case columnar.List:
		var elements []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			elements = append(elements, nestedText(t, c.Type.Fields[0]))
		}
		return "[" + strings.Join(elements, ",") + "]"
	case columnar.Struct:
		var members []string
		for _, f := range c.Type.Fields {
			members = append(members, strconv.Quote(f.Name)+":"+nestedText(t, f))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	corpus := formattest.Corpus(c.Type)
	text := rapid.SampledFrom(corpus[:min(len(corpus), 24)]).Draw(t, "value")
	switch c.Type.Kind {
	case columnar.String, columnar.Binary, columnar.UUID, columnar.Date, columnar.Time, columnar.Timestamp, columnar.TimestampTZ:
		out := &bytes.Buffer{}
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			panic(err)
		}
		return strings.NewReplacer("\\u2028", "\u2028", "\\u2029", "\u2029").Replace(strings.TrimSuffix(out.String(), "\n"))
	}
	return text
}

// What is written of nested values at random, NULL and empty lists at every level, is what they were read from.
func TestNestedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := &columnar.Schema{}
		for i := range rapid.IntRange(1, 3).Draw(t, "columns") {
			schema.Columns = append(schema.Columns, columnar.Column{Name: string(rune('a' + i)), Type: nestedType(t, 4), Required: rapid.Bool().Draw(t, "required")})
		}
		var file strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "rows") {
			file.WriteString(nestedText(t, columnar.Column{Type: columnar.Type{Kind: columnar.Struct, Fields: schema.Columns}, Required: true}) + "\n")
		}
		b, err := formattest.Decode(made(), schema, []byte(file.String()))
		if err != nil {
			t.Fatalf("%q: %v", file.String(), err)
		}
		if got := roundTrip(t, made(), schema, b); string(got) != file.String() {
			t.Fatalf("%q was read, and %q is written", file.String(), got)
		}
		agrees(t, schema, b, []byte(file.String()))
	})
}

// Whatever a string, a binary or a JSON value is, it is refused or written as a line that says it.
func TestWritesJSONOfAnything(t *testing.T) {
	pieces := []string{"\"", "\\", "{", "}", "[", "]", ":", ",", "a", "1", "\n", "\r", " ", "\xff", "é", "\x00", "\u2028", `"a"`, `"a":`, "null", `\ud800`}
	schema := formattest.ParseSchema("a:string b:binary c:json d:list<json> e:struct<a:string>")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "")
		for c, column := range schema.Columns {
			one := &columnar.Schema{Columns: []columnar.Column{column}}
			b := &columnar.Batch{Rows: 1, Data: []byte("<" + text + ">")}
			b.Reset(one.Columns)
			b.Rows = 1
			v := &b.Columns[0]
			if column.Type.Kind.Nested() {
				v = &v.Kids[0]
			}
			v.AddSpan(columnar.Span{Off: 1, Len: uint32(len(text))})
			switch c {
			case 3:
				b.Columns[0].AddList(1)
			case 4:
				b.Columns[0].AddStruct()
			}
			file, err := formattest.Encode(made(), format.Target{Schema: one}, b)
			if string(b.Data) != "<"+text+">" {
				t.Fatalf("%q has become %q", text, b.Data)
			}
			if err != nil {
				if e, ok := err.(*format.DataError); !ok || e.Column[:1] != column.Name || e.Value != text || e.Row != 1 {
					t.Fatalf("%v", err)
				}
				continue
			}
			if !json.Valid(file) || bytes.Count(file, []byte("\n")) != 1 {
				t.Fatalf("%s %q: %q", column.Type, text, file)
			}
			if c < 2 {
				agrees(t, one, b, file)
			}
		}
	})
}

func TestFlatSchemasAllocateNothing(t *testing.T) {
	schema := &columnar.Schema{}
	for i, typ := range formattest.Types {
		if !typ.Kind.Nested() {
			schema.Columns = append(schema.Columns, columnar.Column{Name: "column" + strconv.Itoa(i), Type: typ})
		}
	}
	b := &columnar.Batch{}
	b.Reset(schema.Columns)
	for c, column := range schema.Columns {
		corpus := formattest.Corpus(column.Type)
		for row := range 100 {
			if row%7 == c%7 {
				b.Columns[c].Null()
			} else {
				formattest.Add(b, c, column.Type, corpus[row%min(len(corpus), 24)])
			}
		}
	}
	b.Rows = 100
	file := roundTrip(t, made(), schema, b)
	file = append(file, `{"column3":1,"other":{"a":[1,"x"]},"\u0063olumn4":2}`+"\n"...)
	d, err := made().NewDecoder(format.Reading{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	chunk, out := make([]byte, len(file)), &columnar.Batch{}
	if n := testing.AllocsPerRun(10, func() {
		copy(chunk, file)
		if err := d.Decode(chunk, 0, out); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations are made where 101 rows are read", n)
	}
	e, err := made().NewEncoder(discard{}, format.Target{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := e.Encode(b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations are made where 100 rows are written", n)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestThousandColumns(t *testing.T) {
	schema := &columnar.Schema{}
	b := &columnar.Batch{}
	for i := range 1000 {
		schema.Columns = append(schema.Columns, columnar.Column{Name: strconv.Itoa(i), Type: formattest.Types[i%len(formattest.Types)]})
	}
	b.Reset(schema.Columns)
	for c, column := range schema.Columns {
		corpus := formattest.Corpus(column.Type)
		for row := range 5 {
			if row == 3 {
				b.Columns[c].Null()
			} else {
				formattest.Add(b, c, column.Type, corpus[row%min(len(corpus), 24)])
			}
		}
	}
	b.Rows = 5
	file := roundTrip(t, made(), schema, b)
	other := &columnar.Schema{Columns: slices.Clone(schema.Columns)}
	slices.Reverse(other.Columns)
	back, err := formattest.Decode(made(), other, file)
	if err != nil {
		t.Fatal(err)
	}
	want := formattest.Rows(schema, b)
	for _, row := range want {
		slices.Reverse(row)
	}
	if diff := cmp.Diff(want, formattest.Rows(other, back)); diff != "" {
		t.Error(diff)
	}
}

func TestNonFinite(t *testing.T) {
	schema := formattest.ParseSchema("a:float64 b:float32 c:list<float64>")
	row := func(v float64) *columnar.Batch {
		return &columnar.Batch{Rows: 1, Columns: []columnar.Vector{{Valid: []byte{1}, F64: []float64{v}}, {Valid: []byte{1}, F32: []float32{float32(v)}},
			{Valid: []byte{1}, Len: []uint32{2}, Kids: []columnar.Vector{{Valid: []byte{1, 1}, F64: []float64{v, 1}}}}}}
	}
	values := []*columnar.Batch{row(math.NaN()), row(math.Inf(1)), row(math.Inf(-1)), row(1)}
	for options, want := range map[string]string{
		"nonfinite=string": `{"a":"NaN","b":"NaN","c":["NaN",1]}` + "\n" + `{"a":"Infinity","b":"Infinity","c":["Infinity",1]}` + "\n" +
			`{"a":"-Infinity","b":"-Infinity","c":["-Infinity",1]}` + "\n" + `{"a":1,"b":1,"c":[1,1]}` + "\n",
		"nonfinite=null": strings.Repeat(`{"a":null,"b":null,"c":[null,1]}`+"\n", 3) + `{"a":1,"b":1,"c":[1,1]}` + "\n",
	} {
		var out bytes.Buffer
		e, err := with(t, options).NewEncoder(&out, format.Target{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range values {
			if err := e.Encode(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil || out.String() != want {
			t.Errorf("%s: %s: %v", options, out.String(), err)
		}
		nulled := int64(0)
		if options == "nonfinite=null" {
			nulled = 9
		} else if file := out.String(); file != "" {
			back, err := formattest.Decode(made(), schema, []byte(file))
			if err != nil || !math.IsNaN(back.Columns[0].F64[0]) || !math.IsInf(float64(back.Columns[1].F32[1]), 1) || !math.IsInf(back.Columns[2].Kids[0].F64[4], -1) {
				t.Errorf("%v, %v", back, err)
			}
		}
		if got := e.(format.Counter).Nulled(); got != nulled {
			t.Errorf("%s: %d are counted", options, got)
		}
	}
	e, err := with(t, "nonfinite=null compression=gzip").NewEncoder(discard{}, format.Target{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Encode(values[0]); err != nil || e.(format.Counter).Nulled() != 3 {
		t.Errorf("of what is compressed: %v", err)
	}
}
