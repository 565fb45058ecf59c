package csv

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// copying checks that records end where they seem to, and leaves them as they are.
type copying struct {
	splitter
	reject func(format.Rejected) error
	fields int  // of a record; 0 if there is no header
	looks  bool // whether records are what a decoder would take
}

func (c copying) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(nil)
	out.Data = chunk
	if !c.looks && c.parity && !c.trim && (c.quote == 0 || bytes.IndexByte(chunk, c.quote) < 0) {
		_, out.Rows = c.Rows(chunk, math.MaxInt)
		return nil
	}
	kept, from := 0, 0 // what stays is chunk[:kept] and chunk[from:]
	number := 0
	for i := 0; ; {
		if end := c.noRecord(chunk, i); end > 0 {
			if c.comment != 0 && chunk[i] == c.comment { // nobody else would take it for one
				kept += copy(chunk[kept:], chunk[from:i])
				from = end
			}
			i = end
			continue
		}
		if i == len(chunk) {
			break
		}
		next, fields, refused := c.check(chunk, i)
		if refused == nil && c.looks {
			refused = c.look(chunk[i:next], i, fields)
		}
		if refused != nil {
			refused.Offset += at
			refused.Start += at
			if c.reject == nil {
				return refused
			}
			next = c.endIn(chunk, i)
			if err := c.reject(format.Rejected{Err: refused, Record: number, From: i, To: next}); err != nil {
				return err
			}
			kept += copy(chunk[kept:], chunk[from:i])
			from = next
		} else {
			out.Rows++
		}
		number++
		i = next
	}
	if from > 0 {
		out.Data = chunk[:kept+copy(chunk[kept:], chunk[from:])]
	}
	return nil
}

// check gives the end of the record that begins at b[start]. A line without quotes is not looked into.
func (c copying) check(b []byte, start int) (next, fields int, _ *format.DataError) {
	if c.parity && !c.looks {
		line := bytes.IndexByte(b[start:], '\n')
		if line >= 0 && (c.quote == 0 || bytes.IndexByte(b[start:start+line], c.quote) < 0) {
			return start + line + 1, 0, nil
		}
	}
	for i, k := start, 1; ; {
		f, next, how := c.scan(b, i)
		switch {
		case how == delimited:
			i = next
			k++
		case how == recordOver:
			return next, k, nil
		case how == bareReturn && c.quote != 0 && next+1 < len(b) && b[next+1] == c.quote && !c.bareQuotes:
			return 0, 0, c.faultIn(k, b, f, bareQuote, start, next+1)
		case how == bareReturn:
			i = next + 1 // it is copied as it is, and the field goes on
		default:
			return 0, 0, c.faultIn(k, b, f, how, start, next)
		}
	}
}

// look looks into a record of so many fields, as a decoder would.
func (c copying) look(record []byte, start, fields int) *format.DataError {
	e := &format.DataError{Offset: int64(start), Start: int64(start)}
	switch {
	case c.fields > 0 && (fields < c.fields && !c.shortRows || fields > c.fields && !c.longRows):
		e.Reason = fmt.Sprintf("the record has %s, and the header has %d", count(fields, "field"), c.fields)
		e.Advice = "a field that holds a delimiter or a line end must be quoted"
	case !utf8.Valid(record):
		e.Offset += int64(format.NotUTF8(record))
		e.Reason, e.Advice = "the record is not UTF-8", format.AdviceUTF8
	case !c.nul && bytes.IndexByte(record, 0) >= 0:
		e.Offset += int64(bytes.IndexByte(record, 0))
		e.Reason, e.Advice = "the record has a NUL byte", "a file that has them is UTF-16, damaged, or no text"
	default:
		return nil
	}
	return e
}

// faultIn is fault for a field of a number.
func (c copying) faultIn(number int, b []byte, f field, how outcome, start, at int) *format.DataError {
	err := c.fault(b, f, how, start, at)
	err.Field = number
	return err
}
