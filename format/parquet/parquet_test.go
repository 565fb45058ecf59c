package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

type fataler interface{ Fatal(...any) }

func newFormat(t fataler, options map[string]any) *Format {
	f, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func open(t fataler, file []byte) *parquet.File {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// encode writes a file of batches and checks it.
func encode(t fataler, f *Format, schema *columnar.Schema, batches ...*columnar.Batch) []byte {
	file, err := formattest.Encode(f, format.Target{Schema: schema}, batches...)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, b := range batches {
		rows += b.Rows
	}
	if err := f.Check(bytes.NewReader(file), int64(len(file)), int64(rows), schema); err != nil {
		t.Fatal(err)
	}
	return file
}

func allOptions() (all []map[string]any) {
	for _, compat := range []bool{false, true} {
		for _, compression := range []string{"zstd", "snappy", "gzip", "lz4_raw", "none"} {
			all = append(all, map[string]any{"compression": compression, "compat": compat})
		}
	}
	return all
}

func TestReadsBackEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		b1, b2 := drawBatch(t, schema), drawBatch(t, schema)
		f := newFormat(t, rapid.SampledFrom(allOptions()).Draw(t, "options"))
		f.groupRows = int64(rapid.IntRange(1, 20).Draw(t, "rows of a group"))
		f.pageBytes = int64(rapid.IntRange(1, 50).Draw(t, "bytes of a page"))
		file := encode(t, f, schema, b1, b2)
		if diff := cmp.Diff(viewBatch(schema, b1, b2), viewFile(t, schema, file)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// drawSchema draws a schema, with nested columns of a few levels.
func drawSchema(t *rapid.T) *columnar.Schema {
	return &columnar.Schema{Columns: drawColumns(t, 3)}
}

func drawColumns(t *rapid.T, depth int) (columns []columnar.Column) {
	for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
		columns = append(columns, columnar.Column{Name: string(rune('a' + i)), Type: drawType(t, depth), Required: rapid.Bool().Draw(t, "required")})
	}
	return columns
}

func drawType(t *rapid.T, depth int) columnar.Type {
	switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case depth > 0 && kind == 0:
		list := columnar.ListOf(drawType(t, depth-1))
		list.Fields[0].Required = rapid.Bool().Draw(t, "required")
		return list
	case depth > 0 && kind == 1:
		return columnar.Type{Kind: columnar.Struct, Fields: drawColumns(t, depth-1)}
	}
	return rapid.SampledFrom(formattest.Types).Draw(t, "type")
}

func drawBatch(t *rapid.T, schema *columnar.Schema) *columnar.Batch {
	b := &columnar.Batch{}
	b.Reset(schema.Columns)
	b.Rows = rapid.IntRange(0, 8).Draw(t, "rows")
	for i, c := range schema.Columns {
		for range b.Rows {
			drawValue(t, b, &b.Columns[i], c)
		}
	}
	return b
}

func drawValue(t *rapid.T, b *columnar.Batch, v *columnar.Vector, c columnar.Column) {
	if !c.Required && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		v.Null()
		return
	}
	switch c.Type.Kind {
	case columnar.List:
		n := rapid.IntRange(0, 3).Draw(t, "length")
		for range n {
			drawValue(t, b, &v.Kids[0], c.Type.Fields[0])
		}
		v.AddList(n)
	case columnar.Struct:
		for i, f := range c.Type.Fields {
			drawValue(t, b, &v.Kids[i], f)
		}
		v.AddStruct()
	default:
		corpus := formattest.Corpus(c.Type)
		addText(b, v, c.Type, rapid.SampledFrom(corpus[:min(len(corpus), 24)]).Draw(t, "value"))
	}
}

// addText appends a value of the corpus to a vector of any depth.
func addText(b *columnar.Batch, v *columnar.Vector, t columnar.Type, text string) {
	one := &columnar.Batch{Data: b.Data, Columns: []columnar.Vector{*v}}
	formattest.Add(one, 0, t, text)
	b.Data, *v = one.Data, one.Columns[0]
}

// Each type, with no, some and all values NULL, at the edges of stripes, pages and row groups.
func TestEdgesReadBackEqual(t *testing.T) {
	for _, typ := range formattest.Types {
		for _, nulls := range []int{0, 3, 1} { // every so many rows
			for _, rows := range []int{1, stripe, stripe + 1} {
				schema := &columnar.Schema{Columns: []columnar.Column{{Name: "v", Type: typ, Required: nulls == 0}}}
				b := repeated(schema, nulls, rows)
				f := newFormat(t, map[string]any{"compression": "none", "compat": rows%2 == 0})
				want := viewBatch(schema, b)
				for _, f.groupRows = range []int64{groupRows, stripe, stripe - 1} {
					f.pageBytes = f.groupRows // small ones, and none of a whole group
					if got := viewFile(t, schema, encode(t, f, schema, b)); !reflect.DeepEqual(got, want) {
						t.Errorf("%s, %d rows: %s", typ, rows, cmp.Diff(want, got))
					}
				}
			}
		}
	}
}

// repeated makes rows of a column's corpus over and over, of which every so many are NULL.
func repeated(schema *columnar.Schema, nulls, rows int) *columnar.Batch {
	corpus := formattest.Corpus(schema.Columns[0].Type)
	corpus = corpus[:min(len(corpus), 24)]
	b := &columnar.Batch{}
	b.Reset(schema.Columns)
	b.Rows = rows
	for i := range rows {
		if nulls > 0 && i%nulls == 0 {
			b.Columns[0].Null()
			continue
		}
		formattest.Add(b, 0, schema.Columns[0].Type, corpus[i%len(corpus)])
	}
	return b
}

func TestCorpusReadsBackEqual(t *testing.T) {
	for _, typ := range formattest.Types {
		for _, options := range allOptions() {
			schema := &columnar.Schema{Columns: []columnar.Column{{Name: "v", Type: typ}}}
			b := formattest.CorpusBatch(typ)
			if diff := cmp.Diff(viewBatch(schema, b), viewFile(t, schema, encode(t, newFormat(t, options), schema, b))); diff != "" {
				t.Errorf("%s, %v: %s", typ, options, diff)
			}
		}
	}
}

// A value that is larger than everything that is bounded.
func TestLargeValues(t *testing.T) {
	schema := formattest.ParseSchema("a:string b:list<binary>")
	b := &columnar.Batch{Data: bytes.Repeat([]byte("0123456789abcdef"), 5<<16), Rows: 2}
	b.Reset(schema.Columns)
	b.Rows = 2
	whole := columnar.Span{Len: uint32(len(b.Data))}
	b.Columns[0].AddSpan(whole)
	b.Columns[0].Null()
	b.Columns[1].Null()
	b.Columns[1].Kids[0].AddSpan(whole)
	b.Columns[1].Kids[0].AddSpan(columnar.Span{})
	b.Columns[1].AddList(2)
	file := encode(t, newFormat(t, nil), schema, b)
	if len(file) > 1<<20 {
		t.Errorf("a file of %d bytes: a bound has the whole value", len(file))
	}
	if !reflect.DeepEqual(viewBatch(schema, b), viewFile(t, schema, file)) {
		t.Error("the values differ")
	}
}

func TestNoRows(t *testing.T) {
	schema := formattest.ParseSchema("a:int64 b:string c:list<struct<d:uuid>>")
	for _, options := range allOptions() {
		for _, batches := range [][]*columnar.Batch{nil, {formattest.Of(schema)}} {
			file := encode(t, newFormat(t, options), schema, batches...)
			if rows := viewFile(t, schema, file); len(rows) != 0 {
				t.Errorf("%d rows", len(rows))
			}
		}
	}
}

// many makes a batch of rows with numbers from first on.
func many(schema *columnar.Schema, first, rows int) *columnar.Batch {
	var texts [][]string
	for i := range rows {
		n := strconv.Itoa(first + i)
		texts = append(texts, []string{n, "-" + n + ".5", "some text " + n, "NULL"})
	}
	return formattest.Of(schema, texts...)
}

func manySchema() *columnar.Schema {
	return formattest.ParseSchema("a:int64! b:decimal(30,1) c:string d:date")
}

func TestRowGroupsAreBounded(t *testing.T) {
	f := newFormat(t, nil)
	schema := manySchema()
	count := func() (rows []int64) {
		file := encode(t, f, schema, many(schema, 0, 3000), many(schema, 3000, 2500))
		for _, g := range open(t, file).Metadata().RowGroups {
			rows = append(rows, g.NumRows)
		}
		return rows
	}
	if got := count(); !slices.Equal(got, []int64{5500}) {
		t.Errorf("row groups of %v", got)
	}
	f.groupRows = 2000
	if got := count(); !slices.Equal(got, []int64{2000, 2000, 1500}) {
		t.Errorf("row groups of %v", got)
	}
	f.groupRows, f.groupBytes = groupRows, 100_000
	for _, n := range count() {
		if n > 4000 {
			t.Errorf("a row group of %d rows", n)
		}
	}
}

// Rows of long lists are not gathered without bound, and their pages begin with a row each.
func TestPagesOfLists(t *testing.T) {
	schema := formattest.ParseSchema("v:list<int64>")
	b := &columnar.Batch{}
	b.Reset(schema.Columns)
	b.Rows = 100
	for i := range b.Rows {
		for k := range 1000 {
			formattest.Add(&columnar.Batch{Columns: b.Columns[0].Kids}, 0, columnar.Type{Kind: columnar.Int64}, strconv.Itoa(i*k))
		}
		b.Columns[0].AddList(1000)
	}
	f := newFormat(t, nil)
	f.pageBytes = 100_000
	file := encode(t, f, schema, b)
	if !reflect.DeepEqual(viewBatch(schema, b), viewFile(t, schema, file)) {
		t.Error("the values differ")
	}
	pages := open(t, file).OffsetIndexes()[0].PageLocations
	if len(pages) < 5 {
		t.Errorf("%d pages", len(pages))
	}
}

// The bytes written depend on nothing but rows and batches.
func TestSameBytes(t *testing.T) {
	schema := manySchema()
	schema.Columns = append(schema.Columns, formattest.ParseSchema("e:timestamp f:timestamptz g:time").Columns...)
	write := func() []byte {
		f := newFormat(t, nil)
		f.groupRows = 1500
		b := formattest.Of(schema, []string{"1", "2", "3", "2026-03-29", "2026-03-29 02:30:00", "2026-03-29 02:30:00Z", "02:30:00"})
		file, err := formattest.Encode(f, format.Target{Schema: schema, Meta: [][2]string{{"b", "1"}, {"a", "2"}}}, b, b)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	first := write()
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	for _, zone := range []string{"UTC", "Asia/Seoul", "America/New_York"} {
		var err error
		if time.Local, err = time.LoadLocation(zone); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, write()) {
			t.Fatalf("the bytes differ in %s", zone)
		}
	}
}

func TestRefuses(t *testing.T) {
	f := newFormat(t, nil)
	if _, err := f.NewEncoder(io.Discard, format.Target{Head: []byte("id\n")}); err == nil || !strings.Contains(err.Error(), "needs columns") {
		t.Error(err)
	}
	for _, test := range []struct {
		options map[string]any
		want    string
	}{
		{map[string]any{"compression": "lzo"}, "compression is \"lzo\", and can be zstd, snappy, gzip, lz4_raw, none"},
		{map[string]any{"compression": "ztsd"}, "did you mean zstd?"},
		{map[string]any{"compresion": "zstd"}, "did you mean compression?"},
		{map[string]any{"compat": "perhaps"}, "compat is perhaps"},
	} {
		if _, err := Kind().New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test.options, err)
		}
	}
}

// Values that a batch must not have, or a file cannot, are refused with their row and column.
func TestRefusesValues(t *testing.T) {
	ok := "[{\"c\":1}]"
	for _, test := range []struct {
		columns string
		rows    []string
		spoil   func(v *columnar.Vector)
		row     int64
		column  string
		value   string
		reason  string
	}{
		{"a:int64!", []string{"1", "NULL"}, nil, 2, "a", "", "is NULL, and a value is required"},
		{"a:list<struct<c:int64!>>", []string{ok, `[{"c":1},{"c":2}]`, "NULL"},
			func(v *columnar.Vector) {
				leaf := &v.Kids[0].Kids[0]
				leaf.Valid[2], leaf.I64 = 0, leaf.I64[:2]
			}, 2, "a.element.c", "", "is NULL, and a value is required"},
		{"a:list<struct<c:int64>!>", []string{ok, "[]", ok},
			func(v *columnar.Vector) { v.Kids[0].Valid[1] = 0 }, 3, "a.element", "", "is NULL, and a value is required"},
		{"a:json", []string{"{}", "NULL", "[1] 2"}, nil, 3, "a", "[1] 2", "is not JSON"},
		{"a:json", []string{"\"\xff\""}, nil, 1, "a", "\"\xff\"", "is not JSON"},
		{"a:int8", []string{"NULL", "1", "2"}, func(v *columnar.Vector) { v.I32[1] = 128 }, 3, "a", "128", "is not a value of type int8"},
		{"a:int16", []string{"1"}, func(v *columnar.Vector) { v.I32[0] = -32769 }, 1, "a", "-32769", "is not a value of type int16"},
		{"a:uint8", []string{"1"}, func(v *columnar.Vector) { v.I32[0] = -1 }, 1, "a", "-1", "is not a value of type uint8"},
		{"a:uint16", []string{"1"}, func(v *columnar.Vector) { v.I32[0] = 65536 }, 1, "a", "65536", "is not a value of type uint16"},
		{"a:list<int8>", []string{"[1,2]", "[3,4]"}, func(v *columnar.Vector) { v.Kids[0].I32[2] = 1000 }, 2, "a.element", "1000", "is not a value of type int8"},
		{"a:decimal(5,2)", []string{"1"}, func(v *columnar.Vector) { v.I64[0] = 1 << 40 }, 1, "a", "10995116277.76", "is not a value of type decimal(5,2)"},
		{"a:decimal(18,0)", []string{"1"}, func(v *columnar.Vector) { v.I64[0] = -1e18 }, 1, "a", "-1000000000000000000", "is not a value of type decimal(18,0)"},
		{"a:decimal(19,0)", []string{"1", "2"}, func(v *columnar.Vector) { v.I128[1].Hi = 1 }, 2, "a", "18446744073709551618", "is not a value of type decimal(19,0)"},
		{"a:time", []string{"00:00:00"}, func(v *columnar.Vector) { v.I64[0] = 86_400_000_000 }, 1, "a", "", "is not a value of type time"},
	} {
		schema := formattest.ParseSchema(test.columns)
		var rows [][]string
		for _, text := range test.rows {
			rows = append(rows, []string{text})
		}
		b := formattest.Of(schema, rows...)
		if test.spoil != nil {
			test.spoil(&b.Columns[0])
		}
		_, err := formattest.Encode(newFormat(t, nil), format.Target{Schema: schema}, b)
		e, ok := errors.AsType[*format.DataError](err)
		if !ok || e.Row != test.row || e.Column != test.column || e.Value != test.value || e.Reason != test.reason {
			t.Errorf("%s: %+v (%v)", test.columns, e, err)
		}
	}
}

func TestManyColumns(t *testing.T) {
	var names, values []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("c%d:int64!", i))
		values = append(values, strconv.Itoa(i))
	}
	schema := formattest.ParseSchema(strings.Join(names, " "))
	b := formattest.Of(schema, values)
	if !reflect.DeepEqual(viewBatch(schema, b), viewFile(t, schema, encode(t, newFormat(t, nil), schema, b))) {
		t.Error("the values differ")
	}
}

func BenchmarkEncode(b *testing.B) {
	schema := manySchema()
	batch := many(schema, 0, 10_000)
	f := newFormat(b, nil)
	b.ReportAllocs()
	e, err := f.NewEncoder(io.Discard, format.Target{Schema: schema})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := e.Encode(batch); err != nil {
			b.Fatal(err)
		}
	}
}
