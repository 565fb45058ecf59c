package jsontext

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

func TestValueRefuses(t *testing.T) {
	for _, test := range []struct {
		kind, text     string
		offset         int64 // in the text
		column, value  string
		reason, advice string
	}{
		{"string", "1", 0, "v", "1", "takes: a string", "declare the number's type"},
		{"string", "[1]", 0, "v", "[1]", "takes: a string", "declare the column as json"},
		{"string", "[1", 2, "v", "", "the text ends where a comma or ]", ""},
		{"json", `{"a":1`, 6, "v", "", "the text ends where a comma or }", ""},
		{"json", `{"a"}`, 4, "v", "", "} where the colon", ""},
		{"json", `{"a`, 3, "v", "", "the text ends within a string", ""},
		{"json", "\"a\nb\"", 2, "v", "", "control character 0x0a", ""},
		{"json", "\"\\u12", 1, "v", "", "begins no escape", ""},
		{"json", "\"\\", 1, "v", "", "begins no escape", ""},
		{"json", "", 0, "v", "", "the text ends where a value", ""},
		{"json", "1 2", 2, "v", "", "2 where the end of the text", ""},
		{"json", "1\x00", 1, "v", "", "byte 0x00 where the end of the text", ""},
		{"json", "\"\xff\"", 1, "v", "\"\xff\"", "is not UTF-8", "csv: {invalid_utf8: replace}"},
		{"json", strings.Repeat("[", 10_001), 10_000, "v", "", "nested more than 10000 deep", ""},
		{"uint8", "true", 0, "v", "true", "takes: a number", "mend the source"},
		{"int64", "true", 0, "v", "true", "takes: a number, or a string of digits", ""},
		{"float64", "NaN", 0, "v", "", "NaN and Infinity are no numbers", `write them in quotes`},
		{"float64", `"1"`, 1, "v", "1", "NaN, Infinity and -Infinity alone", "declare a decimal"},
		{"float32", "true", 0, "v", "true", "takes: a number", ""},
		{"binary", `"\u0041P8"`, 1, "v", "AP8", "is not base64", "csv: {binary: hex}"},
		{"binary", "\"\xff\"", 1, "v", "\xff", "is not UTF-8", ""},
		{"string", `"a\ud800"`, 2, "v", `\ud800`, "half of a surrogate pair", "csv: {surrogates: replace}"},
		{"list<int8>", "[1,200]", 3, "v.element", "200", "beyond the range", ""},
		{"list<int8!>", "[1,null]", 3, "v.element", "", "is null", "without !"},
		{"list<int8>", "{}", 0, "v", "{}", "takes: an array", ""},
		{"list<int8>", "[1 2]", 3, "v", "", "2 where a comma or ]", ""},
		{"struct<a:int8>", "[]", 0, "v", "[]", "takes: an object", ""},
		{"struct<a:int8>", `{"a":1,"a":2}`, 7, "v.a", "", "is twice", "csv: {duplicates: last}"},
		{"struct<a:int8>", `{"b":1}`, 1, "v", "b", "is a key that is not declared", "csv: {extra: ignore}"},
		{"struct<a:int8>", `{"\ud800":1}`, 2, "v", `\ud800`, "half of a surrogate pair", ""},
		{"struct<a:int8>", "{\"\xff\":1}", 2, "v", "\xff", "is not UTF-8", ""},
		{"struct<a:int8>", `{}`, 0, "v.a", "", "has no key in this object", `csv: {missing: "null"}`},
		{"struct<a:int8!>", `{}`, 0, "v.a", "", "and is required", "without !"},
		{"struct<a:int8>", `{"a"1}`, 4, "v", "", "1 where the colon", ""},
		{"struct<a:list<struct<b:date>>>", `{"a":[{"b":null},{"b":"x"}]}`, 23, "v.a.element.b", "x", "is not a date", ""},
		{"struct<a:struct<b:date>>", `{"a":{"b":""}}`, 11, "v.a.b", "", "an empty string is not a date", ""},
	} {
		columns := columnsOf(t, "v:"+test.kind)
		b := &columnar.Batch{Data: []byte("before" + test.text)}
		b.Reset(columns)
		b.Columns[0].Null()
		p := Policy{Extra: ExtraFail, Missing: MissingFail, Format: "csv", Options: options}
		e := NewDecoder(columns, p).Value(b, 0, 6, len(b.Data))
		if e == nil {
			t.Errorf("%s %q is taken", test.kind, test.text)
			continue
		}
		if e.Offset != test.offset+6 || e.Column != test.column || e.Value != test.value || !strings.Contains(e.Reason, test.reason) || !strings.Contains(e.Advice, test.advice) {
			t.Errorf("%s %.50q: offset %d, column %s, value %q, want %d, %s, %q: %s; %s", test.kind, test.text, e.Offset-6, e.Column, e.Value, test.offset, test.column,
				test.value, e.Reason, e.Advice)
		}
		if b.Columns[0].Rows() != 1 {
			t.Errorf("%s %.50q: %d rows are left", test.kind, test.text, b.Columns[0].Rows())
		}
	}
	for _, p := range []Policy{{}, {Format: "csv", Options: []string{"extra"}}} {
		if _, err := back(t, columnsOf(t, "v:string"), `"\ud800"`, p); err == nil || strings.Contains(err.Error(), "{") {
			t.Errorf("advice about an option that there is not: %v", err)
		}
	}
}

func TestPolicies(t *testing.T) {
	twice := `{"a":1,"b":"x","a":2,"b":"y","c":0,"c":1}`
	kind := "struct<a:int64,b:string>"
	for _, test := range []struct {
		kind, text string
		p          Policy
		want       string // "" where it is refused
	}{
		{kind, twice, Policy{}, ""},
		{kind, twice, Policy{Duplicates: DuplicatesFirst}, `{"a":1,"b":"x"}`},
		{kind, twice, Policy{Duplicates: DuplicatesLast}, `{"a":2,"b":"y"}`},
		{kind, twice, Policy{Duplicates: DuplicatesLast, Extra: ExtraFail}, ""},
		{kind, twice, Policy{Duplicates: DuplicatesLast, Closed: true}, ""},
		{kind, twice, Policy{Duplicates: DuplicatesLast, Closed: true, Extra: ExtraAuto}, ""},
		{kind, twice, Policy{Duplicates: DuplicatesLast, Closed: true, Extra: ExtraIgnore}, `{"a":2,"b":"y"}`},
		{kind, `{"a":1,"a":"x"}`, Policy{Duplicates: DuplicatesFirst}, `{"a":1,"b":null}`},
		{kind, `{"a":"x","a":1}`, Policy{Duplicates: DuplicatesLast}, ""},
		{kind, `{"a":1,"a":null}`, Policy{Duplicates: DuplicatesLast}, `{"a":null,"b":null}`},
		{"struct<a:list<list<string>>>", `{"a":[["x"],[]],"a":[null,["y"]]}`, Policy{Duplicates: DuplicatesLast}, `{"a":[null,["y"]]}`},
		{kind, `{"a":1}`, Policy{Missing: MissingFail}, ""},
		{kind, `{"a":1,"b":null}`, Policy{Missing: MissingFail}, `{"a":1,"b":null}`},
		{"string", `"\ud800\n\ude00\ud800\u0041"`, Policy{Surrogates: TextReplace}, `"` + "\ufffd\\n\ufffd\ufffdA" + `"`},
		{"string", "\"\xff\\n\xed\xa0\x80é\"", Policy{InvalidUTF8: TextReplace}, `"` + "\ufffd\\n\ufffd\ufffd\ufffdé" + `"`},
		{"string", "\"\xff\\ud800\"", Policy{InvalidUTF8: TextReplace}, ""},
		{"string", "\"\xff\\ud800\"", Policy{Surrogates: TextReplace}, ""},
		{"json", "{\"a\":\"\xff\\ud800\"}", Policy{InvalidUTF8: TextReplace}, `{"a":"` + "\ufffd" + `\ud800"}`},
		{"list<string>", "[\"a\\n\",\"\xff\",\"\xff\xff\",\"b\\t\"]", Policy{InvalidUTF8: TextReplace}, "[\"a\\n\",\"\ufffd\",\"\ufffd\ufffd\",\"b\\t\"]"},
		{"struct<\"\ufffd\":int8>", "{\"\xff\":1}", Policy{InvalidUTF8: TextReplace}, "{\"\ufffd\":1}"},
		{"struct<\"\ufffd\":int8>", `{"\ud800":1}`, Policy{Surrogates: TextReplace}, "{\"\ufffd\":1}"},
		{"binary", `"00fF"`, Policy{Binary: format.Hex}, `"AP8="`},
		{"binary", `"00f"`, Policy{Binary: format.Hex}, ""},
	} {
		got, err := back(t, columnsOf(t, "v:"+test.kind), test.text, test.p)
		if err != nil && test.want != "" || got != test.want {
			t.Errorf("%s %q, %+v: %q, %v, want %q", test.kind, test.text, test.p, got, err, test.want)
		}
	}
}

func TestReadPolicy(t *testing.T) {
	o := format.ReadOptions("ndjson", map[string]any{"extra": "fail", "missing": "fail", "duplicates": "first", "surrogates": "replace", "invalid_utf8": "replace", "binary": "hex"})
	want := Policy{Extra: ExtraFail, Missing: MissingFail, Duplicates: DuplicatesFirst, Surrogates: TextReplace, InvalidUTF8: TextReplace, Binary: format.Hex, Format: "ndjson", Options: options}
	if p := ReadPolicy("ndjson", o); !reflect.DeepEqual(p, want) || o.Err() != nil {
		t.Errorf("%+v, %v", p, o.Err())
	}
	o = format.ReadOptions("ndjson", map[string]any{"duplicates": "none"})
	if ReadPolicy("ndjson", o); o.Err() == nil {
		t.Error("duplicates: none is an option")
	}
}

// one is a batch of one value, which Parse and texts cannot give.
func one(kind string, v columnar.Vector, data string) (*columnar.Batch, *columnar.Cursor) {
	t, err := columnar.ParseType(kind)
	if err != nil {
		panic(err)
	}
	v.Valid = []byte{1}
	b := &columnar.Batch{Rows: 1, Columns: []columnar.Vector{v}, Data: []byte(data)}
	return b, columnar.NewCursor(&b.Columns[0], t)
}

func text1(kind, s string) (*columnar.Batch, *columnar.Cursor) {
	return one(kind, columnar.Vector{Str: []columnar.Span{{Off: 1, Len: uint32(len(s))}}}, "<"+s+">")
}

func TestEncodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for _, test := range []struct {
		kind, text     string
		depth          int
		reason, advice string
	}{
		{"string", "caf\xe9", 0, "is not UTF-8", "declare the column as binary"},
		{"json", "caf\xe9", 0, "is in a column of type json, and is not JSON: c where a value should be", "declare the column as string"},
		{"json", "\"\xe9\"", 0, "is in a column of type json, and is not UTF-8", "declare the column as binary"},
		{"json", "", 0, "is not JSON: the text ends where a value", ""},
		{"json", "1}", 0, "} where the end of the text", ""},
		{"json", "{},\"a\":{}", 0, ", where the end of the text", ""},
		{"json", "1\x002", 0, "byte 0x00 where the end of the text", ""},
		{"json", deep, 1, "values are nested more than 10000 deep", ""},
	} {
		b, c := text1(test.kind, test.text)
		_, err := (&Encoder{Depth: test.depth}).Append(nil, b, c)
		e, ok := err.(*format.DataError)
		if !ok || e.Offset != format.Unplaced || e.Value != test.text || e.Column != "" || !strings.Contains(e.Reason, test.reason) || !strings.Contains(e.Advice, test.advice) {
			t.Errorf("%s %.50q: %v", test.kind, test.text, err)
		}
		if string(b.Data) != "<"+test.text+">" {
			t.Errorf("%s %.50q: the batch has changed", test.kind, test.text)
		}
	}
	b, c := text1("json", deep)
	if out, err := (&Encoder{}).Append(nil, b, c); err != nil || string(out) != deep {
		t.Error(err)
	}
	b, c = one("date", columnar.Vector{I32: []int32{columnar.MaxDate + 1}}, "")
	if _, err := (&Encoder{}).Append(nil, b, c); err == nil || !strings.Contains(err.Error(), "outside the years") {
		t.Error(err)
	}
	nested := columnar.Vector{Len: []uint32{1}, Kids: []columnar.Vector{{Valid: []byte{1}, Kids: []columnar.Vector{{Valid: []byte{1}, Str: []columnar.Span{{Len: 1}}}}}}}
	b, c = one("list<struct<a:string>>", nested, "\xff")
	_, err := (&Encoder{}).Append(nil, b, c)
	if e, ok := Within(err, "v").(*format.DataError); !ok || e.Column != "v.element.a" {
		t.Error(err)
	}
}

func TestNonFinite(t *testing.T) {
	for _, test := range []struct {
		v      float64
		policy format.NonFinite
		want   string
		nulled int64
	}{
		{math.NaN(), "string", `"NaN"`, 0}, {math.Inf(1), "string", `"Infinity"`, 0}, {math.Inf(-1), "string", `"-Infinity"`, 0},
		{math.NaN(), "null", "null", 1}, {math.Inf(1), "null", "null", 1}, {1.5, "null", "1.5", 0},
	} {
		for _, kind := range []string{"float32", "float64"} {
			b, c := one(kind, columnar.Vector{F32: []float32{float32(test.v)}, F64: []float64{test.v}}, "")
			e := &Encoder{NonFinite: test.policy}
			if out, err := e.Append(nil, b, c); err != nil || string(out) != test.want || e.Nulled != test.nulled {
				t.Errorf("%s %v, %s: %s, %d, %v", kind, test.v, test.policy, out, e.Nulled, err)
			}
			b, c = one(kind, columnar.Vector{F32: []float32{float32(test.v)}, F64: []float64{test.v}}, "")
			if _, err := (&Encoder{Format: "ndjson"}).Append(nil, b, c); test.want != "1.5" && (err == nil || !strings.Contains(err.Error(), "ndjson: {nonfinite: string}")) {
				t.Error(err)
			}
		}
	}
}

func TestCheckNames(t *testing.T) {
	for text, ok := range map[string]bool{"a:int8,é:list<struct<b:int8>>": true, "\"\xff\":int8": false, "a:list<struct<\"\xff\":int8>>": false} {
		if err := CheckNames(columnsOf(t, text)); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
