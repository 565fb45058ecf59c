package columnar

import (
	"math"
	"math/bits"
	"strconv"
)

// numberRule gives the rule of two types of numbers.
func numberRule(from, to Type, lossy bool) rule {
	r := rule{least: CastExact, advice: adviceRound}
	if holds(to, from) {
		r = rule{}
	}
	switch {
	case isFixed(from.Kind) && isFixed(to.Kind):
		f := newFixedCast(from, to, lossy)
		r.values, r.rounded = f.values, f.fraction
		if to.Scale >= from.Scale && r.advice != "" {
			r.advice = adviceExact // there is nothing to round off
		}
		if widens(from, to) {
			r.values = widenInts(from.Kind, to.Kind)
		}
	case isFixed(from.Kind):
		f := newFloatingCast(from, to, lossy)
		r.values, r.rounded = f.values, f.digits
	case isFixed(to.Kind):
		f := newFixingCast(from, to, lossy)
		r.values, r.rounded = f.values, f.fraction
	case to.Kind == Float64:
		r.values = widenFloats
	default:
		r.values, r.rounded = narrowFloats(lossy), refuseFloat(Float32)
	}
	return r
}

// holds tells whether every value of a type of numbers is one of another.
func holds(to, from Type) bool {
	switch {
	case isFixed(from.Kind) && isFixed(to.Kind):
		least, most := bounds(from)
		toLeast, toMost := bounds(to)
		up := to.Scale - from.Scale
		if up < 0 || !least.Fits(MaxPrecision-up) || !most.Fits(MaxPrecision-up) {
			return false
		}
		return toLeast.Compare(least.times(powers[up])) <= 0 && most.times(powers[up]).Compare(toMost) <= 0
	case isFixed(from.Kind):
		least, most := bounds(from)
		limit := Int128Of(1 << mantissa(to.Kind))
		return from.Scale == 0 && limit.Neg().Compare(least) <= 0 && most.Compare(limit) <= 0
	}
	return from.Kind == Float32 && to.Kind == Float64
}

// bounds gives the least and the most unscaled value of a type of fixed scale.
func bounds(t Type) (least, most Int128) {
	if t.Kind == Decimal {
		most = powers[t.Precision].plus(Int128Of(-1))
		return most.Neg(), most
	}
	down, up := intRange(t.Kind)
	return Int128{Lo: down}.Neg(), Int128{Lo: up}
}

// mantissa is how many bits a float has for its digits.
func mantissa(k Kind) int {
	if k == Float32 {
		return 24
	}
	return 53
}

// fixedAt gives the i-th value of a vector of a type of fixed scale, unscaled.
func (v *Vector) fixedAt(t Type, i int) Int128 {
	switch {
	case t.Kind == Uint32:
		return Int128{Lo: uint64(uint32(v.I32[i]))}
	case t.Kind == Uint64:
		return Int128{Lo: uint64(v.I64[i])}
	case t.Width() == 4:
		return Int128Of(int64(v.I32[i]))
	case t.Width() == 8:
		return Int128Of(v.I64[i])
	}
	return v.I128[i]
}

// addFixed appends an unscaled value of a type, but for its validity.
func (v *Vector) addFixed(t Type, x Int128) {
	switch t.Width() {
	case 4:
		v.I32 = append(v.I32, int32(x.Lo))
	case 8:
		v.I64 = append(v.I64, int64(x.Lo))
	default:
		v.I128 = append(v.I128, x)
	}
}

// fixedTo is a type of fixed scale that is cast to, and what is said of values that it does not hold.
type fixedTo struct {
	typ         Type
	least, most Int128
	beyond      Refusal
	fraction    Refusal
	lossy       bool
}

func newFixedTo(t Type, lossy bool) fixedTo {
	to := fixedTo{typ: t, lossy: lossy}
	to.least, to.most = bounds(t)
	if t.Kind == Decimal {
		to.beyond, to.fraction = refuseDigits(t.Precision, t.Scale), refuseScale(t.Precision, t.Scale)
	} else {
		to.beyond, to.fraction = refusef("is beyond the range of", t.Kind, ""), refusef("has a fraction, which", t.Kind, " cannot hold")
	}
	return to
}

// check tells whether an unscaled value is in range.
func (to *fixedTo) check(x Int128) Refusal {
	if x.Compare(to.least) < 0 || x.Compare(to.most) > 0 {
		return to.beyond
	}
	return ""
}

// fixedCast casts integers and decimals to each other.
type fixedCast struct {
	fixedTo
	from Type
}

func newFixedCast(from, to Type, lossy bool) *fixedCast {
	return &fixedCast{fixedTo: newFixedTo(to, lossy), from: from}
}

func (f *fixedCast) values(c *Caster, src, dst *Vector) {
	for i := range len(src.Valid) - src.Nulls {
		if x, why := f.rescale(src.fixedAt(f.from, i)); why == "" {
			dst.addFixed(f.typ, x)
		} else if !c.refuse(i, why) {
			return
		}
	}
}

func (f *fixedCast) rescale(x Int128) (Int128, Refusal) {
	switch up := f.typ.Scale - f.from.Scale; {
	case up > 0 && !x.Fits(MaxPrecision-up):
		return x, f.beyond
	case up > 0:
		x = x.times(powers[up])
	case up < 0:
		q, exact := x.divide(-up)
		if !exact && !f.lossy {
			return x, f.fraction
		}
		x = q
	}
	return x, f.check(x)
}

// widens tells whether integers pass unchanged, or with more bits of the same sign.
func widens(from, to Type) bool { return from.Kind != Decimal && to.Kind != Decimal && holds(to, from) }

func widenInts(from, to Kind) func(c *Caster, src, dst *Vector) {
	switch {
	case to != Int64 && to != Uint64:
		return func(_ *Caster, src, dst *Vector) { dst.I32 = append(dst.I32, src.I32...) }
	case from == Uint32:
		return func(_ *Caster, src, dst *Vector) {
			for _, v := range src.I32 {
				dst.I64 = append(dst.I64, int64(v)&math.MaxUint32)
			}
		}
	}
	return func(_ *Caster, src, dst *Vector) {
		for _, v := range src.I32 {
			dst.I64 = append(dst.I64, int64(v))
		}
	}
}

// floatAt gives the i-th value of a vector of floats.
func (v *Vector) floatAt(k Kind, i int) float64 {
	if k == Float32 {
		return float64(v.F32[i])
	}
	return v.F64[i]
}

// addFloat appends a float that the kind holds, but for its validity.
func (v *Vector) addFloat(k Kind, x float64) {
	if k == Float32 {
		v.F32 = append(v.F32, float32(x))
	} else {
		v.F64 = append(v.F64, x)
	}
}

func refuseFloat(k Kind) Refusal { return refusef("has more digits than", k, " can hold") }

func widenFloats(_ *Caster, src, dst *Vector) {
	for _, v := range src.F32 {
		dst.F64 = append(dst.F64, float64(v))
	}
}

func narrowFloats(lossy bool) func(c *Caster, src, dst *Vector) {
	beyond, digits := refusef("is beyond the range of", Float32, ""), refuseFloat(Float32)
	return func(c *Caster, src, dst *Vector) {
		for i, v := range src.F64 {
			n := float32(v)
			why := Refusal("")
			switch {
			case math.IsInf(float64(n), 0) && !math.IsInf(v, 0):
				why = beyond
			case float64(n) != v && v == v && !lossy:
				why = digits
			}
			if why == "" {
				dst.F32 = append(dst.F32, n)
			} else if !c.refuse(i, why) {
				return
			}
		}
	}
}

// fixingCast casts floats to integers and decimals.
type fixingCast struct {
	fixedTo
	from Kind
	nan  Refusal
}

func newFixingCast(from, to Type, lossy bool) *fixingCast {
	return &fixingCast{fixedTo: newFixedTo(to, lossy), from: from.Kind, nan: refuseKind(to)}
}

func (f *fixingCast) values(c *Caster, src, dst *Vector) {
	for i := range len(src.Valid) - src.Nulls {
		if x, why := f.fix(src.floatAt(f.from, i)); why == "" {
			dst.addFixed(f.typ, x)
		} else if !c.refuse(i, why) {
			return
		}
	}
}

func (f *fixingCast) fix(v float64) (Int128, Refusal) {
	switch {
	case v != v:
		return Int128{}, f.nan
	case math.Abs(v) >= 1e39:
		return Int128{}, f.beyond
	case f.typ.Kind == Decimal:
		return f.decimal(v)
	}
	whole := math.RoundToEven(v)
	switch {
	case whole != v && !f.lossy:
		return Int128{}, f.fraction
	case math.Abs(whole) >= 1<<64:
		return Int128{}, f.beyond
	}
	x := Int128{Lo: uint64(math.Abs(whole))}
	if whole < 0 {
		x = x.Neg()
	}
	return x, f.check(x)
}

// decimal gives the decimal that equals a float, or else the one that its shortest text is, or else, if that may be, the one
// next to it.
func (f *fixingCast) decimal(v float64) (Int128, Refusal) {
	var buf [96]byte
	t := f.typ
	big := math.Abs(v)*math.Pow10(t.Scale) >= float64(int64(1)<<(mantissa(f.from)-1))
	text := strconv.AppendFloat(buf[:0], v, 'e', -1, floatBits(f.from))
	if big && binaryDigits(v) <= t.Scale {
		text = strconv.AppendFloat(buf[:0], v, 'f', t.Scale, 64)
	}
	if f.lossy {
		n := splitNumber(text)
		if _, refuse := n.measure(t.Precision, t.Scale); refuse != nil {
			text = strconv.AppendFloat(buf[:0], v, 'f', t.Scale, 64)
		}
	}
	x, err := ParseDecimal(text, t.Precision, t.Scale)
	if err != nil {
		return x, refusalOf(err)
	}
	return x, ""
}

func floatBits(k Kind) int {
	if k == Float32 {
		return 32
	}
	return 64
}

// binaryDigits counts the binary digits that a finite number has after the point. It has as many decimal ones.
func binaryDigits(v float64) int {
	fraction, exponent := math.Frexp(v)
	m := uint64(math.Abs(fraction) * (1 << 53))
	return max(0, 53-exponent-bits.TrailingZeros64(m))
}

// floatingCast casts integers and decimals to floats.
type floatingCast struct {
	from   Type
	to     Kind
	back   *fixingCast
	digits Refusal
	lossy  bool
}

func newFloatingCast(from, to Type, lossy bool) *floatingCast {
	return &floatingCast{from: from, to: to.Kind, back: newFixingCast(to, from, false), digits: refuseFloat(to.Kind), lossy: lossy || holds(to, from)}
}

func (f *floatingCast) values(c *Caster, src, dst *Vector) {
	for i := range len(src.Valid) - src.Nulls {
		x := src.fixedAt(f.from, i)
		v := f.nearest(x)
		if !f.lossy {
			if back, why := f.back.fix(v); why != "" || back != x {
				if !c.refuse(i, f.digits) {
					return
				}
				continue
			}
		}
		dst.addFloat(f.to, v)
	}
}

// nearest gives the float next to an unscaled value.
func (f *floatingCast) nearest(x Int128) float64 {
	whole := f.from.Scale == 0
	switch {
	case whole && x.Hi == 0 && f.to == Float32:
		return float64(float32(x.Lo))
	case whole && x.Hi == 0:
		return float64(x.Lo)
	case whole && x == Int128Of(int64(x.Lo)) && f.to == Float32:
		return float64(float32(int64(x.Lo)))
	case whole && x == Int128Of(int64(x.Lo)):
		return float64(int64(x.Lo))
	}
	var buf [48]byte
	v, _ := strconv.ParseFloat(view(AppendDecimal(buf[:0], x, f.from.Scale)), floatBits(f.to)) // no decimal is out of range
	return v
}
