package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// createdBy names the writer as readers parse it. The number is of this package's way of writing, and is raised when files
// should be told apart.
const createdBy = "clinkctl version 1"

const (
	// stripe is how many rows are handed to the library at once, and how often a row group's size is looked at.
	stripe = 1024
	// minPage and maxPage bound the size of a page before compression, in bytes.
	minPage, maxPage = 16 << 10, 256 << 10
)

// encoder writes a file.
type encoder struct {
	columns []columnar.Column
	indexes []*pageIndex // of each column; used by some
	writer  *parquet.GenericWriter[any]
	to      []*parquet.ColumnWriter

	maxRows, maxBytes int64 // of a row group
	rows, bytes       int64 // of the row group at hand

	next   []int // of each column, the value to be written next of those that are not NULL
	values []parquet.Value
	wide   [][16]byte
	err    error
}

func newEncoder(f *Format, w io.Writer, t format.Target) (*encoder, error) {
	e := &encoder{columns: t.Schema.Columns, maxRows: f.groupRows, maxBytes: f.groupBytes, next: make([]int, len(t.Schema.Columns)),
		values: make([]parquet.Value, 0, stripe), wide: make([][16]byte, stripe)}
	options := []parquet.WriterOption{
		&parquet.WriterConfig{CreatedBy: createdBy},
		parquet.Compression(f.codec),
		parquet.DataPageVersion(1),
		parquet.DataPageStatistics(false), // of long strings they make headers that readers refuse; the page index has them
		parquet.PageBufferSize(int(max(minPage, min(maxPage, f.groupBytes/int64(len(e.columns)))))),
	}
	var fields []parquet.Field
	for _, column := range e.columns {
		index := &pageIndex{wide: isWide(column.Type)}
		e.indexes = append(e.indexes, index)
		n, err := node(column, index)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field{n, column.Name})
		if index.wide {
			options = append(options, parquet.SkipPageBounds(column.Name))
		}
	}
	options = append(options, parquet.NewSchema("clinkctl", root{fields: fields}))
	e.writer = parquet.NewGenericWriter[any](w, options...)
	for _, pair := range t.Meta {
		e.writer.SetKeyValueMetadata(pair[0], pair[1])
	}
	e.to = e.writer.ColumnWriters()
	return e, nil
}

// Encode writes a batch's rows.
func (e *encoder) Encode(b *columnar.Batch) error {
	if len(b.Columns) != len(e.columns) {
		return fmt.Errorf("a batch of %d columns for a file of %d", len(b.Columns), len(e.columns))
	}
	return e.keep(func() error {
		clear(e.next)
		for row := 0; row < b.Rows; {
			n := int(min(stripe, int64(b.Rows-row), e.maxRows-e.rows))
			for c := range e.columns {
				if err := e.column(b, c, row, row+n); err != nil {
					return err
				}
			}
			row += n
			e.rows += int64(n)
			if e.rows >= e.maxRows || e.bytes >= e.maxBytes {
				if err := e.writer.Flush(); err != nil {
					return err
				}
				e.rows, e.bytes = 0, 0
			}
		}
		return nil
	})
}

// Close writes what is gathered, and the footer.
func (e *encoder) Close() error {
	return e.keep(e.writer.Close)
}

// keep does something unless something failed before.
func (e *encoder) keep(f func() error) error {
	if e.err != nil {
		return errors.New("an earlier write of this file failed")
	}
	e.err = guard(f)
	return e.err
}

// column hands rows [from, to) of a column to the library.
func (e *encoder) column(b *columnar.Batch, c, from, to int) error {
	v := &b.Columns[c]
	required := e.columns[c].Required
	present := 0 // definition level of a value
	if !required {
		present = 1
	}
	e.values = e.values[:0]
	first := e.next[c]
	i := first
	for row := from; row < to; row++ {
		if v.Valid[row] == 0 {
			if required {
				err := &format.DataError{Offset: format.Unplaced, Column: e.columns[c].Name, Reason: "is NULL, and the column is required"}
				return format.AtRow(err, row)
			}
			e.values = append(e.values, parquet.NullValue().Level(0, 0, c))
			continue
		}
		e.values = append(e.values, e.value(b, c, i, i-first).Level(0, present, c))
		i++
	}
	e.next[c] = i
	n, err := e.to[c].WriteRowValues(e.values)
	if err == nil && n != to-from {
		err = fmt.Errorf("column %s: the library took %d rows of %d", e.columns[c].Name, n, to-from)
	}
	return err
}

// value gives the i-th value of a column, the k-th of its stripe.
func (e *encoder) value(b *columnar.Batch, c, i, k int) parquet.Value {
	v := &b.Columns[c]
	e.bytes += 8
	switch t := e.columns[c].Type; t.Kind {
	case columnar.Bool:
		return parquet.BooleanValue(v.Bool[i])
	case columnar.Float64:
		return parquet.DoubleValue(v.F64[i])
	case columnar.Date:
		return parquet.Int32Value(v.I32[i])
	case columnar.String:
		text := b.Bytes(v.Str[i])
		e.bytes += int64(len(text))
		return parquet.ByteArrayValue(text)
	case columnar.Decimal:
		switch {
		case t.Precision <= physicalDigits:
			return parquet.Int32Value(int32(v.I64[i]))
		case t.Precision > columnar.Narrow:
			e.bytes += 8
			e.indexes[c].saw(v.I128[i])
			e.wide[k] = v.I128[i].BigEndian()
			return parquet.FixedLenByteArrayValue(e.wide[k][:])
		}
	}
	return parquet.Int64Value(v.I64[i])
}
