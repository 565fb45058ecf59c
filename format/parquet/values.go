package parquet

import (
	"bytes"
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// saw gives the bounds of values [from, to) of a vector. A value that is not the type's is a columnar.Refusal, with its index.
func saw(t columnar.Type, b *columnar.Batch, v *columnar.Vector, from, to int) (l limits, bad int, err error) {
	if from == to {
		return limits{}, 0, nil
	}
	l.any = true
	switch t.Kind {
	case columnar.Bool:
		l.min, l.max = boolBounds(v.Bool[from:to])
	case columnar.Float32:
		l = floatBounds(v.F32[from:to], parquet.FloatValue)
	case columnar.Float64:
		l = floatBounds(v.F64[from:to], parquet.DoubleValue)
	case columnar.String, columnar.Binary, columnar.JSON:
		l.min, l.max = bytesBounds(b, v.Str[from:to], t.Kind != columnar.Binary)
		if t.Kind == columnar.JSON {
			bad, err = notJSON(b, v.Str[from:to])
		}
	case columnar.Uint32:
		low, high := extremes[uint32](v.I32[from:to])
		l.min, l.max = parquet.Int32Value(int32(low)), parquet.Int32Value(int32(high))
	case columnar.Uint64:
		low, high := extremes[uint64](v.I64[from:to])
		l.min, l.max = parquet.Int64Value(int64(low)), parquet.Int64Value(int64(high))
	case columnar.UUID:
		l.min, l.max = uuidBounds(v.I128[from:to])
	default:
		switch t.Width() {
		case 4:
			low, high := extremes[int32](v.I32[from:to])
			l.min, l.max = parquet.Int32Value(low), parquet.Int32Value(high)
			bad, err = outside(t, v.I32[from:to], int64(low), int64(high))
		case 8:
			low, high := extremes[int64](v.I64[from:to])
			l.min, l.max = valueOf64(t)(low), valueOf64(t)(high)
			bad, err = outside(t, v.I64[from:to], low, high)
		default:
			l.min, l.max, bad, err = wideBounds(t, v.I128[from:to])
		}
	}
	return l, from + bad, err
}

// valueOf64 gives what makes the library's value of a type that is held in 64 bits.
func valueOf64(t columnar.Type) func(int64) parquet.Value {
	if t.Kind == columnar.Decimal && t.Precision <= physicalDigits {
		return func(v int64) parquet.Value { return parquet.Int32Value(int32(v)) }
	}
	return parquet.Int64Value
}

// extremes gives the least and the greatest of some values, in the order that they have as a U.
func extremes[U, T int32 | int64 | uint32 | uint64](values []T) (low, high U) {
	low, high = U(values[0]), U(values[0])
	for _, v := range values[1:] {
		low, high = min(low, U(v)), max(high, U(v))
	}
	return low, high
}

// ranges are the least and the greatest value of types that are held, and written, in more bits than they have.
var ranges = map[columnar.Kind][2]int64{
	columnar.Int8: {math.MinInt8, math.MaxInt8}, columnar.Int16: {math.MinInt16, math.MaxInt16},
	columnar.Uint8: {0, math.MaxUint8}, columnar.Uint16: {0, math.MaxUint16},
	columnar.Time: {0, 24*60*60*1_000_000 - 1},
}

// outside finds the first value that a type does not have. low and high are the values' extremes.
func outside[T int32 | int64](t columnar.Type, values []T, low, high int64) (int, error) {
	r, limited := ranges[t.Kind]
	if t.Kind == columnar.Decimal {
		most := int64(1)
		for range t.Precision {
			most *= 10
		}
		r, limited = [2]int64{1 - most, most - 1}, true
	}
	if !limited || low >= r[0] && high <= r[1] {
		return 0, nil
	}
	for i, v := range values {
		if int64(v) < r[0] || int64(v) > r[1] {
			return i, notOf(t)
		}
	}
	return 0, nil
}

func notOf(t columnar.Type) error { return columnar.Refusal("is not a value of type " + t.String()) }

func boolBounds(values []bool) (low, high parquet.Value) {
	count := 0
	for _, v := range values {
		if v {
			count++
		}
	}
	return parquet.BooleanValue(count == len(values)), parquet.BooleanValue(count > 0)
}

// floatBounds gives bounds as the format's specification has them: a zero stands for both zeros.
func floatBounds[T float32 | float64](values []T, value func(T) parquet.Value) limits {
	low, high := T(math.Inf(1)), T(math.Inf(-1))
	for _, v := range values {
		if v != v {
			return limits{any: true, nan: true, min: value(T(math.Inf(-1))), max: value(T(math.Inf(1)))}
		}
		low, high = min(low, v), max(high, v)
	}
	if low == 0 {
		low = T(math.Copysign(0, -1))
	}
	if high == 0 {
		high = 0
	}
	return limits{any: true, min: value(low), max: value(high)}
}

func bytesBounds(b *columnar.Batch, spans []columnar.Span, text bool) (low, high parquet.Value) {
	least, most := b.Bytes(spans[0]), b.Bytes(spans[0])
	for _, s := range spans[1:] {
		v := b.Bytes(s)
		if bytes.Compare(v, least) < 0 {
			least = v
		} else if bytes.Compare(v, most) > 0 {
			most = v
		}
	}
	return parquet.ByteArrayValue(lowerBound(least, text)).Clone(), parquet.ByteArrayValue(upperBound(most, text)).Clone()
}

// notJSON finds the first value that is not the text of a JSON value.
func notJSON(b *columnar.Batch, spans []columnar.Span) (int, error) {
	for i, s := range spans {
		if !isJSON(b.Bytes(s)) {
			return i, columnar.Refusal("is not JSON")
		}
	}
	return 0, nil
}

func isJSON(text []byte) bool { return json.Valid(text) && utf8.Valid(text) }

func uuidBounds(values []columnar.Int128) (low, high parquet.Value) {
	least, most := values[0], values[0]
	for _, v := range values[1:] {
		if unsignedLess(v, least) {
			least = v
		} else if unsignedLess(most, v) {
			most = v
		}
	}
	return fixed(least), fixed(most)
}

func unsignedLess(a, b columnar.Int128) bool {
	return uint64(a.Hi) < uint64(b.Hi) || a.Hi == b.Hi && a.Lo < b.Lo
}

func wideBounds(t columnar.Type, values []columnar.Int128) (low, high parquet.Value, bad int, err error) {
	least, most := values[0], values[0]
	for i, v := range values {
		if !v.Fits(t.Precision) {
			return low, high, i, notOf(t)
		}
		if v.Compare(least) < 0 {
			least = v
		} else if v.Compare(most) > 0 {
			most = v
		}
	}
	return fixed(least), fixed(most), 0, nil
}

func fixed(v columnar.Int128) parquet.Value {
	b := v.BigEndian()
	return parquet.FixedLenByteArrayValue(b[:])
}

// int128 is the inverse of fixed.
func int128(v parquet.Value) columnar.Int128 {
	return columnar.Int128OfBytes([16]byte(v.ByteArray()))
}

// maker makes the library's values of a leaf's.
type maker struct {
	values []parquet.Value
	fixed  []byte // 16-byte values
}

// make gives the library's values for levels [i, j) of what a leaf gathered, of which the first value is at from.
func (m *maker) make(l *leaf, b *columnar.Batch, i, j, from int) []parquet.Value {
	v, defs, reps := l.vector(), l.defs[i:j], l.reps
	if l.rep > 0 {
		reps = reps[i:j]
	}
	m.values, m.fixed = m.values[:0], m.fixed[:0]
	switch l.typ.Kind {
	case columnar.Bool:
		fill(m, l, reps, defs, v.Bool[from:], parquet.BooleanValue)
	case columnar.Float32:
		fill(m, l, reps, defs, v.F32[from:], parquet.FloatValue)
	case columnar.Float64:
		fill(m, l, reps, defs, v.F64[from:], parquet.DoubleValue)
	case columnar.String, columnar.Binary, columnar.JSON:
		fill(m, l, reps, defs, v.Str[from:], func(s columnar.Span) parquet.Value { return parquet.ByteArrayValue(b.Bytes(s)) })
	default:
		switch l.typ.Width() {
		case 4:
			fill(m, l, reps, defs, v.I32[from:], parquet.Int32Value)
		case 8:
			fill(m, l, reps, defs, v.I64[from:], valueOf64(l.typ))
		default:
			fill(m, l, reps, defs, v.I128[from:], func(v columnar.Int128) parquet.Value {
				b := v.BigEndian()
				m.fixed = append(m.fixed, b[:]...)
				return parquet.FixedLenByteArrayValue(m.fixed[len(m.fixed)-16:])
			})
		}
	}
	return m.values
}

func fill[T any](m *maker, l *leaf, reps, defs []byte, from []T, value func(T) parquet.Value) {
	full := l.full()
	next, rep := 0, byte(0)
	for i, def := range defs {
		if l.rep > 0 {
			rep = reps[i]
		}
		if def < full {
			m.values = append(m.values, parquet.NullValue().Level(int(rep), int(def), l.column))
			continue
		}
		m.values = append(m.values, value(from[next]).Level(int(rep), int(l.def), l.column))
		next++
	}
}

// size is how many bytes what a leaf gathered is before compression, about.
func (l *leaf) size() int64 {
	v, from, to := l.vector(), l.first, l.next()
	width := l.typ.Width()
	switch l.typ.Kind {
	case columnar.Bool:
		width = 1
	case columnar.Float32:
		width = 4
	case columnar.Float64:
		width = 8
	}
	size := int64(width * (to - from))
	if l.typ.Kind.Spans() {
		for _, s := range v.Str[from:to] {
			size += 4 + int64(s.Len)
		}
	}
	if l.def > 0 {
		size += int64(len(l.defs))
	}
	if l.rep > 0 {
		size += int64(len(l.defs))
	}
	return size
}

// refuse is the error of a value that cannot be written.
func (l *leaf) refuse(b *columnar.Batch, bad int, reason error) error {
	v := l.vector()
	var text []byte
	if l.typ.Kind.Spans() {
		text = b.Bytes(v.Str[bad])
	} else {
		text, _ = v.Append(nil, l.typ, bad) // of what has no text there is none to show
	}
	err := &format.DataError{Offset: format.Unplaced, Column: l.name(), Value: string(text), Reason: reason.Error()}
	if l.typ.Kind == columnar.JSON {
		err.Advice = "declare the column as string"
	}
	return format.AtRow(err, l.rowOf(b, bad))
}
