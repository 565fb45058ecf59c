// Package ndjson is newline-delimited JSON, in both directions: one object of RFC 8259 a line, whose keys are the columns,
// byte for byte.
//
// What is read: a line ends with LF; CR before it is white space, and so is what lines are made of that are no records. A byte order
// mark may begin a file. A line that is no object is refused, and so is one with something after its object: an array at the top
// is made into lines by jq -c '.[]', objects that share lines or take several by jq -c . What values each type takes is in
// package jsontext. The options say what becomes of what is left open:
//
//	extra         keys that are not declared: auto (refused where the columns are known to be all that there are, read over elsewhere),
//	              ignore, fail; in structs, too
//	missing       keys that an object lacks: null, fail; of a column that is required they are refused
//	duplicates    keys of a column that an object has twice: fail, first, last; other keys are not looked at
//	surrogates    escapes that are half of a surrogate pair: fail, replace (with U+FFFD)
//	invalid_utf8  bytes that are not UTF-8: fail, replace (each with U+FFFD); where no column takes them they are not looked at
//	max_record    how many bytes a line can have: at most, and when it is not given, 256 MiB; a longer one ends the reading, also
//	              where records that are refused are rejected
//	binary        how bytes are written: base64, hex
//	nonfinite     NaN and the infinities, where they are written: fail, string, null
//	compression   of the whole file: auto (as its name says), none, gzip, zstd, bzip2 (which is only read)
//
// Values can be nested 10,000 deep.
//
// What is written has a line a row, of the columns in order, NULL as null. Floats have the fewest digits that read back the same,
// decimals all of theirs. Keys and strings have no escapes but where they must. The text of a value of type json is kept, but
// for line ends in it, which become spaces, and white space around it.
package ndjson

import (
	"bytes"
	"errors"
	"io"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
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
	compression format.Compressor
	nonFinite   format.NonFinite
	policy      jsontext.Policy
	limit       int // how many bytes a line can have, its line feed aside
	parsed      bool
}

// New makes the format from its options.
func New(options map[string]any) (Format, error) {
	o := format.ReadOptions("ndjson", options)
	f := Format{
		ByLine:      format.ByLine{Blank: blank},
		compression: format.ReadCompression(o),
		nonFinite:   format.ReadNonFinite(o, format.NonFiniteFail),
		policy:      jsontext.ReadPolicy("ndjson", o),
		limit:       int(o.Size("max_record", format.MaxRecord, 1, format.MaxRecord)),
	}
	f.parsed = f.policy.Duplicates != jsontext.DuplicatesFail || f.policy.Surrogates == jsontext.TextReplace || f.policy.InvalidUTF8 == jsontext.TextReplace
	return f, o.Err()
}

// Parsed is as format.Parsed has it: keys and values were spoken of.
func (f Format) Parsed() bool { return f.parsed }

// Name is "ndjson".
func (Format) Name() string { return "ndjson" }

// Ext is "ndjson", and the compression's.
func (f Format) Ext() string { return f.compression.Ext("ndjson") }

// Compression is the option of that name.
func (f Format) Compression() format.Compression { return f.compression.Compression }

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
func (f Format) NewDecoder(r format.Reading) (format.Decoder, error) {
	lines := records{limit: f.limit, reject: r.Reject}
	if r.Schema == nil || len(r.Schema.Columns) == 0 {
		return &copying{records: lines}, nil
	}
	policy := f.policy
	policy.Closed = r.Schema.Closed
	return &decoder{columns: r.Schema.Columns, values: jsontext.NewDecoder(r.Schema.Columns, policy), records: lines}, nil
}

// NewEncoder begins a file.
func (f Format) NewEncoder(w io.Writer, t format.Target) (format.Encoder, error) {
	return format.Compressed(f.compression, w, func(w io.Writer) (format.Encoder, error) {
		if t.Schema != nil && len(t.Schema.Columns) > 0 {
			return f.newEncoder(w, t.Schema)
		}
		if len(t.Head) > 0 {
			return nil, errors.New("ndjson has no header line: declare the source's columns, or write its own format")
		}
		return format.CopyRecords(w, nil)
	})
}
