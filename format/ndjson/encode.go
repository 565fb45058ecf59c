package ndjson

import (
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// flushSize is how many bytes an encoder gathers before it writes them.
const flushSize = 1 << 16

// encoder writes rows as objects.
type encoder struct {
	w       io.Writer
	columns []columnar.Column
	keys    [][]byte // of each column, what comes before its value
	buf     []byte
	next    []int // of each column, the value to be written next of those that are not NULL
	rows    int64
}

func newEncoder(w io.Writer, schema *columnar.Schema) (format.Encoder, error) {
	e := &encoder{w: w, columns: schema.Columns, next: make([]int, len(schema.Columns))}
	before := byte('{')
	for _, column := range e.columns {
		if !utf8.ValidString(column.Name) {
			return nil, fmt.Errorf("column name %q is not UTF-8, which JSON must be", column.Name)
		}
		e.keys = append(e.keys, append(appendString([]byte{before}, []byte(column.Name)), ':'))
		before = ','
	}
	return e, nil
}

// Encode writes a batch's rows.
func (e *encoder) Encode(b *columnar.Batch) error {
	if len(b.Columns) != len(e.columns) {
		return fmt.Errorf("a batch of %d columns for a file of %d", len(b.Columns), len(e.columns))
	}
	clear(e.next)
	for row := range b.Rows {
		e.rows++
		for c := range e.columns {
			e.buf = append(e.buf, e.keys[c]...)
			if err := e.value(b, c, row); err != nil {
				return format.AtRow(err, row)
			}
		}
		e.buf = append(e.buf, '}', '\n')
		if len(e.buf) >= flushSize {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *encoder) value(b *columnar.Batch, c, row int) error {
	v := &b.Columns[c]
	if v.Valid[row] == 0 {
		e.buf = append(e.buf, "null"...)
		return nil
	}
	i := e.next[c]
	e.next[c]++
	column := &e.columns[c]
	switch column.Type.Kind {
	case columnar.String:
		text := b.Bytes(v.Str[i])
		if !utf8.Valid(text) {
			return e.refuse(c, text, "is not UTF-8, which JSON must be")
		}
		e.buf = appendString(e.buf, text)
		return nil
	case columnar.Float64:
		if f := v.F64[i]; math.IsNaN(f) || math.IsInf(f, 0) {
			return e.refuse(c, nil, "a value is not finite, and JSON has no such number")
		}
	case columnar.Date, columnar.Timestamp:
		e.buf = append(e.buf, '"')
	}
	var err error
	if e.buf, err = v.Append(e.buf, column.Type, i); err != nil {
		return e.refuse(c, nil, "a value "+err.Error())
	}
	if column.Type.Kind == columnar.Date || column.Type.Kind == columnar.Timestamp {
		e.buf = append(e.buf, '"')
	}
	return nil
}

// appendString appends a string in quotes. It escapes what has to be, and nothing else.
func appendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range text {
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

func (e *encoder) refuse(c int, value []byte, reason string) error {
	return &format.DataError{Offset: format.Unplaced, Column: e.columns[c].Name, Value: string(value),
		Reason: fmt.Sprintf("%s (row %d of the file)", reason, e.rows)}
}

func (e *encoder) flush() error {
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// Close writes what is gathered.
func (e *encoder) Close() error {
	if len(e.buf) == 0 {
		return nil
	}
	return e.flush()
}
