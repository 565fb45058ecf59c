// Package columnar holds a batch of rows column by column, and the types that its columns have. It does no I/O.
package columnar

import (
	"fmt"
	"slices"
)

// Kind is the kind of a column's values.
type Kind uint8

// The kinds. Their order is fixed: it is not written anywhere, but tables are indexed by it.
const (
	Bool        Kind = iota + 1
	Int8             // signed, 8 bits
	Int16            // signed, 16 bits
	Int32            // signed, 32 bits
	Int64            // signed, 64 bits
	Uint8            // unsigned, 8 bits
	Uint16           // unsigned, 16 bits
	Uint32           // unsigned, 32 bits
	Uint64           // unsigned, 64 bits
	Float32          // IEEE 754 binary32
	Float64          // IEEE 754 binary64
	Decimal          // exact, with a fixed scale; at most MaxPrecision digits
	Date             // days since 1970-01-01, proleptic Gregorian
	Time             // microseconds since midnight, of no time zone, less than a day
	Timestamp        // microseconds since 1970-01-01T00:00:00, of no time zone
	TimestampTZ      // microseconds since 1970-01-01T00:00:00Z; it keeps no zone of its own
	String           // UTF-8 text
	Binary           // bytes
	UUID             // 16 bytes
	JSON             // the text of one JSON value, RFC 8259
	List             // any number of values of one type: Fields[0], of whatever name
	Struct           // one value of each of Fields
)

// MaxPrecision is the most digits that a decimal can have.
const MaxPrecision = 38

// Narrow is the most digits of a decimal that is held in Vector.I64; a wider one is in Vector.I128.
const Narrow = 18

// Type is a column's type.
type Type struct {
	Kind      Kind
	Precision int      // of a decimal: digits in all, 1 to MaxPrecision
	Scale     int      // of a decimal: digits after the point, 0 to Precision
	Fields    []Column // of a struct, in order, at least one; of a list, the one of its elements, named Element
}

// Element is the name of the field of a list's elements.
const Element = "element"

// kindNames names the kinds as people write them. A list and a struct are written with their fields.
var kindNames = [...]string{Bool: "bool", Int8: "int8", Int16: "int16", Int32: "int32", Int64: "int64", Uint8: "uint8",
	Uint16: "uint16", Uint32: "uint32", Uint64: "uint64", Float32: "float32", Float64: "float64", Decimal: "decimal", Date: "date",
	Time: "time", Timestamp: "timestamp", TimestampTZ: "timestamptz", String: "string", Binary: "binary", UUID: "uuid", JSON: "json",
	List: "list", Struct: "struct"}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Kinds gives all kinds, in order.
func Kinds() []Kind {
	var all []Kind
	for k := Bool; k <= Struct; k++ {
		all = append(all, k)
	}
	return all
}

// Spans tells whether values of the kind are pieces of a batch's Data.
func (k Kind) Spans() bool { return k == String || k == Binary || k == JSON }

// Nested tells whether values of the kind are made of others.
func (k Kind) Nested() bool { return k == List || k == Struct }

// Column is one column of a schema, or a field of a nested type.
type Column struct {
	Name     string
	Type     Type
	Required bool // a missing or NULL value is a data error
	Cast     Cast // how a value of a source that has types of its own becomes one of Type
}

// Cast is what may be done to a value so that it is one of another type.
//
// Between timestamp and timestamptz, and for days, the zone is UTC. A float is the decimal that equals it, or else the one that
// its shortest text is, so that 0.1 is 0.1; a decimal is the float next to it, if that is cast back to the same decimal. -0 is the
// integer 0. A text is what Parse makes of it. Values out of range, and NaN where there is none, are refused by every cast.
type Cast uint8

// The casts.
const (
	CastSafe  Cast = iota // only between types of which the second holds every value of the first
	CastExact             // between any two that have values in common; a value that the second does not hold is refused
	CastLossy             // as CastExact, but digits, bits and fractions of seconds beyond the second type's are rounded off
)

// Schema is the columns of a batch, in order. A schema of no columns belongs to records that are copied unparsed.
type Schema struct {
	Columns []Column
	// Closed says that the columns were inferred. The source has these and no others: one more is an error, unless an option says
	// otherwise. So is a value that is not written as those are that they were inferred from.
	Closed bool
}

// Equal tells whether two types hold the same values. The name of a list's element, and casts, do not matter.
func (t Type) Equal(o Type) bool {
	return t.Kind == o.Kind && t.Precision == o.Precision && t.Scale == o.Scale &&
		slices.EqualFunc(t.Fields, o.Fields, func(a, b Column) bool {
			return (a.Name == b.Name || t.Kind == List) && a.Required == b.Required && a.Type.Equal(b.Type)
		})
}

// ListOf gives the type of lists of a type, whose elements may be NULL.
func ListOf(t Type) Type { return Type{Kind: List, Fields: []Column{{Name: Element, Type: t}}} }
