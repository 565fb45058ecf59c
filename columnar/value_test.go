package columnar

import (
	"errors"
	"strings"
	"testing"
)

func TestVectorKeepsNothingOfARefusedValue(t *testing.T) {
	types := []Type{{Kind: Decimal, Precision: 5}, {Kind: Decimal, Precision: 30}}
	for _, k := range Kinds() {
		if !k.Spans() && !k.Nested() && k != Decimal {
			types = append(types, Type{Kind: k})
		}
	}
	for _, typ := range types {
		var v Vector
		var refusal Refusal
		if err := v.Parse(typ, []byte("x")); !errors.As(err, &refusal) || !strings.HasPrefix(err.Error(), "is not a") {
			t.Errorf("%s: %v", typ, err)
		}
		if len(v.Valid)+len(v.Bool)+len(v.I64)+len(v.F64)+len(v.F32)+len(v.I32)+len(v.I128) > 0 {
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
