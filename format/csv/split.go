package csv

import (
	"bytes"
)

var quote = []byte{'"'}

// A line feed ends a record when the number of quotes before it in the record is even. That holds for every file that the
// parser accepts, and for no other does it matter where records end: each chunk begins at a record's start, so the first
// fault in a file is in a chunk that the parser sees, or in a record that does not end.

// Last is as format.Splitter has it.
func (splitter) Last(b []byte) int {
	end := len(b)
	if bytes.Count(b, quote)&1 == 1 {
		end = bytes.LastIndexByte(b, '"')
	}
	for {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 {
			return 0
		}
		if bytes.Count(b[i:end], quote)&1 == 0 {
			return i + 1
		}
		end = bytes.LastIndexByte(b[:i], '"')
	}
}

// After is as format.Splitter has it.
func (splitter) After(b []byte, at int) int {
	if at > len(b) {
		return 0
	}
	return recordEnd(b, at-1, bytes.Count(b[:at-1], quote)&1 == 1)
}

// recordEnd gives the end of the record that b[from] is in, which is in a quoted field or not; 0 if b does not have it.
func recordEnd(b []byte, from int, quoted bool) int {
	for {
		if quoted {
			i := bytes.IndexByte(b[from:], '"')
			if i < 0 {
				return 0
			}
			from += i + 1
		}
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		quoted = bytes.Count(b[from:from+i], quote)&1 == 1
		from += i + 1
		if !quoted {
			return from
		}
	}
}

// Rows is as format.Splitter has it. Blank lines are not counted.
func (splitter) Rows(b []byte, max int) (end, rows int) {
	for rows < max {
		next := recordEnd(b, end, false)
		if next == 0 {
			break
		}
		if !blank(b[end:next]) {
			rows++
		}
		end = next
	}
	return end, rows
}
