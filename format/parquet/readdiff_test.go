package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// leafNodes are leaves of each physical type, with encodings that the library has for them.
var leafNodes = []struct {
	node   parquet.Node
	coding []encoding.Encoding
}{
	{parquet.Leaf(parquet.BooleanType), []encoding.Encoding{&parquet.Plain}},
	{parquet.Leaf(parquet.Int32Type), []encoding.Encoding{&parquet.Plain, &parquet.DeltaBinaryPacked, &parquet.RLEDictionary, &parquet.PlainDictionary}},
	{parquet.Uint(32), []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}},
	{parquet.Decimal(2, 9, parquet.Int32Type), []encoding.Encoding{&parquet.Plain, &parquet.DeltaBinaryPacked}},
	{parquet.Leaf(parquet.Int64Type), []encoding.Encoding{&parquet.Plain, &parquet.DeltaBinaryPacked, &parquet.RLEDictionary}},
	{parquet.Uint(64), []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}},
	{parquet.Leaf(parquet.FloatType), []encoding.Encoding{&parquet.Plain, &parquet.ByteStreamSplit, &parquet.RLEDictionary}},
	{parquet.Leaf(parquet.DoubleType), []encoding.Encoding{&parquet.Plain, &parquet.ByteStreamSplit, &parquet.RLEDictionary}},
	{parquet.String(), []encoding.Encoding{&parquet.Plain, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray, &parquet.RLEDictionary}},
	{parquet.Leaf(parquet.ByteArrayType), []encoding.Encoding{&parquet.Plain, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray, &parquet.RLEDictionary}},
	{parquet.Leaf(parquet.FixedLenByteArrayType(3)), []encoding.Encoding{&parquet.Plain, &parquet.DeltaByteArray, &parquet.RLEDictionary}},
	{parquet.UUID(), []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}},
}

// anyNode gives a node at random, nested as deep as said at most.
func anyNode(t *rapid.T, depth int) parquet.Node {
	var n parquet.Node
	switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
	case depth > 0 && kind < 2:
		n = parquet.List(anyNode(t, depth-1))
	case depth > 0 && kind < 4:
		group := parquet.Group{}
		for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
			group[string(rune('a'+i))] = anyNode(t, depth-1)
		}
		n = group
	case depth > 0 && kind == 4:
		n = parquet.Map(parquet.String(), anyNode(t, depth-1))
	case depth > 0 && kind == 5:
		return parquet.Repeated(parquet.Leaf(parquet.Int64Type))
	default:
		l := leafNodes[rapid.IntRange(0, len(leafNodes)-1).Draw(t, "leaf")]
		n = parquet.Encoded(l.node, rapid.SampledFrom(l.coding).Draw(t, "coding"))
	}
	if rapid.Bool().Draw(t, "optional") {
		return parquet.Optional(n)
	}
	return n
}

// anyValues appends values at random of a node and those below it to a row, that of the leaves from column on.
type anyValues struct {
	t   *rapid.T
	row parquet.Row
}

// add appends a value of a node, and gives the column after its last. Nothing is there if it is absent.
func (a *anyValues) add(n parquet.Node, column, rep, def, deepest int, absent bool) int {
	switch {
	case n.Repeated():
		count := 0
		if !absent {
			count = rapid.IntRange(0, 3).Draw(a.t, "count")
		}
		return a.times(n, count, column, rep, def, deepest)
	case n.Optional() && !absent:
		if rapid.IntRange(0, 2).Draw(a.t, "null") == 0 {
			absent = true
		} else {
			def++
		}
	}
	return a.present(n, column, rep, def, deepest, absent)
}

func (a *anyValues) times(n parquet.Node, count, column, rep, def, deepest int) (next int) {
	if count == 0 {
		return a.present(n, column, rep, def, deepest+1, true)
	}
	for i := range count {
		if i > 0 {
			rep = deepest + 1
		}
		next = a.present(n, column, rep, def+1, deepest+1, false)
	}
	return next
}

func (a *anyValues) present(n parquet.Node, column, rep, def, deepest int, absent bool) int {
	if n.Leaf() {
		v := parquet.NullValue()
		if !absent {
			v = a.value(n)
		}
		a.row = append(a.row, v.Level(rep, def, column))
		return column + 1
	}
	for _, f := range n.Fields() {
		column = a.add(f, column, rep, def, deepest, absent)
	}
	return column
}

func (a *anyValues) value(n parquet.Node) parquet.Value {
	t := a.t
	few := rapid.IntRange(0, 3).Draw(t, "few")
	switch kind := n.Type().Kind(); kind {
	case parquet.Boolean:
		return parquet.BooleanValue(few%2 == 0)
	case parquet.Int32:
		if lt := n.Type().LogicalType(); lt != nil && lt.String() == "DECIMAL(9,2)" {
			return parquet.Int32Value(rapid.Int32Range(-999_999_999, 999_999_999).Draw(t, "decimal"))
		}
		return parquet.Int32Value(rapid.SampledFrom([]int32{int32(few), rapid.Int32().Draw(t, "int32"), math.MinInt32, math.MaxInt32}).Draw(t, "value"))
	case parquet.Int64:
		return parquet.Int64Value(rapid.SampledFrom([]int64{int64(few), rapid.Int64().Draw(t, "int64"), math.MinInt64, math.MaxInt64}).Draw(t, "value"))
	case parquet.Float:
		return parquet.FloatValue(rapid.Float32().Draw(t, "float"))
	case parquet.Double:
		return parquet.DoubleValue(rapid.Float64().Draw(t, "double"))
	case parquet.FixedLenByteArray:
		return parquet.FixedLenByteArrayValue(rapid.SliceOfN(rapid.Byte(), n.Type().Length(), n.Type().Length()).Draw(t, "bytes"))
	}
	return parquet.ByteArrayValue([]byte(rapid.SampledFrom([]string{"", "common", fmt.Sprint("common", few), rapid.String().Draw(t, "string")}).Draw(t, "value")))
}

// sorted gives the row with the entries of each leaf together, as rows are written and viewed.
func (a *anyValues) sorted() parquet.Row {
	var row parquet.Row
	for column := 0; len(row) < len(a.row); column++ {
		for _, v := range a.row {
			if v.Column() == column {
				row = append(row, v)
			}
		}
	}
	return row
}

// TestReadsWhatTheLibraryWrites: flat and nested rows at random are read as they were written, and as the library reads them.
func TestReadsWhatTheLibraryWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := parquet.Group{}
		for i := range rapid.IntRange(1, 3).Draw(t, "columns") {
			group[string(rune('a'+i))] = anyNode(t, 3)
		}
		schema := parquet.NewSchema("t", group)
		var rows []parquet.Row
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			a := &anyValues{t: t}
			column := 0
			for _, f := range schema.Fields() {
				column = a.add(f, column, 0, 0, 0, false)
			}
			rows = append(rows, a.sorted())
		}
		var file bytes.Buffer
		w := parquet.NewGenericWriter[any](&file, schema, parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
			parquet.PageBufferSize(rapid.SampledFrom([]int{1, 40, 1 << 20}).Draw(t, "page")), parquet.MaxRowsPerRowGroup(rapid.SampledFrom([]int64{1, 5, 1000}).Draw(t, "group")),
			parquet.Compression(rapid.SampledFrom([]compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw}).Draw(t, "codec")))
		for _, row := range rows {
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		compareWithLibrary(t, file.Bytes(), rows, int64(rapid.IntRange(1, 13).Draw(t, "batch")))
	})
}

func compareWithLibrary(t *rapid.T, file []byte, rows []parquet.Row, batch int64) {
	table := tableOf(t, nil, file)
	schema := &columnar.Schema{Columns: table.Columns()}
	want := []any{}
	for _, row := range rows {
		want = append(want, viewRow(schema, row))
	}
	r, err := table.NewReader(format.Reading{Schema: schema}, 0, total(table))
	if err != nil {
		t.Fatal(err)
	}
	got := []any{}
	var b columnar.Batch
	for {
		_, err := r.Next(batch, &b)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, viewBatch(schema, &b)...)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s:\n%s", columnar.FormatColumns(schema.Columns), d)
	}
	if d := cmp.Diff(viewFile(t, schema, file), got); d != "" {
		t.Fatalf("the library reads %s otherwise:\n%s", columnar.FormatColumns(schema.Columns), d)
	}
}
