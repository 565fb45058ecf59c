package csv

import (
	"errors"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
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
	return columnar.FormatColumns(s.Columns()), nil
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
