// Package columnar holds a batch of rows column by column, and the types that its columns have. It does no I/O.
package columnar

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the kind of a column's values.
type Kind uint8

// The kinds. Their order is fixed: it is not written anywhere, but tables are indexed by it.
const (
	Bool      Kind = iota + 1
	Int64          // signed, 64 bits
	Float64        // IEEE 754 binary64
	Decimal        // exact, with a fixed scale; at most MaxPrecision digits
	Date           // days since 1970-01-01, proleptic Gregorian
	Timestamp      // microseconds since 1970-01-01T00:00:00, of no time zone
	String         // UTF-8 text
)

// MaxPrecision is the most digits that a decimal can have.
const MaxPrecision = 38

// Narrow is the most digits of a decimal that is held in Vector.I64; a wider one is in Vector.I128.
const Narrow = 18

// Type is a column's type. Precision and Scale are of decimals only.
type Type struct {
	Kind      Kind
	Precision int // digits in all, 1 to MaxPrecision
	Scale     int // digits after the point, 0 to Precision
}

var kindNames = [...]string{Bool: "bool", Int64: "int64", Float64: "float64", Decimal: "decimal", Date: "date",
	Timestamp: "timestamp", String: "string"}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// String gives the type as ParseType reads it: "int64", "decimal(18,2)".
func (t Type) String() string {
	if t.Kind == Decimal {
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	}
	return t.Kind.String()
}

// ParseType reads a type's name. Its error says which types there are.
func ParseType(s string) (Type, error) {
	name, args, hasArgs := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "(")
	if name == "decimal" && hasArgs {
		return parseDecimalType(s, args)
	}
	for k, n := range kindNames {
		if n == name && n != "" && n != "decimal" && !hasArgs {
			return Type{Kind: Kind(k)}, nil
		}
	}
	if name == "decimal" {
		return Type{}, fmt.Errorf("type %q needs its digits: decimal(18,2) is 18 digits in all, 2 of them after the point", s)
	}
	return Type{}, fmt.Errorf("unknown type %q: the types are bool, int64, float64, decimal(p,s), date, timestamp, string", s)
}

func parseDecimalType(whole, args string) (Type, error) {
	p, s, ok := strings.Cut(strings.TrimSuffix(args, ")"), ",")
	if !ok {
		s = "0"
	}
	precision, err1 := strconv.Atoi(strings.TrimSpace(p))
	scale, err2 := strconv.Atoi(strings.TrimSpace(s))
	if err1 != nil || err2 != nil || !strings.HasSuffix(args, ")") {
		return Type{}, fmt.Errorf("type %q: write it as decimal(18,2)", whole)
	}
	if precision < 1 || precision > MaxPrecision || scale < 0 || scale > precision {
		return Type{}, fmt.Errorf("type %q: a decimal has 1 to %d digits, and 0 to all of them after the point", whole, MaxPrecision)
	}
	return Type{Kind: Decimal, Precision: precision, Scale: scale}, nil
}

// Column is one column of a schema.
type Column struct {
	Name     string
	Type     Type
	Required bool // a missing or NULL value is a data error
}

// Schema is the columns of a batch, in order. A schema of no columns belongs to records that are copied unparsed.
type Schema struct {
	Columns []Column
}
