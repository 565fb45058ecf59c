// Package csv is comma-separated values as RFC 4180 has them, in both directions.
//
// What is read: a header line, then records; a record ends with LF or CRLF outside quotes; a field is quoted as a whole or
// not at all, and a quote in a quoted field is doubled. Blank lines are no records. Everything that the RFC does not
// allow is refused with its place: quotes and lone carriage returns in unquoted fields, text after a closing quote,
// records with more or fewer fields than the header. NULL is an unquoted field that equals the null string; a quoted
// field never is.
//
// What is written ends its lines with LF and quotes only what must be.
package csv

import (
	"bytes"
	"strings"

	"github.com/clinkctl/clinkctl/format"
)

// Kind is the format's entry in the list of formats. Its options are delimiter, one ASCII character (","), and null, the
// text of NULL ("").
func Kind() format.Kind {
	return format.Kind{Name: "csv", Exts: []string{"csv"}, New: func(options map[string]any) (format.Format, error) {
		f, err := New(options)
		if err != nil {
			return nil, err
		}
		return f, nil
	}}
}

// Format is the format in one dialect. It is a format.Text and a format.Writer.
type Format struct {
	splitter
	null        []byte
	compression format.Compression
}

// splitter is what it takes to find the ends of fields.
type splitter struct {
	delimiter byte
	stops     *[256]bool // the bytes that an unquoted field does not have: delimiter, quote, CR, LF
}

// New makes the format from its options.
func New(options map[string]any) (*Format, error) {
	o := format.ReadOptions("csv", options)
	delimiter := o.String("delimiter", ",")
	null := o.String("null", "")
	compression := format.ReadCompression(o)
	if delimiter == `\t` {
		delimiter = "\t"
	}
	if len(delimiter) != 1 || delimiter[0] >= 0x80 || strings.Contains("\"\r\n\x00", delimiter) {
		o.Refuse("delimiter", "must be one ASCII character, and no quote, line end or NUL")
		delimiter = ","
	}
	if strings.ContainsAny(null, "\"\r\n\x00"+delimiter) {
		o.Refuse("null", "cannot stand unquoted in a field: it has a delimiter, quote, line end or NUL")
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	stops := &[256]bool{'"': true, '\r': true, '\n': true}
	stops[delimiter[0]] = true
	return &Format{splitter: splitter{delimiter: delimiter[0], stops: stops}, null: []byte(null), compression: compression}, nil
}

// Name is "csv".
func (*Format) Name() string { return "csv" }

// Ext is "csv", and the compression's.
func (f *Format) Ext() string { return f.compression.Ext("csv") }

// Compression is the option of that name.
func (f *Format) Compression() format.Compression { return f.compression }

// blank tells whether a line, with its line feed, is no record.
func blank(line []byte) bool {
	return len(line) == 1 || len(line) == 2 && line[0] == '\r'
}

// skipBlank gives the beginning of the first line of b, from i on, that is not blank.
func skipBlank(b []byte, i int) int {
	for {
		switch {
		case i < len(b) && b[i] == '\n':
			i++
		case bytes.HasPrefix(b[i:], []byte("\r\n")):
			i += 2
		default:
			return i
		}
	}
}
