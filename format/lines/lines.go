// Package lines is the format of records that are copied as they are. As a source, every line is a record, blank ones
// included. As a sink it takes the unparsed records of any source.
package lines

import (
	"errors"
	"io"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// Kind is the format's entry in the list of formats.
func Kind() format.Kind {
	return format.Kind{Name: "lines", Exts: []string{"txt"}, New: func(options map[string]any) (format.Format, error) {
		if err := format.ReadOptions("lines", options).Err(); err != nil {
			return nil, err
		}
		return Format{}, nil
	}}
}

// Format is the format. It has no options. It is a format.Text and a format.Writer.
type Format struct {
	format.ByLine
}

// Name is "lines".
func (Format) Name() string { return "lines" }

// Ext is "txt".
func (Format) Ext() string { return "txt" }

// Head is nothing: the first line is a record, too.
func (Format) Head([]byte, bool) (int, error) { return 0, nil }

// SameHead is always true: there are no heads.
func (Format) SameHead(_, _ []byte) bool { return true }

// NewDecoder makes a decoder that leaves lines as they are. A schema that has columns is an error.
func (Format) NewDecoder(schema *columnar.Schema, _ []byte) (format.Decoder, error) {
	if schema != nil && len(schema.Columns) > 0 {
		return nil, errors.New("lines are copied unparsed and have no columns: name the source's format, such as csv or ndjson")
	}
	return decoder{}, nil
}

type decoder struct{}

func (decoder) Decode(chunk []byte, _ int64, out *columnar.Batch) error {
	out.Reset(0)
	out.Data = chunk
	_, out.Rows = Format{}.Rows(chunk, len(chunk))
	return nil
}

// NewEncoder begins a file of copied records: first the target's head, as format.CleanHead has it. A schema that has
// columns is an error.
func (Format) NewEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	if t.Schema != nil && len(t.Schema.Columns) > 0 {
		return nil, errors.New("the format lines takes records unparsed, without columns: name another format for the sink")
	}
	return format.CopyRecords(w, t.Head)
}
