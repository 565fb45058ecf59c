// Package csv is comma-separated values, as RFC 4180 has them or in another dialect, in both directions.
//
// What is read: a header line, then records; a record ends with LF or CRLF outside quotes; a field is quoted as a whole or
// not at all, and a quote in a quoted field is doubled. What stands in quotes is kept byte for byte, line ends included. Blank lines
// are no records. Whatever else is met is refused with its place, unless an option says what it means: quotes and lone carriage
// returns in unquoted fields, text after a closing quote, records with more or fewer fields than the header, NUL bytes, what is not
// UTF-8, columns that the header lacks or has twice, fields that are very long. NULL is an unquoted field that equals a null string;
// a quoted field never is.
//
// What is written ends its lines with LF and quotes only what must be. It reads back as it was, by the same options.
//
// Numbers, dates and the like are text as package columnar has it; bytes are base64 or hexadecimal; lists and structs are JSON.
package csv

import (
	"bytes"

	"github.com/clinkctl/clinkctl/format"
)

// Kind is the format's entry in the list of formats. Its options are those of dialect.
func Kind() format.Kind {
	return format.Kind{Name: "csv", Exts: []string{"csv"}, New: func(options map[string]any) (format.Format, error) {
		f, err := New(options)
		if err != nil {
			return nil, err
		}
		return f, nil
	}}
}

// Format is the format in one dialect. It is a format.Text, a format.Inferrer and a format.Writer.
type Format struct {
	splitter
	compression format.Compressor
	parsed      bool // records cannot be copied as they are
	looks       bool // records that are copied are looked into
}

// New makes the format from its options.
func New(options map[string]any) (*Format, error) {
	o := format.ReadOptions("csv", options)
	d := readDialect(o)
	f := &Format{splitter: splitter{d}, compression: format.ReadCompression(o)}
	_, names := options["header"].([]any)
	f.parsed = d.replaceBad || names // of which copies would know nothing
	for _, name := range []string{"short_rows", "long_rows", "nul", "invalid_utf8"} {
		_, given := options[name]
		f.looks = f.looks || given
	}
	return f, o.Err()
}

// Parsed is as format.Parsed has it.
func (f *Format) Parsed() bool { return f.parsed }

// Name is "csv".
func (*Format) Name() string { return "csv" }

// Ext is "csv", and the compression's.
func (f *Format) Ext() string { return f.compression.Ext("csv") }

// Compression is the option of that name.
func (f *Format) Compression() format.Compression { return f.compression.Compression }

// Careful gives the format with records that are found field by field: a quote that stands where none may does not open a field.
func (f *Format) Careful() format.Text {
	careful := *f.dialect
	careful.parity = false
	return &Format{splitter{&careful}, f.compression, f.parsed, f.looks}
}

// noRecord gives the end of the line that b[i] begins if it is no record, being blank or a comment; 0 if it is one, or is not whole.
func (d *dialect) noRecord(b []byte, i int) int {
	switch {
	case i >= len(b):
		return 0
	case d.blankLines == keepBlanks && isBlank(b, i):
		return 0
	case isBlank(b, i):
		return i + bytes.IndexByte(b[i:], '\n') + 1
	case d.comment != 0 && b[i] == d.comment:
		if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
			return i + n + 1
		}
	}
	return 0
}

// lone gives the dialect of records of one field, in which a blank line may be one: unless an option says what it is, it is to be refused.
func (s splitter) lone() (_ splitter, refuse bool) {
	if s.blankLines != "" {
		return s, false
	}
	lone := *s.dialect
	lone.blankLines = keepBlanks
	return splitter{&lone}, true
}

// isBlank tells whether the line that b[i] begins has nothing.
func isBlank(b []byte, i int) bool {
	return b[i] == '\n' || b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n'
}

// refuseBlank makes the error of a blank line that may be a record.
func refuseBlank(start int, column string) *format.DataError {
	return &format.DataError{Offset: int64(start), Start: int64(start), Column: column,
		Reason: "a blank line, which in a file of one column may be a NULL, or nothing",
		Advice: "csv: {blank_lines: keep} makes it a record, {blank_lines: skip} passes it"}
}

// skipBlank gives the beginning of the first record of b from i on, where a line begins.
func (d *dialect) skipBlank(b []byte, i int) int {
	for {
		end := d.noRecord(b, i)
		if end == 0 {
			return i
		}
		i = end
	}
}
