package columnar

import (
	"encoding/json"
	"errors"
	"math"
	"unicode/utf8"
)

const (
	errTimeOfDay Refusal = "has a time of day, which a date cannot hold"
	errNotUTF8   Refusal = "is not UTF-8, which a string must be"
	errNotJSON   Refusal = "is not the text of one JSON value"
	errNot16     Refusal = "is not a uuid: 16 bytes"
)

// errTooMuchText is an error of whoever casts batches so large.
var errTooMuchText = errors.New("the text of a batch is more than 4 GiB")

func copyValues(c *Caster, src, dst *Vector) {
	switch c.to.Type.Kind {
	case Bool:
		dst.Bool = append(dst.Bool, src.Bool...)
	case Float32:
		dst.F32 = append(dst.F32, src.F32...)
	case Float64:
		dst.F64 = append(dst.F64, src.F64...)
	case String, Binary, JSON:
		dst.Str = append(dst.Str, src.Str...)
	default:
		dst.I32 = append(dst.I32, src.I32...)
		dst.I64 = append(dst.I64, src.I64...)
		dst.I128 = append(dst.I128, src.I128...)
	}
}

// bytes gives the bytes of a span.
func (c *Caster) bytes(s Span) []byte { return (*c.job.data)[s.Off : uint64(s.Off)+uint64(s.Len)] }

// addText makes a span of what was appended to the data.
func (c *Caster) addText(dst *Vector, from int) bool {
	s, ok := spanOf(from, len(*c.job.data))
	if !ok {
		c.job.err = errTooMuchText
		return false
	}
	dst.Str = append(dst.Str, s)
	return true
}

// spanOf gives the span [from, to), if offsets reach that far.
func spanOf(from, to int) (Span, bool) {
	return Span{Off: uint32(from), Len: uint32(to - from)}, to <= math.MaxUint32
}

// makeText casts to String what has a text of its own.
func makeText(c *Caster, src, dst *Vector) {
	for i := range len(src.Valid) - src.Nulls {
		from := len(*c.job.data)
		data, err := src.Append(*c.job.data, c.from.Type, i)
		*c.job.data = data
		if err != nil {
			if !c.refuse(i, refusalOf(err)) {
				return
			}
		} else if !c.addText(dst, from) {
			return
		}
	}
}

// refusalOf gives an error of a parser of this package, all of which are refusals.
func refusalOf(err error) Refusal { return Refusal(err.Error()) }

func isUTF8(text []byte) Refusal {
	if utf8.Valid(text) {
		return ""
	}
	return errNotUTF8
}

func isJSON(text []byte) Refusal {
	if json.Valid(text) {
		return ""
	}
	return errNotJSON
}

// checkText casts between kinds whose values are spans.
func checkText(check func(text []byte) Refusal) func(c *Caster, src, dst *Vector) {
	return func(c *Caster, src, dst *Vector) {
		for i, s := range src.Str {
			if why := check(c.bytes(s)); why == "" {
				dst.Str = append(dst.Str, s)
			} else if !c.refuse(i, why) {
				return
			}
		}
	}
}

// parseText casts from String to what is parsed.
func parseText(lossy bool) func(c *Caster, src, dst *Vector) {
	return func(c *Caster, src, dst *Vector) {
		for i, s := range src.Str {
			text := c.bytes(s)
			var err error
			if !lossy || !isFixed(c.to.Type.Kind) { // rounding a number is as quick as refusing it, and takes no memory
				err = dst.parse(c.to.Type, text)
			}
			if lossy && (err != nil || isFixed(c.to.Type.Kind)) {
				err = dst.parseRounded(c.to.Type, text)
			}
			if err != nil && !c.refuse(i, refusalOf(err)) {
				return
			}
		}
	}
}

// roundedText gives the refusal of a text that parseRounded takes.
func roundedText(to Type) Refusal {
	switch {
	case to.Kind == Decimal:
		return refuseScale(to.Precision, to.Scale)
	case isFixed(to.Kind):
		return refusePoint(to.Kind)
	}
	return errNanos
}

// parseRounded is parse for a text that has more digits than the type holds: a number is rounded half to even, of a second
// the digits beyond microseconds are cut off.
func (v *Vector) parseRounded(t Type, text []byte) error {
	var buf [64]byte
	switch {
	case isFixed(t.Kind):
		x, err := roundNumber(text, t)
		if err == nil {
			v.addFixed(t, x)
		}
		return err
	case isStamp(t.Kind):
		return v.parse(t, cutNanos(buf[:0], text, len("2006-01-02 15:04:05")))
	case t.Kind == Time:
		return v.parse(t, cutNanos(buf[:0], text, len("15:04:05")))
	}
	return v.parse(t, text)
}

// cutNanos gives a text whose fraction of a second, at offset at, has at most six digits.
func cutNanos(buf, text []byte, at int) []byte {
	if len(text) <= at || text[at] != '.' {
		return text
	}
	n := digits(text[at+1:])
	if n <= 6 {
		return text
	}
	return append(append(buf, text[:at+7]...), text[at+1+n:]...)
}

func bytesOfUUID(c *Caster, src, dst *Vector) {
	for _, v := range src.I128 {
		from := len(*c.job.data)
		b := v.BigEndian()
		*c.job.data = append(*c.job.data, b[:]...)
		if !c.addText(dst, from) {
			return
		}
	}
}

func uuidOfBytes(c *Caster, src, dst *Vector) {
	for i, s := range src.Str {
		if s.Len == 16 {
			dst.I128 = append(dst.I128, Int128OfBytes([16]byte(c.bytes(s))))
		} else if !c.refuse(i, errNot16) {
			return
		}
	}
}

// midnight casts days to the microseconds on which they begin.
func midnight(c *Caster, src, dst *Vector) {
	for i, v := range src.I32 {
		if MinDate <= v && v <= MaxDate {
			dst.I64 = append(dst.I64, int64(v)*microsPerDay)
		} else if !c.refuse(i, errDateRange) {
			return
		}
	}
}

// days casts microseconds to days.
func days(lossy bool) func(c *Caster, src, dst *Vector) {
	return func(c *Caster, src, dst *Vector) {
		for i, v := range src.I64 {
			day := floorDiv(int(v), microsPerDay)
			if lossy || int64(day)*microsPerDay == v {
				dst.I32 = append(dst.I32, int32(day))
			} else if !c.refuse(i, errTimeOfDay) {
				return
			}
		}
	}
}
