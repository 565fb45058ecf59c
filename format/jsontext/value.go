package jsontext

import (
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// value appends the value at the spot, which is nested so deep, to the vector of its column. An error has the column's name.
func (d *Decoder) value(m *member, v *columnar.Vector, depth int) fault {
	column := m.column
	from := d.At
	var err fault
	switch kind := d.Kind(); {
	case kind == Null:
		if err = d.literal("null"); err != nil {
			break
		}
		if column.Required {
			return refuse(from, column, nil, "is null, and the column is required", "declare it without !, if NULL will do")
		}
		v.Null()
		return nil
	case column.Type.Kind == columnar.JSON:
		err = d.json(v, depth)
	case kind == 0:
		_, err = d.number() // whose fault says what is wrong
	case d.policy.Closed && kind == String && takes(column.Type.Kind, Number):
		err := d.wrongKind(column, kind, depth)
		err.Reason, err.Advice = "is a string, and "+column.Type.String()+" was inferred from numbers", format.AdviceKept
		return err
	case !takes(column.Type.Kind, kind):
		return d.wrongKind(column, kind, depth)
	case kind == Array:
		err = d.list(&m.fields.members[0], v, depth)
	case kind == Object:
		if err = d.members(&m.fields, v.Kids, depth); err == nil {
			v.AddStruct()
		}
	case kind == String:
		return d.inColumn(d.stringValue(column, v), column, false)
	case kind == Bool:
		word := "true"
		if d.B[d.At] == 'f' {
			word = "false"
		}
		if err = d.literal(word); err == nil {
			v.Bool, v.Valid = append(v.Bool, word == "true"), append(v.Valid, 1)
		}
	default:
		var number []byte
		if number, err = d.number(); err == nil {
			return d.parse(from, column, v, number)
		}
	}
	return d.inColumn(err, column, column.Type.Kind.Nested())
}

// inColumn puts a column's name to an error, before the path of the field in it.
func (d *Decoder) inColumn(err fault, column *columnar.Column, nested bool) fault {
	if err != nil && (nested || err.Column == "") {
		err.Column = join(column.Name, err.Column)
	}
	return err
}

func (d *Decoder) list(element *member, v *columnar.Vector, depth int) fault {
	before := v.Kids[0].Rows()
	empty, err := d.open(depth, ']')
	n := 0
	for more := !empty; more && err == nil; n++ {
		if err = d.value(element, &v.Kids[0], depth+1); err == nil {
			more, err = d.more(']')
		}
	}
	if err != nil {
		v.Kids[0].Pop(element.column.Type, v.Kids[0].Rows()-before)
		return err
	}
	v.AddList(n)
	return nil
}

// json keeps a value's text.
func (d *Decoder) json(v *columnar.Vector, depth int) fault {
	from := d.At
	if err := d.Scanner.Value(depth); err != nil {
		return err
	}
	raw := d.B[from:d.At]
	if utf8.Valid(raw) {
		v.AddSpan(span(from, len(raw)))
		return nil
	}
	if d.policy.InvalidUTF8 != TextReplace {
		return d.notUTF8(from, raw)
	}
	d.scratch = appendValid(d.scratch[:0], raw)
	v.AddSpan(d.behind(d.scratch))
	return nil
}

func span(from, n int) columnar.Span { return columnar.Span{Off: uint32(from), Len: uint32(n)} }

// behind appends a text to the batch's Data.
func (d *Decoder) behind(text []byte) columnar.Span {
	from, n := len(d.out.Data), len(d.B)
	d.out.Data = append(d.out.Data, text...)
	d.B = d.out.Data[:n]
	return span(from, len(text))
}

// stringValue appends the string at the spot.
func (d *Decoder) stringValue(column *columnar.Column, v *columnar.Vector) fault {
	t, err := d.text()
	if err != nil {
		return err
	}
	raw := d.B[t.from:t.to]
	if err := d.checkText(t, raw); err != nil {
		return err
	}
	value := raw
	if t.escaped {
		value, _ = appendUnescaped(raw[:0], raw)
	}
	at := span(t.from, len(value))
	if !t.ascii && d.policy.InvalidUTF8 == TextReplace && !utf8.Valid(value) {
		d.scratch = appendValid(d.scratch[:0], value)
		at = d.behind(d.scratch)
		value = d.out.Bytes(at)
	}
	switch column.Type.Kind {
	case columnar.String:
		v.AddSpan(at)
		return nil
	case columnar.Binary:
		return d.binary(t.from, column, v, value)
	case columnar.Float32, columnar.Float64:
		return d.nonFinite(t.from, column, v, value)
	}
	return d.parse(t.from, column, v, value)
}

func (d *Decoder) binary(at int, column *columnar.Column, v *columnar.Vector, value []byte) fault {
	d.scratch = append(d.scratch[:0], value...)
	data, err := d.policy.Binary.Decode(value)
	if err != nil {
		other := "binary: hex"
		if d.policy.Binary == format.Hex {
			other = "binary: base64"
		}
		return refuse(at, column, d.scratch, err.Error(), d.policy.advise("mend the source", "say how bytes are written", other))
	}
	v.AddSpan(span(at, len(data)))
	return nil
}

// nonFinite appends a float that a string names.
func (d *Decoder) nonFinite(at int, column *columnar.Column, v *columnar.Vector, value []byte) fault {
	if f, err := columnar.ParseFloat64(value); err != nil || format.IsFinite(f) {
		return refuse(at, column, value, "is a string, of which a column of type "+column.Type.String()+" takes NaN, Infinity and -Infinity alone",
			"write numbers without quotes, or declare a decimal, which takes strings")
	}
	return d.parse(at, column, v, value)
}

func (d *Decoder) parse(at int, column *columnar.Column, v *columnar.Vector, value []byte) fault {
	if err := v.Parse(column.Type, value); err != nil {
		reason := err.Error()
		if len(value) == 0 {
			reason = "an empty string " + reason
		}
		return refuse(at, column, value, reason, "mend the source, or declare another type: json takes every value")
	}
	if d.policy.Closed && !format.Keeps(column.Type, value) {
		return refuse(at, column, value, string(format.RefuseKept(column.Type)), format.AdviceKept)
	}
	return nil
}

// takes tells whether columns of a type take values of a kind of JSON, in which they may still refuse some.
func takes(t columnar.Kind, kind Kind) bool {
	switch t {
	case columnar.Bool:
		return kind == Bool
	case columnar.Int8, columnar.Int16, columnar.Int32, columnar.Uint8, columnar.Uint16, columnar.Uint32:
		return kind == Number
	case columnar.Int64, columnar.Uint64, columnar.Decimal, columnar.Float32, columnar.Float64:
		return kind == Number || kind == String
	case columnar.List:
		return kind == Array
	case columnar.Struct:
		return kind == Object
	case columnar.JSON:
		return true
	}
	return kind == String
}

// kindNames says what a column's values must be.
func kindNames(t columnar.Kind) string {
	switch t {
	case columnar.Bool:
		return "true or false"
	case columnar.Int64, columnar.Uint64, columnar.Decimal:
		return "a number, or a string of digits"
	case columnar.Float32, columnar.Float64:
		return "a number"
	case columnar.List:
		return "an array"
	case columnar.Struct:
		return "an object"
	}
	if takes(t, Number) {
		return "a number"
	}
	return "a string"
}

// wrongKind makes the error of a value that is JSON, and not of a kind that the column takes.
func (d *Decoder) wrongKind(column *columnar.Column, kind Kind, depth int) fault {
	from := d.At
	if err := d.Scanner.Value(depth); err != nil {
		return d.inColumn(err, column, false)
	}
	advice := "mend the source, or declare another type: json takes every value"
	switch kind {
	case Number:
		advice = "declare the number's type, such as int64 or decimal(18,2), or json, which takes every value"
	case Array, Object:
		advice = "declare the column as json, or as a list or a struct"
	}
	return refuse(from, column, d.B[from:d.At], "is not what a column of type "+column.Type.String()+" takes: "+kindNames(column.Type.Kind), advice)
}
