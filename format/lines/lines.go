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
		o := format.ReadOptions("lines", options)
		f := Format{compression: format.ReadCompression(o)}
		if err := o.Err(); err != nil {
			return nil, err
		}
		return f, nil
	}}
}

// Format is the format with its options. It is a format.Text and a format.Writer.
type Format struct {
	format.ByLine
	compression format.Compressor
}

// Name is "lines".
func (Format) Name() string { return "lines" }

// Ext is "txt", and the compression's.
func (f Format) Ext() string { return f.compression.Ext("txt") }

// Compression is the option of that name.
func (f Format) Compression() format.Compression { return f.compression.Compression }

// Head is nothing: the first line is a record, too.
func (Format) Head([]byte, bool) (int, error) { return 0, nil }

// SameHead is always true: there are no heads.
func (Format) SameHead(_, _ []byte) bool { return true }

// CopyHead gives the head: that of another format, where its records are copied.
func (Format) CopyHead(head []byte) []byte { return head }

// NewDecoder makes a decoder that leaves lines as they are. A schema that has columns is an error.
func (Format) NewDecoder(r format.Reading) (format.Decoder, error) {
	if r.Schema != nil && len(r.Schema.Columns) > 0 {
		return nil, errors.New("lines are copied unparsed and have no columns: name the source's format, such as csv or ndjson")
	}
	return decoder{}, nil
}

type decoder struct{}

func (decoder) Decode(chunk []byte, _ int64, out *columnar.Batch) error {
	out.Reset(nil)
	out.Data = chunk
	_, out.Rows = Format{}.Rows(chunk, len(chunk))
	return nil
}

// NewEncoder begins a file of copied records: first the target's head. A schema that has columns is an error.
func (f Format) NewEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	if t.Schema != nil && len(t.Schema.Columns) > 0 {
		return nil, errors.New("the format lines takes records unparsed, without columns: name another format for the sink")
	}
	return format.Compressed(f.compression, w, func(w io.Writer) (format.Encoder, error) { return format.CopyRecords(w, t.Head) })
}
