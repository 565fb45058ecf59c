package columnar

import (
	"math"
	"strconv"
	"unsafe"
)

const errNotBool Refusal = "is not a bool: true or false"

// refusef makes a Refusal that names a kind with its article: "is not a uint8".
func refusef(before string, k Kind, after string) Refusal {
	article := " a "
	if k.String()[0] == 'i' {
		article = " an "
	}
	return Refusal(before + article + k.String() + after)
}

// intRange gives the bounds of a kind of integers: the least as a magnitude, 0 for those without sign.
func intRange(k Kind) (least, most uint64) {
	switch k {
	case Int8, Int16, Int32, Int64:
		least = 1 << (8<<(k-Int8) - 1)
		return least, least - 1
	default:
		return 0, math.MaxUint64 >> (64 - 8<<(k-Uint8))
	}
}

// ParseInt reads digits after an optional sign as an integer of a kind, Int8 to Uint64; of Uint64 it gives the bits.
func ParseInt(text []byte, k Kind) (int64, error) {
	body := text
	negative := len(text) > 0 && text[0] == '-'
	if negative || len(text) > 0 && text[0] == '+' {
		body = text[1:]
	}
	if len(body) == 0 {
		return 0, refusef("is not", k, "")
	}
	v := uint64(0)
	for i, c := range body {
		d := uint64(c - '0')
		if c-'0' > 9 {
			return 0, refuseInt(body, i, k)
		}
		if v > math.MaxUint64/10 || 10*v > math.MaxUint64-d {
			return 0, rangeOrShape(body, k)
		}
		v = 10*v + d
	}
	least, most := intRange(k)
	switch {
	case negative && v > least, !negative && v > most:
		return 0, refusef("is beyond the range of", k, "")
	case negative:
		return -int64(v), nil
	}
	return int64(v), nil
}

// ParseInt64 is ParseInt for Int64.
func ParseInt64(text []byte) (int64, error) { return ParseInt(text, Int64) }

// refuseInt says what is wrong with a text whose i-th byte is no digit.
func refuseInt(body []byte, i int, k Kind) error {
	if n := splitNumber(body); n.ok && (i > 0 || body[0] == '.') {
		return refusePoint(k)
	}
	return refusef("is not", k, "")
}

func refusePoint(k Kind) Refusal {
	return refusef("has a point or an exponent:", k, " is written with digits alone")
}

func rangeOrShape(body []byte, k Kind) error {
	if i := digits(body); i < len(body) {
		return refuseInt(body, i, k)
	}
	return refusef("is beyond the range of", k, "")
}

// maxExact is the number of powers of ten that a float64 holds exactly.
const maxExact = 23

var exactPowers = [maxExact]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseFloat64 reads a decimal number, with an optional sign, point and exponent, and rounds it correctly; or NaN, Infinity or
// Inf, in letters of either case.
func ParseFloat64(text []byte) (float64, error) {
	n := splitNumber(text)
	if !n.ok {
		return notFinite(text, Float64)
	}
	if len(n.whole)+len(n.fraction) <= 15 {
		// Below 2^53, and one exact operation away: it is rounded once.
		if e := n.exponent - len(n.fraction); -maxExact < e && e < maxExact {
			return n.small(e), nil
		}
	}
	v, err := strconv.ParseFloat(view(text), 64)
	if err != nil {
		return 0, refusef("is beyond the range of", Float64, "")
	}
	return v, nil
}

// view gives a text as a string without copying it, for a function that does not keep it.
func view(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// ParseFloat32 is ParseFloat64 for a float32: it rounds once.
func ParseFloat32(text []byte) (float32, error) {
	if n := splitNumber(text); !n.ok {
		v, err := notFinite(text, Float32)
		return float32(v), err
	}
	v, err := strconv.ParseFloat(view(text), 32)
	if err != nil {
		return 0, refusef("is beyond the range of", Float32, "")
	}
	return float32(v), nil
}

func (n *number) small(e int) float64 {
	m := int64(0)
	for _, c := range n.whole {
		m = 10*m + int64(c-'0')
	}
	for _, c := range n.fraction {
		m = 10*m + int64(c-'0')
	}
	v := float64(m)
	if e < 0 {
		v /= exactPowers[-e]
	} else {
		v *= exactPowers[e]
	}
	if n.negative {
		return -v
	}
	return v
}

// notFinite reads the texts of what is no finite number.
func notFinite(text []byte, k Kind) (float64, error) {
	word, sign := text, 1
	if len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		if word[0] == '-' {
			sign = -1
		}
		word = word[1:]
	}
	switch {
	case isWord(word, "nan"):
		return math.NaN(), nil
	case isWord(word, "inf"), isWord(word, "infinity"):
		return math.Inf(sign), nil
	}
	return 0, refusef("is not", k, "")
}

// isWord tells whether a text is a word of small letters, in letters of either case. Only ASCII has letters here.
func isWord(text []byte, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i, c := range text {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}

// The texts of floats that are not finite.
const (
	NaN    = "NaN"
	PosInf = "Infinity"
	NegInf = "-Infinity"
)

// AppendFloat64 appends the shortest number that reads back as v, as JSON writes it; or NaN, PosInf or NegInf.
func AppendFloat64(dst []byte, v float64) []byte { return appendFloat(dst, v, 64) }

// AppendFloat32 is AppendFloat64 for a float32: the number may have fewer digits than that of the same float64.
func AppendFloat32(dst []byte, v float32) []byte { return appendFloat(dst, float64(v), 32) }

func appendFloat(dst []byte, v float64, bits int) []byte {
	size := math.Abs(v)
	switch {
	case v == 0 && math.Signbit(v):
		return append(dst, "-0.0"...) // without a point readers take it for an integer, which has no sign
	case math.IsNaN(v):
		return append(dst, NaN...)
	case math.IsInf(v, 1):
		return append(dst, PosInf...)
	case math.IsInf(v, -1):
		return append(dst, NegInf...)
	case size != 0 && (size < 1e-6 || size >= 1e21):
		return strconv.AppendFloat(dst, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, bits)
}

// ParseBool reads true or false, in letters of either case.
func ParseBool(text []byte) (bool, error) {
	switch {
	case isWord(text, "true"):
		return true, nil
	case isWord(text, "false"):
		return false, nil
	}
	return false, errNotBool
}
