package parquet

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/deprecated"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
)

// leafKind is what the values of a leaf are: how they lie in the file, the type that holds all of them, and how they become that.
type leafKind struct {
	physical
	typ columnar.Type // Kind 0: it cannot be read
	// look sees to values that are read in place, from the from-th on: it changes them, or refuses them.
	look func(v *values, from int, r *refusals)
	// become makes values out of raw ones, appending them. One of both is set at most.
	become func(raw, v *values, r *refusals)
}

// refusals are values that were refused, in order.
type refusals struct {
	list  []refusal
	lossy bool // digits may be cut off
}

// refusal is of one value, which has something in its place.
type refusal struct {
	value  int // its number
	text   string
	reason columnar.Refusal
	advice string
}

func (r *refusals) add(value int, text string, reason columnar.Refusal, advice string) {
	r.list = append(r.list, refusal{value, text, reason, advice})
}

// adviceMend is for values that no type holds.
const adviceMend = "mend the source"

// readType tells what the values of a leaf are.
func readType(e *pqformat.SchemaElement) leafKind {
	kind := func(k columnar.Kind, width int) leafKind {
		return leafKind{physical: physical{e.Type.V, width}, typ: columnar.Type{Kind: k}}
	}
	switch e.Type.V {
	case pqformat.Boolean:
		return kind(columnar.Bool, 0)
	case pqformat.Float:
		return kind(columnar.Float32, 4)
	case pqformat.Double:
		return kind(columnar.Float64, 8)
	case pqformat.Int96:
		k := kind(columnar.Timestamp, 12)
		k.become = int96s
		return k
	case pqformat.Int32:
		return int32Kind(e, kind(columnar.Int32, 4))
	case pqformat.Int64:
		return int64Kind(e, kind(columnar.Int64, 8))
	case pqformat.ByteArray:
		return bytesKind(e, kind(columnar.Binary, 0))
	case pqformat.FixedLenByteArray:
		if e.TypeLength.V > 0 {
			return bytesKind(e, kind(columnar.Binary, int(e.TypeLength.V)))
		}
	}
	return kind(0, 0)
}

func converted(e *pqformat.SchemaElement, as deprecated.ConvertedType) bool {
	return e.ConvertedType.Valid && e.ConvertedType.V == as
}

// decimalOf gives the decimal that an element is annotated as, the Kind 0 for one that cannot be read.
func decimalOf(e *pqformat.SchemaElement) (t columnar.Type, ok bool) {
	precision, scale := e.Precision.V, e.Scale.V
	if d, is := e.LogicalType.Value.(*pqformat.DecimalType); is {
		precision, scale = d.Precision, d.Scale
	} else if !converted(e, deprecated.Decimal) {
		return t, false
	}
	if precision < 1 || precision > columnar.MaxPrecision || scale < 0 || scale > precision {
		return t, true
	}
	return columnar.Type{Kind: columnar.Decimal, Precision: int(precision), Scale: int(scale)}, true
}

// integerOf gives the kind of integers that an element is annotated as, or plain. It is 0 for a width that integers do not have.
func integerOf(e *pqformat.SchemaElement, plain columnar.Kind) columnar.Kind {
	t, ok := e.LogicalType.Value.(*pqformat.IntType)
	bits, signed := int8(0), true
	switch c := e.ConvertedType.V; {
	case ok:
		bits, signed = t.BitWidth, t.IsSigned
	case e.ConvertedType.Valid && deprecated.Uint8 <= c && c <= deprecated.Uint64:
		bits, signed = 8<<(c-deprecated.Uint8), false
	case e.ConvertedType.Valid && deprecated.Int8 <= c && c <= deprecated.Int64:
		bits = 8 << (c - deprecated.Int8)
	default:
		return plain
	}
	k := map[int8]columnar.Kind{8: columnar.Int8, 16: columnar.Int16, 32: columnar.Int32, 64: columnar.Int64}[bits]
	if k != 0 && !signed {
		k += columnar.Uint8 - columnar.Int8
	}
	return k
}

// unitOf gives how many microseconds a unit has, or how many of the unit a microsecond has. It is false for one that is not known.
func unitOf(u pqformat.TimeUnit) (unit, bool) {
	switch u.Value.(type) {
	case *pqformat.MilliSeconds:
		return unit{micros: 1000}, true
	case *pqformat.MicroSeconds:
		return unit{}, true
	case *pqformat.NanoSeconds:
		return unit{parts: 1000}, true
	}
	return unit{}, false
}

func int32Kind(e *pqformat.SchemaElement, k leafKind) leafKind {
	if t, ok := decimalOf(e); ok {
		return k.decimal(t)
	}
	t, isTime := e.LogicalType.Value.(*pqformat.TimeType)
	_, isDate := e.LogicalType.Value.(*pqformat.DateType)
	switch {
	case isTime:
		return k.timeOfDayIn(t.Unit)
	case converted(e, deprecated.TimeMillis):
		return k.timeOfDay(unit{micros: 1000})
	case isDate || converted(e, deprecated.Date):
		k.typ.Kind = columnar.Date
		k.look = lookAtDates
		return k
	}
	k.typ.Kind = integerOf(e, columnar.Int32)
	switch k.typ.Kind {
	case columnar.Int8, columnar.Int16, columnar.Uint8, columnar.Uint16:
		k.look = within(k.typ.Kind)
	case columnar.Int64, columnar.Uint64:
		k.typ = columnar.Type{}
	}
	return k
}

func int64Kind(e *pqformat.SchemaElement, k leafKind) leafKind {
	if t, ok := decimalOf(e); ok {
		return k.decimal(t)
	}
	switch t := e.LogicalType.Value.(type) {
	case *pqformat.TimeType:
		return k.timeOfDayIn(t.Unit)
	case *pqformat.TimestampType:
		u, ok := unitOf(t.Unit)
		if k = k.timestamp(t.IsAdjustedToUTC, u); !ok {
			k.typ = columnar.Type{}
		}
		return k
	}
	switch { // which are of UTC, all of them
	case converted(e, deprecated.TimeMicros):
		return k.timeOfDay(unit{})
	case converted(e, deprecated.TimestampMillis):
		return k.timestamp(true, unit{micros: 1000})
	case converted(e, deprecated.TimestampMicros):
		return k.timestamp(true, unit{})
	}
	k.typ.Kind = integerOf(e, columnar.Int64)
	if k.typ.Kind != columnar.Int64 && k.typ.Kind != columnar.Uint64 {
		k.typ = columnar.Type{}
	}
	return k
}

// bytesKind is of BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY. Those of no annotation that is known here are bytes.
func bytesKind(e *pqformat.SchemaElement, k leafKind) leafKind {
	if t, ok := decimalOf(e); ok {
		return k.decimal(t)
	}
	switch e.LogicalType.Value.(type) {
	case *pqformat.StringType, *pqformat.EnumType:
		return k.text(columnar.String)
	case *pqformat.JsonType:
		return k.text(columnar.JSON)
	case *pqformat.UUIDType:
		if k.width == 16 {
			k.typ.Kind, k.become = columnar.UUID, uuids
		}
	case *pqformat.Float16Type:
		if k.width == 2 {
			k.typ.Kind, k.become = columnar.Float32, float16s
		}
	}
	switch {
	case converted(e, deprecated.UTF8), converted(e, deprecated.Enum):
		return k.text(columnar.String)
	case converted(e, deprecated.Json):
		return k.text(columnar.JSON)
	case converted(e, deprecated.Interval):
		k.typ = columnar.Type{} // months, days and milliseconds have no type
	}
	return k
}

// text makes the kind one of text.
func (k leafKind) text(kind columnar.Kind) leafKind {
	k.typ, k.look = columnar.Type{Kind: kind}, lookAtText(utf8.Valid, "is not UTF-8, which text must be", "the type binary holds any bytes")
	if kind == columnar.JSON {
		k.look = lookAtText(isJSON, "is not the text of one JSON value", "the type string holds any text")
	}
	return k
}

// lookAtText refuses texts that are not right.
func lookAtText(right func([]byte) bool, reason columnar.Refusal, advice string) func(v *values, from int, r *refusals) {
	return func(v *values, from int, r *refusals) {
		for i := from; i < len(v.Str); i++ {
			s := v.Str[i]
			if b := v.data[s.Off:][:s.Len]; !right(b) {
				r.add(i, string(b), reason, advice)
			}
		}
	}
}

// within refuses integers that the kind does not have.
func within(kind columnar.Kind) func(v *values, from int, r *refusals) {
	bounds := ranges[kind]
	return func(v *values, from int, r *refusals) {
		for i, n := range v.I32[from:] {
			if int64(n) < bounds[0] || int64(n) > bounds[1] {
				r.add(from+i, strconv.Itoa(int(n)), columnar.Refusal("is beyond the range of "+kind.String()+", as which the file has it"), adviceMend)
			}
		}
	}
}

func uuids(raw, v *values, _ *refusals) {
	for _, s := range raw.Str {
		v.I128 = append(v.I128, columnar.Int128OfBytes([16]byte(raw.data[s.Off:][:s.Len])))
	}
}

func float16s(raw, v *values, _ *refusals) {
	for _, s := range raw.Str {
		v.F32 = append(v.F32, float16(binary.LittleEndian.Uint16(raw.data[s.Off:][:s.Len])))
	}
}

// float16 widens an IEEE 754 binary16.
func float16(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exponent == 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	case exponent > 0:
		return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
	}
	v := float32(fraction) / (1 << 24)
	if sign != 0 {
		v = -v
	}
	return v
}
