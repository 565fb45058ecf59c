package columnar

import (
	"fmt"
	"strconv"
)

// Parse appends the value of a type that a text stands for. A text that stands for none, or for one that the type does
// not hold exactly (a float: nearly), is a Refusal, and nothing is appended. Types whose values are spans, and nested ones, are
// not parsed here: their values depend on how a format writes them.
func (v *Vector) Parse(t Type, text []byte) error {
	err := v.parse(t, text)
	if err == nil {
		v.Valid = append(v.Valid, 1)
	}
	return err
}

// parse is Parse, but for the value's validity.
func (v *Vector) parse(t Type, text []byte) (err error) {
	switch t.Kind {
	case Bool:
		err = add(&v.Bool, text, ParseBool)
	case Int8, Int16, Int32, Uint8, Uint16, Uint32:
		var n int64
		if n, err = ParseInt(text, t.Kind); err == nil {
			v.I32 = append(v.I32, int32(n))
		}
	case Int64, Uint64:
		var n int64
		if n, err = ParseInt(text, t.Kind); err == nil {
			v.I64 = append(v.I64, n)
		}
	case Float32:
		err = add(&v.F32, text, ParseFloat32)
	case Float64:
		err = add(&v.F64, text, ParseFloat64)
	case Date:
		err = add(&v.I32, text, ParseDate)
	case Time:
		err = add(&v.I64, text, ParseTime)
	case Timestamp:
		err = add(&v.I64, text, ParseTimestamp)
	case TimestampTZ:
		err = add(&v.I64, text, ParseTimestampTZ)
	case UUID:
		err = add(&v.I128, text, ParseUUID)
	case Decimal:
		err = v.parseDecimal(t, text)
	default:
		return fmt.Errorf("type %s is not parsed", t)
	}
	return err
}

func add[V any](values *[]V, text []byte, parse func([]byte) (V, error)) error {
	value, err := parse(text)
	if err == nil {
		*values = append(*values, value)
	}
	return err
}

func (v *Vector) parseDecimal(t Type, text []byte) error {
	if t.Precision <= Narrow {
		value, err := ParseNarrow(text, t.Precision, t.Scale)
		if err == nil {
			v.I64 = append(v.I64, value)
		}
		return err
	}
	value, err := ParseDecimal(text, t.Precision, t.Scale)
	if err == nil {
		v.I128 = append(v.I128, value)
	}
	return err
}

// Append appends the text of the i-th of the values that are not NULL, as Parse reads it. A value that has no text is a
// Refusal. Types that Parse does not know have no text here.
func (v *Vector) Append(dst []byte, t Type, i int) ([]byte, error) {
	switch t.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.Bool[i]), nil
	case Int8, Int16, Int32, Uint8, Uint16:
		return strconv.AppendInt(dst, int64(v.I32[i]), 10), nil
	case Uint32:
		return strconv.AppendUint(dst, uint64(uint32(v.I32[i])), 10), nil
	case Int64:
		return strconv.AppendInt(dst, v.I64[i], 10), nil
	case Uint64:
		return strconv.AppendUint(dst, uint64(v.I64[i]), 10), nil
	case Float32:
		return AppendFloat32(dst, v.F32[i]), nil
	case Float64:
		return AppendFloat64(dst, v.F64[i]), nil
	case Date:
		return AppendDate(dst, v.I32[i])
	case Time:
		return AppendTime(dst, v.I64[i])
	case Timestamp:
		return AppendTimestamp(dst, v.I64[i])
	case TimestampTZ:
		return AppendTimestampTZ(dst, v.I64[i])
	case UUID:
		return AppendUUID(dst, v.I128[i]), nil
	case Decimal:
		if t.Precision <= Narrow {
			return AppendNarrow(dst, v.I64[i], t.Scale), nil
		}
		return AppendDecimal(dst, v.I128[i], t.Scale), nil
	}
	return dst, fmt.Errorf("type %s has no text of its own", t)
}
