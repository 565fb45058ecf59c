package csv

import (
	"bytes"
)

var lineFeed = []byte{'\n'}

// splitter finds the ends of records.
type splitter struct{ *dialect }

// Where the dialect has parity, a line feed ends a record when the number of quotes before it in the record is even. That holds
// for every file that the parser accepts, and for no other does it matter where records end: each chunk begins at a record's start,
// so the first fault in a file is in a chunk that the parser sees, or in a record that does not end. Other dialects are scanned
// field by field.

// odd tells whether a text has an odd number of quotes.
func (d *dialect) odd(b []byte) bool {
	return d.quote != 0 && bytes.Count(b, []byte{d.quote})&1 == 1
}

// Last is as format.Splitter has it.
func (s splitter) Last(b []byte) int {
	if !s.parity {
		end := 0
		for next := s.slowEnd(b, 0); next > 0; next = s.slowEnd(b, end) {
			end = next
		}
		return end
	}
	end := len(b)
	if s.odd(b) {
		end = bytes.LastIndexByte(b, s.quote)
	}
	for {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 {
			return 0
		}
		if !s.odd(b[i:end]) {
			return i + 1
		}
		end = bytes.LastIndexByte(b[:i], s.quote)
	}
}

// After is as format.Splitter has it.
func (s splitter) After(b []byte, at int) int {
	if at > len(b) {
		return 0
	}
	if s.parity {
		return s.fastEnd(b, at-1, s.odd(b[:at-1]))
	}
	end := 0
	for end < at {
		if end = s.slowEnd(b, end); end == 0 {
			return 0
		}
	}
	return end
}

// end gives the end of the record, or of the line that is none, which begins at b[from]; 0 if b does not have it.
func (s splitter) end(b []byte, from int) int {
	if s.parity {
		return s.fastEnd(b, from, false)
	}
	return s.slowEnd(b, from)
}

// endIn is end for a record of whole records: one that does not end ends with them.
func (s splitter) endIn(b []byte, from int) int {
	if end := s.end(b, from); end > 0 {
		return end
	}
	return len(b)
}

// fastEnd gives the end of the record that b[from] is in, which is in a quoted field or not; 0 if b does not have it.
func (s splitter) fastEnd(b []byte, from int, quoted bool) int {
	for {
		if quoted {
			i := bytes.IndexByte(b[from:], s.quote)
			if i < 0 {
				return 0
			}
			from += i + 1
		}
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		quoted = s.odd(b[from : from+i])
		from += i + 1
		if !quoted {
			return from
		}
	}
}

// slowEnd is end for every dialect. A record with a fault goes on to the next delimiter or line end.
func (s splitter) slowEnd(b []byte, from int) int {
	if end := s.noRecord(b, from); end > 0 {
		return end
	}
	if s.comment != 0 && from < len(b) && b[from] == s.comment {
		return 0
	}
	for i := from; ; {
		_, next, how := s.scan(b, i)
		switch how {
		case delimited:
			i = next
		case recordOver:
			return next
		case cutOff:
			return 0
		default:
			if i = s.passFault(b, next+1); i == 0 {
				return 0
			}
			if b[i-1] == '\n' {
				return i
			}
		}
	}
}

// passFault gives the place after the next delimiter or line feed; 0 if there is none.
func (s splitter) passFault(b []byte, i int) int {
	for ; i < len(b); i++ {
		if b[i] == '\n' {
			return i + 1
		}
		if bytes.HasPrefix(b[i:], s.delimiter) {
			return i + len(s.delimiter)
		}
	}
	return 0
}

// Rows is as format.Splitter has it. Blank lines and comments are not counted.
func (s splitter) Rows(b []byte, max int) (end, rows int) {
	for rows < max {
		next := s.end(b, end)
		if next == 0 {
			break
		}
		if s.noRecord(b, end) == 0 {
			rows++
		}
		end = next
	}
	return end, rows
}
