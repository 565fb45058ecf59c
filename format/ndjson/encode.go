package ndjson

import (
	"fmt"
	"io"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// flushSize is how many bytes an encoder gathers before it writes them.
const flushSize = 1 << 16

// encoder writes rows as objects. It is a format.Counter.
type encoder struct {
	w       io.Writer
	columns []columnar.Column
	keys    [][]byte // of each column, what comes before its value
	values  jsontext.Encoder
	cursors []columnar.Cursor
	buf     []byte
	rows    int64
}

func (f Format) newEncoder(w io.Writer, schema *columnar.Schema) (format.Encoder, error) {
	if err := jsontext.CheckNames(schema.Columns); err != nil {
		return nil, err
	}
	e := &encoder{w: w, columns: schema.Columns, cursors: make([]columnar.Cursor, len(schema.Columns)),
		values: jsontext.Encoder{NonFinite: f.nonFinite, Binary: f.policy.Binary, Depth: 1, Format: "ndjson"}}
	before := byte('{')
	for _, column := range e.columns {
		e.keys = append(e.keys, append(jsontext.AppendString([]byte{before}, column.Name), ':'))
		before = ','
	}
	return e, nil
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
			var err error
			nulled := e.values.Nulled
			if e.buf, err = e.values.Append(append(e.buf, e.keys[c]...), b, &e.cursors[c]); err != nil {
				return format.AtRow(e.refused(err, c), row)
			}
			if e.values.Nulled > nulled && e.columns[c].Required && !e.columns[c].Type.Kind.Nested() {
				return format.AtRow(e.refused(errRequired(), c), row)
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

// errRequired is of a float that is not finite, in a column that has no null.
func errRequired() error {
	return &format.DataError{Offset: format.Unplaced, Reason: "is not finite, and the column is required, so that it cannot be null",
		Advice: "write it as a string: ndjson: {nonfinite: string}"}
}

// refused completes the error of a value.
func (e *encoder) refused(err error, c int) error {
	err = jsontext.Within(err, e.columns[c].Name)
	if d, ok := err.(*format.DataError); ok {
		d.Reason = fmt.Sprintf("%s (row %d of the file)", d.Reason, e.rows)
	}
	return err
}

// Nulled is how many floats are null because they are not finite.
func (e *encoder) Nulled() int64 { return e.values.Nulled }

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
