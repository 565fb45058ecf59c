package csv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// decoded gives the rows of a file, and the text of its error.
func decoded(f *Format, schema *columnar.Schema, file string) string {
	b, err := formattest.Decode(f, schema, []byte(file))
	if err != nil {
		return "error: " + err.Error()
	}
	var rows []string
	for _, row := range formattest.Rows(schema, b) {
		rows = append(rows, strings.Join(row, " "))
	}
	return strings.Join(rows, "; ")
}

func TestDialects(t *testing.T) {
	for name, test := range map[string]struct {
		options      options
		schema, file string
		want         string
	}{
		"delimiter of two bytes":  {options{"delimiter": "¦"}, "a:string b:int64", "a¦b\nx§y¦1\n\"p¦q\"¦2\n", `"x§y" "1"; "p¦q" "2"`},
		"other quote":             {options{"quote": "'"}, "a:string b:string", "a,b\n'x,''y','\"'\n\",\"\n", `"x,'y" "\""; "\"" "\""`},
		"no quotes":               {options{"quote": "none"}, "a:string b:string", "a,b\n\"x,y\"\n", `"\"x" "y\""`},
		"escapes":                 {options{"escape": `\`, "null": `\N`}, "a:string b:string", "a,b\n\"x\\\"y\\\\\",\\N\np\\,q,\"\\N\"\nr\\\ns,\n", `"x\"y\\" NULL; "p,q" "N"; "r\ns" ""`},
		"escapes and doubling":    {options{"escape": `\`}, "a:string", "a\n\"x\"\"y\\\"z\"\n", `"x\"y\"z"`},
		"comments":                {options{"comment": "#"}, "a:string b:string", "#x \"y\na,b\n#c\n1,#2\n\n# \"\n\"#3\",4\n", `"1" "#2"; "#3" "4"`},
		"no header":               {options{"header": false}, "p:int64 q:string", "1,a\n2,b\n", `"1" "a"; "2" "b"`},
		"no header, BOM":          {options{"header": false}, "p:int64", "\xef\xbb\xbf1\n", `"1"`},
		"by number":               {options{"header": false}, "column2:string column1:int64", "1,x\n2,y\n", `"x" "1"; "y" "2"`},
		"by number, one":          {options{"header": false}, "column2:string", "1,x\n2,y\n", `"x"; "y"`},
		"by number, and longer":   {options{"header": false, "long_rows": "ignore"}, "column1:string", "1,x\n2,y\n", `"1"; "2"`},
		"by number and not":       {options{"header": false}, "column2:string id:int64", "1,x\n", `error: at byte 0: column id: fields without names are given by their numbers or in order, and not both; name all columns column1, column2 ..., or none; or name the fields: csv: {header: [...]}`},
		"by number, twice":        {options{"header": false, "case": "ignore"}, "column1:string column01:int64", "1,x\n", `error: at byte 0: column column01: fields without names are given by their numbers or in order, and not both; name all columns column1, column2 ..., or none; or name the fields: csv: {header: [...]}`},
		"names":                   {options{"header": []any{"x", "y", "z"}}, "z:int64 x:string", "a,b,1\nc,d,2\n", `"1" "a"; "2" "c"`},
		"names instead of header": {options{"header": []any{"x", "y"}, "skip": 1}, "y:int64", "a,a\n1,2\n", `"2"`},
		"nulls":                   {options{"null": []any{"NULL", "", "n/a"}}, "a:string b:int64", "a,b\nNULL,\n\"NULL\",n/a\n\"\",1\n", `NULL NULL; "NULL" NULL; "" "1"`},
		"empty is no null":        {options{"null": `\N`}, "a:string b:string", "a,b\n,\\N\n", `"" NULL`},
		"trim":                    {options{"trim": true}, "a:string b:int64 c:string", "a , b,\tc\n x y , 1 , \" z \" \n \"q\"\t,\t2,   \n", `"x y" "1" " z "; "q" "2" NULL`},
		"trim and escape":         {options{"trim": true, "escape": `\`}, "a:string b:string", "a,b\nx\\ ,\\ y \\  \n \\\\ ,z\n", `"x " " y  "; "\\" "z"`},
		"decimal comma":           {options{"delimiter": ";", "decimal": ","}, "a:decimal(5,2) b:float64 c:float32 d:timestamp", "a;b;c;d\n1,5;-0,25;1e3;2026-11-30 00:00:00.5\n", `"1.50" "-0.25" "1000" "2026-11-30 00:00:00.500000"`},
		"point in comma dialect":  {options{"delimiter": ";", "decimal": ","}, "a:float64", "a\n1.5\n", `error: at byte 2: column a: "1.5" has a point, and fractions have a comma; as the option decimal says; between thousands there may be nothing`},
		"skip":                    {options{"skip": 3}, "a:int64", "\xef\xbb\xbfreport \"of\n\n2026\n\na\n1\n", `"1"`},
		"any case":                {options{"case": "ignore"}, "id:int64 Name:string", "NAME,ID\nx,1\n", `"1" "x"`},
		"exact case":              {nil, "id:int64", "ID\n1\n", `error: at byte 0: column id: is not in the header; there is ID: csv: {case: ignore} compares names without their case`},
		"missing":                 {options{"missing": "null"}, "a:int64 b:string c:list<int64>", "a\n1\n", `"1" NULL NULL`},
		"missing and required":    {options{"missing": "null"}, "a:int64 b:string!", "a\n1\n", `error: at byte 0: column b: is not in the header; the header has a; a column that is required must be there`},
		"extra":                   {options{"extra": "fail"}, "a:int64", "a,b\n1,2\n", `error: at byte 0: column b: is in the header, and no column is declared for it; declare it, or accept it: csv: {extra: ignore}`},
		"short rows":              {options{"short_rows": "null"}, "a:int64 b:string c:string", "a,b,c\n1\n2,x\n", `"1" NULL NULL; "2" "x" NULL`},
		"short and required":      {options{"short_rows": "null"}, "a:int64 b:string!", "a,b\n1\n", `error: at byte 4: column b: has no field in this record, and the column is required; mend the source, or declare the column as one that is not required`},
		"long rows":               {options{"long_rows": "ignore"}, "a:int64", "a\n1,\"x\ny\",z\n2\n", `"1"; "2"`},
		"bare quotes":             {options{"bare_quotes": "keep"}, "a:string b:string", "a,b\n5\" disk,\"x\"y\"\n\"p\"\"q\",r\"\n", `"5\" disk" "x\"y"; "p\"q" "r\""`},
		"NUL":                     {options{"nul": "keep"}, "a:string", "a\nx\x00y\n", `"x\x00y"`},
		"replaced":                {options{"invalid_utf8": "replace"}, "a:string b:string", "a,b\n\xffx,\"\"\"\xe2\x82\"\nok,\xc3\n", `"�x" "\"�"; "ok" "�"`},
		"hex":                     {options{"binary": "hex"}, "a:binary", "a\n00FFab\n\"\"\n", `"AP+r"; ""`},
		"not hex":                 {options{"binary": "hex"}, "a:binary", "a\n0\n", `error: at byte 2: column a: "0" is not hexadecimal; the option binary says how bytes are written; mend the source, or declare the column as string`},
		"not finite":              {nil, "a:float64 b:float32", "a,b\nNaN,inf\n-Infinity,nan\n", `"NaN" "Infinity"; "-Infinity" "NaN"`},
		"nested":                  {nil, "a:list<int64> b:struct<x:string,y:bool>", "a,b\n\"[1,null, 3]\",\"{\"\"y\"\":true,\"\"x\"\":\"\"\\u0041\"\"}\"\n,\n", `"[1,null,3]" "{\"x\":\"A\",\"y\":true}"; NULL NULL`},
		"not nested":              {nil, "a:list<int64>", "a\n[1;2]\n", ""},
		"json":                    {nil, "a:json", "a\n\"{\"\"a\"\" : 1.0}\"\n1e400\n", `"{\"a\" : 1.0}"; "1e400"`},
		"inner value":             {options{"decimal": ",", "delimiter": ";"}, "a:float64", "a\n1,5x\n", `error: at byte 2: column a: "1,5x" is not a float64; mend the source, or declare the column as string`},
		"null by another name":    {nil, "a:int64 b:string", "a,b\nN/A,x\n", `error: at byte 4: column a: "N/A" is not an int64; mend the source, or declare the column as string; if it is NULL: csv: {null: "N/A"}`},
		"a comma":                 {options{"delimiter": ";"}, "a:decimal(5,2)", "a\n1,5\n", `error: at byte 2: column a: "1,5" is not a decimal(5,2); mend the source, or declare the column as string; if the comma is before a fraction: csv: {decimal: ","}`},
		"bad base64":              {nil, "a:binary", "a\nAP9=\n", `error: at byte 2: column a: "AP9=" is not base64; the option binary says how bytes are written; mend the source, or declare the column as string`},
		"too long, no header":     {options{"header": false}, "a:int64", "1,2\n", `error: at byte 0: the record has 2 fields, and the columns are 1; name all fields: csv: {header: [...]}; a field that holds a delimiter or a line end must be quoted, or accept it: csv: {long_rows: ignore}`},
		"all is skipped":          {options{"skip": 2}, "a:int64", "x\ny\n", `error: at byte 4: the file has no header line; is csv: {skip} right?`},
		"two of one field":        {options{"case": "ignore"}, "a:int64 A:string", "A,b\n1,2\n", `error: at byte 0: column A: is the same field as column a: case: ignore makes them one; declare one of them`},
		"no json":                 {nil, "a:json", "a\n{\n", ""},
		"other types": {nil, "a:int8 b:uint64 c:time d:timestamptz e:uuid f:uint32",
			"f,e,d,c,b,a\n4294967295,F81D4FAE-7dec-11d0-a765-00a0c91e6bf6,2026-11-30 01:02:03+02:00,01:02:03,18446744073709551615,-128\n",
			`"-128" "18446744073709551615" "01:02:03" "2026-11-29 23:02:03Z" "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" "4294967295"`},
		"out of range": {nil, "a:int8", "a\n128\n", `error: at byte 2: column a: "128" is beyond the range of an int8; mend the source, or declare the column as string`},
	} {
		f, err := New(test.options)
		if err != nil {
			t.Fatal(name, err)
		}
		got := decoded(f, formattest.ParseSchema(test.schema), test.file)
		if got != test.want && (test.want != "" || !strings.HasPrefix(got, "error: at byte ")) {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// anyDialect gives options at random.
func anyDialect() *rapid.Generator[options] {
	return rapid.Custom(func(t *rapid.T) options {
		o := options{"delimiter": rapid.SampledFrom([]string{",", ";", "\t", "|", "¦", " ", "1", "e", "é"}).Draw(t, "delimiter"),
			"quote": rapid.SampledFrom([]string{`"`, `'`, "none"}).Draw(t, "quote"), "escape": rapid.SampledFrom([]string{"none", `\`, "^"}).Draw(t, "escape"),
			"comment": rapid.SampledFrom([]string{"none", "#", "-"}).Draw(t, "comment"), "header": rapid.Bool().Draw(t, "header"),
			"null": rapid.SampledFrom([]any{"", `\N`, "NULL", "0", []any{"N", ""}, []any{"", "true"}}).Draw(t, "null"), "decimal": rapid.SampledFrom([]string{".", ","}).Draw(t, "decimal"),
			"bare_quotes": rapid.SampledFrom([]string{"fail", "keep"}).Draw(t, "bare_quotes"), "blank_lines": rapid.SampledFrom([]string{"skip", "keep"}).Draw(t, "blank_lines"), "nul": "keep", "binary": rapid.SampledFrom([]string{"base64", "hex"}).Draw(t, "binary")}
		if o["delimiter"] != " " && o["delimiter"] != "\t" {
			o["trim"] = rapid.Bool().Draw(t, "trim")
		}
		return o
	})
}

// TestRoundTripOfDialects: what is written in a dialect is read back equal, or was refused because it needs quotes.
func TestRoundTripOfDialects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyDialect().Draw(t, "options")
		f, err := New(o)
		if err != nil {
			return // two purposes for one character
		}
		schema := formattest.Schema().Draw(t, "schema")
		b := formattest.Batch(schema).Draw(t, "batch")
		file, err := formattest.Encode(f, format.Target{Schema: schema}, b)
		if err != nil {
			if f.quote != 0 && !strings.Contains(err.Error(), "blank line") {
				t.Fatal(err)
			}
			return
		}
		back, err := formattest.Decode(f, schema, bytes.Clone(file))
		if err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		if diff := cmp.Diff(formattest.Rows(schema, b), formattest.Rows(schema, back)); diff != "" {
			t.Fatalf("%q: %s", file, diff)
		}
	})
}

// pieces reads a file in chunks of a size, and gives its rows and what was rejected.
func pieces(f *Format, schema *columnar.Schema, file []byte, size int, reject bool) (rows, rejected []string, err error) {
	n, err := f.Head(file, true)
	if err != nil {
		return nil, nil, err
	}
	reading := format.Reading{Schema: schema, Head: file[:n]}
	var chunk format.Chunk
	if reject {
		reading.Reject = func(x format.Rejected) error {
			rejected = append(rejected, fmt.Sprintf("%d:%q", chunk.At+int64(x.From), file[chunk.At+int64(x.From):min(chunk.At+int64(x.To), int64(len(file)))]))
			return nil
		}
	}
	d, err := f.NewDecoder(reading)
	if err != nil {
		return nil, nil, err
	}
	c := format.NewChunker(bytes.NewReader(file[n:]), f, size)
	c.At = int64(n)
	var b columnar.Batch
	for {
		if chunk, err = c.Next(nil, format.Limit{}); err == io.EOF {
			return rows, rejected, nil
		}
		if err == nil {
			err = d.Decode(chunk.Data, chunk.At, &b)
		}
		if err != nil {
			return rows, rejected, err
		}
		if len(schema.Columns) == 0 {
			rows = append(rows, string(b.Data))
			continue
		}
		for _, row := range formattest.Rows(schema, &b) {
			rows = append(rows, strings.Join(row, " "))
		}
	}
}

// startOf gives where the record begins that an error is about; -1 if there is none.
func startOf(err error) int64 {
	if e, ok := errors.AsType[*format.DataError](err); ok {
		return e.Start
	}
	if err != nil {
		panic(err)
	}
	return -1
}

// TestChunksDoNotMatter: a file of any bytes has the same rows and the same rejected records however it is cut, in every dialect.
func TestChunksDoNotMatter(t *testing.T) {
	schema := formattest.ParseSchema("column1:string column2:string")
	rapid.Check(t, func(t *rapid.T) {
		o := anyDialect().Draw(t, "options")
		o["header"] = false
		o["invalid_utf8"] = "replace"
		f, err := New(o)
		if err != nil {
			return // two purposes for one character
		}
		alphabet := []string{"\"", "'", "\n", "\n", "\r\n", ",", ";", f0(f.delimiter), f0(f.delimiter), "\\", "^", "#", "-", " ", "a", "b", "\x00", "\xff", "é", "\xc3"}
		file := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 60).Draw(t, "file"), ""))
		if _, err := f.Head(file, true); err != nil {
			return
		}
		reject := rapid.Bool().Draw(t, "reject")
		rows, rejected, err := pieces(f, schema, file, 1<<20, reject)
		for _, size := range []int{1, 2, 3, 7, 20} {
			otherRows, otherRejected, other := pieces(f, schema, file, size, reject)
			if startOf(err) != startOf(other) || !slices.Equal(rejected, otherRejected) || err == nil && !slices.Equal(rows, otherRows) {
				t.Fatalf("%q in chunks of %d:\n%q %q %v\n%q %q %v", file, size, rows, rejected, err, otherRows, otherRejected, other)
			}
		}
		copied, copyRejected, err := pieces(f, &columnar.Schema{}, file, 1<<20, true)
		again, againRejected, err2 := pieces(f, &columnar.Schema{}, file, 4, true)
		if startOf(err) != startOf(err2) || err == nil && (strings.Join(copied, "") != strings.Join(again, "") || !slices.Equal(copyRejected, againRejected)) {
			t.Fatalf("%q copied:\n%q %v %v\n%q %v %v", file, copied, copyRejected, err, again, againRejected, err2)
		}
	})
}

func f0(b []byte) string { return string(b) }

// TestSlowScanAgrees: where a dialect can be scanned by the quick way, the other one finds the same.
func TestSlowScanAgrees(t *testing.T) {
	quick := mustNew(t, nil)
	slow := mustNew(t, nil)
	slow.simple, slow.parity = false, false
	schema := formattest.ParseSchema("column1:string column2:string")
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.SliceOfN(rapid.SampledFrom([]byte("\"\"\n\n\r,,ab ")), 0, 60).Draw(t, "file")
		a, errA := formattest.Decode(quick, schema, append([]byte("column1,column2\n"), file...))
		b, errB := formattest.Decode(slow, schema, append([]byte("column1,column2\n"), file...))
		if fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Fatalf("%q: %v, %v", file, errA, errB)
		}
		if errA == nil && !cmp.Equal(formattest.Rows(schema, a), formattest.Rows(schema, b)) {
			t.Fatalf("%q: %v, %v", file, formattest.Rows(schema, a), formattest.Rows(schema, b))
		}
	})
}

// TestTheStandardLibraryReadsOurs: every text that is written, NULL as an empty one.
func TestTheStandardLibraryReadsOurs(t *testing.T) {
	f := mustNew(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		schema := formattest.Schema().Draw(t, "schema")
		b := formattest.Batch(schema).Draw(t, "batch")
		file, err := formattest.Encode(f, format.Target{Schema: schema}, b)
		if err != nil {
			return // NULL alone on a line
		}
		theirs, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
		if err != nil || len(theirs) != b.Rows+1 {
			t.Fatalf("%q: %d records, %v", file, len(theirs), err)
		}
		for i, row := range formattest.Rows(schema, b) {
			for c, text := range row {
				want := ""
				if text != "NULL" {
					_, _ = fmt.Sscanf(text, "%q", &want)
				}
				if got := theirs[i+1][c]; got != strings.ReplaceAll(want, "\r\n", "\n") {
					t.Fatalf("%q: %q, want %q", file, got, want)
				}
			}
		}
	})
}

// TestRejects: a record that is refused is left out, whole, and those around it are kept.
func TestRejects(t *testing.T) {
	f := mustNew(t, nil)
	schema := formattest.ParseSchema("a:string b:int64 c:list<int64>")
	file := []byte("a,b,c\n\"x\"\"y\",1,\"[1]\"\n\"p\"\"q\",z,\n\n\"\"\"r\",2,\"[1,\"\"x\"\"]\"\nonly,1\n\"s\"\"\",3,\"[2,3]\"\n\"t\" ,4,\nu,5,\n")
	rows, rejected, err := pieces(f, schema, file, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	wantRows := []string{`"x\"y" "1" "[1]"`, `"s\"" "3" "[2,3]"`, `"u" "5" NULL`}
	want := []string{`21:"\"p\"\"q\",z,\n"`, `32:"\"\"\"r\",2,\"[1,\"\"x\"\"]\"\n"`, `52:"only,1\n"`, `75:"\"t\" ,4,\n"`}
	if diff := cmp.Diff(want, rejected) + cmp.Diff(wantRows, rows); diff != "" {
		t.Error(diff)
	}
	enough := errors.New("enough")
	d, err := f.NewDecoder(format.Reading{Schema: schema, Head: []byte("a,b,c\n"), Reject: func(format.Rejected) error { return enough }})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Decode([]byte("x,y,\n"), 6, &columnar.Batch{}); err != enough {
		t.Error(err)
	}
}

// blocks reads some texts, each so many times.
func blocks(texts []string, times []int) io.Reader {
	var all []io.Reader
	for i, text := range texts {
		for range times[i] {
			all = append(all, strings.NewReader(text))
		}
	}
	return io.MultiReader(all...)
}

// TestUnmatchedQuoteInALongFile: it is found at the quote, and without reading the file to its end, whether more quotes follow or
// not.
func TestUnmatchedQuoteInALongFile(t *testing.T) {
	f := mustNew(t, nil)
	schema := formattest.ParseSchema("id:string name:string")
	for name, test := range map[string]struct{ line, odd string }{
		"no other quotes":  {"12345,some name\n", "12345,\"some name\n"},
		"others in a line": {"12345,\"some name\"\n", "12345,\"some name\n"},
		"others at starts": {"\"12345\",\"some name\"\n", "\"12345\",\"some name\n"},
	} {
		times := 500 // ten million lines
		if testing.Short() {
			times = 50
		}
		many := strings.Repeat(test.line, 10_000)
		began := time.Now()
		source := blocks([]string{many, test.odd, many}, []int{times, 1, times})
		c := format.NewChunker(source, f, 0)
		d, err := f.NewDecoder(format.Reading{Schema: schema, Head: []byte("id,name\n")})
		if err != nil {
			t.Fatal(err)
		}
		var b columnar.Batch
		var buf []byte
		for err == nil {
			var chunk format.Chunk
			if chunk, err = c.Next(buf, format.Limit{}); err == nil {
				buf = chunk.Data
				err = d.Decode(chunk.Data, chunk.At, &b)
			}
		}
		e, ok := errors.AsType[*format.DataError](err)
		want := int64(times*len(many) + strings.Index(test.odd, "\"some"))
		if !ok || e.Offset != want || !strings.Contains(e.Advice, "quote: none") && !strings.Contains(e.Advice, "unmatched") {
			t.Errorf("%s: %+v, %v, want %d", name, e, err, want)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: found after %s", name, took)
		}
	}
}

// TestLongFields: up to the cap a field can have any length.
func TestLongFields(t *testing.T) {
	for _, test := range []struct {
		options options
		size    int
		ok      bool
	}{{nil, 70 << 10, true}, {nil, 70 << 20, false}, {options{"max_field": "128MiB"}, 70 << 20, true}} {
		f := mustNew(t, test.options)
		for _, quote := range []string{"", `"`} {
			file := append(append([]byte("a,b\n1,"+quote), bytes.Repeat([]byte("x"), test.size)...), quote+"\n2,y\n"...)
			schema := formattest.ParseSchema("a:int64 b:string")
			n, err := func() (int, error) {
				d, err := f.NewDecoder(format.Reading{Schema: schema, Head: file[:4]})
				if err != nil {
					return 0, err
				}
				c := format.NewChunker(bytes.NewReader(file[4:]), f, 0)
				c.At = 4
				rows := 0
				for {
					chunk, err := c.Next(nil, format.Limit{})
					if err == io.EOF {
						return rows, nil
					}
					var b columnar.Batch
					if err == nil {
						err = d.Decode(chunk.Data, chunk.At, &b)
					}
					if err != nil {
						return rows, err
					}
					rows += b.Rows
				}
			}()
			if test.ok && (err != nil || n != 2) {
				t.Errorf("%d bytes: %d rows, %v", test.size, n, err)
			}
			if e, ok := errors.AsType[*format.DataError](err); !test.ok && (!ok || e.Offset != 6 || !strings.Contains(e.Advice, "max_field: 256MiB")) {
				t.Errorf("%d bytes: %v", test.size, err)
			}
		}
	}
}

// TestNonFinite is of what is written of NaN and the infinities.
func TestNonFinite(t *testing.T) {
	schema := formattest.ParseSchema("a:int64 b:float64 c:float32 d:list<float64>")
	b := formattest.Of(schema, []string{"1", "NaN", "-Infinity", "[\"Infinity\",1]"})
	for policy, want := range map[string]string{"string": "1,NaN,-Infinity,\"[\"\"Infinity\"\",1]\"\n", "null": "1,,,\"[null,1]\"\n", "fail": ""} {
		f := mustNew(t, options{"nonfinite": policy})
		var out bytes.Buffer
		e, err := f.NewEncoder(&out, format.Target{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Encode(b)
		if policy == "fail" {
			if d, ok := errors.AsType[*format.DataError](err); !ok || d.Column != "b" || !strings.Contains(d.Advice, "nonfinite: string") {
				t.Error(err)
			}
			continue
		}
		if err := errors.Join(err, e.Close()); err != nil {
			t.Fatal(err)
		}
		nulled := e.(format.Counter).Nulled()
		if _, rows, _ := strings.Cut(out.String(), "\n"); rows != want || policy == "null" && nulled != 3 || policy != "null" && nulled != 0 {
			t.Errorf("%s: %q, %d as NULL", policy, rows, nulled)
		}
	}
}

// TestSteadyState: reading and writing the same again takes no memory.
func TestSteadyState(t *testing.T) {
	f := mustNew(t, nil)
	schema := formattest.ParseSchema("a:int64 b:string c:decimal(18,2) d:date e:timestamp f:float64 g:bool h:uint8 i:uuid")
	row := "17,\"some \"\"text\"\"\",12.50,2026-11-30,2026-11-30 01:02:03.5,0.25,true,7,f81d4fae-7dec-11d0-a765-00a0c91e6bf6\n"
	file := []byte(strings.Repeat(row, 1000))
	d, err := f.NewDecoder(format.Reading{Schema: schema, Head: []byte("a,b,c,d,e,f,g,h,i\n")})
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.NewEncoder(io.Discard, format.Target{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	chunk := make([]byte, len(file), len(file)+format.Slack)
	allocs := testing.AllocsPerRun(10, func() {
		copy(chunk, file)
		if err := errors.Join(d.Decode(chunk, 0, &b), e.Encode(&b)); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 2 || b.Rows != 1000 {
		t.Errorf("%v allocations for %d rows", allocs, b.Rows)
	}
}

func FuzzDialects(f *testing.F) {
	for _, file := range []string{"a,b\n1,x\n", "\xef\xbb\xbf\"a\",b\r\n\"1\",\"x\r\ny\"\r\n", "a,b\n1\n", "a,b\n\"1,2\n3,4\n", "b\n", "\n\n", "a,b\n1,\"\"\"\"\n#c\n", "a;b\n1,5;\\N\n"} {
		f.Add([]byte(file), uint8(0), uint8(3))
		f.Add([]byte(file), uint8(7), uint8(50))
	}
	dialects := []options{nil, {"delimiter": ";", "decimal": ","}, {"escape": `\`, "null": `\N`}, {"quote": "none"}, {"bare_quotes": "keep"},
		{"comment": "#", "trim": true}, {"short_rows": "null", "long_rows": "ignore", "missing": "null", "nul": "keep", "invalid_utf8": "replace"}, {"delimiter": "¦", "skip": 1}}
	schema := formattest.ParseSchema("a:float64 b:string")
	f.Fuzz(func(t *testing.T, file []byte, dialect, size uint8) {
		format := mustNew(t, dialects[int(dialect)%len(dialects)])
		for _, reject := range []bool{false, true} {
			rows, rejected, err := pieces(format, schema, file, 1<<20, reject)
			other, otherRejected, err2 := pieces(format, schema, file, int(size)+1, reject)
			if startOf(err) != startOf(err2) || !slices.Equal(rejected, otherRejected) || err == nil && !slices.Equal(rows, other) {
				t.Fatalf("%q\n%q %q %v\n%q %q %v", file, rows, rejected, err, other, otherRejected, err2)
			}
		}
	})
}

func FuzzDialectsBack(f *testing.F) {
	f.Add("x", "y\"\n", 1.5, uint8(0))
	f.Add("\xef\xbb\xbf", "\r", math.Inf(-1), uint8(1))
	f.Add("#\x00", "NULL", math.NaN(), uint8(2))
	dialects := []options{{"nul": "keep"}, {"nul": "keep", "delimiter": "\t", "null": "NULL", "escape": `\`, "header": false},
		{"nul": "keep", "comment": "#", "trim": true, "bare_quotes": "keep", "decimal": ","}}
	schema := formattest.ParseSchema("a:string b:string c:float64")
	f.Fuzz(func(t *testing.T, a, b string, c float64, dialect uint8) {
		form := mustNew(t, dialects[int(dialect)%len(dialects)])
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		batch := formattest.Of(schema, []string{a + "_", b + "_", string(columnar.AppendFloat64(nil, c))}, []string{"NULL", "NULL", "NULL"})
		file, err := formattest.Encode(form, format.Target{Schema: schema}, batch)
		if err != nil {
			t.Fatal(err)
		}
		back, err := formattest.Decode(form, schema, bytes.Clone(file))
		if err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		if diff := cmp.Diff(formattest.Rows(schema, batch), formattest.Rows(schema, back)); diff != "" {
			t.Fatalf("%q: %s", file, diff)
		}
	})
}
