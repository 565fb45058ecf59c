package parquet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/clinkctl/clinkctl/columnar"
)

// physicalDigits is how many digits of a decimal fit an INT32.
const physicalDigits = 9

// shaper makes the nodes of a file's schema from columns, and notes the leaves that it comes by, in the file's order.
type shaper struct {
	compat bool
	leaves []*leaf

	// Of the node at hand: its names and steps from the column on, and the most levels.
	names    []string
	steps    []step
	rep, def byte
}

// schema gives the schema of a file of columns.
func (s *shaper) schema(columns []columnar.Column) (*parquet.Schema, error) {
	fields, err := s.fields(columns)
	if err != nil {
		return nil, err
	}
	return parquet.NewSchema("clinkctl", group{fields: fields}), nil
}

func (s *shaper) fields(columns []columnar.Column) ([]parquet.Field, error) {
	var fields []parquet.Field
	for i, c := range columns {
		n, err := s.node(c, i)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field{n, c.Name})
	}
	return fields, nil
}

// node gives the node of a column or field, the i-th of those beside it.
func (s *shaper) node(c columnar.Column, i int) (n parquet.Node, err error) {
	defer func(names, steps int, rep, def byte) {
		s.names, s.steps, s.rep, s.def = s.names[:names], s.steps[:steps], rep, def
	}(len(s.names), len(s.steps), s.rep, s.def)
	s.names = append(s.names, c.Name)
	if !c.Required {
		s.def++
	}
	at := step{kid: i, kind: c.Type.Kind, required: c.Required}
	switch c.Type.Kind {
	case columnar.List:
		n, err = s.list(c.Type, at)
	case columnar.Struct:
		s.steps = append(s.steps, at)
		var fields []parquet.Field
		if fields, err = s.fields(c.Type.Fields); err == nil {
			n = group{fields: fields}
		}
	default:
		s.steps = append(s.steps, at)
		n, err = s.leaf(c.Type)
	}
	if err != nil {
		return nil, err
	}
	if c.Required {
		return parquet.Required(n), nil
	}
	return parquet.Optional(n), nil
}

// list gives the node of a list, of the three levels that the format's specification asks for.
func (s *shaper) list(t columnar.Type, at step) (parquet.Node, error) {
	s.rep++
	s.def++
	at.rep = s.rep
	s.steps = append(s.steps, at)
	element := t.Fields[0]
	element.Name = columnar.Element
	n, err := s.node(element, 0)
	if err != nil {
		return nil, err
	}
	return parquet.List(n), nil
}

func (s *shaper) leaf(t columnar.Type) (parquet.Node, error) {
	typ, err := leafType(t, s.compat)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", strings.Join(s.names, "."), err)
	}
	l := &leaf{names: slices.Clone(s.names), typ: t, kind: typ.Kind(), steps: slices.Clone(s.steps), column: len(s.leaves), rep: s.rep, def: s.def}
	l.index = pageIndex{compare: typ.Compare}
	s.leaves = append(s.leaves, l)
	typ.index = &l.index
	return parquet.Encoded(parquet.Leaf(typ), encodingOf(t, s.compat)), nil
}

// leafType gives the physical and the logical type of values of a type.
func leafType(t columnar.Type, compat bool) (own, error) {
	switch t.Kind {
	case columnar.Bool:
		return own{Type: parquet.BooleanType}, nil
	case columnar.Int8:
		return own{Type: parquet.Int(8).Type()}, nil
	case columnar.Int16:
		return own{Type: parquet.Int(16).Type()}, nil
	case columnar.Int32:
		return own{Type: parquet.Int32Type}, nil
	case columnar.Int64:
		return own{Type: parquet.Int64Type}, nil
	case columnar.Uint8:
		return own{Type: parquet.Uint(8).Type()}, nil
	case columnar.Uint16:
		return own{Type: parquet.Uint(16).Type()}, nil
	case columnar.Uint32:
		return own{Type: parquet.Uint(32).Type()}, nil
	case columnar.Uint64:
		return own{Type: parquet.Uint(64).Type()}, nil
	case columnar.Float32:
		return own{Type: parquet.FloatType}, nil
	case columnar.Float64:
		return own{Type: parquet.DoubleType}, nil
	case columnar.Decimal:
		return decimalType(t), nil
	case columnar.Date:
		return own{Type: parquet.Date().Type()}, nil
	case columnar.Time:
		return own{Type: parquet.TimeAdjusted(parquet.Microsecond, false).Type(), local: !compat}, nil
	case columnar.Timestamp:
		return own{Type: parquet.TimestampAdjusted(parquet.Microsecond, false).Type(), local: !compat}, nil
	case columnar.TimestampTZ:
		return own{Type: parquet.TimestampAdjusted(parquet.Microsecond, true).Type()}, nil
	case columnar.String:
		return own{Type: parquet.String().Type()}, nil
	case columnar.Binary:
		return own{Type: parquet.ByteArrayType}, nil
	case columnar.JSON:
		return own{Type: parquet.JSON().Type()}, nil
	case columnar.UUID:
		if compat {
			return own{Type: parquet.FixedLenByteArrayType(16)}, nil
		}
		return own{Type: parquet.UUID().Type()}, nil
	}
	return own{}, fmt.Errorf("parquet has nothing for type %s", t)
}

func decimalType(t columnar.Type) own {
	switch {
	case t.Precision <= physicalDigits:
		return own{Type: parquet.Decimal(t.Scale, t.Precision, parquet.Int32Type).Type()}
	case t.Precision <= columnar.Narrow:
		return own{Type: parquet.Decimal(t.Scale, t.Precision, parquet.Int64Type).Type()}
	}
	return own{Type: parquet.Decimal(t.Scale, t.Precision, parquet.FixedLenByteArrayType(16)).Type(), signed: true}
}

// encodingOf gives the encoding of the data pages of a type.
func encodingOf(t columnar.Type, compat bool) encoding.Encoding {
	switch {
	case compat:
		return &parquet.Plain
	case t.Kind.Spans():
		return &parquet.DeltaLengthByteArray
	case t.Width() == 4 || t.Width() == 8:
		return &parquet.DeltaBinaryPacked
	}
	return &parquet.Plain
}

// Mapping gives the physical and the logical type that values of a type have in a file, as the format's specification writes
// them; of a nested type the shape of its group. A type that has no logical type has "".
func Mapping(t columnar.Type) (physical, logical string) {
	n, err := new(shaper).node(columnar.Column{Type: t}, 0)
	if err != nil {
		return err.Error(), ""
	}
	return physicalName(n), logicalName(n)
}

func physicalName(n parquet.Node) string {
	if !n.Leaf() {
		return "group " + fieldsOf(n)
	}
	name := n.Type().PhysicalType().String()
	if n.Type().Kind() == parquet.FixedLenByteArray {
		name += fmt.Sprintf("(%d)", n.Type().Length())
	}
	return name
}

// fieldsOf gives what a group has, "{ optional INT64 a; optional group b { ... } }".
func fieldsOf(n parquet.Node) string {
	var fields []string
	for _, f := range n.Fields() {
		logical := logicalName(f)
		if logical != "" {
			logical = " (" + logical + ")"
		}
		if f.Leaf() {
			fields = append(fields, repetition(f)+" "+physicalName(f)+" "+f.Name()+logical)
		} else {
			fields = append(fields, repetition(f)+" group "+f.Name()+logical+" "+fieldsOf(f))
		}
	}
	return "{ " + strings.Join(fields, "; ") + " }"
}

func repetition(n parquet.Node) string {
	switch {
	case n.Optional():
		return "optional"
	case n.Repeated():
		return "repeated"
	}
	return "required"
}

func logicalName(n parquet.Node) string {
	if t := n.Type().LogicalType(); t != nil {
		return t.String()
	}
	return ""
}
