package columnar

import (
	"strings"
	"testing"
)

func TestParseType(t *testing.T) {
	for text, want := range map[string]string{
		"bool": "bool", "int64": "int64", " INT64 ": "int64", "float64": "float64", "date": "date", "timestamp": "timestamp", "string": "string",
		"decimal(18,2)": "decimal(18,2)", "Decimal( 38 , 38 )": "decimal(38,38)", "decimal(5)": "decimal(5,0)",
	} {
		got, err := ParseType(text)
		if err != nil || got.String() != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for text, reason := range map[string]string{
		"": "unknown type", "int": "unknown type", "int65": "the types are", "string(5)": "follows it", "decimal": "needs its digits",
		"decimal(39,0)": "1 to 38 digits", "decimal(5,6)": "1 to 38 digits", "decimal(0,0)": "1 to 38 digits", "decimal(5,-1)": "1 to 38 digits",
		"decimal(5,2": "write it as", "decimal(x,2)": "write it as",
	} {
		if got, err := ParseType(text); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %s, %v, want it refused: %s", text, got, err, reason)
		}
	}
}

func TestVectorKeepsNothingOfARefusedValue(t *testing.T) {
	for _, typ := range []Type{{Kind: Bool}, {Kind: Int64}, {Kind: Float64}, {Kind: Date}, {Kind: Timestamp}, {Kind: Decimal, Precision: 5}, {Kind: Decimal, Precision: 30}} {
		var v Vector
		if err := v.Parse(typ, []byte("x")); err == nil {
			t.Errorf("%s: x is a value", typ)
		}
		if len(v.Valid)+len(v.Bool)+len(v.I64)+len(v.F64)+len(v.I32)+len(v.I128) > 0 {
			t.Errorf("%s: %+v", typ, v)
		}
	}
	var v Vector
	if err := v.Parse(Type{Kind: String}, nil); err == nil {
		t.Error("a string is parsed")
	}
	if _, err := v.Append(nil, Type{Kind: String}, 0); err == nil {
		t.Error("a string is appended")
	}
}

func TestBatchResetKeepsMemory(t *testing.T) {
	var b Batch
	b.Reset(make([]Column, 2))
	b.Columns[0].Null()
	b.Columns[1].AddSpan(Span{Off: 1, Len: 2})
	b.Rows, b.Data = 1, []byte("xab")
	if string(b.Bytes(b.Columns[1].Str[0])) != "ab" || b.Columns[0].Nulls != 1 {
		t.Errorf("%+v", b)
	}
	b.Reset(make([]Column, 1))
	if b.Rows != 0 || len(b.Columns) != 1 || len(b.Columns[0].Valid) != 0 || cap(b.Columns[0].Valid) == 0 || b.Columns[0].Nulls != 0 {
		t.Errorf("%+v", b)
	}
}
