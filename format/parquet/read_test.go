package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// tableOf opens a file that has to be right.
func tableOf(t interface{ Fatal(...any) }, options map[string]any, file []byte) format.TableFile {
	f, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.OpenTable(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// rowsOf reads rows [from, to) of a file, at most so many at once, and gives them as text, and the rows that were rejected.
func rowsOf(table format.TableFile, schema *columnar.Schema, from, to, most int64, reject bool) (rows []string, rejected []string, err error) {
	reading := format.Reading{Schema: schema}
	at := from
	if reject {
		reading.Reject = func(x format.Rejected) error {
			if x.Err.Row != at+int64(x.Record)+1 {
				return fmt.Errorf("row %d is told, and it is %d", x.Err.Row, at+int64(x.Record)+1)
			}
			rejected = append(rejected, x.Err.Error())
			return nil
		}
	}
	r, err := table.NewReader(reading, from, to)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var b columnar.Batch
	for {
		n, err := r.Next(most, &b)
		if err == io.EOF && at == to {
			return rows, rejected, nil
		}
		if err != nil {
			return rows, rejected, err
		}
		if n < 1 || n > most {
			return rows, rejected, fmt.Errorf("%d rows of %d were passed", n, most)
		}
		at += n
		for _, row := range formattest.Rows(schema, &b) {
			rows = append(rows, strings.Join(row, " "))
		}
	}
}

func total(table format.TableFile) (rows int64) {
	for _, g := range table.Groups() {
		rows += g.Rows
	}
	return rows
}

func shown(schema *columnar.Schema, batches ...*columnar.Batch) (rows []string) {
	for _, b := range batches {
		for _, row := range formattest.Rows(schema, b) {
			rows = append(rows, strings.Join(row, " "))
		}
	}
	return rows
}

// TestReadsItsOwn: every type, from every row to every row, in batches of any size.
func TestReadsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := formattest.Schema().Draw(t, "schema")
		var batches []*columnar.Batch
		for range rapid.IntRange(0, 4).Draw(t, "batches") {
			batches = append(batches, formattest.Batch(schema).Draw(t, "batch"))
		}
		compat := rapid.Bool().Draw(t, "compat") && !strings.Contains(columnar.FormatColumns(schema.Columns), "uuid") // which old readers do not know
		f, err := New(map[string]any{"compat": compat, "compression": rapid.SampledFrom([]string{"zstd", "snappy", "gzip", "lz4_raw", "none"}).Draw(t, "compression")})
		if err != nil {
			t.Fatal(err)
		}
		f.groupRows = int64(rapid.IntRange(1, 9).Draw(t, "group"))
		file, err := formattest.Encode(f, format.Target{Schema: schema}, batches...)
		if err != nil {
			t.Fatal(err)
		}
		table := tableOf(t, nil, file)
		for i, c := range table.Columns() {
			if want := schema.Columns[i]; c.Name != want.Name || !c.Type.Equal(want.Type) || c.Required != want.Required {
				t.Fatalf("%+v is read as %+v", want, c)
			}
		}
		want := shown(schema, batches...)
		if total(table) != int64(len(want)) {
			t.Fatalf("%d rows of %d", total(table), len(want))
		}
		for from := 0; from <= len(want); from++ {
			to := rapid.IntRange(from, len(want)).Draw(t, "to")
			got, _, err := rowsOf(table, schema, int64(from), int64(to), int64(rapid.IntRange(1, 5).Draw(t, "most")), false)
			if err != nil || !slices.Equal(got, want[from:to]) {
				t.Fatalf("rows %d to %d: %v\n%s", from, to, err, cmp.Diff(want[from:to], got))
			}
		}
	})
}

// TestSelection: columns are read by name, in any order, and cast.
func TestSelection(t *testing.T) {
	schema := formattest.ParseSchema("a:int32 b:string c:decimal(5,2) d:binary")
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := formattest.Encode(f, format.Target{Schema: schema}, formattest.Of(schema, []string{"1", "x", "1.50", "AP8="}, []string{"NULL", "y", "-2.25", "QQ=="}, []string{"3", "NULL", "NULL", "NULL"}))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		options map[string]any
		schema  string
		cast    columnar.Cast
		want    string // of the first rows, or of the error
	}{
		"order":             {nil, "c:decimal(5,2) a:int32", 0, `"1.50" "1"; "-2.25" NULL; NULL "3"`},
		"wider":             {nil, "a:int64 c:decimal(20,4)", 0, `"1" "1.5000"; NULL "-2.2500"; "3" NULL`},
		"text of a number":  {nil, "a:string", 0, `"1"; NULL; "3"`},
		"narrower":          {nil, "a:int8", 0, "column a: cannot be read as int8"},
		"narrower, exactly": {nil, "a:int8", columnar.CastExact, `"1"; NULL; "3"`},
		"missing":           {nil, "z:int64", 0, "column z: is not in the file"},
		"missing is NULL":   {map[string]any{"missing": "null"}, "z:list<int64> a:int32", 0, `NULL "1"; NULL NULL; NULL "3"`},
		"any case":          {map[string]any{"case": "ignore"}, "A:int32", 0, `"1"; NULL; "3"`},
		"exact case":        {nil, "A:int32", 0, "there is a: parquet: {case: ignore}"},
		"extra":             {map[string]any{"extra": "fail"}, "a:int32 b:string c:decimal(5,2)", 0, "column d: is in the file, and no column is declared"},
		"required":          {nil, "a:int32!", 0, "row 2: column a: is NULL, and the column is required"},
		"bytes as text":     {nil, "d:string", 0, "row 1: column d: \"\\x00\\xff\" is not UTF-8"},
	} {
		s := formattest.ParseSchema(test.schema)
		for i := range s.Columns {
			s.Columns[i].Cast = test.cast
		}
		opened := tableOf(t, test.options, file)
		got, _, err := rowsOf(opened, s, 0, 3, 2, false)
		if err != nil {
			e, ok := errors.AsType[*format.DataError](err)
			if !ok {
				t.Errorf("%s: %v", name, err)
				continue
			}
			e.File = "f"
			got = []string{e.Error()}
		}
		if text := strings.Join(got, "; "); text != test.want && !(err != nil && strings.Contains(text, test.want)) {
			t.Errorf("%s: %s, want %s", name, text, test.want)
		}
	}
	rows, rejected, err := rowsOf(tableOf(t, nil, file), formattest.ParseSchema("b:string! a:int32! d:string"), 0, 3, 9, true)
	if err != nil || len(rows) != 0 || len(rejected) != 3 {
		t.Error(rows, rejected, err)
	}
	rows, rejected, err = rowsOf(tableOf(t, nil, file), formattest.ParseSchema("a:int32!"), 1, 3, 9, true)
	if err != nil || fmt.Sprint(rows) != `["3"]` || len(rejected) != 1 {
		t.Error(rows, rejected, err)
	}
}

// TestDamage: a file that is cut or changed anywhere is a data error or has the same schema and as many rows; it is no panic.
func TestDamage(t *testing.T) {
	schema := formattest.ParseSchema("a:int64 b:string c:list<struct<x:decimal(20,2),y:string>> d:bool")
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	f.groupRows = 3
	file, err := formattest.Encode(f, format.Target{Schema: schema}, formattest.Of(schema, []string{"1", "x", `[{"x":1.00,"y":null},null]`, "true"}, []string{"NULL", "yy", `[]`, "NULL"},
		[]string{"3", "NULL", "NULL", "false"}, []string{"4", "z", `[{"x":null,"y":"q"}]`, "true"}))
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, bad []byte) {
		opened, err := f.OpenTable(bytes.NewReader(bad), int64(len(bad)))
		if err == nil {
			_, _, err = rowsOf(opened, schema, 0, 4, 2, false)
		}
		if _, ok := errors.AsType[*format.DataError](err); err != nil && !ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	for cut := range len(file) {
		look(fmt.Sprintf("cut at %d", cut), file[:cut])
	}
	for i := range file {
		for _, flip := range []byte{1, 0x10, 0x80, 0xff} {
			bad := bytes.Clone(file)
			bad[i] ^= flip
			look(fmt.Sprintf("byte %d by %x", i, flip), bad)
		}
	}
}

// brokenAfter is a file whose reads fail from some offset on.
type brokenAfter struct {
	io.ReaderAt
	from int64
}

func (f brokenAfter) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, at)
}

// TestErrorsOfTheFile are not taken for damage.
func TestErrorsOfTheFile(t *testing.T) {
	schema := formattest.ParseSchema("a:int64 b:string")
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := formattest.Encode(f, format.Target{Schema: schema}, formattest.Of(schema, []string{"1", "x"}, []string{"2", "y"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.OpenTable(brokenAfter{bytes.NewReader(file), 10}, int64(len(file))); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	disk := &toggled{ReaderAt: bytes.NewReader(file)}
	table, err := f.OpenTable(disk, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	disk.off = true
	if _, _, err := rowsOf(table, schema, 0, 2, 9, false); !errors.Is(err, errDisk) {
		t.Error(err)
	}
}

type toggled struct {
	io.ReaderAt
	off bool
}

func (f *toggled) ReadAt(p []byte, at int64) (int, error) {
	if f.off {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, at)
}

// readAny reads a file that may be damaged: at most so many rows, and their second half again, which has to be the same. Whatever is wrong
// is a data error.
func readAny(t interface{ Fatal(...any) }, file []byte, most int64) {
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var schema columnar.Schema
	var rows, again []string
	var rejected, rejectedAgain []string
	opened, err := f.OpenTable(bytes.NewReader(file), int64(len(file)))
	if err == nil {
		for _, c := range opened.Columns() {
			if c.Type.Kind != 0 {
				schema.Columns = append(schema.Columns, c)
			}
		}
		to := min(total(opened), most)
		rows, rejected, err = rowsOf(opened, &schema, 0, to, 100, true)
		if err == nil {
			again, rejectedAgain, err = rowsOf(opened, &schema, to/2, to, 7, true)
			if n, m := len(rows)-len(again), len(rejected)-len(rejectedAgain); err == nil && (n < 0 || m < 0 || !slices.Equal(rows[n:], again) || !slices.Equal(rejected[m:], rejectedAgain)) {
				t.Fatal(cmp.Diff(rows, again))
			}
		}
	}
	if _, ok := errors.AsType[*format.DataError](err); err != nil && (!ok || strings.Contains(err.Error(), "runtime error")) {
		t.Fatal(err)
	}
}

func othersNames(t interface{ Fatal(...any) }) []string {
	names, err := filepath.Glob("testdata/*/*.parquet")
	if err != nil || len(names) < 70 {
		t.Fatal(len(names), err)
	}
	return names
}

// othersFiles gives files of others that have at most so many bytes.
func othersFiles(t interface{ Fatal(...any) }, most int) (files [][]byte) {
	for _, name := range othersNames(t) {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(file) <= most {
			files = append(files, file)
		}
	}
	return files
}

// TestDamageOfOthers: files of every codec, coding and shape, in which bytes are other ones.
func TestDamageOfOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, file := range othersFiles(t, 8<<10) {
		for range 40 {
			bad := bytes.Clone(file)
			for range 1 + random.IntN(3) {
				bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
			}
			readAny(t, bad, 300)
		}
		readAny(t, file[:random.IntN(len(file))], 300)
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range othersFiles(f, 4<<10) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) { readAny(t, file, 1000) })
}

// TestFilesOfOthers: what pyarrow, DuckDB, Polars and older writers have written is read as they say it is. testdata/make.py has made
// the files.
func TestFilesOfOthers(t *testing.T) {
	for _, name := range othersNames(t) {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		said, err := os.ReadFile(strings.TrimSuffix(name, ".parquet") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var truth struct {
			Columns string
			Rows    [][]*string
		}
		if err := json.Unmarshal(said, &truth); err != nil {
			t.Fatal(name, err)
		}
		var want []string
		for _, row := range truth.Rows {
			var texts []string
			for _, x := range row {
				if x == nil {
					texts = append(texts, "NULL")
				} else {
					texts = append(texts, strconv.Quote(*x))
				}
			}
			want = append(want, strings.Join(texts, " "))
		}
		table := tableOf(t, nil, file)
		columns, err := columnar.ParseColumns(truth.Columns)
		if err != nil {
			t.Fatal(err)
		}
		if got := columnar.FormatColumns(table.Columns()); got != truth.Columns {
			t.Errorf("%s: columns %s, want %s", name, got, truth.Columns)
		}
		schema := &columnar.Schema{Columns: columns}
		for from := 0; from <= len(want); from += 1 + from/5 {
			got, _, err := rowsOf(table, schema, int64(from), int64(len(want)), 7, false)
			if err != nil || !slices.Equal(got, want[from:]) {
				t.Errorf("%s from row %d: %v\n%s", name, from, err, cmp.Diff(want[from:], got))
				break
			}
		}
	}
}
