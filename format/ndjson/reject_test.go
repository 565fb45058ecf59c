package ndjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// with makes the format with options, such as "extra=fail duplicates=last".
func with(t testing.TB, options string) Format {
	t.Helper()
	given := map[string]any{}
	for _, word := range strings.Fields(options) {
		name, value, _ := strings.Cut(word, "=")
		given[name] = value
	}
	f, err := New(given)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// reading is what is read of a file, in chunks of a size.
type reading struct {
	rows     [][]string // of batches that have columns
	data     []byte     // of those that have none
	rejected []string   // offset, start, and why
	raw      []string   // what was rejected
}

// readAll reads a file to its end, and keeps going at records that are refused.
func readAll(f Format, schema *columnar.Schema, file []byte, size int) (out reading, err error) {
	n, err := f.Head(file, true)
	if err != nil {
		return out, err
	}
	var chunk format.Chunk
	var raw []byte
	var refused []int
	d, err := f.NewDecoder(format.Reading{Schema: schema, Reject: func(x format.Rejected) error {
		out.rejected = append(out.rejected, fmt.Sprint(x.Err.Offset, x.Err.Start, x.Err))
		out.raw = append(out.raw, string(raw[x.From:x.To]))
		refused = append(refused, x.Record)
		return nil
	}})
	if err != nil {
		return out, err
	}
	c := format.NewChunker(bytes.NewReader(file[n:]), f, size)
	c.At = int64(n)
	var b columnar.Batch
	var buf []byte
	for {
		if chunk, err = c.Next(buf, format.Limit{}); err == io.EOF {
			return out, nil
		} else if err != nil {
			return out, err
		}
		raw, refused = bytes.Clone(chunk.Data), refused[:0]
		if err := d.Decode(chunk.Data, chunk.At, &b); err != nil {
			return out, err
		}
		_, records := f.Rows(raw, len(raw))
		if records != b.Rows+len(refused) || !slices.IsSorted(refused) || len(refused) > 0 && refused[len(refused)-1] >= records {
			return out, fmt.Errorf("%d records, %d rows, and %v are rejected", records, b.Rows, refused)
		}
		if schema != nil {
			out.rows = append(out.rows, formattest.Rows(schema, &b)...)
		} else {
			out.data = append(out.data, b.Data...)
		}
		buf = b.Data
	}
}

func TestReject(t *testing.T) {
	schema := formattest.ParseSchema("a:int64 b:list<struct<c:string,d:date>> e:string!")
	lines := []string{
		`{"a":1,"b":[{"c":"x\ny","d":null},null],"e":"\u00e9"}`,
		`{"a":2,"b":[{"c":"\n\n\n","d":"2026-11-30"},{"c":"z","d":"never"}],"e":""}`, // a piece of its list is there when it is refused
		``,
		`{"a":3}`,
		`  {"e":"\t\t","a":"x"} `,
		`[1,2]`,
		`{"e":"end","b":[],"a":"9223372036854775807"}`,
		`{"a":4,"e":"x"} {"a":5,"e":"y"}`,
		`{"e":"\n","a":6,"a":6}`,
		`{"e":"last","b":[{}]`,
	}
	file := []byte(strings.Join(lines, "\n"))
	want := [][]string{
		{`"1"`, strq(`[{"c":"x\ny","d":null},null]`), `"é"`},
		{`"9223372036854775807"`, `"[]"`, `"end"`},
	}
	for _, size := range []int{1, 10, 100, 1000} {
		got, err := readAll(made(), schema, file, size)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.rows); diff != "" {
			t.Errorf("size %d: %s", size, diff)
		}
		var raw []string
		for i, line := range lines {
			if i != 0 && i != 2 && i != 6 {
				raw = append(raw, strings.TrimLeft(line, " ")+"\n")
			}
		}
		if diff := cmp.Diff(raw, got.raw); diff != "" {
			t.Errorf("size %d: %s", size, diff)
		}
		for i, reason := range []string{"b.element.d: \"never\" is not a date", "column e: has no key", "a: \"x\" is not an int64", "not a JSON object", "something follows", "is twice", "the line ends where a comma or }"} {
			if !strings.Contains(got.rejected[i], reason) {
				t.Errorf("size %d: %s, want %s", size, got.rejected[i], reason)
			}
		}
	}
}

func strq(s string) string { return fmt.Sprintf("%q", s) }

func TestRejectUnparsed(t *testing.T) {
	file := "\xef\xbb\xbf\n{\"a\":1}\r\n  [] \n\n{\"b\":\"\\n\"}\n{}{}\nx\n {} \n{"
	for _, size := range []int{1, 10, 100} {
		got, err := readAll(made(), nil, []byte(file), size)
		if want := "\n{\"a\":1}\r\n\n{\"b\":\"\\n\"}\n {} \n"; err != nil || string(got.data) != want {
			t.Errorf("size %d: %q, want %q: %v", size, got.data, want, err)
		}
		if diff := cmp.Diff([]string{"[] \n", "{}{}\n", "x\n", "{\n"}, got.raw); diff != "" {
			t.Errorf("size %d: %s", size, diff)
		}
	}
}

func TestRejectEndsReading(t *testing.T) {
	enough := errors.New("enough")
	for _, schema := range []*columnar.Schema{nil, formattest.ParseSchema("a:int8")} {
		d, err := made().NewDecoder(format.Reading{Schema: schema, Reject: func(x format.Rejected) error {
			if x.Record != 1 {
				t.Error(x.Record)
			}
			return enough
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Decode([]byte("{}\n[]\n[]\n"), 0, &columnar.Batch{}); err != enough {
			t.Error(err)
		}
	}
}

func TestLongLines(t *testing.T) {
	f := with(t, "max_record=40")
	exactly := `{"a":"` + strings.Repeat("x", 32) + `"}`
	for _, size := range []int{1, 30, 50, 1000} {
		for _, schema := range []*columnar.Schema{nil, formattest.ParseSchema("a:string")} {
			if _, err := readAll(f, schema, []byte("{}\n"+exactly+"\n{}\n"+exactly), size); err != nil {
				t.Errorf("size %d: %v", size, err)
			}
			for _, long := range []string{" " + exactly, exactly + "\r", strings.Repeat(" ", 41), `{"b":` + strings.Repeat("[", 36)} {
				_, err := readAll(f, schema, []byte("{}\n[]\n"+long+"\n{}\n"), size)
				if e := dataError(t, err); e.Offset != 6 || e.Start != 6 || !strings.Contains(e.Error(), "longer than 40 bytes") || !strings.Contains(e.Advice, "max_record") {
					t.Errorf("size %d, %q: %v", size, long, e)
				}
			}
		}
	}
	if e := tooLong(format.MaxRecord); strings.Contains(e.Advice, "max_record") {
		t.Error(e)
	}
}

func TestLine70MB(t *testing.T) {
	schema := formattest.ParseSchema("a:string b:json c:int64")
	x := strings.Repeat(`0123456\n`, 4<<20)
	file := []byte("{\"c\":1}\n" + `{"a":"` + x + `","b":["` + x + `"],"c":2}` + "\n{\"c\":3}\n")
	if len(file) < 70<<20 {
		t.Fatal(len(file))
	}
	c := format.NewChunker(bytes.NewReader(file), made(), 0)
	d, err := made().NewDecoder(format.Reading{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	rows := 0
	for {
		chunk, err := c.Next(b.Data, format.Limit{})
		if err == io.EOF {
			break
		}
		if err == nil {
			err = d.Decode(chunk.Data, chunk.At, &b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Columns[0].Str) > 0 {
			text, value := b.Bytes(b.Columns[0].Str[0]), b.Bytes(b.Columns[1].Str[0])
			if len(text) != 32<<20 || len(value) != 36<<20+4 || string(text[len(text)-8:]) != "0123456\n" || string(value[len(value)-4:]) != `\n"]` {
				t.Errorf("%d and %d bytes", len(text), len(value))
			}
		}
		rows += b.Rows
	}
	if rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

// fuzzSchemas are what fuzzed files are read by.
var fuzzSchemas = []string{
	"", "a:string b:int64 c:json", "b:decimal(20,3)! a:binary c:list<struct<a:string,b:float64>>", "c:struct<a:json,b:list<list<int8!>>> a:timestamptz b:uint64",
}

var fuzzOptions = []string{
	"", "extra=fail missing=fail duplicates=last", "duplicates=first surrogates=replace invalid_utf8=replace", "binary=hex invalid_utf8=replace duplicates=last max_record=64",
}

// FuzzDecode reads files in chunks of several sizes, which must not matter, and line by line: what is refused must not matter to what
// is not.
func FuzzDecode(f *testing.F) {
	for i, file := range []string{
		"{\"a\":\"a\\\"b\\u00e9\",\"c\":{\"z\":[1,2.5e-3,null,true]},\"b\":1}\n{\"a\":null,\"b\":\"2\"}\r\n\n{\"a\":\"\\ud800\",\"b\":1}\n[]\n{\"b\":0}",
		"\xef\xbb\xbf{\"b\":1,\"a\":\"00fF\",\"c\":[null,{\"a\":\"\\n\\n\",\"b\":\"NaN\"}]}\n{\"b\":2,\"a\":\"x\\n\",\"c\":[{\"a\":1}]}\n \n{\"b\":\"3\"",
		"{\"a\":\"2026-11-30T00:00:00Z\",\"b\":18446744073709551615,\"c\":{\"a\":[],\"b\":[[1],[],null]}}\n{\"c\":{\"b\":[[1],[null]]}}\n{}{}\n",
		"{\"a\":\"\xff\\n\",\"c\":\"\xff\"}\n{\"a\":\"\\u0041\",\"a\":\"\xff\xff\",\"\\u0061\":\"x\",\"\xff\":1}\n",
	} {
		for schema := range fuzzSchemas {
			f.Add([]byte(file), uint8(schema), uint8(i), uint16(7*i+1))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, schema, options uint8, size uint16) {
		format := with(t, fuzzOptions[int(options)%len(fuzzOptions)])
		var columns *columnar.Schema
		if text := fuzzSchemas[int(schema)%len(fuzzSchemas)]; text != "" {
			columns = formattest.ParseSchema(text)
		}
		whole, err := readAll(format, columns, file, 1<<20)
		parts, partsErr := readAll(format, columns, file, 1+int(size))
		if fmt.Sprint(err) != fmt.Sprint(partsErr) {
			t.Fatalf("%v in one piece, %v in chunks of %d", err, partsErr, 1+int(size))
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(whole, parts, cmp.AllowUnexported(reading{})); diff != "" {
			t.Fatalf("in chunks of %d: %s", 1+int(size), diff)
		}
		lineByLine(t, format, columns, file, whole)
	})
}

func lineByLine(t *testing.T, f Format, schema *columnar.Schema, file []byte, whole reading) {
	n, _ := f.Head(file, true)
	var rows [][]string
	var raw []string
	for _, line := range strings.SplitAfter(string(file[n:]), "\n") {
		if blank([]byte(line)) {
			continue
		}
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		d, err := f.NewDecoder(format.Reading{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		var b columnar.Batch
		if d.Decode([]byte(line), 0, &b) != nil {
			raw = append(raw, strings.TrimLeft(line, " \t\r"))
		} else if schema != nil {
			rows = append(rows, formattest.Rows(schema, &b)...)
		}
	}
	if diff := cmp.Diff(rows, whole.rows); diff != "" {
		t.Fatalf("line by line: %s", diff)
	}
	if diff := cmp.Diff(raw, whole.raw); diff != "" {
		t.Fatalf("line by line: %s", diff)
	}
}
