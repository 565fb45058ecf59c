package columnar

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// numbers gives types of numbers.
func numbers() *rapid.Generator[Type] {
	return rapid.Custom(func(t *rapid.T) Type {
		return decimalOf(t, Type{Kind: rapid.SampledFrom(Kinds()[Int8-1:Decimal]).Draw(t, "kind")})
	})
}

// number is a value of a type of numbers: a float, or an unscaled value.
type value struct {
	float    float64
	unscaled Int128
}

func numberOf(t Type) *rapid.Generator[value] {
	if isFloat(t.Kind) {
		return rapid.Map(floats(t.Kind), func(v float64) value { return value{float: v} })
	}
	return rapid.Map(unscaled(t), func(v Int128) value { return value{unscaled: v} })
}

func (v value) add(to *Vector, t Type) {
	to.Valid = append(to.Valid, 1)
	if isFloat(t.Kind) {
		to.addFloat(t.Kind, v.float)
	} else {
		to.addFixed(t, v.unscaled)
	}
}

func valueAt(v *Vector, t Type, i int) value {
	if isFloat(t.Kind) {
		return value{float: v.floatAt(t.Kind, i)}
	}
	return value{unscaled: v.fixedAt(t, i)}
}

// rat gives the number that a finite value is.
func (v value) rat(t Type) *big.Rat {
	if isFloat(t.Kind) {
		return new(big.Rat).SetFloat64(v.float)
	}
	return new(big.Rat).SetFrac(v.unscaled.big(), tenTo(t.Scale))
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// castOne casts one value, with a NULL before and after it.
func castOne(c *Caster, from, to Type, v value) (value, *Refused) {
	var src, dst Vector
	src.Null()
	v.add(&src, from)
	src.Null()
	var refused *Refused
	err := c.Cast(&src, &dst, new([]byte), func(r Refused) error { refused = &r; return nil })
	must(err)
	want := "\x00\x01\x00"
	if refused != nil {
		want = "\x00\x00\x00"
	}
	if string(dst.Valid) != want || dst.Nulls != strings.Count(want, "\x00") {
		panic(fmt.Sprintf("%+v", dst))
	}
	if refused != nil {
		return value{}, refused
	}
	return valueAt(&dst, to, 0), nil
}

// roundHalfEven gives the integer next to a number.
func roundHalfEven(r *big.Rat) *big.Int {
	q, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	c := rest.Lsh(rest, 1).Cmp(r.Denom())
	if c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// scaled gives a number in units of a type's last digit.
func scaled(r *big.Rat, t Type) *big.Rat {
	return new(big.Rat).Mul(r, new(big.Rat).SetInt(tenTo(t.Scale)))
}

// fixedOf gives an integer as a value of a type, if it is in range.
func fixedOf(v *big.Int, t Type) (value, bool) {
	least, most := bounds(t)
	if v.Cmp(least.big()) < 0 || v.Cmp(most.big()) > 0 {
		return value{}, false
	}
	return value{unscaled: int128Of(v)}, true
}

// floatOf gives the float next to a number, if it is finite, and whether they are equal.
func floatOf(r *big.Rat, k Kind) (v value, exact, ok bool) {
	f, _ := r.Float64()
	if k == Float32 {
		f32, _ := r.Float32()
		f = float64(f32)
	}
	if math.IsInf(f, 0) {
		return value{}, false, false
	}
	return value{float: f}, new(big.Rat).SetFloat64(f).Cmp(r) == 0, true
}

// exactly is what CastExact is to give: ok is false for values that it is to refuse.
func exactly(from, to Type, v value) (want value, ok bool) {
	if isFloat(from.Kind) && (math.IsNaN(v.float) || math.IsInf(v.float, 0)) {
		return v, isFloat(to.Kind)
	}
	r := v.rat(from)
	if isFloat(to.Kind) {
		want, exact, finite := floatOf(r, to.Kind)
		if isFloat(from.Kind) && v.float == 0 {
			return v, true // whatever its sign
		}
		if from.Kind == Decimal { // which reads back as it was
			back, ok := exactly(to, from, want)
			return want, ok && back == v
		}
		return want, exact && finite
	}
	unscaled := scaled(r, to)
	if !unscaled.IsInt() && isFloat(from.Kind) && to.Kind == Decimal {
		bits := 64
		if from.Kind == Float32 {
			bits = 32
		}
		text, _ := new(big.Rat).SetString(strconv.FormatFloat(v.float, 'g', -1, bits))
		unscaled = scaled(text, to)
	}
	if !unscaled.IsInt() {
		return value{}, false
	}
	return fixedOf(unscaled.Num(), to)
}

// nearest is what CastLossy is to give.
func nearest(from, to Type, v value) (want value, ok bool) {
	if want, ok := exactly(from, to, v); ok {
		return want, true
	}
	if isFloat(from.Kind) && (math.IsNaN(v.float) || math.IsInf(v.float, 0)) {
		return value{}, false
	}
	r := v.rat(from)
	if isFloat(to.Kind) {
		want, _, ok = floatOf(r, to.Kind)
		if want.float == 0 && r.Sign() < 0 {
			want.float = math.Copysign(0, -1)
		}
		return want, ok
	}
	return fixedOf(roundHalfEven(scaled(r, to)), to)
}

func (v value) equal(o value) bool {
	same := math.Float64bits(v.float) == math.Float64bits(o.float) || math.IsNaN(v.float) && math.IsNaN(o.float)
	return same && v.unscaled == o.unscaled
}

func TestNumbersAreCastAsRationalsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := numbers().Draw(t, "from"), numbers().Draw(t, "to")
		for _, test := range []struct {
			cast Cast
			rule func(from, to Type, v value) (value, bool)
		}{{CastExact, exactly}, {CastLossy, nearest}} {
			c, err := NewCaster(Column{Type: from}, Column{Type: to, Cast: test.cast})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 8 {
				v := numberOf(from).Draw(t, fmt.Sprint(test.cast, i))
				got, refused := castOne(c, from, to, v)
				want, ok := test.rule(from, to, v)
				if ok != (refused == nil) || ok && !got.equal(want) {
					t.Fatalf("%s to %s, %s: %v is %v, %v, want %v, %v", from, to, test.cast, v, got, refused, want, ok)
				}
			}
		}
	})
}

// Of two types of numbers CastSafe allows those, and no others, of which the second has every value of the first.
func TestSafeNumbersAreNeverRefusedAndComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := numbers().Draw(t, "from"), numbers().Draw(t, "to")
		safe, err := NewCaster(Column{Type: from}, Column{Type: to})
		if (err == nil) != allValuesOf(from, to) {
			t.Fatalf("%s to %s: %v", from, to, err)
		}
		if err != nil {
			return
		}
		back, err := NewCaster(Column{Type: to}, Column{Type: from, Cast: CastExact})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			v := numberOf(from).Draw(t, fmt.Sprint(i))
			got, refused := castOne(safe, from, to, v)
			if refused != nil {
				t.Fatalf("%s to %s: %+v", from, to, refused)
			}
			if again, refused := castOne(back, to, from, got); refused != nil || !again.equal(v) {
				t.Fatalf("%s to %s: %v is %v, and came back as %v, %v", from, to, v, got, again, refused)
			}
		}
	})
}

// allValuesOf tells it by the least and the most value, and by the step between values.
func allValuesOf(from, to Type) bool {
	switch {
	case from.Equal(to), from.Kind == Float32 && to.Kind == Float64:
		return true
	case isFloat(from.Kind):
		return false
	case isFloat(to.Kind) && from.Scale > 0:
		return false
	}
	least, most := bounds(from)
	for _, v := range []Int128{least, most} {
		if _, ok := exactly(from, to, value{unscaled: v}); !ok && !isFloat(to.Kind) {
			return false
		}
		if isFloat(to.Kind) && new(big.Int).Abs(v.big()).Cmp(big.NewInt(1<<mantissa(to.Kind))) > 0 {
			return false
		}
	}
	return from.Scale <= to.Scale
}

func TestTextIsRoundedAsRationalsSay(t *testing.T) {
	texts := rapid.StringMatching(`[-+]?[0-9]{0,12}(\.[0-9]{0,6}(50{0,4}|90{0,4})?[0-9]?)?([eE][-+]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		to := decimalOf(t, Type{Kind: rapid.SampledFrom([]Kind{Int8, Int64, Uint64, Decimal, Decimal}).Draw(t, "kind")})
		c, err := casterOf(Type{Kind: String}, to, CastLossy)
		if err != nil {
			t.Fatal(err)
		}
		text := texts.Draw(t, "text")
		got, refused := castModels(t, c, Column{Type: Type{Kind: String}}, Column{Type: to}, []model{strconv.Quote(text)})
		r, ok := new(big.Rat).SetString(text)
		var want value
		if ok {
			want, ok = fixedOf(roundHalfEven(scaled(r, to)), to)
		}
		if ok != (len(refused) == 0) || ok && got[0] != string(AppendDecimal(nil, want.unscaled, to.Scale)) {
			t.Fatalf("%q to %s is %v, %v, want %v, %v", text, to, got, refused, want, ok)
		}
	})
}
