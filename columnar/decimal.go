package columnar

import (
	"fmt"
	"math/bits"
	"strconv"
)

// Refusal is an error that says why a text is no value of a type. It reads on after the text: "is not an int64".
type Refusal string

func (r Refusal) Error() string { return string(r) }

// maxExponent is beyond every exponent that could give a value of a decimal type, and far from an int's bounds.
const maxExponent = 1 << 30

// number is where the parts of a number lie in a text.
type number struct {
	negative bool
	whole    []byte // digits before the point
	fraction []byte // digits after it
	exponent int    // of ten; cut to maxExponent
	ok       bool   // it is a number
}

// splitNumber finds the parts of digits[.digits][e[sign]digits] after an optional sign. Digits may be missing on one side
// of the point.
func splitNumber(text []byte) (n number) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		n.negative = text[0] == '-'
		text = text[1:]
	}
	k := digits(text)
	n.whole, text = text[:k], text[k:]
	if len(text) > 0 && text[0] == '.' {
		k = digits(text[1:])
		n.fraction, text = text[1:1+k], text[1+k:]
	}
	if len(n.whole)+len(n.fraction) == 0 {
		return n
	}
	if len(text) > 0 && text[0]|0x20 == 'e' {
		n.exponent, n.ok = exponent(text[1:])
		return n
	}
	n.ok = len(text) == 0
	return n
}

// digits counts the digits that a text begins with.
func digits(text []byte) int {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return n
}

func exponent(text []byte) (int, bool) {
	sign := 1
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if len(text) == 0 || digits(text) < len(text) {
		return 0, false
	}
	e := 0
	for _, c := range text {
		e = min(10*e+int(c-'0'), maxExponent)
	}
	return sign * e, true
}

// ParseDecimal reads a number exactly as an unscaled value of decimal(precision, scale): digits with an optional sign, point
// and exponent. A value that the type does not hold exactly is an error.
func ParseDecimal(text []byte, precision, scale int) (Int128, error) {
	n := splitNumber(text)
	zeros, err := n.fit(precision, scale)
	if err != nil {
		return Int128{}, err
	}
	v := n.magnitude(zeros)
	if n.negative {
		v = v.Neg()
	}
	return v, nil
}

// magnitude gives a number's digits, of which there are at most MaxPrecision with some zeros after them.
func (n *number) magnitude(zeros int) (v Int128) {
	for _, c := range n.whole {
		v = v.timesTen().plusDigit(c - '0')
	}
	for _, c := range n.fraction {
		v = v.timesTen().plusDigit(c - '0')
	}
	for range zeros {
		v = v.timesTen()
	}
	return v
}

// roundNumber reads a number as an unscaled value of a type of integers or decimals, rounded half to even.
func roundNumber(text []byte, t Type) (Int128, error) {
	n := splitNumber(text)
	if !n.ok {
		return Int128{}, refuseKind(t)
	}
	up := n.round(t.Scale)
	zeros, err := n.fit(MaxPrecision, t.Scale)
	if err != nil {
		return Int128{}, newFixedTo(t, true).beyond
	}
	v := n.magnitude(zeros)
	if up {
		v = v.plus(Int128Of(1))
	}
	if n.negative {
		v = v.Neg()
	}
	if t.holdsFixed(v) {
		return v, nil
	}
	to := newFixedTo(t, true)
	return Int128{}, to.check(v)
}

// holdsFixed tells whether a type of integers or decimals has an unscaled value.
func (t Type) holdsFixed(v Int128) bool {
	if t.Kind == Decimal {
		return v.Fits(t.Precision)
	}
	least, most := intRange(t.Kind)
	if v.Hi < 0 {
		v = v.Neg()
		most = least
	}
	return v.Hi == 0 && v.Lo <= most
}

// round cuts a number to some digits after the point, and tells whether one is to be added to the last of them.
func (n *number) round(scale int) (up bool) {
	drop := len(n.fraction) - n.exponent - scale
	if drop <= 0 {
		return false
	}
	kept := len(n.whole) + len(n.fraction) - drop
	if kept >= 0 {
		odd := kept > 0 && (n.digit(kept-1)-'0')%2 == 1
		up = n.digit(kept) > '5' || n.digit(kept) == '5' && (odd || !n.zerosFrom(kept+1))
	}
	kept = max(kept, 0)
	n.fraction = n.fraction[:max(0, kept-len(n.whole))]
	n.whole = n.whole[:min(kept, len(n.whole))]
	n.exponent = len(n.fraction) - scale
	return up
}

// digit gives one of a number's digits, the point left out.
func (n *number) digit(i int) byte {
	if i < len(n.whole) {
		return n.whole[i]
	}
	return n.fraction[i-len(n.whole)]
}

// zerosFrom tells whether a number's digits from the i-th on are all zeros.
func (n *number) zerosFrom(i int) bool {
	whole := min(i, len(n.whole))
	return allZeros(n.whole[whole:]) && allZeros(n.fraction[max(0, i-len(n.whole)):])
}

// What is said of numbers that a decimal does not hold.

func refuseDecimal(precision, scale int) Refusal {
	return Refusal(fmt.Sprintf("is not a decimal(%d,%d)", precision, scale))
}

func refuseScale(precision, scale int) Refusal {
	return Refusal(fmt.Sprintf("has more than %d digits after the point, which a decimal(%d,%d) cannot hold", scale, precision, scale))
}

func refuseDigits(precision, scale int) Refusal {
	return Refusal(fmt.Sprintf("has more than %d digits before the point, which a decimal(%d,%d) cannot hold", precision-scale, precision, scale))
}

// refuseKind is for what is no number at all.
func refuseKind(t Type) Refusal {
	if t.Kind == Decimal {
		return refuseDecimal(t.Precision, t.Scale)
	}
	return refusef("is not", t.Kind, "")
}

// ParseNarrow is ParseDecimal for a precision of at most Narrow.
func ParseNarrow(text []byte, precision, scale int) (int64, error) {
	n := splitNumber(text)
	zeros, err := n.fit(precision, scale)
	if err != nil {
		return 0, err
	}
	v := int64(0)
	for _, c := range n.whole {
		v = 10*v + int64(c-'0')
	}
	for _, c := range n.fraction {
		v = 10*v + int64(c-'0')
	}
	for range zeros {
		v *= 10
	}
	if n.negative {
		v = -v
	}
	return v, nil
}

// fit cuts a number's digits to those that matter, and says how many zeros follow them in the unscaled value of
// decimal(precision, scale).
func (n *number) fit(precision, scale int) (zeros int, err error) {
	zeros, refuse := n.measure(precision, scale)
	if refuse != nil {
		return 0, refuse(precision, scale)
	}
	return zeros, nil
}

// measure is fit for callers that may have no use for the words of a refusal.
func (n *number) measure(precision, scale int) (zeros int, refuse func(precision, scale int) Refusal) {
	if !n.ok {
		return 0, refuseDecimal
	}
	for len(n.whole) > 0 && n.whole[0] == '0' {
		n.whole = n.whole[1:]
	}
	if len(n.whole) == 0 && allZeros(n.fraction) {
		n.fraction = nil
		return 0, nil
	}
	zeros = n.exponent - len(n.fraction) + scale
	for ; zeros < 0 && n.dropZero(); zeros++ {
	}
	if zeros < 0 {
		return 0, refuseScale
	}
	significant := len(n.whole) + len(n.fraction)
	if len(n.whole) == 0 {
		significant -= leadingZeros(n.fraction)
	}
	if significant+zeros > precision {
		return 0, refuseDigits
	}
	return zeros, nil
}

// dropZero takes a 0 off a number's end.
func (n *number) dropZero() bool {
	part := &n.fraction
	if len(*part) == 0 {
		part = &n.whole
	}
	last := len(*part) - 1
	if last < 0 || (*part)[last] != '0' {
		return false
	}
	*part = (*part)[:last]
	return true
}

func allZeros(digits []byte) bool { return leadingZeros(digits) == len(digits) }

func leadingZeros(digits []byte) int {
	n := 0
	for n < len(digits) && digits[n] == '0' {
		n++
	}
	return n
}

// AppendDecimal appends an unscaled value as a number with scale digits after the point, and none if scale is 0.
func AppendDecimal(dst []byte, v Int128, scale int) []byte {
	if v.Hi < 0 {
		dst = append(dst, '-')
		v = v.Neg() // the least Int128 stays as it is, which as an unsigned number is right
	}
	const e19 = 1e19
	high, low := bits.Div64(uint64(v.Hi), v.Lo, e19)
	var buf [40]byte
	text := buf[:0]
	if high > 0 {
		text = strconv.AppendUint(text, high, 10)
		text = append(text, "0000000000000000000"[:19-decimalDigits(low)]...)
	}
	return appendPoint(dst, strconv.AppendUint(text, low, 10), scale)
}

// AppendNarrow is AppendDecimal for values of at most Narrow digits.
func AppendNarrow(dst []byte, v int64, scale int) []byte {
	if v < 0 {
		dst = append(dst, '-')
	}
	var buf [20]byte
	return appendPoint(dst, strconv.AppendUint(buf[:0], magnitude(v), 10), scale)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// decimalDigits counts the digits of v; 0 has one.
func decimalDigits(v uint64) int {
	n := 1
	for ; v >= 10; v /= 10 {
		n++
	}
	return n
}

func appendPoint(dst, digits []byte, scale int) []byte {
	if scale == 0 {
		return append(dst, digits...)
	}
	if whole := len(digits) - scale; whole > 0 {
		dst = append(dst, digits[:whole]...)
		dst = append(dst, '.')
		return append(dst, digits[whole:]...)
	}
	dst = append(dst, '0', '.')
	for range scale - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
