package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/csv"
	"github.com/clinkctl/clinkctl/format/formattest"
	"github.com/clinkctl/clinkctl/format/ndjson"
	"github.com/clinkctl/clinkctl/format/parquet"
)

var update = flag.Bool("update", false, "write the pages that are made from the code")

const typesPage = "../../docs/types.md"

// samples are a value of each type, as formattest.Add takes it, and what the type holds.
var samples = []struct{ typ, holds, value string }{
	{"bool", "true, false", "true"},
	{"int8", "-128 to 127", "-128"},
	{"int16", "-32768 to 32767", "32767"},
	{"int32", "-2147483648 to 2147483647", "2147483647"},
	{"int64", "-2^63 to 2^63-1", "9007199254740993"},
	{"uint8", "0 to 255", "255"},
	{"uint16", "0 to 65535", "65535"},
	{"uint32", "0 to 4294967295", "4294967295"},
	{"uint64", "0 to 2^64-1", "18446744073709551615"},
	{"float32", "IEEE 754 binary32; the fewest digits that read back equal", "0.1"},
	{"float64", "IEEE 754 binary64; the fewest digits that read back equal", "1e-07"},
	{"decimal(9,2)", "exact; 1 to 38 digits, of which some follow the point", "1234.50"},
	{"decimal(18,4)", "", "1234.5000"},
	{"decimal(38,10)", "", "1234.5000000000"},
	{"date", "0001-01-01 to 9999-12-31", "2026-11-30"},
	{"time", "microseconds of a day, of no zone", "23:59:59.500000"},
	{"timestamp", "microseconds, of no zone", "2026-11-30 01:02:03.500000"},
	{"timestamptz", "microseconds, of UTC; an offset is taken into account and not kept", "2026-11-30 01:02:03Z"},
	{"string", "UTF-8", "a, \"b\""},
	{"binary", "bytes; as text base64, or hex", "AP8="},
	{"uuid", "16 bytes", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
	{"json", "the text of a JSON value", `{"a":1.50}`},
	{"list<int64>", "any number of values", `[1,null,3]`},
	{"struct<a:int64,b:string>", "one value of each field", `{"a":1,"b":"x"}`},
}

// TestTypesPage keeps docs/types.md what the code says. `go test ./cmd/clinkctl -run TypesPage -update` writes it.
func TestTypesPage(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Types\n\nThis page is made from the code: `go test ./cmd/clinkctl -run TypesPage -update`.\n\n" +
		"## What is written\n\nText is shown as it stands in the file. A value that is NULL is nothing in CSV, `null` in NDJSON, and not there in\n" +
		"Parquet. Casts, options and policies are in [formats.md](formats.md).\n\n" +
		"| type | holds | CSV | NDJSON | Parquet | annotation |\n|---|---|---|---|---|---|\n")
	seen := map[columnar.Kind]bool{}
	for _, s := range samples {
		typ, err := columnar.ParseType(s.typ)
		if err != nil {
			t.Fatal(err)
		}
		seen[typ.Kind] = true
		physical, logical := parquet.Mapping(typ)
		fmt.Fprintf(&page, "| `%s` | %s | `%s` | `%s` | `%s` | %s |\n", s.typ, s.holds, cell(t, csvFormat(t), typ, s.value), cell(t, ndjsonFormat(t), typ, s.value), physical, code(logical))
	}
	for _, k := range columnar.Kinds() {
		if !seen[k] {
			t.Errorf("type %s is not on the page", k)
		}
	}
	page.WriteString("\n## What is read of Parquet\n\nEach column is of the type that holds all its values; others are reached by a cast. What has no row here, such as INTERVAL or a\n" +
		"decimal of more than 38 digits, can be left out. A group of a shape that old writers gave to lists is a list, a map is a list of its\nentries.\n\n" +
		"| Parquet | type |\n|---|---|\n")
	for _, n := range foreignNodes() {
		fmt.Fprintf(&page, "| %s | `%s` |\n", n.name, readAs(t, n.node))
	}
	if *update {
		if err := os.WriteFile(typesPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(typesPage)
	if err != nil || string(got) != page.String() {
		t.Errorf("docs/types.md is not what the code says: go test ./cmd/clinkctl -run TypesPage -update (%v)", err)
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func csvFormat(t *testing.T) format.Writer {
	f, err := csv.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ndjsonFormat(t *testing.T) format.Writer {
	f, err := ndjson.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// cell gives the text of a value in a file of one row.
func cell(t *testing.T, f format.Writer, typ columnar.Type, value string) string {
	t.Helper()
	schema := &columnar.Schema{Columns: []columnar.Column{{Name: "v", Type: typ}}}
	file, err := formattest.Encode(f, format.Target{Schema: schema}, formattest.Of(schema, []string{value}))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimPrefix(strings.TrimSuffix(string(file), "\n"), "v\n")
	if object, ok := strings.CutPrefix(text, `{"v":`); ok && f.Name() == "ndjson" {
		text = strings.TrimSuffix(object, "}")
	}
	return text
}

// foreign is a column of a file that somebody else has written.
type foreign struct {
	name string
	node pq.Node
}

func foreignNodes() []foreign {
	leaf := func(t pq.Type) pq.Node { return pq.Leaf(t) }
	nodes := []foreign{
		{"BOOLEAN", leaf(pq.BooleanType)}, {"INT32", leaf(pq.Int32Type)}, {"INT64", leaf(pq.Int64Type)}, {"INT96", leaf(pq.Int96Type)},
		{"FLOAT", leaf(pq.FloatType)}, {"DOUBLE", leaf(pq.DoubleType)}, {"BYTE_ARRAY", leaf(pq.ByteArrayType)},
		{"FIXED_LEN_BYTE_ARRAY(3)", leaf(pq.FixedLenByteArrayType(3))},
	}
	for _, bits := range []int{8, 16, 32, 64} {
		nodes = append(nodes, foreign{fmt.Sprintf("INT(%d, signed)", bits), pq.Int(bits)}, foreign{fmt.Sprintf("INT(%d, unsigned)", bits), pq.Uint(bits)})
	}
	nodes = append(nodes, foreign{"INT32, DECIMAL(9,2)", pq.Decimal(2, 9, pq.Int32Type)}, foreign{"INT64, DECIMAL(18,2)", pq.Decimal(2, 18, pq.Int64Type)},
		foreign{"BYTE_ARRAY, DECIMAL(38,2)", pq.Decimal(2, 38, pq.ByteArrayType)}, foreign{"FIXED_LEN_BYTE_ARRAY(7), DECIMAL(16,2)", pq.Decimal(2, 16, pq.FixedLenByteArrayType(7))},
		foreign{"DATE", pq.Date()}, foreign{"STRING", pq.String()}, foreign{"ENUM", pq.Enum()}, foreign{"JSON", pq.JSON()}, foreign{"BSON", pq.BSON()}, foreign{"UUID", pq.UUID()})
	for _, unit := range []struct {
		name string
		unit pq.TimeUnit
	}{{"MILLIS", pq.Millisecond}, {"MICROS", pq.Microsecond}, {"NANOS", pq.Nanosecond}} {
		nodes = append(nodes, foreign{"TIME(" + unit.name + ")", pq.Time(unit.unit)}, foreign{"TIMESTAMP(" + unit.name + ", adjusted to UTC)", pq.Timestamp(unit.unit)},
			foreign{"TIMESTAMP(" + unit.name + ", not adjusted)", pq.TimestampAdjusted(unit.unit, false)})
	}
	return append(nodes, foreign{"LIST of INT32", pq.List(pq.Leaf(pq.Int32Type))}, foreign{"repeated INT32", pq.Repeated(pq.Leaf(pq.Int32Type))},
		foreign{"MAP of STRING to INT64", pq.Map(pq.String(), pq.Leaf(pq.Int64Type))}, foreign{"group of an INT32 and a STRING", pq.Group{"a": pq.Leaf(pq.Int32Type), "b": pq.String()}})
}

// readAs gives the type that a column of a file is read as.
func readAs(t *testing.T, node pq.Node) string {
	t.Helper()
	var file bytes.Buffer
	w := pq.NewGenericWriter[any](&file, pq.NewSchema("t", pq.Group{"v": node}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.OpenTable(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return table.Columns()[0].Type.String()
}
