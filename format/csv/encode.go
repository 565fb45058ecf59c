package csv

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// flushSize is how many bytes an encoder gathers before it writes them.
const flushSize = 1 << 16

// NewEncoder begins a file: with a header of the schema's names, or for copied records with the source's head.
func (f *Format) NewEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	return format.Compressed(f.compression, w, func(w io.Writer) (format.Encoder, error) { return f.newEncoder(w, t) })
}

func (f *Format) newEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	if t.Schema == nil || len(t.Schema.Columns) == 0 {
		return format.CopyRecords(w, t.Head)
	}
	if err := jsontext.CheckNames(t.Schema.Columns); err != nil {
		return nil, err
	}
	e := &encoder{dialect: f.dialect, w: w, columns: t.Schema.Columns, cursors: make([]columnar.Cursor, len(t.Schema.Columns)),
		json: jsontext.Encoder{NonFinite: f.nonFinite, Binary: f.binary, Format: "csv"}}
	e.special = f.stops
	e.special[0] = true
	if f.trim {
		e.special[' '], e.special['\t'] = true, true
	}
	// Of the characters that values have that are not texts.
	plain := "0123456789+-.,eE: trufalsNInityZT"
	e.bare = len(f.nulls) == 1 && len(f.nulls[0]) == 0 && !f.trim
	for _, c := range append([]byte{f.quote, f.escape, f.comment}, f.delimiter...) {
		e.bare = e.bare && (strings.IndexByte(plain, c) < 0 || c == ',' && !f.comma)
	}
	if f.names != nil || !f.hasHeader {
		return e, nil
	}
	return e, e.header()
}

// encoder writes rows.
type encoder struct {
	*dialect
	w       io.Writer
	columns []columnar.Column
	json    jsontext.Encoder
	special [256]bool // the bytes for which a field is looked at more closely, NUL among them
	bare    bool      // numbers, dates and the like never need quotes
	buf     []byte
	scratch []byte
	cursors []columnar.Cursor
	rows    int64
	nulled  int64
}

// Nulled is as format.Counter has it.
func (e *encoder) Nulled() int64 { return e.nulled + e.json.Nulled }

func (e *encoder) header() error {
	for i, column := range e.columns {
		if i > 0 {
			e.buf = append(e.buf, e.delimiter...)
		}
		if err := e.field([]byte(column.Name), i == 0); err != nil {
			return fmt.Errorf("column name %q: %w", column.Name, err)
		}
	}
	e.buf = append(e.buf, '\n')
	return e.flush()
}

// Encode writes a batch's rows.
func (e *encoder) Encode(b *columnar.Batch) error {
	if len(b.Columns) != len(e.columns) {
		return fmt.Errorf("a batch of %d columns for a file of %d", len(b.Columns), len(e.columns))
	}
	for c := range e.cursors {
		e.cursors[c].Reset(&b.Columns[c], e.columns[c].Type)
	}
	for row := range b.Rows {
		e.rows++
		for c := range e.columns {
			if c > 0 {
				e.buf = append(e.buf, e.delimiter...)
			}
			if err := e.value(b, c); err != nil {
				return format.AtRow(err, row)
			}
		}
		e.buf = append(e.buf, '\n')
		if len(e.buf) >= flushSize {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// value writes the next value of a column.
func (e *encoder) value(b *columnar.Batch, c int) error {
	cursor, t := &e.cursors[c], e.columns[c].Type
	if t.Kind.Nested() {
		return e.nested(b, c)
	}
	i, ok := cursor.Next()
	if !ok {
		return e.null(c)
	}
	v := cursor.Vector()
	switch t.Kind {
	case columnar.String, columnar.JSON:
		return e.text(c, b.Bytes(v.Str[i]))
	case columnar.Binary:
		e.scratch = e.binary.Append(e.scratch[:0], b.Bytes(v.Str[i]))
		return e.text(c, e.scratch)
	case columnar.Float32:
		if !format.IsFinite(float64(v.F32[i])) && e.nonFinite != format.NonFiniteString {
			return e.notFinite(c, float64(v.F32[i]))
		}
	case columnar.Float64:
		if !format.IsFinite(v.F64[i]) && e.nonFinite != format.NonFiniteString {
			return e.notFinite(c, v.F64[i])
		}
	}
	return e.scalar(v, c, i)
}

// scalar writes a value that has a text of its own.
func (e *encoder) scalar(v *columnar.Vector, c, i int) error {
	from := len(e.buf)
	var err error
	if e.buf, err = v.Append(e.buf, e.columns[c].Type, i); err != nil {
		return e.refuse(c, nil, "a value "+err.Error(), "")
	}
	if e.comma && fraction(e.columns[c].Type.Kind) {
		if i := bytes.IndexByte(e.buf[from:], '.'); i >= 0 {
			e.buf[from+i] = ','
		}
	}
	if e.bare {
		return nil
	}
	e.scratch = append(e.scratch[:0], e.buf[from:]...)
	e.buf = e.buf[:from]
	return e.text(c, e.scratch)
}

// nested writes a list or a struct as JSON.
func (e *encoder) nested(b *columnar.Batch, c int) error {
	cursor := &e.cursors[c]
	if cursor.IsNull() {
		cursor.Skip()
		return e.null(c)
	}
	var err error
	if e.scratch, err = e.json.Append(e.scratch[:0], b, cursor); err != nil {
		return jsontext.Within(err, e.columns[c].Name)
	}
	return e.text(c, e.scratch)
}

func (e *encoder) notFinite(c int, f float64) error {
	if e.nonFinite == format.NonFiniteNull && !e.columns[c].Required {
		e.nulled++
		return e.null(c)
	}
	return e.refuse(c, columnar.AppendFloat64(nil, f), "is not finite", `write it as text, or as NULL in a column that is not required: csv: {nonfinite: string}, or "null"`)
}

func (e *encoder) null(c int) error {
	if len(e.columns) == 1 && len(e.nulls[0]) == 0 && e.blankLines != keepBlanks {
		return e.refuse(c, nil, "is NULL, which in a file of one column would be a blank line", `give NULL a text: csv: {null: "\\N"}; or, if whoever reads it takes that for NULL: csv: {blank_lines: keep}`)
	}
	e.buf = append(e.buf, e.nulls[0]...)
	return nil
}

func (e *encoder) text(c int, text []byte) error {
	if err := e.field(text, c == 0); err != nil {
		return e.refuse(c, text, err.Error(), "")
	}
	return nil
}

// field writes a text, quoted if it has to be. first says that it begins a record.
func (e *encoder) field(text []byte, first bool) error {
	i := 0
	for i < len(text) && !e.special[text[i]] {
		i++
	}
	plain := i == len(text) || !e.needsQuotes(text[i:])
	if i < len(text) && !e.nul && bytes.IndexByte(text[i:], 0) >= 0 {
		return columnar.Refusal("has a NUL byte, which other readers may not take; allow it: csv: {nul: keep}")
	}
	if first && len(text) > 0 {
		plain = plain && (e.comment == 0 || text[0] != e.comment) && !bytes.HasPrefix(text, []byte(format.BOM))
	}
	if plain && len(text) > 0 && !e.isNull(text) {
		e.buf = append(e.buf, text...)
		return nil
	}
	return e.quoted(text)
}

// needsQuotes looks closely at a text from a special byte on.
func (e *encoder) needsQuotes(text []byte) bool {
	for i, c := range text {
		switch {
		case !e.special[c] || c == 0:
		case c == e.delimiter[0] && len(e.delimiter) > 1:
			if bytes.HasPrefix(text[i:], e.delimiter) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// quoted writes a text in quotes.
func (e *encoder) quoted(text []byte) error {
	if e.quote == 0 {
		return columnar.Refusal("needs quotes, and the option quote is none")
	}
	e.buf = append(e.buf, e.quote)
	for _, c := range text {
		switch c {
		case e.quote:
			if e.escape != 0 {
				e.buf = append(e.buf, e.escape, c)
			} else {
				e.buf = append(e.buf, c, c)
			}
		case e.escape:
			if e.escape != 0 {
				e.buf = append(e.buf, c)
			}
			e.buf = append(e.buf, c)
		default:
			e.buf = append(e.buf, c)
		}
	}
	e.buf = append(e.buf, e.quote)
	return nil
}

func (e *encoder) refuse(c int, value []byte, reason, advice string) error {
	return &format.DataError{Offset: format.Unplaced, Column: e.columns[c].Name, Value: string(value),
		Reason: fmt.Sprintf("%s (row %d of the file)", reason, e.rows), Advice: advice}
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
