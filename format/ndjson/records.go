package ndjson

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// fault is what is wrong at a spot. It is nil, almost always.
type fault = *format.DataError

// records walks over the records of chunks.
type records struct {
	limit  int // how many bytes a line can have, its line feed aside
	reject func(format.Rejected) error

	s      *jsontext.Scanner // of the chunk at hand
	at     int64             // where that begins in its file
	line   int               // where the line at hand begins
	start  int               // where its record does
	number int               // of the record
	err    error             // why there are no more
}

// begin puts the walk at the beginning of a chunk, where s stands. The chunk begins at offset at of its file.
func (r *records) begin(s *jsontext.Scanner, at int64) {
	r.s, r.at, r.line, r.number, r.err = s, at, s.At, -1, nil
	if n := len(s.B); n > 0 && s.B[n-1] != '\n' {
		r.err = errors.New("a chunk of ndjson does not end with a line feed")
	}
}

// next passes blank lines, and the white space before a record. It is false where there is no record any more, or an error.
func (r *records) next() bool {
	for r.err == nil && r.s.At < len(r.s.B) {
		if r.s.Space() != '\n' {
			r.start = r.s.At
			r.number++
			return true
		}
		r.s.At++
		r.pass(r.s.At)
	}
	return false
}

// pass begins the next line.
func (r *records) pass(end int) {
	if end-1-r.line > r.limit {
		r.err = placed(tooLong(r.limit), r.line, r.line, r.at)
	}
	r.line = end
}

// end passes the end of a line after its record, of which err says what is wrong. It is true if the record is kept. If not, it was
// rejected, or there is an error.
func (r *records) end(err fault) bool {
	if err == nil {
		err = lineEnd(r.s)
	}
	if err == nil {
		r.pass(r.s.At)
		return r.err == nil
	}
	r.s.At += bytes.IndexByte(r.s.B[r.s.At:], '\n') + 1 // before At there may be others, of strings that were unescaped
	r.pass(r.s.At)
	if r.err != nil {
		return false
	}
	err = placed(err, int(err.Offset), r.start, r.at)
	if r.reject == nil {
		r.err = err
		return false
	}
	r.err = r.reject(format.Rejected{Err: err, Record: r.number, From: r.start, To: r.s.At})
	return false
}

func placed(err fault, spot, start int, at int64) fault {
	err.Offset, err.Start = int64(spot)+at, int64(start)+at
	return err
}

// isObject refuses a record that does not begin as an object does.
func isObject(s *jsontext.Scanner) fault {
	kind := s.Kind()
	if kind == jsontext.Object {
		return nil
	}
	err := &format.DataError{Offset: int64(s.At), Reason: "the line is not a JSON object"}
	switch {
	case kind == jsontext.Array:
		err.Advice = "an array is made into lines by jq -c '.[]'"
	case bytes.HasPrefix(s.B[s.At:], []byte(format.BOM)):
		err.Reason = "the line begins with a byte order mark, which only a file can"
		err.Advice = "files that are joined must lose theirs"
	}
	return err
}

// lineEnd passes the end of a record.
func lineEnd(s *jsontext.Scanner) fault {
	if s.Space() != '\n' {
		return &format.DataError{Offset: int64(s.At), Reason: "something follows the object on its line",
			Advice: "give each object a line of its own, as jq -c . does"}
	}
	s.At++
	return nil
}

func tooLong(limit int) fault {
	err := &format.DataError{Reason: fmt.Sprintf("the line that begins here is longer than %d bytes", limit), Advice: "look for missing line ends"}
	if limit == format.MaxRecord {
		err.Advice += "; longer ones are not taken"
	} else {
		err.Advice += ", or allow longer lines: ndjson: {max_record: 256MiB}"
	}
	return err
}

// Unfinished refuses a line that is too long already.
func (f Format) Unfinished(b []byte, _ bool) *format.DataError {
	if len(b) > f.limit {
		return tooLong(f.limit)
	}
	return nil
}
