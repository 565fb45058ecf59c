package csv

import (
	"bytes"
	"math"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// copying checks that records end where they seem to, and leaves them as they are.
type copying struct {
	splitter
	reject func(format.Rejected) error
}

func (c copying) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(nil)
	out.Data = chunk
	if c.parity && !c.trim && (c.quote == 0 || bytes.IndexByte(chunk, c.quote) < 0) {
		_, out.Rows = c.Rows(chunk, math.MaxInt)
		return nil
	}
	kept, from := 0, 0 // what stays is chunk[:kept] and chunk[from:]
	number := 0
	for i := c.skipBlank(chunk, 0); i < len(chunk); i = c.skipBlank(chunk, i) {
		next, refused := c.check(chunk, i)
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
func (c copying) check(b []byte, start int) (int, *format.DataError) {
	if c.parity {
		line := bytes.IndexByte(b[start:], '\n')
		if line >= 0 && (c.quote == 0 || bytes.IndexByte(b[start:start+line], c.quote) < 0) {
			return start + line + 1, nil
		}
	}
	for i, k := start, 1; ; {
		f, next, how := c.scan(b, i)
		switch {
		case how == delimited:
			i = next
			k++
		case how == recordOver:
			return next, nil
		case how == bareReturn && c.quote != 0 && next+1 < len(b) && b[next+1] == c.quote && !c.bareQuotes:
			return 0, c.faultIn(k, b, f, bareQuote, start, next+1)
		case how == bareReturn:
			i = next + 1 // it is copied as it is, and the field goes on
		default:
			return 0, c.faultIn(k, b, f, how, start, next)
		}
	}
}

// faultIn is fault for a field of a number.
func (c copying) faultIn(number int, b []byte, f field, how outcome, start, at int) *format.DataError {
	err := c.fault(b, f, how, start, at)
	err.Field = number
	return err
}
