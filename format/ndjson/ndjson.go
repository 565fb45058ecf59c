// Package ndjson is newline-delimited JSON, in both directions: one object of RFC 8259 a line. Its keys are the columns;
// a key that is missing or null is NULL, a key that no column has is read over. Numbers are taken as the digits that are
// written, never through a float64 that nobody declared. Lines of white space are no records.
package ndjson

import (
	"bytes"
	"errors"
	"io"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// Kind is the format's entry in the list of formats. It has no options.
func Kind() format.Kind {
	return format.Kind{Name: "ndjson", Exts: []string{"ndjson", "jsonl"}, New: func(options map[string]any) (format.Format, error) {
		if err := format.ReadOptions("ndjson", options).Err(); err != nil {
			return nil, err
		}
		return New(), nil
	}}
}

// Format is the format. It is a format.Text and a format.Writer.
type Format struct {
	format.ByLine
}

// New makes the format.
func New() Format { return Format{format.ByLine{Blank: blank}} }

// Name is "ndjson".
func (Format) Name() string { return "ndjson" }

// Ext is "ndjson".
func (Format) Ext() string { return "ndjson" }

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
	if err := format.RefuseUTF16(start); err != nil {
		return 0, err
	}
	if bytes.HasPrefix(start, []byte(format.BOM)) {
		return len(format.BOM), nil
	}
	return 0, nil
}

// SameHead is always true: a byte order mark means nothing.
func (Format) SameHead(_, _ []byte) bool { return true }

// NewDecoder makes a decoder. Without columns it checks that each line is an object, and leaves it as it is.
func (Format) NewDecoder(schema *columnar.Schema, _ []byte) (format.Decoder, error) {
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
func (Format) NewEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	if t.Schema == nil || len(t.Schema.Columns) == 0 {
		if len(format.CleanHead(t.Head)) > 0 {
			return nil, errors.New("ndjson has no header line: declare the source's columns, or write its own format")
		}
		return format.CopyRecords(w, nil)
	}
	return newEncoder(w, t.Schema)
}
