package csv

import (
	"bytes"
	"fmt"

	"github.com/clinkctl/clinkctl/format"
)

// field is where a field's text lies: b[from:to], without its quotes.
type field struct {
	from, to int
	open     int // where it begins, its quote included
	quoted   bool
	doubled  bool // it has doubled quotes
	escaped  bool // it has escapes
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
func (d *dialect) scan(b []byte, i int) (f field, next int, how outcome) {
	if !d.simple {
		return d.scanSlow(b, i)
	}
	if d.quote != 0 && i < len(b) && b[i] == d.quote {
		return d.scanQuoted(b, i)
	}
	j := i
	for j < len(b) && !d.stops[b[j]] {
		j++
	}
	f = field{from: i, to: j, open: i}
	if d.quote != 0 && j < len(b) && b[j] == d.quote {
		return f, j, bareQuote
	}
	next, how = d.fieldEnd(b, j)
	return f, next, how
}

func (d *dialect) scanQuoted(b []byte, i int) (f field, next int, how outcome) {
	f = field{from: i + 1, to: i + 1, open: i, quoted: true}
	for j := i + 1; ; {
		q := bytes.IndexByte(b[j:], d.quote)
		if q < 0 {
			return f, len(b), cutOff
		}
		j += q + 1
		if j < len(b) && b[j] == d.quote {
			f.doubled = true
			j++
			continue
		}
		f.to = j - 1
		next, how = d.fieldEnd(b, j)
		if how == bareReturn {
			how = afterQuote
		}
		return f, next, how
	}
}

// fieldEnd tells what follows the text of a field.
func (d *dialect) fieldEnd(b []byte, j int) (next int, how outcome) {
	switch {
	case j == len(b):
		return j, cutOff
	case b[j] == '\n':
		return j + 1, recordOver
	case b[j] == d.delimiter[0] && bytes.HasPrefix(b[j:], d.delimiter):
		return j + len(d.delimiter), delimited
	case b[j] == d.delimiter[0] && bytes.HasPrefix(d.delimiter, b[j:]):
		return len(b), cutOff // it may be one yet
	case b[j] != '\r':
		return j, afterQuote
	case j+1 == len(b):
		return j + 1, cutOff
	case b[j+1] == '\n':
		return j + 2, recordOver
	}
	return j, bareReturn
}

// scanSlow is scan for every dialect.
func (d *dialect) scanSlow(b []byte, i int) (f field, next int, how outcome) {
	begin := i
	if d.trim {
		begin = passBlanks(b, i)
	}
	if d.quote != 0 && begin < len(b) && b[begin] == d.quote {
		return d.scanQuotedSlow(b, begin)
	}
	f = field{from: begin, open: begin}
	kept := begin // what is before is no blank around the field
	for j := begin; ; j++ {
		for j < len(b) && !d.stops[b[j]] {
			j++
		}
		f.to = j
		if j < len(b) && d.escape != 0 && b[j] == d.escape {
			f.escaped = true
			if j++; j == len(b) {
				return f, j, cutOff
			}
			kept = j + 1
			continue
		}
		if j < len(b) && d.quote != 0 && b[j] == d.quote {
			if d.bareQuotes {
				continue
			}
			return f, j, bareQuote
		}
		next, how = d.fieldEnd(b, j)
		if how == afterQuote { // a part of a delimiter, and no delimiter
			continue
		}
		if d.trim {
			f.to = max(cutBlanks(b, f), kept)
		}
		return f, next, how
	}
}

// passBlanks gives the place after spaces and tabs.
func passBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

// cutBlanks gives the end of an unquoted field without the spaces and tabs behind it.
func cutBlanks(b []byte, f field) int {
	for f.to > f.from && (b[f.to-1] == ' ' || b[f.to-1] == '\t') {
		f.to--
	}
	return f.to
}

func (d *dialect) scanQuotedSlow(b []byte, i int) (f field, next int, how outcome) {
	f = field{from: i + 1, to: i + 1, open: i, quoted: true}
	for j := i + 1; j < len(b); j++ {
		if d.escape != 0 && b[j] == d.escape {
			f.escaped = true
			j++
			continue
		}
		if b[j] != d.quote {
			continue
		}
		if j+1 < len(b) && b[j+1] == d.quote {
			f.doubled = true
			j++
			continue
		}
		f.to = j
		after := j + 1
		if d.trim {
			after = passBlanks(b, after)
		}
		if next, how = d.fieldEnd(b, after); how < bareQuote {
			return f, next, how
		}
		if !d.bareQuotes {
			return f, after, afterQuote
		}
	}
	return f, len(b), cutOff
}

// text gives a field's text. Its quotes and escapes are taken away in place.
func (d *dialect) text(b []byte, f field) []byte {
	text := b[f.from:f.to]
	if !f.doubled && !f.escaped {
		return text
	}
	w := 0
	for r := 0; r < len(text); r++ {
		c := text[r]
		switch {
		case f.escaped && c == d.escape && r+1 < len(text):
			r++
			c = text[r]
		case f.doubled && c == d.quote && r+1 < len(text) && text[r+1] == d.quote:
			r++
		}
		text[w] = c
		w++
	}
	return text[:w]
}

// fault makes the error of a scan that ended with one, in a record of b that begins at start.
func (d *dialect) fault(b []byte, f field, how outcome, start, at int) *format.DataError {
	e := &format.DataError{Offset: int64(at), Start: int64(start)}
	whole := fmt.Sprintf("a field that holds %c must be quoted as a whole, and each %c in it doubled", d.quote, d.quote)
	switch how {
	case bareQuote:
		e.Reason, e.Advice = "has a quote, and does not begin with one", whole+", "+advise("bare_quotes: keep")
		e.Value = string(b[f.from:min(at+1, len(b))])
	case bareReturn:
		e.Reason, e.Advice = "a carriage return that is not part of a line end", "quote the field, or end the file's lines with LF or CRLF"
	case afterQuote:
		e.Reason, e.Advice = "has text after its closing quote", whole+"; or an earlier quote is unmatched; "+d.adviseQuotes(b, f)
		if bytes.IndexByte(b[f.open:min(at, len(b))], '\n') >= 0 { // most likely it was never meant to be closed there
			return d.unmatched(b, f, start)
		}
		e.Value = string(b[f.open:min(at+16, len(b))])
	default:
		return d.unmatched(b, f, start)
	}
	return e
}

// adviseQuotes names the option that would accept a quoted field with text after its closing quote, on its line.
func (d *dialect) adviseQuotes(b []byte, f field) string {
	keep := *d
	keep.bareQuotes = true
	kept, _, how := keep.scanQuotedSlow(b, f.open)
	if how < cutOff && bytes.IndexByte(b[f.open:kept.to], '\n') < 0 {
		return advise("bare_quotes: keep")
	}
	return advise("quote: none")
}

// unmatched makes the error of a quote that opens a field which does not end as a field must.
func (d *dialect) unmatched(b []byte, f field, start int) *format.DataError {
	line, _, _ := bytes.Cut(b[f.open:min(f.open+200, len(b))], lineFeed)
	return &format.DataError{Offset: int64(f.open), Start: int64(start), Value: string(line),
		Reason: "begins with a quote that opens a field which does not end as a field must",
		Advice: "double the quotes in quoted fields; where quotes are only text: csv: {quote: none}"}
}

// tooLong makes the error of a field beyond the cap.
func (d *dialect) tooLong(b []byte, f field, start int) *format.DataError {
	line, _, _ := bytes.Cut(b[f.open:min(f.open+200, len(b))], lineFeed)
	e := &format.DataError{Offset: int64(f.open), Start: int64(start), Value: string(line), Reason: fmt.Sprintf("begins a field of more than %d bytes", d.maxField)}
	if f.quoted {
		e.Advice = "its quote may be unmatched; "
	}
	if d.maxField < format.MaxRecord {
		e.Advice += advise("max_field: 256MiB")
	}
	return e
}

// Unfinished is as format.Unfinished has it. Of a field that does not end it gives the opening quote. A record with another fault
// may end yet, and is for the decoder to see, unless it is too long for that.
func (s splitter) Unfinished(b []byte, whole bool) *format.DataError {
	return s.unfinished(b, whole, whole || len(b) > s.maxField)
}

// unfinished gives what is wrong with a record: that a field is too long; if whole, that it does not end; if all, any fault.
func (s splitter) unfinished(b []byte, whole, all bool) (err *format.DataError) {
	start := s.skipBlank(b, 0)
	for i, k := start, 1; ; k++ {
		f, next, how := s.scan(b, i)
		switch {
		case how == cutOff && next-f.open > s.maxField:
			err = s.tooLong(b, f, start)
		case how == delimited:
			i = next
			continue
		case how == cutOff && f.quoted && whole:
			err = s.unmatched(b, f, start)
		case (how == bareQuote || how == afterQuote) && all:
			err = s.fault(b, f, how, start, next)
		default:
			return nil // it may end yet, or is for the decoder to see
		}
		err.Field = k
		return err
	}
}
