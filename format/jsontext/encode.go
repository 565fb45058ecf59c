package jsontext

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// Encoder writes values as JSON. It is used by one goroutine at a time.
type Encoder struct {
	NonFinite format.NonFinite  // "" is fail
	Binary    format.BinaryText // "" is base64
	Depth     int               // how many objects and arrays the values stand in
	Format    string            // whose options advice is about; "" for none

	Nulled int64 // how many values were written as null because NonFinite says so
}

// CheckNames refuses columns and fields whose names cannot be keys.
func CheckNames(columns []columnar.Column) error {
	for _, c := range columns {
		if !utf8.ValidString(c.Name) {
			return fmt.Errorf("column name %q is not UTF-8, which JSON must be", c.Name)
		}
		if c.Type.Kind.Nested() {
			if err := CheckNames(c.Type.Fields); err != nil {
				return fmt.Errorf("in column %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// Append appends the value of the row that the cursor passes next: null for NULL. The text has no line feeds. The names of
// structs' fields are as CheckNames allows. A value that cannot be written is a *format.DataError that is Unplaced and whose Column
// is the path inside the column, "" for the column itself: Within makes it whole. dst is of no use then.
func (e *Encoder) Append(dst []byte, b *columnar.Batch, c *columnar.Cursor) ([]byte, error) {
	dst, err := e.append(dst, b, c, e.Depth+1)
	if err != nil {
		return dst, err
	}
	return dst, nil
}

// Within puts a column's name before the path of an error of Append. Other errors pass unchanged.
func Within(err error, column string) error {
	if e, ok := err.(*format.DataError); ok {
		e.Column = join(column, e.Column)
	}
	return err
}

func join(name, path string) string {
	if path == "" {
		return name
	}
	return name + "." + path
}

func (e *Encoder) append(dst []byte, b *columnar.Batch, c *columnar.Cursor, depth int) ([]byte, fault) {
	i, ok := c.Next()
	if !ok {
		return append(dst, "null"...), nil
	}
	v, t := c.Vector(), c.Type()
	switch t.Kind {
	case columnar.String:
		return appendText(dst, b.Bytes(v.Str[i]))
	case columnar.JSON:
		return appendJSON(dst, b.Bytes(v.Str[i]), depth)
	case columnar.Binary:
		return append(e.Binary.Append(append(dst, '"'), b.Bytes(v.Str[i])), '"'), nil
	case columnar.Float32:
		if !format.IsFinite(float64(v.F32[i])) {
			return e.nonFinite(dst, columnar.AppendFloat32(nil, v.F32[i]))
		}
	case columnar.Float64:
		if !format.IsFinite(v.F64[i]) {
			return e.nonFinite(dst, columnar.AppendFloat64(nil, v.F64[i]))
		}
	case columnar.Date, columnar.Time, columnar.Timestamp, columnar.TimestampTZ, columnar.UUID:
		dst, err := v.Append(append(dst, '"'), t, i)
		if err != nil {
			return dst, unplaced("", "a value "+err.Error(), "")
		}
		return append(dst, '"'), nil
	case columnar.List:
		return e.appendList(dst, b, c, int(v.Len[i]), depth)
	case columnar.Struct:
		return e.appendStruct(dst, b, c, t.Fields, depth)
	}
	dst, err := v.Append(dst, t, i)
	if err != nil {
		return dst, unplaced("", "a value "+err.Error(), "")
	}
	return dst, nil
}

func (e *Encoder) appendList(dst []byte, b *columnar.Batch, c *columnar.Cursor, n, depth int) ([]byte, fault) {
	dst = append(dst, '[')
	kid := c.Kid(0)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err fault
		if dst, err = e.append(dst, b, kid, depth+1); err != nil {
			err.Column = join(columnar.Element, err.Column)
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (e *Encoder) appendStruct(dst []byte, b *columnar.Batch, c *columnar.Cursor, fields []columnar.Column, depth int) ([]byte, fault) {
	before := byte('{')
	for i := range fields {
		dst = append(AppendString(append(dst, before), fields[i].Name), ':')
		before = ','
		var err fault
		if dst, err = e.append(dst, b, c.Kid(i), depth+1); err != nil {
			err.Column = join(fields[i].Name, err.Column)
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (e *Encoder) nonFinite(dst, name []byte) ([]byte, fault) {
	switch e.NonFinite {
	case format.NonFiniteString:
		return AppendString(dst, name), nil
	case format.NonFiniteNull:
		e.Nulled++
		return append(dst, "null"...), nil
	}
	advice := ""
	if e.Format != "" {
		advice = fmt.Sprintf("write it as a string, or as null: %s: {nonfinite: string}, or \"null\"", e.Format)
	}
	return dst, unplaced(string(name), "is not finite, and JSON has no such number", advice)
}

func appendText(dst, text []byte) ([]byte, fault) {
	if !utf8.Valid(text) {
		return dst, unplaced(string(text), "is not UTF-8, which JSON must be", "declare the column as binary")
	}
	return AppendString(dst, text), nil
}

// appendJSON appends a JSON text on one line, its numbers and strings as they are.
func appendJSON(dst, value []byte, depth int) ([]byte, fault) {
	from := len(dst)
	dst = append(append(dst, bytes.Trim(value, " \t\r\n")...), 0)
	s := Scanner{B: dst, At: from, piece: true, end: len(dst) - 1}
	err := s.Value(depth)
	if err == nil && s.At < s.end {
		err = s.Expected("the end of the text")
	}
	dst = dst[:len(dst)-1]
	text := dst[from:]
	switch {
	case err != nil:
		return dst, unplaced(string(value), "is in a column of type json, and "+notJSON(err), "declare the column as string")
	case !utf8.Valid(text):
		return dst, unplaced(string(value), "is in a column of type json, and is not UTF-8", "declare the column as binary")
	}
	for i, c := range text {
		if c == '\n' || c == '\r' { // outside strings, which have none
			text[i] = ' '
		}
	}
	return dst, nil
}

func notJSON(err fault) string {
	if rest, ok := bytes.CutPrefix([]byte(err.Reason), []byte("not JSON: ")); ok {
		return "is not JSON: " + string(rest)
	}
	return err.Reason
}

func unplaced(value, reason, advice string) fault {
	return &format.DataError{Offset: format.Unplaced, Value: value, Reason: reason, Advice: advice}
}

// AppendString appends a string in quotes. It escapes what has to be, and nothing else. The text is UTF-8.
func AppendString[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		dst = appendEscape(dst, c)
		from = i + 1
	}
	return append(append(dst, text[from:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
