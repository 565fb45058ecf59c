package csv

import (
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// infer gives the columns of some files, on one line.
func infer(f *Format, files ...string) (string, error) {
	s := f.NewSampler()
	for _, file := range files {
		n, err := f.Head([]byte(file), true)
		if err == nil {
			err = s.AddHead([]byte(file[:n]))
		}
		if err == nil {
			err = s.Sample(lineEnded([]byte(file[n:])), int64(n))
		}
		if err != nil {
			return "", err
		}
	}
	return columnar.FormatColumns(formattest.Seen(s.Columns())), nil
}

type options = map[string]any

func TestInfer(t *testing.T) {
	for name, test := range map[string]struct {
		options options
		files   []string
		want    string
	}{
		"ids that grow":         {nil, []string{"id\n1234567890\n12345678901234567890\n"}, "id:decimal(38,0)"},
		"integers and decimals": {nil, []string{"a\n9007199254740993\n0.5\n"}, "a:decimal(38,1)"},
		"phone numbers":         {nil, []string{"a,b,c\n+491701234567,01701234567,1701234567\n"}, "a:string,b:string,c:int64"},
		"floats are text":       {nil, []string{"a,b\n1e5,NaN\n"}, "a:string,b:string"},
		"dates":                 {nil, []string{"a,b,c,d\n2026-11-30,30/11/2026,2026-11-30T01:02:03Z,20261130\n"}, "a:date,b:string,c:timestamptz,d:int64"},
		"null":                  {nil, []string{"a,b,c\n,\"\",1\n,,\n"}, "a:string,b:string,c:int64"},
		"null strings":          {options{"null": []any{"", "NULL"}}, []string{"a\nNULL\n1\n"}, "a:int64"},
		"quoted numbers":        {nil, []string{"a\n\"1\"\n2\n"}, "a:int64"},
		"no rows":               {nil, []string{"a,b\n"}, "a:string,b:string"},
		"names in other orders": {nil, []string{"a,b\n1,x\n", "b,c,a\ny,true,2.5\n"}, "a:decimal(18,1),b:string,c:bool"},
		"a column that lacks":   {nil, []string{"a,b\n1,2\n", "b\n3\n"}, "a:int64,b:int64"},
		"names of any case":     {options{"case": "ignore"}, []string{"Id\n1\n", "ID\nx\n"}, "Id:string"},
		"no header":             {options{"header": false}, []string{"1,x\n2,y\n", "3,4\n"}, "column1:int64,column2:string"},
		"names given":           {options{"header": []any{"p", "q q"}}, []string{"1,x\n"}, `p:int64,"q q":string`},
		"decimal comma":         {options{"delimiter": ";", "decimal": ","}, []string{"a;b;c\n1,5;1.5;2026-11-30 00:00:00.5\n"}, "a:decimal(18,1),b:string,c:timestamp"},
		"skipped lines":         {options{"skip": 2, "comment": "#"}, []string{"\xef\xbb\xbfreport\n\"x\n#c\na\n#d\n1\n"}, "a:int64"},
		"escapes":               {options{"escape": `\`, "null": `\N`}, []string{"a,b\n\\N,1\\,5\n"}, "a:string,b:string"},
		"no file":               {nil, nil, ""},
		"an empty file":         {nil, []string{"", "a\n1\n", "\n"}, "a:int64"},
		"empty, no header":      {options{"header": false}, []string{"", "1,true\n"}, "column1:int64,column2:bool"},
		"a column that comes":   {nil, []string{"b\n1\n", "a,b\nx,0.25\n"}, "b:decimal(18,2),a:string"},
		"quotes":                {nil, []string{"\"a\"\"b\",\"c,\"\n\"x\"\"\",\"2026-11-30\"\n"}, `"a""b":string,"c,":date`},
		"trimmed":               {options{"trim": true}, []string{"a,b\n 1 ,\" 1\" \n,\n"}, "a:int64,b:string"},
		"comma, no number":      {options{"delimiter": ";", "decimal": ","}, []string{"a;b;c;d\n1,2,3;1,;1;-0,5\n"}, "a:string,b:string,c:int64,d:decimal(18,1)"},
		"long rows":             {options{"long_rows": "ignore"}, []string{"a\n1,x\n"}, "a:int64"},
		"short rows":            {options{"short_rows": "null"}, []string{"a,b\n1\n2,3\n"}, "a:int64,b:int64"},
	} {
		f, err := New(test.options)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := infer(f, test.files...); err != nil || got != test.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, test.want)
		}
	}
}

func TestInferRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		options options
		file    string
		offset  int64
		reason  string
	}{
		"a name twice":     {nil, "x,a,a\n1,2,3\n", 0, "is twice in the header"},
		"no name":          {nil, "a,\n1,2\n", 0, "has no name in the header"},
		"ragged":           {nil, "a,b\n1,2\n3\n4\n", 8, "the record has 1 field, and the header has 2"},
		"too many":         {nil, "a\n1,2\n", 2, "the record has 2 fields, and the header has 1"},
		"bare quote":       {nil, "a,b\n1,x\"\n", 7, "has a quote, and does not begin with one"},
		"ragged, numbered": {options{"header": false}, "1,2\n3\n", 4, "the record has 1 field"},
		"a long field":     {options{"max_field": 3}, "a\n123\n1234\n", 6, "begins a field of more than 3 bytes"},
		"a blank line":     {nil, "a\n1\n\n2\n", 4, "a blank line, which in a file of one column"},
		"blank, numbered":  {options{"header": false}, "1\n\n", 2, "a blank line"},
		"not UTF-8":        {nil, "a\xff,b\n1,2\n", 0, "the name is not UTF-8"},
		"any case":         {options{"case": "ignore"}, "\nid,Id\n", 1, "is twice in the header"},
	} {
		f, err := New(test.options)
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = infer(f, test.file)
		if e, ok := errors.AsType[*format.DataError](err); !ok || e.Offset != test.offset || !strings.Contains(e.Reason, test.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInferGoesOn looks at the records around those that are refused.
func TestInferGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		options options
		chunk   string
		start   int64
		want    string
	}{
		"ragged":          {nil, "a,b\n1,2\nx\n3,0.5\n", 8, "a:int64,b:decimal(18,1)"},
		"text after":      {nil, "a,b\n\"1\" ,x\n\"3\",\"a\"\"\"\n", 4, "a:int64,b:string"},
		"the first, bare": {options{"header": false}, "x\"y\",2\n3,4\n5,z\n", 0, "column1:int64,column2:string"},
	} {
		f, err := New(test.options)
		if err != nil {
			t.Fatal(name, err)
		}
		s := f.NewSampler()
		n, err := f.Head([]byte(test.chunk), true)
		if err = errors.Join(err, s.AddHead([]byte(test.chunk[:n]))); err != nil {
			t.Fatal(name, err)
		}
		err = s.Sample([]byte(test.chunk[n:]), int64(n))
		if e, ok := errors.AsType[*format.DataError](err); !ok || e.Start != test.start {
			t.Errorf("%s: %v", name, err)
		}
		if got := columnar.FormatColumns(formattest.Seen(s.Columns())); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestInferManyColumns(t *testing.T) {
	f, err := New(options{"case": "ignore"})
	if err != nil {
		t.Fatal(err)
	}
	s := f.NewSampler()
	head := func(from, n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",c%d", from+i)
		}
		return []byte(b.String()[1:] + "\n")
	}
	for range 3 {
		if err := s.AddHead(head(0, 30_000)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Columns()); n != 30_000 {
		t.Errorf("%d columns", n)
	}
	err = nil
	files := 1
	for ; err == nil && files < 100; files++ {
		err = s.AddHead(head(files*30_000, 30_000))
	}
	if e, ok := errors.AsType[*format.DataError](err); !ok || files == 100 || e.Reason != "is one more column than can be inferred" {
		t.Errorf("columns without end: %v", err)
	}
}

func TestFoldedIsEqualFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("aAkK\u212asS\u017f\u0130iI\u0131\u00df\u1e9e\u03c3\u03a3\u03c2\ufffd"))
		a := string(rapid.SliceOfN(letters, 0, 3).Draw(t, "a"))
		b := string(rapid.SliceOfN(letters, 0, 3).Draw(t, "b"))
		if (folded(a) == folded(b)) != strings.EqualFold(a, b) {
			t.Fatalf("%q is %q, and %q is %q", a, folded(a), b, folded(b))
		}
	})
}

// fieldOf gives a field at random, in quotes or without.
func fieldOf(t *rapid.T) string {
	text := rapid.SampledFrom([]string{"", "1", "-12", "0.5", "1.50", "007", "9007199254740993", "18446744073709551615", "true", "FALSE", "2026-11-30",
		"2026-11-30T01:02:03", "2026-11-30 01:02:03.5", "2026-11-30T01:02:03Z", "01:02:03", "1e5", "x", "a\"b", "a,b", "\r\n", "NULL"}).Draw(t, "text")
	if rapid.Bool().Draw(t, "quoted") || strings.ContainsAny(text, "\",\r\n") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// TestInferHoldsWhatItHasSeen reads files by the columns that were inferred of them, and compares what encoding/csv reads.
func TestInferHoldsWhatItHasSeen(t *testing.T) {
	f, err := New(options{"missing": "null"})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var files []string
		for range rapid.IntRange(1, 3).Draw(t, "files") {
			names := rapid.Permutation([]string{"a", "b", "c"}).Draw(t, "names")[:rapid.IntRange(1, 3).Draw(t, "columns")]
			var file strings.Builder
			file.WriteString(strings.Join(names, ",") + "\n")
			for range rapid.IntRange(0, 4).Draw(t, "rows") {
				var row []string
				for range names {
					row = append(row, fieldOf(t))
				}
				if line := strings.Join(row, ","); line != "" { // a blank line is no record
					file.WriteString(line + "\n")
				}
			}
			files = append(files, file.String())
		}
		line, err := infer(f, files...)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := columnar.ParseColumns(line)
		if err != nil {
			t.Fatal(err)
		}
		schema := &columnar.Schema{Columns: columns, Closed: true}
		for _, file := range files {
			b, err := formattest.Decode(f, schema, []byte(file))
			if err != nil {
				t.Fatalf("%q by %s: %v", file, line, err)
			}
			out, err := formattest.Encode(f, format.Target{Schema: schema}, b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(cells(t, file), cells(t, string(out)), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%q by %s: %s", file, line, diff)
			}
		}
	})
}

// cells gives the values of a file by row and column, as encoding/csv reads them, without the empty ones and without what a
// format.Guess does not tell apart.
func cells(t *rapid.T, file string) []map[string]string {
	r := stdcsv.NewReader(strings.NewReader(file))
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, text := range record {
			if text = strings.ToLower(text); strings.Count(text, ".") == 1 {
				text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
			}
			if len(text) > 10 && text[10] == 't' {
				text = text[:10] + " " + text[11:]
			}
			if text != "" {
				row[records[0][i]] = text
			}
		}
		all = append(all, row)
	}
	return all
}

// FuzzInfer reads a file by the columns that were inferred of it.
func FuzzInfer(f *testing.F) {
	dialects := []options{nil, {"header": false}, {"trim": true, "quote": "'"}, {"escape": `\`, "null": `\N`, "comment": "#"}, {"bare_quotes": "keep"},
		{"decimal": ",", "delimiter": ";"}, {"case": "ignore", "short_rows": "null", "long_rows": "ignore"}, {"skip": 1, "header": []any{"a", "b"}}}
	for i := range dialects {
		f.Add(uint8(i), []byte("a,b\n1,\"x\"\"\"\n0.5,\n"))
		f.Add(uint8(i), []byte("\xef\xbb\xbfA;' b';c\n1,5;\\N ;2026-11-30\n#x\r\n\n-0;;'\n"))
	}
	f.Fuzz(func(t *testing.T, dialect uint8, file []byte) {
		f, err := New(dialects[int(dialect)%len(dialects)])
		if err != nil {
			t.Fatal(err)
		}
		line, err := infer(f, string(file))
		if err != nil || line == "" {
			return
		}
		columns, err := columnar.ParseColumns(line)
		if err != nil {
			t.Fatal(err)
		}
		_, err = formattest.Decode(f, &columnar.Schema{Columns: columns, Closed: true}, file)
		if err != nil && !strings.Contains(err.Error(), "NUL") && !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%q by %s: %v", file, line, err)
		}
	})
}
