package parquet

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/clinkctl/clinkctl/columnar"
)

// root is the root of a file's schema. parquet.Group would sort the columns by name.
type root struct {
	parquet.Group
	fields []parquet.Field
}

func (r root) Fields() []parquet.Field     { return r.fields }
func (r root) GoType() reflect.Type        { return reflect.TypeFor[map[string]any]() }
func (r root) Encoding() encoding.Encoding { return nil }
func (r root) Compression() compress.Codec { return nil }

// field is a column. Its values are written by column writers, never taken from Go values.
type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

func (f field) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// physicalDigits is how many digits of a decimal fit an INT32.
const physicalDigits = 9

// node gives a column's node, with index for the page index of the types whose bounds the library does not keep right.
func node(column columnar.Column, index *pageIndex) (parquet.Node, error) {
	var n parquet.Node
	switch t := column.Type; t.Kind {
	case columnar.Bool:
		n = parquet.Leaf(parquet.BooleanType)
	case columnar.Int64:
		n = parquet.Leaf(parquet.Int64Type)
	case columnar.Float64:
		n = parquet.Leaf(parquet.DoubleType)
	case columnar.Date:
		n = parquet.Date()
	case columnar.Timestamp:
		n = parquet.Leaf(local{parquet.TimestampAdjusted(parquet.Microsecond, false).Type()})
	case columnar.String:
		n = parquet.Leaf(indexed{parquet.String().Type(), index})
	case columnar.Decimal:
		switch {
		case t.Precision <= physicalDigits:
			n = parquet.Decimal(t.Scale, t.Precision, parquet.Int32Type)
		case t.Precision <= columnar.Narrow:
			n = parquet.Decimal(t.Scale, t.Precision, parquet.Int64Type)
		default:
			wide := parquet.Decimal(t.Scale, t.Precision, parquet.FixedLenByteArrayType(16))
			n = parquet.Leaf(indexed{wide.Type(), index})
		}
	default:
		return nil, fmt.Errorf("column %s: parquet has nothing for type %s", column.Name, t)
	}
	n = parquet.Encoded(n, &parquet.Plain)
	if column.Required {
		return parquet.Required(n), nil
	}
	return parquet.Optional(n), nil
}

func isWide(t columnar.Type) bool {
	return t.Kind == columnar.Decimal && t.Precision > columnar.Narrow
}

// local is the type of a timestamp that is of no time zone. It has no converted type: the one that the library gives it
// means UTC to readers that know nothing else.
type local struct{ parquet.Type }

func (local) ConvertedType() *deprecated.ConvertedType { return nil }
