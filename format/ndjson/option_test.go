package ndjson

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		options, schema, line string
		want                  []string // nil where it is refused
		reason, advice        string
	}{
		{"", "a:int64", `{"b":1}`, []string{"NULL"}, "", ""},
		{"extra=ignore", "a:int64", `{"b":1}`, []string{"NULL"}, "", ""},
		{"extra=fail", "a:int64", `{"b":1}`, nil, `"b" is a key that is not declared`, "ndjson: {extra: ignore}"},
		{"extra=fail", "a:struct<b:int64>", `{"a":{"c":1}}`, nil, `column a: "c" is a key`, "ndjson: {extra: ignore}"},
		{"extra=fail", "a:json", `{"a":{"c":1}}`, []string{strq(`{"c":1}`)}, "", ""},
		{"missing=null", "a:int64", `{}`, []string{"NULL"}, "", ""},
		{"missing=fail", "a:int64", `{}`, nil, "has no key in this object", `ndjson: {missing: "null"}`},
		{"missing=fail", "a:int64", `{"a":null}`, []string{"NULL"}, "", ""},
		{"missing=fail", "a:struct<b:int64>", `{"a":{}}`, nil, "column a.b: has no key", `ndjson: {missing: "null"}`},
		{"", "a:int64!", `{}`, nil, "column a: has no key in this object, and is required", "without !"},
		{"", "a:int64", `{"a":1,"\u0061":2}`, nil, "column a: is twice", "ndjson: {duplicates: last}"},
		{"duplicates=first", "a:int64 b:string", `{"a":1,"\u0061":2,"b":"x"}`, []string{`"1"`, `"x"`}, "", ""},
		{"duplicates=last", "a:int64 b:string", `{"a":1,"a":2,"b":"x","a":null,"b":"y"}`, []string{"NULL", `"y"`}, "", ""},
		{"duplicates=last", "a:int64! b:string", `{"a":1,"a":null}`, nil, "column a: is null", ""},
		{"duplicates=fail", "a:int64", `{"b":1,"b":2}`, []string{"NULL"}, "", ""},
		{"", "a:string", `{"a":"\ude00"}`, nil, "half of a surrogate pair", "ndjson: {surrogates: replace}"},
		{"surrogates=replace", "a:string", `{"a":"x\ude00y"}`, []string{`"x` + "\ufffd" + `y"`}, "", ""},
		{"", "a:string", "{\"a\":\"caf\xe9\"}", nil, "is not UTF-8", "ndjson: {invalid_utf8: replace}"},
		{"invalid_utf8=replace", "a:string b:string", "{\"a\":\"caf\xe9\xe9\",\"b\":\"x\\n\"}", []string{`"caf` + "\ufffd\ufffd" + `"`, `"x\n"`}, "", ""},
		{"", "a:binary", `{"a":"00ff"}`, []string{`"00ff"`}, "", ""},
		{"binary=hex", "a:binary", `{"a":"00FF"}`, []string{`"AP8="`}, "", ""},
		{"binary=hex", "a:binary", `{"a":"AP8="}`, nil, "is not hexadecimal", "ndjson: {binary: base64}"},
		{"", "a:string", `{"a":1}`, nil, "takes: a string", "json, which takes every value"},
		{"", "a:float64", `{"a":NaN}`, nil, "not JSON: NaN and Infinity", `"NaN"`},
		{"", "a:string", `{"a":"x"}{"a":"y"}`, nil, "something follows the object", "jq -c ."},
		{"", "a:string", `[{"a":"x"}]`, nil, "the line is not a JSON object", "jq -c '.[]'"},
		{"", "a:string", `{"a":`, nil, "the line ends where a value should be", "jq -c ."},
		{"", "a:string", "\xef\xbb\xbf{}", nil, "byte order mark", "files that are joined"},
	} {
		schema := formattest.ParseSchema(test.schema)
		b, err := formattest.Decode(with(t, test.options), schema, []byte("\n"+test.line+"\n"))
		if test.want == nil {
			e := dataError(t, err)
			if !strings.Contains(e.Error(), test.reason) || !strings.Contains(e.Advice, test.advice) {
				t.Errorf("%s, %s: %v", test.options, test.line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %s: %v", test.options, test.line, err)
			continue
		}
		if diff := cmp.Diff([][]string{test.want}, formattest.Rows(schema, b)); diff != "" {
			t.Errorf("%s, %s: %s", test.options, test.line, diff)
		}
	}
}

// A schema that has all that there is refuses more.
func TestClosedSchema(t *testing.T) {
	for options, taken := range map[string]bool{"": false, "extra=auto": false, "extra=fail": false, "extra=ignore": true} {
		schema := formattest.ParseSchema("a:int64")
		schema.Closed = true
		_, err := formattest.Decode(with(t, options), schema, []byte(`{"a":1,"b":2}`))
		if (err == nil) != taken || err != nil && !strings.Contains(dataError(t, err).Advice, "ndjson: {extra: ignore}") {
			t.Errorf("%s: %v", options, err)
		}
	}
}

func TestNew(t *testing.T) {
	for options, want := range map[string]string{
		"extra=none": "can be auto, ignore, fail", "duplicates=all": "can be fail, first, last", "max_record=257MiB": "must be from 1 to 268435456",
		"max_record=0": "must be from 1", "max_records=1": "did you mean max_record?", "nonfinite=x": "can be fail, string, null",
	} {
		given := map[string]any{}
		name, value, _ := strings.Cut(options, "=")
		given[name] = value
		if _, err := Kind().New(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
	f := with(t, "max_record=64MiB compression=gzip")
	if f.limit != 64<<20 || f.Ext() != "ndjson.gz" || f.Compression() != format.Gzip {
		t.Errorf("%+v", f)
	}
}
