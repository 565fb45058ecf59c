package csv

import (
	"bytes"
	"math"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// NewDecoder makes a decoder for records below head. Without columns it checks that records end where they seem to, and
// leaves them as they are.
func (f *Format) NewDecoder(r format.Reading) (format.Decoder, error) {
	schema := r.Schema
	h, err := f.parseHead(r.Head)
	if err != nil {
		return nil, err
	}
	if schema == nil || len(schema.Columns) == 0 {
		return copying{f.splitter}, nil
	}
	fields, err := h.match(schema.Columns)
	if err != nil {
		return nil, err
	}
	return &decoder{splitter: f.splitter, null: f.null, columns: schema.Columns, fields: fields}, nil
}

type copying struct{ splitter }

func (c copying) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(nil)
	out.Data = chunk
	if bytes.IndexByte(chunk, '"') < 0 {
		_, out.Rows = c.Rows(chunk, math.MaxInt)
		return nil
	}
	rows, err := c.check(chunk)
	if err != nil {
		err.Offset += at
		err.Start += at
		return err
	}
	out.Rows = rows
	return nil
}

// check counts the records of a chunk that has quotes. Lines without any are not looked into.
func (c copying) check(b []byte) (rows int, err *format.DataError) {
	for i := skipBlank(b, 0); i < len(b); i = skipBlank(b, i) {
		line := bytes.IndexByte(b[i:], '\n')
		if line >= 0 && bytes.IndexByte(b[i:i+line], '"') < 0 {
			i += line + 1
		} else if i, err = c.record(b, i); err != nil {
			return 0, err
		}
		rows++
	}
	return rows, nil
}

// record gives the end of the record that begins at b[start].
func (c copying) record(b []byte, start int) (int, *format.DataError) {
	for i := start; ; {
		f, next, how := c.scan(b, i)
		switch {
		case how == delimited:
			i = next
		case how == recordOver:
			return next, nil
		case how == cutOff && f.quoted:
			return 0, fault(how, start, f.open())
		case how == bareReturn && next+1 < len(b) && b[next+1] == '"':
			return 0, fault(bareQuote, start, next+1)
		case how == bareReturn:
			i = next + 1 // it is copied as it is, and the field goes on
		default:
			return 0, fault(how, start, next)
		}
	}
}
