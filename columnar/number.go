package columnar

import (
	"math"
	"strconv"
	"strings"
)

// What the parsers of this file say.
const (
	errNotInt    Refusal = "is not an int64"
	errIntRange  Refusal = "is beyond the range of an int64"
	errNotFloat  Refusal = "is not a float64"
	errNotFinite Refusal = "is not finite: a float64 must be a number"
	errFloatSize Refusal = "is beyond the range of a float64"
	errNotBool   Refusal = "is not a bool: true or false"
)

// ParseInt64 reads digits after an optional sign.
func ParseInt64(text []byte) (int64, error) {
	body := text
	negative := len(text) > 0 && text[0] == '-'
	if negative || len(text) > 0 && text[0] == '+' {
		body = text[1:]
	}
	if len(body) == 0 {
		return 0, errNotInt
	}
	v := uint64(0)
	for i, c := range body {
		if c-'0' > 9 {
			return 0, refuseInt(body, i)
		}
		if v > math.MaxInt64/10 {
			return 0, rangeOrShape(body)
		}
		v = 10*v + uint64(c-'0')
	}
	if negative {
		if v > -math.MinInt64 {
			return 0, errIntRange
		}
		return -int64(v), nil
	}
	if v > math.MaxInt64 {
		return 0, errIntRange
	}
	return int64(v), nil
}

// refuseInt says what is wrong with a text whose i-th byte is no digit.
func refuseInt(body []byte, i int) error {
	if n := splitNumber(body); n.ok && i > 0 {
		return Refusal("has a point or an exponent: an int64 is written with digits alone")
	}
	return errNotInt
}

func rangeOrShape(body []byte) error {
	if k := digits(body); k < len(body) {
		return refuseInt(body, k)
	}
	return errIntRange
}

// maxExact is the number of powers of ten that a float64 holds exactly.
const maxExact = 23

var exactPowers = [maxExact]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseFloat64 reads a decimal number, with an optional sign, point and exponent, and rounds it correctly. What is not
// finite is an error.
func ParseFloat64(text []byte) (float64, error) {
	n := splitNumber(text)
	if !n.ok {
		return 0, refuseFloat(text)
	}
	if len(n.whole)+len(n.fraction) <= 15 {
		// Below 2^53, and one exact operation away: it is rounded once.
		if e := n.exponent - len(n.fraction); -maxExact < e && e < maxExact {
			return n.small(e), nil
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, errFloatSize
	}
	return v, nil
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

func refuseFloat(text []byte) error {
	if len(text) > 9 {
		return errNotFloat
	}
	switch strings.TrimLeft(strings.ToLower(string(text)), "+-") {
	case "nan", "inf", "infinity":
		return errNotFinite
	}
	return errNotFloat
}

// AppendFloat64 appends the shortest number that reads back as v, as JSON writes it. What is not finite is an error.
func AppendFloat64(dst []byte, v float64) ([]byte, error) {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return dst, errNotFinite
	case size != 0 && (size < 1e-6 || size >= 1e21):
		return strconv.AppendFloat(dst, v, 'e', -1, 64), nil
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64), nil
}

// ParseBool reads true or false, in letters of either case.
func ParseBool(text []byte) (bool, error) {
	switch {
	case len(text) == 4 && strings.EqualFold(string(text), "true"):
		return true, nil
	case len(text) == 5 && strings.EqualFold(string(text), "false"):
		return false, nil
	}
	return false, errNotBool
}
