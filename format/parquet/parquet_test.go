package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

func newFormat(t interface{ Fatal(...any) }, options map[string]any) *Format {
	f, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func open(t interface{ Fatal(...any) }, file []byte) *parquet.File {
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readBack reads a file by parquet-go, and shows it as formattest.Rows does.
func readBack(t interface{ Fatal(...any) }, schema *columnar.Schema, file []byte) [][]string {
	rows := [][]string{}
	for _, group := range open(t, file).RowGroups() {
		first := len(rows)
		for range group.NumRows() {
			rows = append(rows, nil)
		}
		for c, chunk := range group.ColumnChunks() {
			row := first
			pages := chunk.Pages()
			for {
				page, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				values := make([]parquet.Value, page.NumValues())
				if n, err := page.Values().ReadValues(values); n != len(values) || err != nil && err != io.EOF {
					t.Fatal(n, err)
				}
				for _, v := range values {
					rows[row] = append(rows[row], show(schema.Columns[c].Type, v))
					row++
				}
			}
			if err := pages.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return rows
}

func show(t columnar.Type, v parquet.Value) string {
	if v.IsNull() {
		return "NULL"
	}
	one := columnar.Vector{Valid: []byte{1}}
	switch t.Kind {
	case columnar.Bool:
		one.Bool = []bool{v.Boolean()}
	case columnar.Float64:
		one.F64 = []float64{v.Double()}
	case columnar.Date:
		one.I32 = []int32{v.Int32()}
	case columnar.String:
		return strconv.Quote(string(v.ByteArray()))
	case columnar.Decimal:
		if t.Precision > 18 {
			unscaled := new(big.Int).SetBytes(v.ByteArray())
			if v.ByteArray()[0] >= 0x80 {
				unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), 128))
			}
			scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
			return strconv.Quote(new(big.Rat).SetFrac(unscaled, scale).FloatString(t.Scale))
		}
		if t.Precision > 9 {
			one.I64 = []int64{v.Int64()}
		} else {
			one.I64 = []int64{int64(v.Int32())}
		}
	default:
		one.I64 = []int64{v.Int64()}
	}
	text, err := one.Append(nil, t, 0)
	if err != nil {
		return err.Error()
	}
	return strconv.Quote(string(text))
}

func TestReadsBackEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := formattest.Schema().Draw(t, "schema")
		b1, b2 := formattest.Batch(schema).Draw(t, "batch"), formattest.Batch(schema).Draw(t, "batch")
		f := newFormat(t, map[string]any{"compression": rapid.SampledFrom([]string{"zstd", "snappy", "gzip", "none"}).Draw(t, "compression")})
		f.groupRows = int64(rapid.IntRange(1, 20).Draw(t, "rows of a group"))
		file, err := formattest.Encode(f, format.Target{Schema: schema}, b1, b2)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(bytes.NewReader(file), int64(len(file)), int64(b1.Rows+b2.Rows)); err != nil {
			t.Fatal(err)
		}
		want := append(formattest.Rows(schema, b1), formattest.Rows(schema, b2)...)
		if diff := cmp.Diff(want, readBack(t, schema, file)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestCorpusReadsBackEqual(t *testing.T) {
	for _, typ := range formattest.Types {
		for _, required := range []bool{true, false} {
			schema := &columnar.Schema{Columns: []columnar.Column{{Name: "v", Type: typ, Required: required}}}
			b := formattest.CorpusBatch(typ)
			file, err := formattest.Encode(newFormat(t, nil), format.Target{Schema: schema}, b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(formattest.Rows(schema, b), readBack(t, schema, file)); diff != "" {
				t.Errorf("%s: %s", typ, diff)
			}
		}
	}
}

func TestSchemaOfTheFile(t *testing.T) {
	schema := formattest.ParseSchema("z:bool! a:int64 c,d:float64 e:decimal(9,2) f:decimal(18,2) g:decimal(38,2)! h.i:date j:timestamp k:string b:bool")
	file, err := formattest.Encode(newFormat(t, nil), format.Target{Schema: schema, Meta: [][2]string{{"zeta", "1"}, {"alpha", "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, file)
	want := `message clinkctl {
	required boolean z;
	optional int64 a (INT(64,true));
	optional double c,d;
	optional int32 e (DECIMAL(9,2));
	optional int64 f (DECIMAL(18,2));
	required fixed_len_byte_array(16) g (DECIMAL(38,2));
	optional int32 h.i (DATE);
	optional int64 j (TIMESTAMP(isAdjustedToUTC=false,unit=MICROS));
	optional binary k (STRING);
	optional boolean b;
}`
	if diff := cmp.Diff(want, f.Schema().String()); diff != "" {
		t.Error(diff)
	}
	m := f.Metadata()
	if m.CreatedBy != "clinkctl version 1" {
		t.Errorf("created by %q", m.CreatedBy)
	}
	for key, want := range map[string]string{"zeta": "1", "alpha": "2"} {
		if got, ok := f.Lookup(key); !ok || got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if bytes.Index(file, []byte("zeta")) > bytes.Index(file, []byte("alpha")) {
		t.Error("the metadata has another order")
	}
	for _, e := range m.Schema {
		if e.Name == "j" && e.ConvertedType.Valid {
			t.Error("the timestamp has a converted type, which old readers take for UTC")
		}
	}
}

func TestNoRows(t *testing.T) {
	f := newFormat(t, nil)
	schema := formattest.ParseSchema("a:int64 b:string")
	for _, batches := range [][]*columnar.Batch{nil, {formattest.Of(schema)}} {
		file, err := formattest.Encode(f, format.Target{Schema: schema}, batches...)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(bytes.NewReader(file), int64(len(file)), 0); err != nil {
			t.Error(err)
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
		file, err := formattest.Encode(f, format.Target{Schema: schema}, many(schema, 0, 3000), many(schema, 3000, 2500))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range open(t, file).Metadata().RowGroups {
			rows = append(rows, g.NumRows)
		}
		if len(readBack(t, schema, file)) != 5500 {
			t.Error("rows are missing")
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

func TestSameBytes(t *testing.T) {
	schema := manySchema()
	write := func() []byte {
		f := newFormat(t, nil)
		f.groupRows = 1500
		file, err := formattest.Encode(f, format.Target{Schema: schema, Meta: [][2]string{{"b", "1"}, {"a", "2"}}}, many(schema, 0, 3000))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	first := write()
	for range 5 {
		if !bytes.Equal(first, write()) {
			t.Fatal("the bytes differ")
		}
	}
}

// Bounds must hold for every value of their page and chunk, by the order that the specification gives the type.
func TestStatisticsHold(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, test := range []struct {
		column string
		values []string
	}{
		{"v:int64", []string{"5", "-9223372036854775808", "NULL", "9223372036854775807"}},
		{"v:float64", []string{"-1.5", "0", "1e300"}},
		{"v:date", []string{"1969-01-01", "0001-01-01", "9999-12-31"}},
		{"v:decimal(5,2)", []string{"-1.00", "5.00", "-999.99"}},
		{"v:decimal(18,2)", []string{"-1.00", "5.00", "-999.99"}},
		{"v:decimal(38,2)", []string{"-1.00", "5.00", "NULL", "-999.99"}},
		{"v:string", []string{"b", "", "NULL", long, strings.Repeat("\U0010ffff", 40), strings.Repeat("\ud7ff", 40)}},
		{"v:string", []string{long + "b", long + "a"}},
		{"v:bool", []string{"true", "false"}},
		{"v:decimal(38,2)", []string{"NULL", "NULL"}},
		{"v:string", []string{"NULL"}},
	} {
		schema := formattest.ParseSchema(test.column)
		typ := schema.Columns[0].Type
		f := newFormat(t, nil)
		var batches []*columnar.Batch
		for _, v := range test.values {
			batches = append(batches, formattest.Of(schema, []string{v}))
		}
		for _, f.groupRows = range []int64{1, 2, 1000} {
			file, err := formattest.Encode(f, format.Target{Schema: schema}, batches...)
			if err != nil {
				t.Fatal(err)
			}
			opened := open(t, file)
			for g, group := range opened.RowGroups() {
				pages := group.ColumnChunks()[0].Pages()
				index := opened.ColumnIndexes()[g]
				stats := opened.Metadata().RowGroups[g].Columns[0].MetaData.Statistics
				for p := 0; ; p++ {
					page, err := pages.ReadPage()
					if err == io.EOF {
						break
					}
					values := make([]parquet.Value, page.NumValues())
					if _, err := page.Values().ReadValues(values); err != nil && err != io.EOF {
						t.Fatal(err)
					}
					for _, v := range values {
						if v.IsNull() {
							continue
						}
						if index.NullPages[p] || less(typ, v.Bytes(), index.MinValues[p]) || less(typ, index.MaxValues[p], v.Bytes()) {
							t.Errorf("%s: %s is not within %x to %x", typ, show(typ, v), index.MinValues[p], index.MaxValues[p])
						}
						if stats.MinValue != nil && (less(typ, v.Bytes(), stats.MinValue) || less(typ, stats.MaxValue, v.Bytes())) {
							t.Errorf("%s: %s is not within the chunk's %x to %x", typ, show(typ, v), stats.MinValue, stats.MaxValue)
						}
					}
				}
				if err := pages.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// less compares values by the bytes of the PLAIN encoding.
func less(t columnar.Type, a, b []byte) bool {
	switch {
	case t.Kind == columnar.String:
		return bytes.Compare(a, b) < 0
	case isWide(t):
		return bytes.Compare(append([]byte{a[0] ^ 0x80}, a[1:]...), append([]byte{b[0] ^ 0x80}, b[1:]...)) < 0
	}
	kind := parquet.Int64
	typ := parquet.Int64Type
	switch {
	case t.Kind == columnar.Bool:
		kind, typ = parquet.Boolean, parquet.BooleanType
	case t.Kind == columnar.Float64:
		kind, typ = parquet.Double, parquet.DoubleType
	case t.Kind == columnar.Date, t.Kind == columnar.Decimal && t.Precision <= 9:
		kind, typ = parquet.Int32, parquet.Int32Type
	}
	return typ.Compare(kind.Value(a), kind.Value(b)) < 0
}

func TestBoundsOfText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringN(0, 200, -1).Draw(t, "text") + strings.Repeat(rapid.SampledFrom([]string{"", "x", "\U0010ffff", "\ud7ff"}).Draw(t, "tail"), 40))
		low, high := lowerBound(text), upperBound(text)
		if bytes.Compare(low, text) > 0 || bytes.Compare(high, text) < 0 || len(low) > maxBound {
			t.Fatalf("%q is not within %q and %q", text, low, high)
		}
		if !bytes.Equal([]byte(strings.ToValidUTF8(string(low)+string(high), "?")), append(bytes.Clone(low), high...)) {
			t.Fatalf("%q or %q is not UTF-8", low, high)
		}
	})
}

// failing takes n bytes, and then nothing: it fails, takes less without saying so, or panics.
type failing struct {
	n   int
	how string
}

var errDisk = errors.New("disk full")

func (f *failing) Write(p []byte) (int, error) {
	if f.n >= len(p) {
		f.n -= len(p)
		return len(p), nil
	}
	n := f.n
	f.n = 0
	switch f.how {
	case "panics":
		panic("writer")
	case "is short":
		return n, io.ErrShortWrite
	}
	return n, errDisk
}

func TestWriterThatFailsAtAnyByte(t *testing.T) {
	schema := formattest.ParseSchema("a:int64! b:string")
	for compression, hows := range map[string][]string{"none": {"fails", "is short", "panics"}, "zstd": {"fails"}} {
		f := newFormat(t, map[string]any{"compression": compression})
		f.groupRows = 3
		batch := formattest.Of(schema, []string{"1", "x"}, []string{"2", "NULL"})
		file, err := formattest.Encode(f, format.Target{Schema: schema}, batch, batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range hows {
			for n := range len(file) {
				err := writeTo(f, &failing{n: n, how: how}, schema, batch)
				if err == nil {
					t.Fatalf("a writer that %s at byte %d of %d is not noticed", how, n, len(file))
				}
				if how == "fails" && !errors.Is(err, errDisk) {
					t.Fatalf("at byte %d: %v", n, err)
				}
			}
			if err := writeTo(f, &failing{n: len(file), how: how}, schema, batch); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The same for a file whose row groups are larger than what the library gathers before it writes.
func TestWriterThatFailsInALargeFile(t *testing.T) {
	schema := manySchema()
	f := newFormat(t, map[string]any{"compression": "none"})
	f.groupRows = 20_000
	batch := many(schema, 0, 20_000)
	file, err := formattest.Encode(f, format.Target{Schema: schema}, batch, batch)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(file); n += len(file)/7 + 1 {
		for _, how := range []string{"fails", "is short", "panics"} {
			if err := writeTo(f, &failing{n: n, how: how}, schema, batch); err == nil {
				t.Fatalf("a writer that %s at byte %d of %d is not noticed", how, n, len(file))
			}
		}
	}
}

func writeTo(f *Format, w io.Writer, schema *columnar.Schema, batch *columnar.Batch) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = nil // a panic is not an error
		}
	}()
	e, err := f.NewEncoder(w, format.Target{Schema: schema})
	if err != nil {
		return err
	}
	for range 2 {
		if err := e.Encode(batch); err != nil {
			if e.Close() == nil {
				return nil
			}
			return err
		}
	}
	return e.Close()
}

func TestCheckRefusesDamage(t *testing.T) {
	schema := manySchema()
	f := newFormat(t, nil)
	file, err := formattest.Encode(f, format.Target{Schema: schema}, many(schema, 0, 200))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(bytes.NewReader(file), int64(len(file)), 200); err != nil {
		t.Fatal(err)
	}
	if err := f.Check(bytes.NewReader(file), int64(len(file)), 199); err == nil {
		t.Error("a wrong number of rows is not noticed")
	}
	for n := range file {
		if err := f.Check(bytes.NewReader(file[:n]), int64(n), 200); err == nil {
			t.Fatalf("a file cut to %d of %d bytes is taken for whole", n, len(file))
		}
	}
	for n := len(file) - 8; n < len(file); n++ {
		damaged := bytes.Clone(file)
		damaged[n] ^= 0xff
		if err := f.Check(bytes.NewReader(damaged), int64(len(file)), 200); err == nil {
			t.Errorf("byte %d of %d flipped is not noticed", n, len(file))
		}
	}
	for n := range file { // whatever it says, it must not panic
		damaged := bytes.Clone(file)
		damaged[n] ^= 0x55
		_ = f.Check(bytes.NewReader(damaged), int64(len(file)), 200)
	}
}

func TestRefuses(t *testing.T) {
	f := newFormat(t, nil)
	if _, err := f.NewEncoder(io.Discard, format.Target{Head: []byte("id\n")}); err == nil || !strings.Contains(err.Error(), "needs columns") {
		t.Error(err)
	}
	schema := formattest.ParseSchema("a:int64!")
	_, err := formattest.Encode(f, format.Target{Schema: schema}, formattest.Of(schema, []string{"NULL"}))
	var e *format.DataError
	if !errors.As(err, &e) || e.Column != "a" {
		t.Error(err)
	}
	for _, test := range []struct {
		options map[string]any
		want    string
	}{
		{map[string]any{"compression": "lzo"}, "compression is \"lzo\", and can be zstd, snappy, gzip, none"},
		{map[string]any{"compression": "ztsd"}, "did you mean zstd?"},
		{map[string]any{"compresion": "zstd"}, "did you mean compression?"},
	} {
		if _, err := Kind().New(test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test.options, err)
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
	f := newFormat(t, nil)
	file, err := formattest.Encode(f, format.Target{Schema: schema}, formattest.Of(schema, values))
	if err != nil {
		t.Fatal(err)
	}
	if got := readBack(t, schema, file); len(got) != 1 || len(got[0]) != 1000 || got[0][999] != `"999"` {
		t.Errorf("%d rows", len(got))
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
