package csv

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
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
	e := &encoder{w: w, delimiter: f.delimiter, null: f.null, columns: t.Schema.Columns, next: make([]int, len(t.Schema.Columns))}
	e.special = *f.stops
	e.special[0] = true
	// Of the characters that values of other types than string have.
	e.bare = len(f.null) == 0 && !strings.ContainsRune("0123456789+-.eE: trufals", rune(f.delimiter))
	return e, e.header()
}

// encoder writes rows.
type encoder struct {
	w         io.Writer
	delimiter byte
	null      []byte
	columns   []columnar.Column
	special   [256]bool // the bytes for which a field is quoted, and NUL
	bare      bool      // values of other types than string never need quotes
	buf       []byte
	next      []int // of each column, the value to be written next of those that are not NULL
	rows      int64
}

func (e *encoder) header() error {
	for i, column := range e.columns {
		if i > 0 {
			e.buf = append(e.buf, e.delimiter)
		}
		name := []byte(column.Name)
		if bytes.HasPrefix(name, []byte(format.BOM)) {
			e.buf = appendQuoted(e.buf, name)
			continue
		}
		if err := e.text(name); err != nil {
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
	clear(e.next)
	for row := range b.Rows {
		e.rows++
		for c := range e.columns {
			if c > 0 {
				e.buf = append(e.buf, e.delimiter)
			}
			if err := e.field(b, c, row); err != nil {
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

func (e *encoder) field(b *columnar.Batch, c, row int) error {
	v := &b.Columns[c]
	if v.Valid[row] == 0 {
		if len(e.columns) == 1 && len(e.null) == 0 {
			return e.refuse(c, nil, "is NULL, which in a file of one column would be a blank line", `give NULL a text: csv: {null: "\\N"}`)
		}
		e.buf = append(e.buf, e.null...)
		return nil
	}
	i := e.next[c]
	e.next[c]++
	if e.columns[c].Type.Kind == columnar.String {
		text := b.Bytes(v.Str[i])
		if err := e.text(text); err != nil {
			return e.refuse(c, text, err.Error(), "")
		}
		return nil
	}
	from := len(e.buf)
	var err error
	if e.buf, err = v.Append(e.buf, e.columns[c].Type, i); err != nil {
		return e.refuse(c, nil, "a value "+err.Error(), "")
	}
	if e.bare {
		return nil
	}
	text := bytes.Clone(e.buf[from:])
	e.buf = e.buf[:from]
	return e.text(text)
}

// text appends a field, quoted if it has to be.
func (e *encoder) text(text []byte) error {
	i := 0
	for i < len(text) && !e.special[text[i]] {
		i++
	}
	if i < len(text) {
		if bytes.IndexByte(text[i:], 0) >= 0 {
			return columnar.Refusal("has a NUL byte, which CSV cannot hold")
		}
		e.buf = appendQuoted(e.buf, text)
		return nil
	}
	if len(text) == 0 || bytes.Equal(text, e.null) {
		e.buf = appendQuoted(e.buf, text)
		return nil
	}
	e.buf = append(e.buf, text...)
	return nil
}

func appendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			break
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
	return append(append(dst, text...), '"')
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
