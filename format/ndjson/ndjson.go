// Package ndjson is newline-delimited JSON, in both directions: one object of RFC 8259 a line. Its keys are the columns;
// a key that is missing or null is NULL, a key that no column has is read over. Numbers are taken as the digits that are
// written, never through a float64 that nobody declared. Lines of white space are no records.
package ndjson

import (
	"bytes"
	"errors"
	"io"

	"github.com/clinkctl/clinkctl/format"
)

// Kind is the format's entry in the list of formats.
func Kind() format.Kind {
	return format.Kind{Name: "ndjson", Exts: []string{"ndjson", "jsonl"}, New: func(options map[string]any) (format.Format, error) {
		f, err := New(options)
		if err != nil {
			return nil, err
		}
		return f, nil
	}}
}

// Format is the format. It is a format.Text and a format.Writer.
type Format struct {
	format.ByLine
	compression format.Compression
}

// New makes the format from its options.
func New(options map[string]any) (Format, error) {
	o := format.ReadOptions("ndjson", options)
	f := Format{ByLine: format.ByLine{Blank: blank}, compression: format.ReadCompression(o)}
	return f, o.Err()
}

// Name is "ndjson".
func (Format) Name() string { return "ndjson" }

// Ext is "ndjson", and the compression's.
func (f Format) Ext() string { return f.compression.Ext("ndjson") }

// Compression is the option of that name.
func (f Format) Compression() format.Compression { return f.compression }

// blank tells whether a line is no record.
func blank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// Head measures a byte order mark.
func (Format) Head(start []byte, whole bool) (int, error) {
	if !whole && len(start) < len(format.BOM) {
		return 0, format.ErrShort
	}
	if err := format.RefuseNoText(start); err != nil {
		return 0, err
	}
	if bytes.HasPrefix(start, []byte(format.BOM)) {
		return len(format.BOM), nil
	}
	return 0, nil
}

// CopyHead is empty: a byte order mark is not copied.
func (Format) CopyHead([]byte) []byte { return nil }

// SameHead is always true: a byte order mark means nothing.
func (Format) SameHead(_, _ []byte) bool { return true }

// NewDecoder makes a decoder. Without columns it checks that each line is an object, and leaves it as it is.
func (Format) NewDecoder(r format.Reading) (format.Decoder, error) {
	schema := r.Schema
	if schema == nil || len(schema.Columns) == 0 {
		return copying{}, nil
	}
	d := &decoder{columns: schema.Columns, index: make(map[string]int, len(schema.Columns))}
	for i, c := range schema.Columns {
		d.index[c.Name] = i
	}
	return d, nil
}

// NewEncoder begins a file.
func (f Format) NewEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	return format.Compressed(f.compression, w, func(w io.Writer) (format.Encoder, error) {
		if t.Schema != nil && len(t.Schema.Columns) > 0 {
			return newEncoder(w, t.Schema)
		}
		if len(t.Head) > 0 {
			return nil, errors.New("ndjson has no header line: declare the source's columns, or write its own format")
		}
		return format.CopyRecords(w, nil)
	})
}
