// Package parquet writes Apache Parquet files, by github.com/parquet-go/parquet-go.
//
// What is written is what every reader understands: data pages of version 1, PLAIN, compressed; row groups of bounded
// size; page indexes; statistics wherever the library orders values as the format's specification does. Types are
//
//	bool                 BOOLEAN
//	int64                INT64
//	float64              DOUBLE
//	decimal, to 9        INT32, DECIMAL
//	decimal, to 18       INT64, DECIMAL
//	decimal, to 38       FIXED_LEN_BYTE_ARRAY(16), DECIMAL
//	date                 INT32, DATE
//	timestamp            INT64, TIMESTAMP(MICROS, not adjusted to UTC)
//	string               BYTE_ARRAY, STRING
//
// The same rows in the same batches give the same bytes.
package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/clinkctl/clinkctl/format"
)

// Kind is the format's entry in the list of formats. Its option is compression: zstd, snappy, gzip or none.
func Kind() format.Kind {
	return format.Kind{Name: "parquet", Exts: []string{"parquet"}, New: func(options map[string]any) (format.Format, error) {
		f, err := New(options)
		if err != nil {
			return nil, err
		}
		return f, nil
	}}
}

const (
	// groupRows and groupBytes are how many rows, and about how many bytes before compression, a row group has at most: it
	// is what an encoder holds in memory.
	groupRows  = 128 << 10
	groupBytes = 24 << 20
)

// Format is the format with its options. It is a format.Writer and a format.Checker.
type Format struct {
	codec      compress.Codec
	groupRows  int64
	groupBytes int64
}

// New makes the format from its options.
func New(options map[string]any) (*Format, error) {
	o := format.ReadOptions("parquet", options)
	compression := o.Choice("compression", "zstd", "snappy", "gzip", "none")
	if err := o.Err(); err != nil {
		return nil, err
	}
	codecs := map[string]compress.Codec{"zstd": &zstdCodec{}, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "none": &parquet.Uncompressed}
	return &Format{codec: codecs[compression], groupRows: groupRows, groupBytes: groupBytes}, nil
}

// Name is "parquet".
func (*Format) Name() string { return "parquet" }

// Ext is "parquet".
func (*Format) Ext() string { return "parquet" }

// NewEncoder begins a file. Records without columns cannot be written.
func (f *Format) NewEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	if t.Schema == nil || len(t.Schema.Columns) == 0 {
		return nil, errors.New("parquet needs columns: declare the source's")
	}
	var e *encoder
	err := guard(func() (err error) {
		e, err = newEncoder(f, w, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Check reads a file's footer back and fails unless it has rows rows, in row groups that lie within the file.
func (*Format) Check(r io.ReaderAt, size, rows int64) error {
	return guard(func() error {
		file, err := parquet.OpenFile(r, size)
		if err != nil {
			return fmt.Errorf("parquet footer: %w", err)
		}
		if file.NumRows() != rows {
			return fmt.Errorf("the parquet footer says %d rows, and %d were written", file.NumRows(), rows)
		}
		return checkGroups(file, size)
	})
}

func checkGroups(file *parquet.File, size int64) error {
	columns := len(file.Schema().Columns())
	if columns == 0 {
		return errors.New("the parquet footer says that there are no columns")
	}
	rows := int64(0)
	for i, group := range file.Metadata().RowGroups {
		rows += group.NumRows
		if len(group.Columns) != columns {
			return fmt.Errorf("row group %d has %d columns of %d", i, len(group.Columns), columns)
		}
		for c := range group.Columns {
			m := &group.Columns[c].MetaData
			if m.NumValues != group.NumRows || m.DataPageOffset < 4 || m.TotalCompressedSize < 1 || m.DataPageOffset+m.TotalCompressedSize > size {
				return fmt.Errorf("row group %d: column %d has %d values of %d rows in bytes %d to %d, of a file of %d", i, c, m.NumValues,
					group.NumRows, m.DataPageOffset, m.DataPageOffset+m.TotalCompressedSize, size)
			}
		}
	}
	if rows != file.NumRows() {
		return fmt.Errorf("the row groups have %d rows, and the parquet footer says %d", rows, file.NumRows())
	}
	return nil
}

// guard makes panics of the library errors.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquet: %v", p)
		}
	}()
	return f()
}
