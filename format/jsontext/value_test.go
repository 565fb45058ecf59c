package jsontext

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/columnar"
)

func columnsOf(t testing.TB, text string) []columnar.Column {
	t.Helper()
	columns, err := columnar.ParseColumns(text)
	if err != nil {
		t.Fatal(err)
	}
	return columns
}

// back reads a value that stands in the middle of other bytes, and gives what is written of it.
func back(t testing.TB, columns []columnar.Column, text string, p Policy) (string, error) {
	t.Helper()
	b := &columnar.Batch{Data: []byte("before," + text + ",after")}
	b.Reset(columns)
	if err := NewDecoder(columns, p).Value(b, 0, 7, 7+len(text)); err != nil {
		return "", err
	}
	b.Rows = 1
	if !strings.HasPrefix(string(b.Data), "before,") || !strings.HasPrefix(string(b.Data[7+len(text):]), ",after") {
		t.Errorf("what is around %s has changed: %q", text, b.Data)
	}
	out, err := (&Encoder{NonFinite: "string"}).Append(nil, b, columnar.NewCursor(&b.Columns[0], columns[0].Type))
	return string(out), err
}

func TestValueBack(t *testing.T) {
	for _, test := range []struct{ kind, text, want string }{
		{"bool", "true", "true"}, {"bool", "false", "false"}, {"bool", " null ", "null"},
		{"int8", "-128", "-128"}, {"int16", "32767", "32767"}, {"int32", "-2147483648", "-2147483648"},
		{"int64", "9007199254740993", "9007199254740993"}, {"int64", `"-9223372036854775808"`, "-9223372036854775808"},
		{"uint8", "255", "255"}, {"uint16", "65535", "65535"}, {"uint32", "4294967295", "4294967295"},
		{"uint64", "18446744073709551615", "18446744073709551615"}, {"uint64", `"18446744073709551615"`, "18446744073709551615"},
		{"float32", "0.1", "0.1"}, {"float64", "0.1", "0.1"}, {"float64", "-0", "-0.0"}, {"float64", "5e-324", "5e-324"},
		{"float64", `"nan"`, `"NaN"`}, {"float32", `"-Inf"`, `"-Infinity"`}, {"float64", `"\u0049nfinity"`, `"Infinity"`},
		{"decimal(38,0)", "99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
		{"decimal(5,2)", `"1.5"`, "1.50"}, {"decimal(5,2)", "1e2", "100.00"},
		{"date", `"2026-11-30"`, `"2026-11-30"`}, {"time", `"01:02:03"`, `"01:02:03"`}, {"timestamp", `"2026-11-30T01:02:03.5"`, `"2026-11-30 01:02:03.500000"`},
		{"timestamptz", `"2026-11-30T01:02:03+01:00"`, `"2026-11-30 00:02:03Z"`},
		{"string", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, `"\"\\/\b\f\n\r\té😀"`}, {"string", `""`, `""`}, {"string", `"null"`, `"null"`},
		{"binary", `"AP8="`, `"AP8="`}, {"binary", `""`, `""`}, {"uuid", `"F81D4FAE-7dec-11d0-a765-00a0c91e6bf6"`, `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`},
		{"json", ` {"a" : 1.0,"a":[1e400, "\ud800\u0041"]} `, `{"a" : 1.0,"a":[1e400, "\ud800\u0041"]}`}, {"json", "null", "null"}, {"json", "[null,\r\n1]", "[null,  1]"},
		{"list<int64>", " [ 1 , null,3 ] ", "[1,null,3]"}, {"list<int64>", "[]", "[]"}, {"list<int64>", "null", "null"},
		{"list<list<string>>", `[["\n","b"],[],null,["c"]]`, `[["\n","b"],[],null,["c"]]`},
		{"struct<a:int64,b:string>", `{"b":"x","a":1}`, `{"a":1,"b":"x"}`}, {"struct<a:int64,b:string>", `{"c":[{"b":1}]}`, `{"a":null,"b":null}`},
		{"struct<a:list<struct<b:int64!>>>", `{"a":[{"b":1},null,{"b":2}]}`, `{"a":[{"b":1},null,{"b":2}]}`},
		{`struct<"é""":json>`, `{"\u00e9\"":{}}`, `{"é\"":{}}`},
	} {
		got, err := back(t, columnsOf(t, "v:"+test.kind), test.text, Policy{})
		if err != nil || got != test.want {
			t.Errorf("%s %s: %s, %v, want %s", test.kind, test.text, got, err, test.want)
		}
	}
}

func TestWalk(t *testing.T) {
	s := Lines([]byte(`{"a":1.0,"\u00e9\ud800":"x\ny","c":[null,true,{}]}` + "\n"))
	var got []string
	var scratch []byte
	err := s.Each(func(e Entry) fault {
		raw := s.B[e.From:e.To]
		got = append(got, string(e.Key)+" "+string(raw))
		if e.Kind == String {
			var text []byte
			scratch, text = Characters(raw, scratch)
			got = append(got, string(text))
		}
		if e.Kind == Array {
			inner := Scanner{B: s.B, At: e.From}
			return inner.Each(func(e Entry) fault {
				got = append(got, string(s.B[e.From:e.To]))
				return nil
			})
		}
		return nil
	})
	want := []string{"a 1.0", "é\ufffd " + `"x\ny"`, "x\ny", `c [null,true,{}]`, "null", "true", "{}"}
	if err != nil || s.Space() != '\n' {
		t.Error(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
