package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

func dataError(t testing.TB, err error) *format.DataError {
	t.Helper()
	var e *format.DataError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want a DataError", err)
	}
	return e
}

func TestDecode(t *testing.T) {
	for _, test := range []struct {
		name, schema, file string
		want               [][]string
	}{
		{"every type", "a:bool b:int64 c:float64 d:decimal(18,2) e:decimal(38,2) f:date g:timestamp h:string",
			`{"a":true,"b":1,"c":1.5,"d":2.5,"e":3.5,"f":"2026-11-30","g":"2026-11-30T01:02:03","h":"x"}` + "\n" +
				`{"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":null}` + "\n{}\n",
			[][]string{{`"true"`, `"1"`, `"1.5"`, `"2.50"`, `"3.50"`, `"2026-11-30"`, `"2026-11-30 01:02:03"`, `"x"`},
				{"NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"}, {"NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"}}},
		{"other order, more keys", "b:int64 a:string", `{"x":{"a":[1,{"b":null}],"c":"\u00e9"},"a":"s","y":[],"b":3,"z":-1.5e-3}` + "\n", [][]string{{`"3"`, `"s"`}}},
		{"white space, blank lines", "a:int64 b:int64", "\n  \t\r\n { \"a\" : 1 ,\t\"b\":2 } \r\n\r\n{\"a\":3,\"b\":4}", [][]string{{`"1"`, `"2"`}, {`"3"`, `"4"`}}},
		{"numbers stay text", "a:int64 b:decimal(38,0) c:decimal(38,2) d:decimal(20,0)", `{"a":9007199254740993,"b":99999999999999999999999999999999999999,"c":"-123456789012345678901234567890123456.78","d":1e19}` + "\n",
			[][]string{{`"9007199254740993"`, `"99999999999999999999999999999999999999"`, `"-123456789012345678901234567890123456.78"`, `"10000000000000000000"`}}},
		{"other types", "a:int8 b:uint64 c:float32 d:time e:timestamptz f:binary g:uuid h:json i:list<uint8> j:struct<a:int16,b:date>",
			`{"a":-128,"b":18446744073709551615,"c":16777217,"d":"23:59:59.5","e":"2026-11-30 00:00:00+01:00","f":"AP8=","g":"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6","h":{"x" : 1.50},"i":[1,null],"j":{"b":"2026-11-30","a":7}}` + "\n" +
				`{"a":null,"b":"18446744073709551615","c":"-inf","d":null,"e":null,"f":"","g":null,"h":null,"i":[],"j":{}}` + "\n",
			[][]string{{`"-128"`, `"18446744073709551615"`, `"16777216"`, `"23:59:59.500000"`, `"2026-11-29 23:00:00Z"`, `"AP8="`, `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`, strq(`{"x" : 1.50}`), `"[1,null]"`, strq(`{"a":7,"b":"2026-11-30"}`)},
				{"NULL", `"18446744073709551615"`, `"-Infinity"`, "NULL", "NULL", `""`, "NULL", "NULL", `"[]"`, strq(`{"a":null,"b":null}`)}}},
		{"integers at the edges", "a:int64 b:uint64 c:decimal(38,0)", `{"a":-9223372036854775808,"b":9223372036854775808,"c":18446744073709551616}` + "\n" + `{"a":"9223372036854775807","b":"0","c":-0}`,
			[][]string{{`"-9223372036854775808"`, `"9223372036854775808"`, `"18446744073709551616"`}, {`"9223372036854775807"`, `"0"`, `"0"`}}},
		{"last line without its end", "a:int64", "{\"a\":1}\r\n{\"a\":2}", [][]string{{`"1"`}, {`"2"`}}},
		{"escapes", "a:string b:string", `{"a":"\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00","b":"x\u0041\u0000\n"}` + "\n", [][]string{{`"\"\\/\b\f\n\r\té€😀"`, `"xA\x00\n"`}}},
		{"escapes at the end", "a:string b:string", `{"a":"\n","b":"\/"}` + "\n", [][]string{{`"\n"`, `"/"`}}},
		{"escaped key", "née:string b:string", `{"n\u00e9e":"x","\u0062":"y"}` + "\n", [][]string{{`"x"`, `"y"`}}},
		{"not UTF-8 under nobody's key", "a:string", "{\"b\":\"\xff\",\"a\":\"x\",\"c\":\"\\ud800\"}\n", [][]string{{`"x"`}}},
		{"twice under nobody's key", "a:string", `{"b":1,"b":2,"a":"x"}` + "\n", [][]string{{`"x"`}}},
		{"byte order mark", "a:string", "\xef\xbb\xbf{\"a\":\"x\"}\n", [][]string{{`"x"`}}},
		{"emoji", "a:string", `{"a":"👩‍👩‍👧"}` + "\n", [][]string{{`"👩\u200d👩\u200d👧"`}}},
		{"empty string", "a:string", `{"a":""}` + "\n", [][]string{{`""`}}},
		{"70 KB", "a:string", `{"a":"` + strings.Repeat("x", 70_000) + `"}` + "\n", [][]string{{`"` + strings.Repeat("x", 70_000) + `"`}}},
		{"nothing", "a:string", "", [][]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema := formattest.ParseSchema(test.schema)
			b, err := formattest.Decode(made(), schema, []byte(test.file))
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
		name, schema, line string
		offset             int64 // in the line
		column, value      string
		reason             string
	}{
		{"not an object", "a:int64", `[1]`, 0, "", "", "not a JSON object"},
		{"a number", "a:int64", `1`, 0, "", "", "not a JSON object"},
		{"point in an int64", "a:int64", `{"a":1.0}`, 5, "a", "1.0", "a point or an exponent"},
		{"exponent in an int64", "a:int64", `{"a":1e3}`, 5, "a", "1e3", "a point or an exponent"},
		{"beyond uint64", "a:uint64", `{"a":18446744073709551616}`, 5, "a", "18446744073709551616", "beyond the range"},
		{"below uint64", "a:uint64", `{"a":"-1"}`, 6, "a", "-1", "beyond the range"},
		{"39 digits", "a:decimal(38,0)", `{"a":123456789012345678901234567890123456789}`, 5, "a", "123456789012345678901234567890123456789", "more than 38 digits"},
		{"beyond int64", "a:int64", `{"a":9223372036854775808}`, 5, "a", "9223372036854775808", "beyond the range"},
		{"int32 in quotes", "a:int32", `{"a": "1"}`, 6, "a", `"1"`, "a column of type int32 takes: a number"},
		{"bool in quotes", "a:bool", `{"a":"true"}`, 5, "a", `"true"`, "takes: true or false"},
		{"bool of a number", "a:bool", `{"a":1}`, 5, "a", `1`, "takes: true or false"},
		{"True", "a:bool", `{"a":True}`, 5, "a", "", "T where a value should be"},
		{"string of a number", "a:string", `{"a":1}`, 5, "a", `1`, "takes: a string"},
		{"string of an object", "a:string", `{"a":{"b":[1]},"c":1}`, 5, "a", `{"b":[1]}`, "takes: a string"},
		{"broken object where a string is", "a:string", `{"a":{"b":[1}}`, 12, "a", ``, "a comma or ]"},
		{"number where a date is", "a:date", `{"a":20261130}`, 5, "a", `20261130`, "takes: a string"},
		{"no such day", "a:date", `{"a":"2026-02-30"}`, 6, "a", `2026-02-30`, "no calendar"},
		{"empty date", "a:date", `{"a":""}`, 6, "a", ``, "an empty string is not a date"},
		{"time zone", "a:timestamp", `{"a":"2026-02-03T00:00:00Z"}`, 6, "a", `2026-02-03T00:00:00Z`, "time zone"},
		{"decimal", "a:decimal(5,2)", `{"a":1.005}`, 5, "a", `1.005`, "more than 2 digits after"},
		{"decimal in quotes", "a:decimal(5,2)", `{"a":"1000"}`, 6, "a", `1000`, "more than 3 digits before"},
		{"decimal of text", "a:decimal(5,2)", `{"a":"x"}`, 6, "a", `x`, "is not a decimal(5,2)"},
		{"decimal of a bool", "a:decimal(5,2)", `{"a":false}`, 5, "a", `false`, "takes: a number, or a string of digits"},
		{"beyond float64", "a:float64", `{"a":1e400}`, 5, "a", `1e400`, "beyond the range"},
		{"NaN", "a:float64", `{"a":NaN}`, 5, "a", ``, "NaN and Infinity are no numbers"},
		{"Infinity", "a:float64", `{"a":-Infinity}`, 5, "a", ``, "NaN and Infinity are no numbers"},
		{"float64 in quotes", "a:float64", `{"a":"1.5"}`, 6, "a", `1.5`, "takes NaN, Infinity and -Infinity alone"},
		{"required, missing", "a:int64!", ` {"b":1}`, 1, "a", ``, "has no key"},
		{"required, null", "a:int64!", `{"a":null}`, 5, "a", ``, "is null"},
		{"twice", "a:int64 b:int64", `{"a":1,"b":2,"a":3}`, 13, "a", ``, "is twice"},
		{"twice, once null", "a:int64", `{"a":null,"\u0061":3}`, 10, "a", ``, "is twice"},
		{"something after", "a:int64", `{"a":1} {"a":2}`, 8, "", ``, "something follows"},
		{"a comma after", "a:int64", `{"a":1},`, 7, "", ``, "something follows"},
		{"cut off", "a:int64", `{"a":1`, 6, "", ``, "the line ends where a comma or }"},
		{"cut off in a string", "a:string", `{"a":"x`, 7, "a", ``, "the line ends within a string"},
		{"cut off in a key", "a:string", `{"a`, 3, "", ``, "the line ends within a string"},
		{"cut off after a backslash", "a:string", `{"a":"\`, 6, "a", ``, "a backslash that begins no escape"},
		{"cut off in an escape", "a:string", `{"a":"\u12`, 6, "a", ``, "a backslash that begins no escape"},
		{"cut off after a key", "a:string", `{"a"`, 4, "", ``, "the line ends where the colon"},
		{"cut off after a colon", "a:string", `{"a":`, 5, "a", ``, "the line ends where a value"},
		{"comma before the brace", "a:int64", `{"a":1,}`, 7, "", ``, "a key in quotes"},
		{"no quotes around a key", "a:int64", `{a:1}`, 1, "", ``, "a key in quotes"},
		{"single quotes", "a:string", `{"a":'x'}`, 5, "a", ``, "' where a value should be"},
		{"leading zero", "a:int64", `{"a":01}`, 6, "", ``, "1 where a comma or }"},
		{"plus", "a:int64", `{"a":+1}`, 5, "a", ``, "+ where a value"},
		{"bare minus", "a:int64", `{"a":-}`, 6, "a", ``, "} where a digit"},
		{"no digits after the point", "a:float64", `{"a":1.}`, 7, "a", ``, "} where a digit"},
		{"no digits in the exponent", "a:float64", `{"a":1e+}`, 8, "a", ``, "} where a digit"},
		{"half a literal", "a:bool", `{"a":tru}`, 5, "a", ``, "t where a value"},
		{"control character", "a:string", "{\"a\":\"x\ty\"}", 7, "a", ``, `must be written \u0009`},
		{"NUL", "a:string", "{\"a\":\x00}", 5, "a", ``, "byte 0x00"},
		{"no such escape", "a:string", `{"a":"xy\q"}`, 8, "a", ``, "begins no escape"},
		{"high surrogate alone", "a:string", `{"a":"x\ud800y"}`, 7, "a", `\ud800`, "half of a surrogate pair"},
		{"low surrogate alone", "a:string", `{"a":"\udc00"}`, 6, "a", `\udc00`, "half of a surrogate pair"},
		{"two high surrogates", "a:string", `{"a":"\ud800\ud800"}`, 6, "a", `\ud800`, "half of a surrogate pair"},
		{"surrogate, then another escape", "a:string", `{"a":"\n\ud800\n\n\n\n"}`, 8, "a", `\ud800`, "half of a surrogate pair"},
		{"not UTF-8", "a:string", "{\"a\":\"caf\xe9\"}", 9, "a", "caf\xe9", "is not UTF-8"},
		{"wrong under nobody's key", "a:string", `{"b":{"c":[1,2,}]}}`, 15, "", ``, "} where a value should be"},
		{"nested too deep", "a:string", `{"b":` + strings.Repeat("[", 10_001), 5 + 9_999, "", ``, "nested more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := "\xef\xbb\xbf{\"a\":null,\"b\":\"\\u00e9\"}\n\n"
			if strings.Contains(test.schema, "!") {
				before = "\xef\xbb\xbf{\"a\":1}\n\n"
			}
			_, err := formattest.Decode(made(), formattest.ParseSchema(test.schema), []byte(before+test.line+"\n"))
			if strings.Contains(test.schema, "b:") {
				before = "\xef\xbb\xbf\n"
				_, err = formattest.Decode(made(), formattest.ParseSchema(test.schema), []byte(before+test.line+"\n"))
			}
			e := dataError(t, err)
			start := int64(len(before) + len(test.line) - len(strings.TrimLeft(test.line, " ")))
			if got := e.Offset - int64(len(before)); got != test.offset || e.Start != start || e.Column != test.column || e.Value != test.value {
				t.Errorf("offset %d, start %d, column %q, value %q, want %d, %d, %q, %q: %v", got, e.Start, e.Column, e.Value,
					test.offset, start, test.column, test.value, e)
			}
			if !strings.Contains(e.Reason, test.reason) {
				t.Errorf("reason is %q, want %q", e.Reason, test.reason)
			}
		})
	}
}

func TestHead(t *testing.T) {
	for _, test := range []struct {
		start string
		whole bool
		size  int
		err   error
	}{
		{"{}\n", false, 0, nil}, {"\xef\xbb\xbf{}\n", false, 3, nil}, {"{}", false, 0, format.ErrShort}, {"{}", true, 0, nil}, {"", true, 0, nil},
	} {
		if size, err := made().Head([]byte(test.start), test.whole); size != test.size || err != test.err {
			t.Errorf("Head(%q, %v) = %d, %v", test.start, test.whole, size, err)
		}
	}
	_, err := made().Head([]byte("\xff\xfe{\x00}\x00"), true)
	if e := dataError(t, err); !strings.Contains(e.Error(), "UTF-16LE") {
		t.Error(e)
	}
}

func TestCopying(t *testing.T) {
	file := "\xef\xbb\xbf\n {\"a\":[1,{}]} \r\n\n{}\n{\"a\":\"\\ud800\"}"
	b, err := formattest.Decode(made(), nil, []byte(file))
	if err != nil || b.Rows != 3 || string(b.Data) != file[3:]+"\n" {
		t.Errorf("%d rows, %q, %v", b.Rows, b.Data, err)
	}
	for line, offset := range map[string]int64{"[]": 3, "{}{}": 5, "{\"a\":}": 8, "x": 3, "{": 4} {
		_, err := formattest.Decode(made(), nil, []byte("{}\n"+line+"\n"))
		if e := dataError(t, err); e.Offset != offset || e.Start != 3 {
			t.Errorf("%s: offset %d, start %d, want %d, 3", line, e.Offset, e.Start, offset)
		}
	}
}

func TestEncode(t *testing.T) {
	schema := formattest.ParseSchema("a\"\n:string b:int64 c:float64 d:decimal(5,2) e:timestamp f:bool g:date h:decimal(38,0)")
	b := formattest.Of(schema, []string{"x", "1", "1.5", "2.5", "2026-11-30 00:00:00.5", "true", "2026-11-30", "12345678901234567890123456789012345678"},
		[]string{"NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"}, []string{"\"\\/\b\f\n\r\t\x00\x1f\x7fé\u2028<", "-9007199254740993", "1e300", "-0.5", "0001-01-01 00:00:00", "false", "9999-12-31", "0"})
	got, err := formattest.Encode(made(), format.Target{Schema: schema}, b)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a\"\n":"x","b":1,"c":1.5,"d":2.50,"e":"2026-11-30 00:00:00.500000","f":true,"g":"2026-11-30","h":12345678901234567890123456789012345678}` + "\n" +
		`{"a\"\n":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":null}` + "\n" +
		`{"a\"\n":"\"\\/\b\f\n\r\t\u0000\u001f` + "\x7fé\u2028<" + `","b":-9007199254740993,"c":1e+300,"d":-0.50,"e":"0001-01-01 00:00:00","f":false,"g":"9999-12-31","h":0}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	schema := formattest.ParseSchema("a:string")
	_, err := formattest.Encode(made(), format.Target{Schema: schema}, formattest.Of(schema, []string{"x"}, []string{"\xff"}))
	if e := dataError(t, err); !strings.Contains(e.Error(), "column a: ") || !strings.Contains(e.Error(), "row 2") {
		t.Error(e)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		b := &columnar.Batch{Rows: 1, Columns: []columnar.Vector{{Valid: []byte{1}, F64: []float64{v}}}}
		if _, err := formattest.Encode(made(), format.Target{Schema: formattest.ParseSchema("a:float64")}, b); err == nil || !strings.Contains(err.Error(), "not finite") {
			t.Errorf("%v: %v", v, err)
		}
	}
	if _, err := made().NewEncoder(&bytes.Buffer{}, format.Target{Head: []byte("id,name\n")}); err == nil {
		t.Error("a CSV header is written")
	}
	if _, err := Kind().New(map[string]any{"x": 1}); err == nil || !strings.Contains(err.Error(), "is unknown") {
		t.Error(err)
	}
}

// What is an object for encoding/json is one for us, and strings are the same.
func TestAgreesWithEncodingJSON(t *testing.T) {
	pieces := []string{"{", "}", "[", "]", ":", ",", `"`, `"x"`, `"x":`, `"y":`, `"\u00e9"`, `\`, "1", "-0.5e+3", "0", "true", "null", " ", "é", "\t", `"x":"a\nb"`, `{"x":"`, `"}`, `\ud83d\ude00`}
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		compare(t, body)
		compare(t, "{"+body+"}")
	})
	for _, line := range []string{`{"x":"a\"b\u00e9","y":{"z":[1,2.5e-3,null,true]}}`, `{"x":null} `, `{"x":"\ud83d\ude00","\u0078":"\ud800"}`} {
		compare(t, line)
	}
}

func compare(t interface{ Fatalf(string, ...any) }, line string) {
	if blank([]byte(line)) {
		return
	}
	valid := json.Valid([]byte(line)) && strings.TrimLeft(line, " \t\r")[0] == '{'
	var out columnar.Batch
	d, _ := made().NewDecoder(format.Reading{})
	err := d.Decode([]byte(line+"\n"), 0, &out)
	if (err == nil) != valid {
		t.Fatalf("%q: %v, encoding/json says %v", line, err, valid)
	}
	schema := &columnar.Schema{Columns: []columnar.Column{{Name: "x", Type: columnar.Type{Kind: columnar.String}}}}
	d, _ = made().NewDecoder(format.Reading{Schema: schema, Head: nil})
	chunk := []byte(line + "\n")
	if d.Decode(chunk, 0, &out) != nil {
		return
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(line), &members); err != nil || out.Rows != 1 {
		t.Fatalf("%q: %d rows, encoding/json has %v", line, out.Rows, err)
	}
	want, isText := members["x"].(string)
	got := ""
	if out.Columns[0].Nulls == 0 {
		got = string(out.Bytes(out.Columns[0].Str[0]))
	}
	if got != want || isText != (out.Columns[0].Nulls == 0) {
		t.Fatalf("%q: x is %q, encoding/json has %q", line, got, want)
	}
}

func TestEachObject(t *testing.T) {
	chunk := "\n{\"a\":1,\"\\u0062\":[{}]} \r\n {}\n"
	var got []string
	err := made().eachObject([]byte(chunk), 0, func(s *jsontext.Scanner) fault {
		got = append(got, "object")
		return s.Each(func(e jsontext.Entry) fault {
			got = append(got, string(e.Key)+" "+string(s.B[e.From:e.To]))
			return nil
		})
	})
	if diff := cmp.Diff([]string{"object", "a 1", "b [{}]", "object"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	err = made().eachObject([]byte("{}\n{\"a\":1,}\n"), 100, func(s *jsontext.Scanner) fault {
		return s.Each(func(jsontext.Entry) fault { return nil })
	})
	if e := dataError(t, err); e.Offset != 110 || e.Start != 103 {
		t.Error(e.Offset, e.Start, e)
	}
}

func BenchmarkEncode(b *testing.B) {
	schema := formattest.ParseSchema("id:int64 price:decimal(18,2) day:date at:timestamp score:float64 name:string note:string")
	batch := formattest.Of(schema, slices.Repeat([][]string{{"1234567", "1999.95", "2026-11-30", "2026-11-30 12:34:56.123456", "0.123456", "Some Name", "a \"note\", quoted"}}, 10_000)...)
	e, err := made().NewEncoder(discard{}, format.Target{Schema: schema})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(1_470_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Encode(batch); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	schema := formattest.ParseSchema("id:int64 price:decimal(18,2) day:date at:timestamp score:float64 name:string note:string")
	d, err := made().NewDecoder(format.Reading{Schema: schema, Head: nil})
	if err != nil {
		b.Fatal(err)
	}
	line := `{"id":1234567,"price":1999.95,"day":"2026-11-30","at":"2026-11-30 12:34:56.123456","score":0.123456,"name":"Some Name","note":"a \"note\", quoted"}` + "\n"
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

func made() Format {
	f, err := New(nil)
	if err != nil {
		panic(err)
	}
	return f
}
