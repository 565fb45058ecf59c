package columnar

import "testing"

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
