package columnar

import (
	"fmt"
	"strconv"
)

// Parse appends the value of a type that a text stands for. A text that stands for none, or for one that the type does
// not hold exactly (a float64: nearly), is a Refusal, and nothing is appended. Strings are not parsed: use AddString.
func (v *Vector) Parse(t Type, text []byte) (err error) {
	switch t.Kind {
	case Bool:
		err = add(&v.Bool, text, ParseBool)
	case Int64:
		err = add(&v.I64, text, ParseInt64)
	case Float64:
		err = add(&v.F64, text, ParseFloat64)
	case Date:
		err = add(&v.I32, text, ParseDate)
	case Timestamp:
		err = add(&v.I64, text, ParseTimestamp)
	case Decimal:
		err = v.parseDecimal(t, text)
	default:
		return fmt.Errorf("type %s is not parsed", t)
	}
	if err == nil {
		v.Valid = append(v.Valid, 1)
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

// AddString appends a string: a piece of the batch's Data.
func (v *Vector) AddString(s Span) {
	v.Str = append(v.Str, s)
	v.Valid = append(v.Valid, 1)
}

// Append appends the text of the i-th of the values that are not NULL, as Parse reads it. A value that has no text is a
// Refusal. Strings have their text in the batch.
func (v *Vector) Append(dst []byte, t Type, i int) ([]byte, error) {
	switch t.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.Bool[i]), nil
	case Int64:
		return strconv.AppendInt(dst, v.I64[i], 10), nil
	case Float64:
		return AppendFloat64(dst, v.F64[i])
	case Date:
		return AppendDate(dst, v.I32[i])
	case Timestamp:
		return AppendTimestamp(dst, v.I64[i])
	case Decimal:
		if t.Precision <= Narrow {
			return AppendNarrow(dst, v.I64[i], t.Scale), nil
		}
		return AppendDecimal(dst, v.I128[i], t.Scale), nil
	}
	return dst, fmt.Errorf("type %s has no text of its own", t)
}
