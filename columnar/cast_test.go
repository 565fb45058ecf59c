package columnar

import (
	"slices"
	"testing"
)

func TestIntsAreWidened(t *testing.T) {
	src := Vector{Valid: []byte{1, 0, 1}, Nulls: 1, I32: []int32{-1, 7}}
	for _, test := range []struct {
		from, to Kind
		i32      []int32
		i64      []int64
	}{
		{Int32, Int32, []int32{-1, 7}, nil},
		{Int8, Int32, []int32{-1, 7}, nil},
		{Int8, Int64, nil, []int64{-1, 7}},
		{Uint32, Int64, nil, []int64{1<<32 - 1, 7}},
		{Uint32, Uint64, nil, []int64{1<<32 - 1, 7}},
	} {
		c, err := NewCaster(Column{Type: Type{Kind: test.from}}, Column{Type: Type{Kind: test.to}})
		if err != nil {
			t.Fatal(err)
		}
		var dst Vector
		err = c.Cast(&src, &dst, new([]byte), func(r Refused) error { t.Errorf("%+v", r); return nil })
		if err != nil || !slices.Equal(dst.I32, test.i32) || !slices.Equal(dst.I64, test.i64) || !slices.Equal(dst.Valid, src.Valid) || dst.Nulls != 1 {
			t.Errorf("%s to %s: %+v, %v", test.from, test.to, dst, err)
		}
	}
}
