package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

func TestDecode(t *testing.T) {
	null := map[string]any{"null": "NULL"}
	for _, test := range []struct {
		name, schema string
		options      map[string]any
		file         string
		want         [][]string
	}{
		{"every type", "a:bool b:int64 c:float64 d:decimal(18,2) e:decimal(38,2) f:date g:timestamp h:string", nil,
			"a,b,c,d,e,f,g,h\ntrue,1,1.5,2.5,3.5,2026-11-30,2026-11-30T01:02:03,x\n,,,,,,,\n",
			[][]string{{`"true"`, `"1"`, `"1.5"`, `"2.50"`, `"3.50"`, `"2026-11-30"`, `"2026-11-30 01:02:03"`, `"x"`},
				{"NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"}}},
		{"other order, more columns", "b:int64 a:string", nil, "x,a,y,b\n1,s,2,3\n", [][]string{{`"3"`, `"s"`}}},
		{"quoted numbers", "a:int64 b:date", nil, "a,b\n\"1\",\"2026-11-30\"\n", [][]string{{`"1"`, `"2026-11-30"`}}},
		{"empty is not NULL", "a:string b:string", nil, "a,b\n\"\",\n", [][]string{{`""`, "NULL"}}},
		{"a text of NULL", "a:string b:string c:string d:int64", null, "a,b,c,d\nNULL,\"NULL\",,NULL\n", [][]string{{"NULL", `"NULL"`, `""`, "NULL"}}},
		{"line ends", "a:string b:string", nil, "a,b\r\n1,\"x\r\ny\"\r\n2,\"\r\"\n\n\r\n3,\"\n\"", [][]string{
			{`"1"`, `"x\r\ny"`}, {`"2"`, `"\r"`}, {`"3"`, `"\n"`}}},
		{"doubled quotes", "a:string b:string", nil, "a,b\n\"\"\"\",\"a\"\"b\"\"\"\n\"\"\"\"\"\",\"a\"\"\"\"b\"\n", [][]string{
			{`"\""`, `"a\"b\""`}, {`"\"\""`, `"a\"\"b"`}}},
		{"delimiter", "a:string b:string", map[string]any{"delimiter": `\t`}, "a\tb\n1,2\t\"x\ty\"\n", [][]string{{`"1,2"`, `"x\ty"`}}},
		{"quoted names", "a,b:string c\"d:string", nil, "\xef\xbb\xbf\"a,b\",\"c\"\"d\"\n1,2\n", [][]string{{`"1"`, `"2"`}}},
		{"one column", "a:string", nil, "a\n1\n\"\"\n", [][]string{{`"1"`}, {`""`}}},
		{"blank lines passed", "a:string", map[string]any{"blank_lines": "skip"}, "a\n1\n\n\"\"\r\n\r\n", [][]string{{`"1"`}, {`""`}}},
		{"blank lines kept", "a:string", map[string]any{"blank_lines": "keep"}, "a\n1\n\n\"\"\r\n\r\n", [][]string{{`"1"`}, {"NULL"}, {`""`}, {"NULL"}}},
		{"blank lines kept, without header", "a:string", map[string]any{"blank_lines": "keep", "header": false, "null": "x"}, "\n\nx\n", [][]string{{`""`}, {`""`}, {"NULL"}}},
		{"no rows", "a:string", nil, "a", [][]string{}},
		{"an empty file", "a:string! b:int8", nil, "", [][]string{}},
		{"a blank file", "a:string b:int8", nil, "\xef\xbb\xbf\n\r\n", [][]string{}},
		{"emoji", "a:string", nil, "a\n👩‍👩‍👧\n", [][]string{{`"👩\u200d👩\u200d👧"`}}},
		{"not UTF-8 in a column of nobody's", "a:string", nil, "a,b\n1,\xff\x00\n", [][]string{{`"1"`}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema := formattest.ParseSchema(test.schema)
			b, err := formattest.Decode(mustNew(t, test.options), schema, []byte(test.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, formattest.Rows(schema, b)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, test := range []struct {
		name, schema, file string
		offset, start      int64
		column, value      string
		reason             string
	}{
		{"not an int64", "a:int64 b:string", "b,a\nx,1\ny,A\n", 10, 8, "a", "A", "is not an int64"},
		{"quoted, not an int64", "a:int64 b:string", "b,a\nx,1\ny,\"A\"\n", 11, 8, "a", "A", "is not an int64"},
		{"after a quoted line end", "a:int64 b:string", "b,a\n\"x\n\",1\ny,A\n", 13, 11, "a", "A", "is not an int64"},
		{"beyond int64", "a:int64", "a\n9223372036854775808\n", 2, 2, "a", "9223372036854775808", "beyond the range"},
		{"point in an int64", "a:int64", "a\n1.0\n", 2, 2, "a", "1.0", "a point or an exponent"},
		{"too many digits after the point", "a:decimal(18,2)", "a\n1.005\n", 2, 2, "a", "1.005", "more than 2 digits after the point"},
		{"too many digits before the point", "a:decimal(4,2)", "a\n100.00\n", 2, 2, "a", "100.00", "more than 2 digits before the point"},
		{"no such day", "a:date", "a\n2026-02-29\n", 2, 2, "a", "2026-02-29", "no calendar has"},
		{"time zone", "a:timestamp", "a\n2026-11-30 00:00:00Z\n", 2, 2, "a", "2026-11-30 00:00:00Z", "time zone"},
		{"second 60", "a:timestamp", "a\n2016-12-31 23:59:60\n", 2, 2, "a", "2016-12-31 23:59:60", "second 60"},
		{"quoted empty is no NULL", "a:int64", "a\n\"\"\n", 3, 2, "a", "", "an empty field is not an int64"},
		{"required", "a:int64! b:string", "a,b\n1,x\n,y\n", 8, 8, "a", "", "the column is required"},
		{"too few fields", "a:int64 b:string", "a,b\n1,x\n2\n", 8, 8, "", "", "1 field, and the header has 2"},
		{"too many fields", "a:int64 b:string", "a,b\n1,x\n2,y,z,\n", 8, 8, "", "", "4 fields, and the header has 2"},
		{"too many fields, values of other types", "a:int64 b:int64", "a,b\nx,1,2\n", 4, 4, "", "", "3 fields, and the header has 2"},
		{"a doubled quote before too many fields", "a:int64", "a\n\"x\"\"\",\"y\"\"z\"\n", 2, 2, "", "", "2 fields, and the header has 1"},
		{"too many fields, then a bare quote", "a:string", "a\n1,2,x\"\n", 7, 2, "", `"`, "has a quote"},
		{"a wrong value, then a bare quote", "a:int64 b:string", "a,b\nx,2\"\n", 4, 4, "a", "x", "is not an int64"},
		{"bare quote", "a:string b:string", "a,b\n1,x\n2,y\"z\"\n", 11, 8, "b", "y\"", "has a quote"},
		{"text after a closing quote", "a:string b:string", "a,b\n1,x\n\"2\"x,y\n", 11, 8, "a", "\"2\"x,y\n", "has text after its closing quote"},
		{"lone CR", "a:string b:string", "a,b\n1,x\ry\n", 7, 4, "b", "", "a carriage return"},
		{"not UTF-8", "a:string b:string", "a,b\n1,x\n2,caf\xe9 y\n", 13, 8, "b", "caf\xe9 y", "is not UTF-8"},
		{"UTF-8 of a surrogate", "a:string", "a\nx\xed\xa0\x80\n", 3, 2, "a", "x\xed\xa0\x80", "is not UTF-8"},
		{"not UTF-8 after doubled quotes", "a:string", "a\n\"\"\"\"\"x\xff\"\n", 8, 2, "a", "\"\"\"\"x\xff", "is not UTF-8"},
		{"NUL", "a:string b:string", "a,b\n1,x\x00y\n", 7, 4, "b", "x\x00y", "NUL byte"},
		{"missing", "a:string b:string", "a,B\n1,x\n", 0, 0, "b", "", "is not in the header"},
		{"missing, several", "a:string b:string c:string d:string", "\xef\xbb\xbfa\n1\n", 3, 3, "b", "", "is not in the header, nor are c, d"},
		{"another delimiter", "a:string b:string", "a\tb\n1\t2\n", 0, 0, "a", "", "is not in the header, nor are b"},
		{"twice", "a:string", "x,a,a\n1,2,3\n", 0, 0, "a", "", "is twice in the header"},
		{"a blank line of one column", "a:string", "a\n1\n\n2\n", 4, 4, "a", "", "a blank line, which in a file of one column may be a NULL"},
		{"a blank line at the end of one column", "a:string", "a\n1\n\n", 4, 4, "a", "", "a blank line"},
		{"NUL in the header", "a:string", "a\x00,\x00b\x00\n", 1, 0, "", "", "NUL byte"},
		{"unmatched in the header", "a:string", "a,\"b\n1,2\n", 2, 0, "", `"b`, "(in the header) begins with a quote"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := formattest.Decode(mustNew(t, nil), formattest.ParseSchema(test.schema), []byte(test.file))
			e := dataError(t, err)
			if e.Offset != test.offset || e.Start != test.start || e.Column != test.column || e.Value != test.value {
				t.Errorf("offset %d, start %d, column %q, value %q, want %d, %d, %q, %q: %v", e.Offset, e.Start, e.Column, e.Value,
					test.offset, test.start, test.column, test.value, e)
			}
			if !strings.Contains(e.Reason, test.reason) {
				t.Errorf("reason is %q, want %q", e.Reason, test.reason)
			}
		})
	}
}

func TestHeaderTwiceIsFineWhereNobodyAsks(t *testing.T) {
	schema := formattest.ParseSchema("a:string")
	b, err := formattest.Decode(mustNew(t, nil), schema, []byte("x,a,x\n1,2,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{`"2"`}}, formattest.Rows(schema, b)); diff != "" {
		t.Error(diff)
	}
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		options map[string]any
		errs    []string
	}{
		{map[string]any{"delimiter": ";", "null": `\N`}, nil},
		{nil, nil},
		{map[string]any{"delimter": ";", "nulll": "x", "zzz": 1}, []string{"delimter is unknown; did you mean delimiter?", "nulll is unknown; did you mean null?", "zzz is unknown: there are delimiter, quote"}},
		{map[string]any{"delimiter": ";;"}, []string{"delimiter must be one character"}},
		{map[string]any{"delimiter": "\""}, []string{"quote is the character of delimiter, too"}},
		{map[string]any{"delimiter": ""}, []string{"delimiter must be one character"}},
		{map[string]any{"delimiter": "·"}, nil},
		{map[string]any{"delimiter": `\t`}, nil},
		{map[string]any{"null": "#", "comment": "#"}, []string{"null begins as a comment does"}},
		{map[string]any{"header": "a,b"}, []string{"header can be true, false, or a list of names"}},
		{map[string]any{"header": "false"}, nil},
		{map[string]any{"header": []any{"a", ""}}, []string{"header has no name for field 2"}},
		{map[string]any{"blank_lines": "fail"}, []string{`blank_lines is "fail", and can be skip, keep`}},
		{map[string]any{"quote": "''"}, []string{"quote must be one ASCII character"}},
		{map[string]any{"quote": "none", "escape": `\`, "comment": "#"}, nil},
		{map[string]any{"comment": "#", "escape": "#"}, []string{"comment is the character of escape, too"}},
		{map[string]any{"trim": true, "delimiter": "\t"}, []string{"trim takes away what delimits fields"}},
		{map[string]any{"trim": true, "null": " -"}, []string{"null has spaces around it"}},
		{map[string]any{"trim": "yes", "skip": -1, "max_field": "1GiB", "missing": "nul"}, []string{"trim is yes, and must be true or false",
			"skip is -1, and must be from 0", "max_field is 1GiB, and must be from 1 to 268435456", "missing is \"nul\", and can be fail, null; did you mean null?"}},
		{map[string]any{"trim": "true", "skip": "2", "max_field": "1MiB", "header": []any{"a", "b"}, "null": []any{"", "NULL"}}, nil},
		{map[string]any{"header": []any{"a", "a"}}, []string{"header has a twice"}},
		{map[string]any{"header": []any{"a", 1}, "null": []any{nil}}, []string{"header has 1, and must be a text", "null has null"}},
		{map[string]any{"header": "x"}, []string{"header can be true, false, or a list of names"}},
		{map[string]any{"null": "a,b"}, []string{"null cannot stand unquoted"}},
		{map[string]any{"delimiter": 7, "null": 0}, []string{"delimiter is 7, and must be a text", "null has 0, and must be a text or a list of texts"}},
	} {
		f, err := Kind().New(test.options)
		if len(test.errs) == 0 {
			if err != nil || f == nil {
				t.Errorf("%v: %v", test.options, err)
			}
			continue
		}
		for _, want := range test.errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, want %s", test.options, err, want)
			}
		}
		if f != nil {
			t.Errorf("%v: a format in spite of %v", test.options, err)
		}
	}
}

func TestEncode(t *testing.T) {
	schema := formattest.ParseSchema("a:string b:int64 c:float64 d:decimal(5,2) e:timestamp f:bool")
	b := formattest.Of(schema, []string{"x", "1", "1.5", "2.5", "2026-11-30 00:00:00", "true"}, []string{"NULL", "NULL", "NULL", "NULL", "NULL", "NULL"},
		[]string{"", "-5", "1e300", "-0.5", "2026-11-30 00:00:00.5", "false"}, []string{"a,b\"c", "0", "0", "0", "0001-01-01 00:00:00", "true"})
	for _, test := range []struct {
		options map[string]any
		want    string
	}{
		{nil, "a,b,c,d,e,f\nx,1,1.5,2.50,2026-11-30 00:00:00,true\n,,,,,\n\"\",-5,1e+300,-0.50,2026-11-30 00:00:00.500000,false\n" +
			"\"a,b\"\"c\",0,0,0.00,0001-01-01 00:00:00,true\n"},
		{map[string]any{"delimiter": ";", "null": "x"}, "a;b;c;d;e;f\n\"x\";1;1.5;2.50;2026-11-30 00:00:00;true\nx;x;x;x;x;x\n" +
			"\"\";-5;1e+300;-0.50;2026-11-30 00:00:00.500000;false\n\"a,b\"\"c\";0;0;0.00;0001-01-01 00:00:00;true\n"},
		{map[string]any{"delimiter": ".", "null": "0"}, "a.b.c.d.e.f\nx.1.\"1.5\".\"2.50\".2026-11-30 00:00:00.true\n0.0.0.0.0.0\n" +
			"\"\".-5.1e+300.\"-0.50\".\"2026-11-30 00:00:00.500000\".false\n\"a,b\"\"c\".\"0\".\"0\".\"0.00\".0001-01-01 00:00:00.true\n"},
	} {
		got, err := formattest.Encode(mustNew(t, test.options), format.Target{Schema: schema}, b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, test := range []struct{ name, schema, value, reason string }{
		{"NULL alone on a line", "a:string", "NULL", "a blank line"},
		{"NUL", "a:string b:string", "x\x00", "NUL byte"},
		{"not finite, of a column that is required", "a:float64! b:string", "NaN", `"NaN" is not finite`},
	} {
		schema := formattest.ParseSchema(test.schema)
		row := make([]string, len(schema.Columns))
		row[0] = test.value
		_, err := formattest.Encode(mustNew(t, map[string]any{"nonfinite": "null"}), format.Target{Schema: schema}, formattest.Of(schema, row))
		if e := dataError(t, err); e.Column != "a" || !strings.Contains(err.Error(), test.reason) || !strings.HasPrefix(err.Error(), "column a: ") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestHeaderNamesSurvive(t *testing.T) {
	schema := &columnar.Schema{}
	for _, name := range []string{"\xef\xbb\xbfid", "a,b", "c\"d", "e\nf", "", " g ", "é"} {
		schema.Columns = append(schema.Columns, columnar.Column{Name: name, Type: columnar.Type{Kind: columnar.Bool}})
	}
	f := mustNew(t, nil)
	file, err := formattest.Encode(f, format.Target{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := formattest.Decode(f, schema, file); err != nil {
		t.Errorf("%q: %v", file, err)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := formattest.Schema().Draw(t, "schema")
		b := formattest.Batch(schema).Draw(t, "batch")
		f, err := New(map[string]any{"delimiter": rapid.SampledFrom([]string{",", ";", "\t", "1", "."}).Draw(t, "delimiter"),
			"null": rapid.SampledFrom([]string{"", `\N`, "NULL", "0", "true"}).Draw(t, "null")})
		if err != nil {
			t.Fatal(err)
		}
		if len(schema.Columns) == 1 && len(f.nulls[0]) == 0 && b.Columns[0].Nulls > 0 {
			return // refused
		}
		file, err := formattest.Encode(f, format.Target{Schema: schema}, b)
		if err != nil {
			t.Fatal(err)
		}
		back, err := formattest.Decode(f, schema, file)
		if err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		if diff := cmp.Diff(formattest.Rows(schema, b), formattest.Rows(schema, back)); diff != "" {
			t.Fatalf("%q: %s", file, diff)
		}
	})
}

func TestCorpusRoundTrip(t *testing.T) {
	f := mustNew(t, map[string]any{"null": "NULL"})
	for _, typ := range formattest.Types {
		schema := &columnar.Schema{Columns: []columnar.Column{{Name: "v", Type: typ}}}
		b := formattest.CorpusBatch(typ)
		file, err := formattest.Encode(f, format.Target{Schema: schema}, b)
		if err != nil {
			t.Fatal(err)
		}
		back, err := formattest.Decode(f, schema, file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(formattest.Rows(schema, b), formattest.Rows(schema, back)); diff != "" {
			t.Errorf("%s: %s", typ, diff)
		}
	}
}

// Where a file has no lone CR, and no CRLF in a field, encoding/csv must read the same fields as we do.
func TestAgreesWithEncodingCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\"", "\"", "\"\"", ",", "\n", "\r\n", " "}), 0, 30).Draw(t, "body")
		compareWithStandard(t, "x,y\n"+strings.Join(body, "")+"\n")
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("x,y\n1,\"a\"\"b\"\n\"\",\n"))
	f.Add([]byte("x,y\r\n\"a\nb\",2\r\n\n3,4"))
	f.Add([]byte("\xef\xbb\xbfy,x\n\xff,\x00\n\"a\"b,c\n"))
	f.Add([]byte("\n"))
	f.Add([]byte(""))
	f.Add([]byte("\xef\xbb\xbf\r\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		compareWithStandard(t, string(file))
		checkCopy(t, file)
	})
}

type fataler interface {
	Fatalf(string, ...any)
	Helper()
}

func compareWithStandard(t fataler, file string) {
	t.Helper()
	schema := &columnar.Schema{Columns: []columnar.Column{{Name: "x", Type: columnar.Type{Kind: columnar.String}}, {Name: "y", Type: columnar.Type{Kind: columnar.String}}}}
	f, err := New(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	b, err := formattest.Decode(f, schema, []byte(file))
	if err != nil {
		return // what is refused without need is for other tests
	}
	standard := stdcsv.NewReader(strings.NewReader(strings.TrimPrefix(file, format.BOM)))
	want, wantErr := standard.ReadAll()
	if wantErr != nil {
		t.Fatalf("%q: encoding/csv refuses what we accept: %v", file, wantErr)
	}
	if len(want) == 0 { // a file that is blank has no rows
		if b.Rows > 0 {
			t.Fatalf("%q: %d rows", file, b.Rows)
		}
		return
	}
	x, y := 0, 1
	for i, name := range want[0] {
		if name == "x" {
			x = i
		} else if name == "y" {
			y = i
		}
	}
	rows := formattest.Rows(schema, b)
	if len(rows) != len(want)-1 {
		t.Fatalf("%q: %d rows, encoding/csv has %d", file, len(rows), len(want)-1)
	}
	for i := range rows {
		for c, from := range []int{x, y} {
			v := &b.Columns[c]
			text := ""
			if v.Valid[i] == 1 {
				text = string(b.Bytes(v.Str[valuesBefore(v, i)]))
			}
			if strings.ReplaceAll(text, "\r\n", "\n") != want[i+1][from] {
				t.Fatalf("%q: row %d column %d is %q, encoding/csv has %q", file, i, c, text, want[i+1][from])
			}
		}
	}
}

func valuesBefore(v *columnar.Vector, row int) int { return bytes.Count(v.Valid[:row], []byte{1}) }

// checkCopy checks that the copying decoder counts as the typed one does, and copies every byte.
func checkCopy(t fataler, file []byte) {
	f, err := New(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	copied, copyErr := formattest.Decode(f, nil, bytes.Clone(file))
	schema := &columnar.Schema{Columns: []columnar.Column{{Name: "x", Type: columnar.Type{Kind: columnar.String}}}}
	typed, err := formattest.Decode(f, schema, bytes.Clone(file))
	if err != nil {
		return
	}
	if copyErr != nil || copied.Rows != typed.Rows {
		t.Fatalf("%q: copied %d rows, %v, typed %d", file, copied.Rows, copyErr, typed.Rows)
	}
}

// Chunks of any size give the same rows and the same first error as the whole file.
func TestChunkedDecodeAgrees(t *testing.T) {
	schema := formattest.ParseSchema("x:string y:string")
	f := mustNew(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\"", "\"\"", ",", ",", "\n", "\n", "\r\n", "1,2\n", "\"\n\",\"\"\n"}), 0, 30).Draw(t, "body")
		file := strings.Join(body, "")
		size := rapid.IntRange(1, 40).Draw(t, "size")
		read := func(size int) (rows [][]string, e *format.DataError) {
			c := format.NewChunker(strings.NewReader(file), f, size)
			c.At = 1000
			d, err := f.NewDecoder(format.Reading{Schema: schema, Head: []byte("x,y\n")})
			var out columnar.Batch
			for err == nil {
				var chunk format.Chunk
				if chunk, err = c.Next(nil, format.Limit{}); err == nil {
					if err = d.Decode(chunk.Data, chunk.At, &out); err == nil {
						rows = append(rows, formattest.Rows(schema, &out)...)
					}
				}
			}
			e, _ = err.(*format.DataError)
			return rows, e
		}
		rows, e := read(1 << 20)
		got, gotE := read(size)
		if (e == nil) != (gotE == nil) {
			t.Fatalf("%q: %v, in blocks of %d %v", file, e, size, gotE)
		}
		if e != nil {
			if e.Start != gotE.Start {
				t.Fatalf("%q: record at %d: %v, in blocks of %d at %d: %v", file, e.Start, e, size, gotE.Start, gotE)
			}
			return
		}
		if diff := cmp.Diff(rows, got); diff != "" {
			t.Fatalf("%q: %s", file, diff)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	schema := formattest.ParseSchema("id:int64 price:decimal(18,2) day:date at:timestamp score:float64 name:string note:string")
	f := mustNew(b, nil)
	d, err := f.NewDecoder(format.Reading{Schema: schema, Head: []byte("id,price,day,at,score,name,note\n")})
	if err != nil {
		b.Fatal(err)
	}
	line := "1234567,1999.95,2026-11-30,2026-11-30 12:34:56.123456,0.123456,Some Name,\"a note, quoted\"\n"
	file := []byte(strings.Repeat(line, 10_000))
	chunk := make([]byte, len(file))
	var out columnar.Batch
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		copy(chunk, file)
		if err := d.Decode(chunk, 0, &out); err != nil {
			b.Fatal(err)
		}
	}
}
