package columnar

import (
	"math/bits"
)

// powers holds the powers of ten up to 10 to the MaxPrecision.
var powers = powersOfTen()

func powersOfTen() (p [MaxPrecision + 1]Int128) {
	p[0] = Int128{Lo: 1}
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1].timesTen()
	}
	return p
}

// timesTen is for values that are not negative and have at most 37 digits.
func (a Int128) timesTen() Int128 {
	hi, lo := bits.Mul64(a.Lo, 10)
	return Int128{Hi: a.Hi*10 + int64(hi), Lo: lo}
}

// plusDigit is for values that are not negative and have a 0 as their last digit.
func (a Int128) plusDigit(d byte) Int128 {
	lo, carry := bits.Add64(a.Lo, uint64(d), 0)
	return Int128{Hi: a.Hi + int64(carry), Lo: lo}
}

// Neg gives -a. The least Int128 has no negative, and is given back.
func (a Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return Int128{Hi: int64(hi), Lo: lo}
}

// Compare gives -1, 0 or 1 as a is less than, equal to, or more than b.
func (a Int128) Compare(b Int128) int {
	switch {
	case a == b:
		return 0
	case a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo:
		return -1
	}
	return 1
}

// Fits tells whether a has at most precision digits, 0 to MaxPrecision.
func (a Int128) Fits(precision int) bool {
	most := powers[precision]
	return a.Compare(most) < 0 && a.Compare(most.Neg()) > 0
}

// Int128Of widens an int64.
func Int128Of(v int64) Int128 { return Int128{Hi: v >> 63, Lo: uint64(v)} }

// BigEndian gives the 16 bytes of a in two's complement, the most significant first.
func (a Int128) BigEndian() (b [16]byte) {
	for i := range 8 {
		b[i] = byte(uint64(a.Hi) >> (56 - 8*i))
		b[8+i] = byte(a.Lo >> (56 - 8*i))
	}
	return b
}

// plus gives a + b, without its carry.
func (a Int128) plus(b Int128) Int128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	return Int128{Hi: int64(hi), Lo: lo}
}

// times gives the low 128 bits of a times b.
func (a Int128) times(b Int128) Int128 {
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	return Int128{Hi: int64(hi + uint64(a.Hi)*b.Lo + a.Lo*uint64(b.Hi)), Lo: lo}
}

// abs gives the magnitude of a, as an unsigned number.
func (a Int128) abs() (hi, lo uint64) {
	if a.Hi < 0 {
		a = a.Neg()
	}
	return uint64(a.Hi), a.Lo
}

// divide gives a divided by 10 to the power, 1 to MaxPrecision, rounded half to even, and whether nothing was left over.
func (a Int128) divide(power int) (q Int128, exact bool) {
	const most = 19 // digits of a power that 64 bits hold
	hi, lo := a.abs()
	first := min(power, most)
	hi, lo, rest := divide64(hi, lo, powers[first].Lo)
	left := Int128{Lo: rest}
	if second := power - first; second > 0 {
		hi, lo, rest = divide64(hi, lo, powers[second].Lo)
		left = left.plus(powers[first].times(Int128{Lo: rest}))
	}
	q = Int128{Hi: int64(hi), Lo: lo}
	half := powers[power-1].times(Int128Of(5))
	if c := left.Compare(half); c > 0 || c == 0 && lo%2 == 1 {
		q = q.plus(Int128Of(1))
	}
	if a.Hi < 0 {
		q = q.Neg()
	}
	return q, left == Int128{}
}

// divide64 divides an unsigned number.
func divide64(hi, lo, by uint64) (qHi, qLo, rest uint64) {
	qHi, rest = hi/by, hi%by
	qLo, rest = bits.Div64(rest, lo, by)
	return qHi, qLo, rest
}
