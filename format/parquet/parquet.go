// Package parquet writes Apache Parquet files, by github.com/parquet-go/parquet-go.
//
// What is written has row groups of bounded size, page indexes, and statistics that hold by the order that the format's
// specification gives each type. Mapping says which physical and logical type a column's type has. A list is a group of the three
// levels that the specification asks for. With the option compat files are as old readers take them: data pages of version 1,
// PLAIN; converted types beside logical ones; and no logical type that has no converted one.
//
// The same rows in the same batches give the same bytes.
package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/lz4"

	"github.com/clinkctl/clinkctl/format"
)

// Kind is the format's entry in the list of formats. Its options are compression: zstd, snappy, gzip, lz4_raw or none, and compat.
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
	// A page has about pageBytes before compression; where there are many columns, less, but not less than minPage.
	pageBytes, minPage = 256 << 10, 16 << 10
)

// Format is the format with its options. It is a format.Writer and a format.Checker.
type Format struct {
	codec      compress.Codec
	compat     bool
	groupRows  int64
	groupBytes int64
	pageBytes  int64
	reading    reading
}

// New makes the format from its options.
func New(options map[string]any) (*Format, error) {
	o := format.ReadOptions("parquet", options)
	compression := o.Choice("compression", "zstd", "snappy", "gzip", "lz4_raw", "none")
	compat := o.Bool("compat")
	reading := readReading(o)
	if err := o.Err(); err != nil {
		return nil, err
	}
	codecs := map[string]compress.Codec{"zstd": &zstdCodec{}, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip,
		"lz4_raw": &lz4.Codec{Level: lz4.Fastest}, "none": &parquet.Uncompressed}
	return &Format{codec: codecs[compression], compat: compat,
		groupRows: groupRows, groupBytes: groupBytes, pageBytes: pageBytes, reading: reading}, nil
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

// guard makes panics of the library errors.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquet: %v", p)
		}
	}()
	return f()
}
