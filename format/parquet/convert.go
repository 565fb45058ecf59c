package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
)

// conversion appends a value of a leaf, which is there, to a vector. Bytes go to data. Its error says what is wrong with the value,
// and something is appended all the same. lossy lets it cut digits off.
type conversion func(v *columnar.Vector, value parquet.Value, data *[]byte, lossy bool) error

// readType gives the type of a leaf, and how its values are read; the Kind 0 for one that cannot be read.
func readType(e *pqformat.SchemaElement) (columnar.Type, conversion) {
	switch e.Type.V {
	case pqformat.Boolean:
		return columnar.Type{Kind: columnar.Bool}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
			v.Bool = append(v.Bool, x.Boolean())
			return nil
		}
	case pqformat.Int32:
		return int32Type(e)
	case pqformat.Int64:
		return int64Type(e)
	case pqformat.Int96:
		return columnar.Type{Kind: columnar.Timestamp}, int96
	case pqformat.Float:
		return columnar.Type{Kind: columnar.Float32}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
			v.F32 = append(v.F32, x.Float())
			return nil
		}
	case pqformat.Double:
		return columnar.Type{Kind: columnar.Float64}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
			v.F64 = append(v.F64, x.Double())
			return nil
		}
	}
	return bytesType(e)
}

// decimalOf gives the decimal that an element is annotated as.
func decimalOf(e *pqformat.SchemaElement) (t columnar.Type, ok bool) {
	precision, scale := e.Precision.V, e.Scale.V
	if d, is := e.LogicalType.Value.(*pqformat.DecimalType); is {
		precision, scale, ok = d.Precision, d.Scale, true
	} else if e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal {
		ok = true
	}
	if !ok {
		return t, false
	}
	if precision < 1 || precision > columnar.MaxPrecision || scale < 0 || scale > precision {
		return t, true // it cannot be read
	}
	return columnar.Type{Kind: columnar.Decimal, Precision: int(precision), Scale: int(scale)}, true
}

// integerOf gives the kind of integers that an element is annotated as, or plain.
func integerOf(e *pqformat.SchemaElement, plain columnar.Kind) columnar.Kind {
	bits, signed := 0, true
	if t, ok := e.LogicalType.Value.(*pqformat.IntType); ok {
		bits, signed = int(t.BitWidth), t.IsSigned
	} else if e.ConvertedType.Valid {
		switch c := e.ConvertedType.V; c {
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			bits, signed = 8<<(c-deprecated.Uint8), false
		case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
			bits = 8 << (c - deprecated.Int8)
		}
	}
	kinds := map[int]columnar.Kind{8: columnar.Int8, 16: columnar.Int16, 32: columnar.Int32, 64: columnar.Int64}
	k, ok := kinds[bits]
	switch {
	case !ok:
		return plain
	case !signed:
		return k + columnar.Uint8 - columnar.Int8
	}
	return k
}

// unitOf gives how many of a unit there are in a microsecond, or as a negative number how many microseconds it has.
func unitOf(u pqformat.TimeUnit) int64 {
	switch u.Value.(type) {
	case *pqformat.MilliSeconds:
		return -1000
	case *pqformat.NanoSeconds:
		return 1000
	}
	return 1
}

func int32Type(e *pqformat.SchemaElement) (columnar.Type, conversion) {
	if t, ok := decimalOf(e); ok {
		return t, decimal(t, func(x parquet.Value) columnar.Int128 { return columnar.Int128Of(int64(x.Int32())) })
	}
	if t, ok := e.LogicalType.Value.(*pqformat.TimeType); ok {
		return columnar.Type{Kind: columnar.Time}, times(unitOf(t.Unit), func(x parquet.Value) int64 { return int64(x.Int32()) })
	}
	if e.ConvertedType.Valid && e.ConvertedType.V == deprecated.TimeMillis {
		return columnar.Type{Kind: columnar.Time}, times(-1000, func(x parquet.Value) int64 { return int64(x.Int32()) })
	}
	_, date := e.LogicalType.Value.(*pqformat.DateType)
	if date || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Date {
		return columnar.Type{Kind: columnar.Date}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
			v.I32 = append(v.I32, x.Int32())
			return nil
		}
	}
	kind := integerOf(e, columnar.Int32)
	least, most := int64(math.MinInt32), int64(math.MaxInt32)
	switch kind {
	case columnar.Int8:
		least, most = math.MinInt8, math.MaxInt8
	case columnar.Int16:
		least, most = math.MinInt16, math.MaxInt16
	case columnar.Uint8:
		least, most = 0, math.MaxUint8
	case columnar.Uint16:
		least, most = 0, math.MaxUint16
	case columnar.Int64, columnar.Uint64:
		return columnar.Type{}, nil
	}
	return columnar.Type{Kind: kind}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
		n := x.Int32()
		v.I32 = append(v.I32, n)
		if int64(n) < least || int64(n) > most {
			return columnar.Refusal(fmt.Sprintf("%d is beyond the range of %s, as which it is annotated", n, kind))
		}
		return nil
	}
}

func int64Type(e *pqformat.SchemaElement) (columnar.Type, conversion) {
	get := func(x parquet.Value) int64 { return x.Int64() }
	if t, ok := decimalOf(e); ok {
		return t, decimal(t, func(x parquet.Value) columnar.Int128 { return columnar.Int128Of(x.Int64()) })
	}
	switch t := e.LogicalType.Value.(type) {
	case *pqformat.TimeType:
		return columnar.Type{Kind: columnar.Time}, times(unitOf(t.Unit), get)
	case *pqformat.TimestampType:
		if t.IsAdjustedToUTC {
			return columnar.Type{Kind: columnar.TimestampTZ}, timestamps(unitOf(t.Unit), get)
		}
		return columnar.Type{Kind: columnar.Timestamp}, timestamps(unitOf(t.Unit), get)
	}
	if e.ConvertedType.Valid {
		switch e.ConvertedType.V { // which are of UTC, all of them
		case deprecated.TimeMicros:
			return columnar.Type{Kind: columnar.Time}, times(1, get)
		case deprecated.TimestampMillis:
			return columnar.Type{Kind: columnar.TimestampTZ}, timestamps(-1000, get)
		case deprecated.TimestampMicros:
			return columnar.Type{Kind: columnar.TimestampTZ}, timestamps(1, get)
		}
	}
	switch kind := integerOf(e, columnar.Int64); kind {
	case columnar.Int64, columnar.Uint64:
		return columnar.Type{Kind: kind}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
			v.I64 = append(v.I64, x.Int64())
			return nil
		}
	}
	return columnar.Type{}, nil
}

const errNanos columnar.Refusal = "has nanoseconds, which no type can hold: the cast lossy cuts them off"

// micros makes microseconds of a number of units.
func micros(n, unit int64, lossy bool) (int64, error) {
	if unit < 0 {
		if n > math.MaxInt64/-unit || n < math.MinInt64/-unit {
			return 0, columnar.Refusal(fmt.Sprintf("%d milliseconds are beyond the range of a timestamp", n))
		}
		return n * -unit, nil
	}
	q, r := n/unit, n%unit
	if r < 0 {
		q--
	}
	if r != 0 && !lossy {
		return q, errNanos
	}
	return q, nil
}

func timestamps(unit int64, get func(parquet.Value) int64) conversion {
	return func(v *columnar.Vector, x parquet.Value, _ *[]byte, lossy bool) error {
		n, err := micros(get(x), unit, lossy)
		v.I64 = append(v.I64, n)
		return err
	}
}

const microsPerDay = 86_400_000_000

func times(unit int64, get func(parquet.Value) int64) conversion {
	return func(v *columnar.Vector, x parquet.Value, _ *[]byte, lossy bool) error {
		n, err := micros(get(x), unit, lossy)
		v.I64 = append(v.I64, n)
		if err == nil && (n < 0 || n >= microsPerDay) {
			err = columnar.Refusal(fmt.Sprintf("%d microseconds are outside a day", n))
		}
		return err
	}
}

// julianEpoch is the Julian day number of 1970-01-01.
const julianEpoch = 2440588

// int96 reads nanoseconds of a day and a Julian day, as Impala and Spark wrote timestamps. They are of no time zone.
func int96(v *columnar.Vector, x parquet.Value, _ *[]byte, lossy bool) error {
	raw := x.Int96()
	nanos := int64(uint64(raw[1])<<32 | uint64(raw[0]))
	day := int64(int32(raw[2])) - julianEpoch
	n, err := micros(nanos, 1000, lossy)
	if day > math.MaxInt64/microsPerDay-1 || day < math.MinInt64/microsPerDay+1 {
		day, err = 0, columnar.Refusal("is beyond the range of a timestamp")
	}
	v.I64 = append(v.I64, day*microsPerDay+n)
	return err
}

// decimal reads unscaled values.
func decimal(t columnar.Type, get func(parquet.Value) columnar.Int128) conversion {
	if t.Kind == 0 {
		return nil
	}
	return func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
		return addDecimal(v, t, get(x))
	}
}

func addDecimal(v *columnar.Vector, t columnar.Type, n columnar.Int128) error {
	fits := n.Fits(t.Precision)
	if t.Precision <= columnar.Narrow {
		if !fits {
			n = columnar.Int128{}
		}
		v.I64 = append(v.I64, int64(n.Lo))
	} else {
		v.I128 = append(v.I128, n)
	}
	if !fits {
		return columnar.Refusal(fmt.Sprintf("has more than %d digits, which its annotation does not allow", t.Precision))
	}
	return nil
}

// bytesType is of BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY.
func bytesType(e *pqformat.SchemaElement) (columnar.Type, conversion) {
	if t, ok := decimalOf(e); ok {
		if t.Kind == 0 {
			return t, nil
		}
		return t, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
			n, ok := bigEndian(x.ByteArray())
			if !ok {
				n = columnar.Int128{Hi: math.MaxInt64}
			}
			return addDecimal(v, t, n)
		}
	}
	fixed := int(e.TypeLength.V)
	switch e.LogicalType.Value.(type) {
	case *pqformat.StringType, *pqformat.EnumType:
		return columnar.Type{Kind: columnar.String}, text
	case *pqformat.JsonType:
		return columnar.Type{Kind: columnar.JSON}, text
	case *pqformat.UUIDType:
		if fixed == 16 {
			return columnar.Type{Kind: columnar.UUID}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
				v.I128 = append(v.I128, columnar.Int128OfBytes([16]byte(x.ByteArray())))
				return nil
			}
		}
	case *pqformat.Float16Type:
		if fixed == 2 {
			return columnar.Type{Kind: columnar.Float32}, func(v *columnar.Vector, x parquet.Value, _ *[]byte, _ bool) error {
				v.F32 = append(v.F32, float16(binary.LittleEndian.Uint16(x.ByteArray())))
				return nil
			}
		}
	}
	if e.ConvertedType.Valid {
		switch e.ConvertedType.V {
		case deprecated.UTF8, deprecated.Enum:
			return columnar.Type{Kind: columnar.String}, text
		case deprecated.Json:
			return columnar.Type{Kind: columnar.JSON}, text
		case deprecated.Interval:
			return columnar.Type{}, nil
		}
	}
	return columnar.Type{Kind: columnar.Binary}, func(v *columnar.Vector, x parquet.Value, data *[]byte, _ bool) error {
		addBytes(v, x.ByteArray(), data)
		return nil
	}
}

func addBytes(v *columnar.Vector, b []byte, data *[]byte) {
	v.Str = append(v.Str, columnar.Span{Off: uint32(len(*data)), Len: uint32(len(b))})
	*data = append(*data, b...)
}

func text(v *columnar.Vector, x parquet.Value, data *[]byte, _ bool) error {
	b := x.ByteArray()
	addBytes(v, b, data)
	if !utf8.Valid(b) {
		return columnar.Refusal("is not UTF-8, as it is annotated: the type binary holds any bytes")
	}
	return nil
}

// bigEndian reads an integer in two's complement of any length. It is false if 128 bits do not hold it.
func bigEndian(b []byte) (n columnar.Int128, ok bool) {
	if len(b) == 0 {
		return n, true
	}
	sign := byte(0)
	if b[0] >= 0x80 {
		sign = 0xff
	}
	for len(b) > 16 {
		if b[0] != sign {
			return n, false
		}
		b = b[1:]
	}
	if len(b) == 16 && (b[0]^sign) >= 0x80 {
		return n, false
	}
	var wide [16]byte
	for i := range wide {
		wide[i] = sign
	}
	copy(wide[16-len(b):], b)
	return columnar.Int128OfBytes(wide), true
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
