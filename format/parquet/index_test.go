package parquet

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// order compares two values by the bytes that statistics have of them, in the order that the format's specification gives the type.
// It knows nothing of how they were written.
func order(t columnar.Type, a, b []byte) int {
	switch t.Kind {
	case columnar.Bool:
		return cmp.Compare(a[0], b[0])
	case columnar.Float32:
		return cmp.Compare(parquet.Float.Value(a).Float(), parquet.Float.Value(b).Float())
	case columnar.Float64:
		return cmp.Compare(parquet.Double.Value(a).Double(), parquet.Double.Value(b).Double())
	case columnar.String, columnar.Binary, columnar.JSON, columnar.UUID:
		return bytes.Compare(a, b)
	case columnar.Uint8, columnar.Uint16, columnar.Uint32:
		return cmp.Compare(parquet.Int32.Value(a).Uint32(), parquet.Int32.Value(b).Uint32())
	case columnar.Uint64:
		return cmp.Compare(parquet.Int64.Value(a).Uint64(), parquet.Int64.Value(b).Uint64())
	}
	switch len(a) {
	case 4:
		return cmp.Compare(parquet.Int32.Value(a).Int32(), parquet.Int32.Value(b).Int32())
	case 8:
		return cmp.Compare(parquet.Int64.Value(a).Int64(), parquet.Int64.Value(b).Int64())
	}
	return bytes.Compare(append([]byte{a[0] ^ 0x80}, a[1:]...), append([]byte{b[0] ^ 0x80}, b[1:]...))
}

// extent is what values of a page or a column chunk are between.
type extent struct {
	values, nulls int64
	min, max      []byte
	nan           bool
}

func (x *extent) saw(t columnar.Type, v parquet.Value) {
	x.values++
	if v.IsNull() {
		x.nulls++
		return
	}
	if f := number(v); f != f {
		x.nan = true
		return
	}
	b := v.AppendBytes([]byte{})
	if x.min == nil || order(t, b, x.min) < 0 {
		x.min = b
	}
	if x.max == nil || order(t, b, x.max) > 0 {
		x.max = b
	}
}

func number(v parquet.Value) float64 {
	switch v.Kind() {
	case parquet.Float:
		return float64(v.Float())
	case parquet.Double:
		return v.Double()
	}
	return 0
}

// holds fails unless bounds hold an extent; for values that are not cut they are the extent itself.
func (x *extent) holds(t columnar.Type, min, max []byte) error {
	if x.min == nil {
		return nil
	}
	low, high := order(t, min, x.min), order(t, max, x.max)
	if low > 0 || high < 0 {
		return fmt.Errorf("values from %x to %x are not within %x to %x", x.min, x.max, min, max)
	}
	exact := !x.nan && (!t.Kind.Spans() || len(x.min) <= maxBound && len(x.max) <= maxBound)
	if exact && (low != 0 || high != 0) {
		return fmt.Errorf("values from %x to %x have the bounds %x to %x", x.min, x.max, min, max)
	}
	for _, f := range [][2][]byte{{min, {0, 0, 0, 0}}, {max, {0, 0, 0, 0x80}}} { // +0 is no least value, and -0 no greatest
		if t.Kind == columnar.Float32 && bytes.Equal(f[0], f[1]) || t.Kind == columnar.Float64 && bytes.Equal(f[0], append(make([]byte, 4), f[1]...)) {
			return fmt.Errorf("a bound is %x", f[0])
		}
	}
	if t.Kind.Spans() && (len(min) > maxBound || len(max) > maxBound && len(max) > len(x.max)) {
		return fmt.Errorf("bounds of %d and %d bytes", len(min), len(max))
	}
	return nil
}

// checkStatistics reads a file, and compares what its statistics and page indexes say with the values.
func checkStatistics(t fataler, schema *columnar.Schema, file []byte) {
	var types []columnar.Type
	for _, c := range schema.Columns {
		types = append(types, leafTypes(c.Type)...)
	}
	f := open(t, file)
	m := f.Metadata()
	if len(m.ColumnOrders) != len(types) {
		t.Fatal("there are", len(m.ColumnOrders), "column orders of", len(types))
	}
	for g, group := range f.RowGroups() {
		for c, chunk := range group.ColumnChunks() {
			index, stats := f.ColumnIndexes()[g*len(types)+c], m.RowGroups[g].Columns[c].MetaData.Statistics
			if err := checkColumn(types[c], chunk, index, stats); err != nil {
				t.Fatal(types[c].String(), "of row group", g, err)
			}
		}
	}
}

func leafTypes(t columnar.Type) (all []columnar.Type) {
	if !t.Kind.Nested() {
		return []columnar.Type{t}
	}
	for _, f := range t.Fields {
		all = append(all, leafTypes(f.Type)...)
	}
	return all
}

func checkColumn(t columnar.Type, chunk parquet.ColumnChunk, index pqformat.ColumnIndex, stats pqformat.Statistics) error {
	pages := chunk.Pages()
	var all extent
	n := 0
	for ; ; n++ {
		page, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		values := make([]parquet.Value, page.NumValues())
		if k, err := page.Values().ReadValues(values); k < len(values) {
			return err
		}
		var one extent
		for _, v := range values {
			one.saw(t, v)
			all.saw(t, v)
		}
		if n == len(index.NullPages) || index.NullPages[n] != (one.values == one.nulls) || index.NullCounts[n] != one.nulls {
			return fmt.Errorf("page %d has %d NULL of %d values: %v, %v", n, one.nulls, one.values, index.NullPages, index.NullCounts)
		}
		if err := one.holds(t, index.MinValues[n], index.MaxValues[n]); err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		if one.nan && (!math.IsInf(number(chunk.Type().Kind().Value(index.MinValues[n])), -1) || !math.IsInf(number(chunk.Type().Kind().Value(index.MaxValues[n])), 1)) {
			return fmt.Errorf("page %d has NaN, and the bounds %x to %x", n, index.MinValues[n], index.MaxValues[n])
		}
	}
	if n != len(index.NullPages) || n != len(index.MinValues) || n != len(index.MaxValues) {
		return fmt.Errorf("%d pages: %d in the index", n, len(index.NullPages))
	}
	if stats.NullCount != all.nulls || stats.Min != nil || stats.Max != nil {
		return fmt.Errorf("%d NULL: %+v", all.nulls, stats)
	}
	if some := stats.MinValue != nil && stats.MaxValue != nil; some != (all.min != nil && !all.nan) {
		return fmt.Errorf("values from %x to %x, NaN %v: the bounds are %x to %x", all.min, all.max, all.nan, stats.MinValue, stats.MaxValue)
	} else if some {
		if err := all.holds(t, stats.MinValue, stats.MaxValue); err != nil {
			return fmt.Errorf("the column chunk: %w", err)
		}
	}
	if err := checkBoundaries(t, index); err != nil {
		return err
	}
	return pages.Close()
}

// checkBoundaries fails if bounds are not in the order that the index says.
func checkBoundaries(t columnar.Type, index pqformat.ColumnIndex) error {
	rises, falls, before := true, true, -1
	for n, null := range index.NullPages {
		if null {
			continue
		}
		if before >= 0 {
			low, high := order(t, index.MinValues[n], index.MinValues[before]), order(t, index.MaxValues[n], index.MaxValues[before])
			rises, falls = rises && low >= 0 && high >= 0, falls && low <= 0 && high <= 0
		}
		before = n
	}
	want := pqformat.Unordered
	switch {
	case rises:
		want = pqformat.Ascending
	case falls:
		want = pqformat.Descending
	}
	if index.BoundaryOrder != want {
		return fmt.Errorf("the boundary order is %s, want %s: %x to %x", index.BoundaryOrder, want, index.MinValues, index.MaxValues)
	}
	return nil
}

func TestStatisticsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		f := newFormat(t, rapid.SampledFrom(allOptions()).Draw(t, "options"))
		f.groupRows = int64(rapid.IntRange(1, 20).Draw(t, "rows of a group"))
		f.pageBytes = int64(rapid.IntRange(1, 50).Draw(t, "bytes of a page"))
		checkStatistics(t, schema, encode(t, f, schema, drawBatch(t, schema), drawBatch(t, schema), drawBatch(t, schema)))
	})
}

// Values at which an order that is not the specification's, or a cut, would show. Each is a page of its own, and then all are one.
func TestStatisticsOfEdges(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, test := range []struct {
		column string
		values []string
	}{
		{"v:int64", []string{"5", "-9223372036854775808", "NULL", "9223372036854775807"}},
		{"v:uint32", []string{"1", "4294967295", "2147483648", "0"}},
		{"v:uint64", []string{"1", "18446744073709551615", "NULL", "9223372036854775808"}},
		{"v:float64", []string{"-1.5", "0", "1e300"}},
		{"v:float64", []string{"0", "-0"}},
		{"v:float64", []string{"-0", "-1"}},
		{"v:float64", []string{"0", "1"}},
		{"v:float64", []string{"1", "NaN", "Infinity"}},
		{"v:float64", []string{"NaN", "NULL", "NaN"}},
		{"v:float32", []string{"0", "-0", "NULL"}},
		{"v:float32", []string{"-Infinity", "1", "NaN"}},
		{"v:date", []string{"1969-12-31", "0001-01-01", "9999-12-31"}},
		{"v:timestamptz", []string{"1969-12-31 00:00:00Z", "0001-01-01 00:00:00Z", "NULL"}},
		{"v:decimal(5,2)", []string{"-1.00", "5.00", "-999.99"}},
		{"v:decimal(18,2)", []string{"-1.00", "5.00", "-999.99"}},
		{"v:decimal(38,2)", []string{"-1.00", "5.00", "NULL", "-999.99"}},
		{"v:decimal(38,2)", []string{"NULL", "NULL"}},
		{"v:uuid", []string{"80000000-0000-0000-0000-000000000000", "NULL", "7fffffff-ffff-ffff-ffff-ffffffffffff"}},
		{"v:string", []string{"b", "", "NULL", long, strings.Repeat("\U0010ffff", 40), strings.Repeat("\ud7ff", 40)}},
		{"v:string", []string{long + "b", long + "a"}},
		{"v:string", []string{"é", "z", "\x7f"}},
		{"v:string", []string{"NULL"}},
		{"v:binary", []string{"/w==", "fw==", "", "gA=="}},
		{"v:binary", []string{strings.Repeat("////", 40), strings.Repeat("q6ur", 40), strings.Repeat("q6ur", 21) + "q///////"}},
		{"v:json", []string{`"b"`, `"` + long + `"`, "[]"}},
		{"v:bool", []string{"true", "false"}},
		{"v:bool", []string{"true", "NULL"}},
	} {
		for _, nested := range []bool{false, true} {
			schema := formattest.ParseSchema(test.column)
			if nested { // the same values, as elements
				schema.Columns[0].Type = columnar.ListOf(columnar.Type{Kind: columnar.Struct, Fields: schema.Columns[:1:1]})
				schema.Columns = []columnar.Column{{Name: "v", Type: schema.Columns[0].Type}}
				schema.Columns[0].Type.Fields[0].Type.Fields = formattest.ParseSchema(test.column).Columns
			}
			c := formattest.ParseSchema(test.column).Columns[0]
			together, apart := []*columnar.Batch{edges(schema, c, test.values, nested)}, []*columnar.Batch{}
			for i := range test.values {
				apart = append(apart, edges(schema, c, test.values[i:i+1], nested))
			}
			f := newFormat(t, nil)
			for _, f.groupRows = range []int64{1, 2, 1000} {
				for _, f.pageBytes = range []int64{1, pageBytes} {
					for _, batches := range [][]*columnar.Batch{together, apart} {
						checkStatistics(failure{t, test.column}, schema, encode(t, f, schema, batches...))
					}
				}
			}
		}
	}
}

// edges makes rows of a value each, or of a list of one struct of it.
func edges(schema *columnar.Schema, c columnar.Column, texts []string, nested bool) *columnar.Batch {
	b := &columnar.Batch{}
	b.Reset(schema.Columns)
	b.Rows = len(texts)
	for _, text := range texts {
		v := &b.Columns[0]
		if nested {
			v.AddList(1)
			v.Kids[0].AddStruct()
			v = &v.Kids[0].Kids[0]
		}
		if text == "NULL" {
			v.Null()
		} else {
			addText(b, v, c.Type, text)
		}
	}
	return b
}

// failure is a test that says what it was about.
type failure struct {
	*testing.T
	what string
}

func (f failure) Fatal(args ...any) {
	f.Helper()
	f.T.Fatal(append([]any{f.what + ":"}, args...)...)
}

func TestBoundsOfText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringN(0, 200, -1).Draw(t, "text") + strings.Repeat(rapid.SampledFrom([]string{"", "x", "\U0010ffff", "\ud7ff"}).Draw(t, "tail"), 40))
		low, high := lowerBound(text, true), upperBound(text, true)
		if bytes.Compare(low, text) > 0 || bytes.Compare(high, text) < 0 || len(low) > maxBound {
			t.Fatalf("%q is not within %q and %q", text, low, high)
		}
		if !bytes.Equal([]byte(strings.ToValidUTF8(string(low)+string(high), "?")), append(bytes.Clone(low), high...)) {
			t.Fatalf("%q or %q is not UTF-8", low, high)
		}
	})
}

func TestBoundsOfBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xfe, 0xff, 0xff, 0xff}), 50, 100).Draw(t, "bytes")
		low, high := lowerBound(b, false), upperBound(b, false)
		if bytes.Compare(low, b) > 0 || bytes.Compare(high, b) < 0 || len(low) > maxBound || len(high) > len(b) {
			t.Fatalf("%x is not within %x and %x", b, low, high)
		}
	})
}
