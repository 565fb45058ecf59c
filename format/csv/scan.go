package csv

import (
	"bytes"

	"github.com/clinkctl/clinkctl/format"
)

// field is where a field's text lies: b[from:to], without its quotes.
type field struct {
	from, to int
	quoted   bool
	doubled  bool // it has doubled quotes
}

// outcome is how a scan of a field ended.
type outcome uint8

const (
	delimited  outcome = iota // at a delimiter; next is after it
	recordOver                // at a line end; next is after it
	cutOff                    // b ended first; next is where it did
	bareQuote                 // the rest are faults, at next
	bareReturn
	afterQuote
)

// scan reads the field that begins at b[i].
func (s splitter) scan(b []byte, i int) (f field, next int, how outcome) {
	if i < len(b) && b[i] == '"' {
		return s.scanQuoted(b, i)
	}
	j := i
	for j < len(b) && !s.stops[b[j]] {
		j++
	}
	f = field{from: i, to: j}
	if j < len(b) && b[j] == '"' {
		return f, j, bareQuote
	}
	next, how = s.fieldEnd(b, j)
	return f, next, how
}

func (s splitter) scanQuoted(b []byte, i int) (f field, next int, how outcome) {
	f = field{from: i + 1, to: i + 1, quoted: true}
	for j := i + 1; ; {
		q := bytes.IndexByte(b[j:], '"')
		if q < 0 {
			return f, len(b), cutOff
		}
		j += q + 1
		if j < len(b) && b[j] == '"' {
			f.doubled = true
			j++
			continue
		}
		f.to = j - 1
		next, how = s.fieldEnd(b, j)
		if how == bareReturn {
			how = afterQuote
		}
		return f, next, how
	}
}

// fieldEnd tells what follows the text of a field.
func (s splitter) fieldEnd(b []byte, j int) (next int, how outcome) {
	switch {
	case j == len(b):
		return j, cutOff
	case b[j] == s.delimiter:
		return j + 1, delimited
	case b[j] == '\n':
		return j + 1, recordOver
	case b[j] != '\r':
		return j, afterQuote
	case j+1 == len(b):
		return j + 1, cutOff
	case b[j+1] == '\n':
		return j + 2, recordOver
	}
	return j, bareReturn
}

// unescaped gives a field's text, with doubled quotes made single, in memory of its own if it had any.
func (f field) unescaped(b []byte) []byte {
	text := b[f.from:f.to]
	if f.doubled {
		return bytes.ReplaceAll(text, []byte(`""`), quote)
	}
	return text
}

// open gives the place of the field's opening quote, or of its first byte.
func (f field) open() int {
	if f.quoted {
		return f.from - 1
	}
	return f.from
}

const adviceQuote = `a field that holds a quote must be quoted as a whole, and each quote in it doubled`

// fault makes the error of a scan that ended with one, in a record of b that begins at start.
func fault(how outcome, start, at int) *format.DataError {
	e := &format.DataError{Offset: int64(at), Start: int64(start)}
	switch how {
	case bareQuote:
		e.Reason, e.Advice = "a quote in a field that does not begin with one", adviceQuote
	case bareReturn:
		e.Reason, e.Advice = "a carriage return that is not part of a line end", "quote the field, or end the file's lines with LF or CRLF"
	case afterQuote:
		e.Reason, e.Advice = "text after the closing quote of a field", adviceQuote+"; or an earlier quote is unmatched"
	default:
		e.Reason, e.Advice = "the record does not end", adviceQuote
	}
	return e
}

// Unfinished is as format.Unfinished has it. Of a field that does not end, or ends in the middle of a line, it gives the
// opening quote.
func (s splitter) Unfinished(b []byte, whole bool) *format.DataError {
	start := skipBlank(b, 0)
	for i := start; ; {
		f, next, how := s.scan(b, i)
		switch {
		case how == delimited:
			i = next
		case how == afterQuote, how == cutOff && f.quoted && whole:
			e := fault(how, start, f.open())
			e.Reason = "this quote opens a field that does not end as a field must"
			return e
		case how == bareQuote:
			return fault(how, start, next)
		default:
			return nil // it may end yet, or is for the decoder to see
		}
	}
}
