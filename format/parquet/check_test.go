package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

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
	schema := formattest.ParseSchema("a:int64! b:string c:list<uuid>")
	batch := formattest.Of(schema, []string{"1", "x", "[]"}, []string{"2", "NULL", `["f81d4fae-7dec-11d0-a765-00a0c91e6bf6",null]`})
	for _, options := range allOptions() {
		hows, ok := map[any][]string{"none": {"fails", "is short", "panics"}, "zstd": {"fails"}}[options["compression"]]
		if !ok {
			continue
		}
		f := newFormat(t, options)
		f.groupRows = 3
		file := encode(t, f, schema, batch, batch)
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
	file := encode(t, f, schema, batch, batch)
	for n := 0; n < len(file); n += len(file)/7 + 1 {
		for _, how := range []string{"fails", "is short", "panics"} {
			if err := writeTo(f, &failing{n: n, how: how}, schema, batch); err == nil {
				t.Fatalf("a writer that %s at byte %d of %d is not noticed", how, n, len(file))
			}
		}
	}
}

// writeTo writes a batch twice. What follows a failure must fail too, and write nothing.
func writeTo(f *Format, w *failing, schema *columnar.Schema, batch *columnar.Batch) (err error) {
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
		if err = e.Encode(batch); err != nil {
			break
		}
	}
	if err == nil {
		if err = e.Close(); err == nil {
			return nil
		}
	}
	w.n = math.MaxInt
	if e.Encode(batch) == nil || e.Close() == nil || w.n != math.MaxInt {
		return nil
	}
	return err
}

func TestCloseTwice(t *testing.T) {
	for _, options := range allOptions() {
		schema := manySchema()
		var out bytes.Buffer
		e, err := newFormat(t, options).NewEncoder(&out, format.Target{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		size := out.Len()
		if e.Close() == nil || e.Encode(many(schema, 0, 1)) == nil || out.Len() != size {
			t.Error("a closed file is written to")
		}
	}
}

func TestCheckRefusesDamage(t *testing.T) {
	schema := formattest.ParseSchema("a:int64! b:list<string>")
	f := newFormat(t, nil)
	b := formattest.Of(schema, []string{"1", "[]"}, []string{"2", `["x","y",null]`})
	file := encode(t, f, schema, b)
	check := func(file []byte, rows int64) error {
		return f.Check(bytes.NewReader(file), int64(len(file)), rows, schema)
	}
	if err := check(file, 1); err == nil {
		t.Error("a wrong number of rows is not noticed")
	}
	for n := range file {
		if err := check(file[:n], 2); err == nil {
			t.Fatalf("a file cut to %d of %d bytes is taken for whole", n, len(file))
		}
	}
	for n := range file { // whatever it says, it must not panic
		for _, flip := range []byte{0x55, 0xff, 0x80} {
			damaged := bytes.Clone(file)
			damaged[n] ^= flip
			if err := check(damaged, 2); err == nil && (n < 4 || n >= len(file)-tailSize) {
				t.Errorf("byte %d of %d flipped is not noticed", n, len(file))
			}
		}
	}
	short := &failingReader{data: file, n: 2}
	for ; ; short.n++ {
		err := f.Check(&failingReader{data: file, n: short.n}, int64(len(file)), 2, schema)
		if err == nil {
			break
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("after %d reads: %v", short.n, err)
		}
	}
}

// failingReader reads n times.
type failingReader struct {
	data []byte
	n    int
}

func (r *failingReader) ReadAt(p []byte, at int64) (int, error) {
	if r.n == 0 {
		return 0, errDisk
	}
	r.n--
	return bytes.NewReader(r.data).ReadAt(p, at)
}

// Footers that are well formed, and do not tell of the file that was to be written.
func TestCheckRefusesWrongFooters(t *testing.T) {
	schema := formattest.ParseSchema("a:int64! b:list<timestamp> c:decimal(20,2)")
	f := newFormat(t, nil)
	f.groupRows = 1
	b := formattest.Of(schema, []string{"1", "[]", "1"}, []string{"2", "[null,null]", "2"})
	file := encode(t, f, schema, b)
	for name, spoil := range map[string]func(m *pqformat.FileMetaData){
		"rows":          func(m *pqformat.FileMetaData) { m.NumRows = 3 },
		"group's rows":  func(m *pqformat.FileMetaData) { m.RowGroups[1].NumRows = 2 },
		"group":         func(m *pqformat.FileMetaData) { m.RowGroups = m.RowGroups[:1] },
		"no groups":     func(m *pqformat.FileMetaData) { m.RowGroups = nil },
		"column":        func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[:2] },
		"values":        func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 2 },
		"list's values": func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.NumValues = 0 },
		"before":        func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = 3 },
		"behind":        func(m *pqformat.FileMetaData) { m.RowGroups[1].Columns[2].MetaData.TotalCompressedSize += 10_000 },
		"overlap":       func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.DataPageOffset-- },
		"size":          func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.TotalCompressedSize = math.MaxInt64 },
		"path":          func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.PathInSchema[0] = "c" },
		"chunk's type":  func(m *pqformat.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Type = pqformat.Double },
		"column index":  func(m *pqformat.FileMetaData) { m.RowGroups[1].Columns[2].ColumnIndexLength = 10_000 },
		"offset index":  func(m *pqformat.FileMetaData) { m.RowGroups[1].Columns[2].OffsetIndexOffset = 4 },
		"name":          func(m *pqformat.FileMetaData) { m.Schema[1].Name = "z" },
		"repetition":    func(m *pqformat.FileMetaData) { m.Schema[1].RepetitionType.V = pqformat.Optional },
		"type":          func(m *pqformat.FileMetaData) { m.Schema[1].Type.V = pqformat.Int32 },
		"length":        func(m *pqformat.FileMetaData) { m.Schema[5].TypeLength.V = 9 },
		"precision":     func(m *pqformat.FileMetaData) { m.Schema[5].LogicalType.Value.(*pqformat.DecimalType).Precision = 38 },
		"zone": func(m *pqformat.FileMetaData) {
			m.Schema[4].LogicalType.Value.(*pqformat.TimestampType).IsAdjustedToUTC = true
		},
		"converted type": func(m *pqformat.FileMetaData) { m.Schema[4].ConvertedType.Set(10) },
		"nesting":        func(m *pqformat.FileMetaData) { m.Schema[2].LogicalType = pqformat.LogicalType{} },
		"fields":         func(m *pqformat.FileMetaData) { m.Schema[0].NumChildren.V = 2 },
		"missing":        func(m *pqformat.FileMetaData) { m.Schema = m.Schema[:5] },
		"too many":       func(m *pqformat.FileMetaData) { m.Schema = append(m.Schema, m.Schema[1]) },
		"no schema":      func(m *pqformat.FileMetaData) { m.Schema = nil },
	} {
		m, at, err := readFooter(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		spoil(m)
		spoiled := withFooter(t, file[:at], m)
		if err := f.Check(bytes.NewReader(spoiled), int64(len(spoiled)), 2, schema); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func withFooter(t *testing.T, file []byte, m *pqformat.FileMetaData) []byte {
	data, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		t.Fatal(err)
	}
	return withFooterBytes(file, data)
}

func withFooterBytes(file, footer []byte) []byte {
	file = append(bytes.Clone(file), footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
}

// A footer that claims more than it has takes no memory for that.
func TestFooterThatClaimsMuch(t *testing.T) {
	const list, structs = 0x19, 0xfc // field 1, a list; of structs, whose number follows
	for _, footer := range [][]byte{
		{0x29, structs, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00},                  // 2^31-1 elements of a schema
		{0x29, structs, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00},      // more than fit an int
		{0x68, 0xff, 0xff, 0xff, 0xff, 0x07, 'x'},                            // a string of 2 GiB
		{0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x88},                           // a map
		bytes.Repeat([]byte{list, 0x19}, 1000),                               // lists of lists
		bytes.Repeat([]byte{0x1c}, 1000),                                     // structs in structs
		append([]byte{0x29, structs, 100}, make([]byte, 200)...),             // elements of a schema that have nothing
		append([]byte{0x49, 0x1c, list, structs, 100}, make([]byte, 200)...), // column chunks that have nothing
		{}, {0x0f}, {0x1d}, {0x15}, {0x17, 0}, {0x05},
	} {
		file := withFooterBytes([]byte(magic), footer)
		if _, _, err := readFooter(bytes.NewReader(file), int64(len(file))); !errors.Is(err, errFooter) {
			t.Errorf("%x: %v", footer[:min(10, len(footer))], err)
		}
	}
	if _, _, err := readFooter(claim{}, 1<<40); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Error(err)
	}
	long := withFooterBytes([]byte(magic), nil)
	binary.LittleEndian.PutUint32(long[4:], 1)
	if _, _, err := readFooter(bytes.NewReader(long), int64(len(long))); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Error(err)
	}
}

// claim is a large file whose end says that its footer has 4 GiB.
type claim struct{}

func (claim) ReadAt(p []byte, at int64) (int, error) {
	if at == 0 {
		return copy(p, magic), nil
	}
	return copy(p, "\xff\xff\xff\xff"+magic), nil
}
