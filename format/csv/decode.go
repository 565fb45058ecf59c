package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// NewDecoder makes a decoder for records below a head. Without columns it checks that records end where they seem to, and
// leaves them as they are.
func (f *Format) NewDecoder(r format.Reading) (format.Decoder, error) {
	h, err := f.parseHead(r.Head)
	if err != nil {
		return nil, err
	}
	if r.Schema == nil || len(r.Schema.Columns) == 0 {
		return copying{f.splitter, r.Reject, len(h.names), f.looks || r.Reject != nil}, nil
	}
	d := &decoder{splitter: f.splitter, columns: r.Schema.Columns, reject: r.Reject, inferred: r.Schema.Closed}
	if d.layout, err = f.match(h, r.Schema); err != nil {
		return nil, err
	}
	if len(d.fields) == 1 {
		d.splitter, d.noBlank = d.lone()
	}
	policy := jsontext.Policy{Extra: f.extra, Binary: f.binary, Closed: r.Schema.Closed, Format: "csv", Options: []string{"extra", "invalid_utf8", "binary"}}
	if f.replaceBad {
		policy.InvalidUTF8 = jsontext.TextReplace
	}
	d.json = jsontext.NewDecoder(d.columns, policy)
	return d, nil
}

// decoder reads records into columns.
type decoder struct {
	splitter
	layout
	columns []columnar.Column
	reject  func(format.Rejected) error
	json    *jsontext.Decoder // of nested values
	hasNUL  bool              // the chunk has
	noBlank bool              // blank lines are refused

	inferred bool   // nobody has declared the columns
	shown    []byte // the beginning of the value at hand, as it stands in the file
}

func (d *decoder) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(d.columns)
	out.Data = chunk
	d.hasNUL = bytes.IndexByte(chunk, 0) >= 0
	n, number := len(chunk), 0
	for i := d.skipBlank(chunk, 0); i < n; i = d.skipBlank(out.Data[:n], i) {
		if d.noBlank && isBlank(out.Data[:n], i) { // whatever becomes of bad records: it may be none
			err := refuseBlank(i, d.nameOf(0))
			err.Offset, err.Start = err.Offset+at, err.Start+at
			return err
		}
		end := 0
		if d.reject != nil {
			end = d.endIn(out.Data[:n], i) // before quotes are taken away
		}
		next, refused := d.record(i, n, out)
		if refused == nil {
			out.Rows++
		} else {
			refused.Offset += at
			refused.Start += at
			if d.reject == nil {
				return refused
			}
			next = end
			out.Pop(d.columns, out.Rows)
			if err := d.reject(format.Rejected{Err: refused, Record: number, From: i, To: end}); err != nil {
				return err
			}
		}
		number++
		i = next
	}
	return nil
}

// record reads the record that begins at the chunk's start, and gives its end. The chunk is the first n bytes of out's Data.
func (d *decoder) record(start, n int, out *columnar.Batch) (int, *format.DataError) {
	i := start
	for k := 0; ; k++ {
		f, next, how := d.scan(out.Data[:n], i)
		switch {
		case how > recordOver:
			err := d.fault(out.Data[:n], f, how, start, next)
			err.Column = d.nameOf(k)
			return 0, err
		case f.to-f.from > d.maxField:
			err := d.tooLong(out.Data[:n], f, start)
			err.Column = d.nameOf(k)
			return 0, err
		case k >= len(d.fields):
			if !d.longRows {
				return 0, d.ragged(out.Data[:n], start, k+1, next, how)
			}
		case how == recordOver && k+1 < len(d.fields) && !d.shortRows:
			return 0, d.ragged(out.Data[:n], start, k+1, next, how)
		case d.fields[k] >= 0:
			if err := d.value(f, d.fields[k], out); err != nil {
				if count, _, over := d.rest(out.Data[:n], k+1, next, how); over == recordOver && d.isRagged(count) {
					return 0, d.ragged(out.Data[:n], start, k+1, next, how) // the value is in the wrong column, most likely
				}
				err.Start = int64(start)
				return 0, err
			}
		}
		if how == recordOver {
			return next, d.absentFrom(k+1, start, out)
		}
		i = next
	}
}

// nameOf gives the name of the k-th field, "" if it has none.
func (d *decoder) nameOf(k int) string {
	if k < len(d.names) {
		return d.names[k]
	}
	return ""
}

// isRagged tells whether a record of so many fields is refused.
func (d *decoder) isRagged(count int) bool {
	return count < len(d.fields) && !d.shortRows || count > len(d.fields) && !d.longRows
}

// absentFrom makes NULLs of columns that the file lacks, and of those whose fields a record lacks from the k-th on.
func (d *decoder) absentFrom(k, start int, out *columnar.Batch) *format.DataError {
	for _, c := range d.absent {
		out.Columns[c].Null()
	}
	for ; k < len(d.fields); k++ {
		c := d.fields[k]
		if c < 0 {
			continue
		}
		if d.columns[c].Required {
			err := refuse(start, &d.columns[c], nil, "has no field in this record, and the column is required", adviceRequired)
			err.Start = int64(start)
			return err
		}
		out.Columns[c].Null()
	}
	return nil
}

// rest passes the rest of a record of which n fields are read. It gives how many fields there are, and how it ended.
func (d *decoder) rest(b []byte, n, next int, how outcome) (int, int, outcome) {
	for how == delimited {
		_, next, how = d.scan(b, next)
		n++
	}
	return n, next, how
}

// ragged makes the error of a record that has more or fewer fields than the header, of which n are read.
func (d *decoder) ragged(b []byte, start, n, next int, how outcome) *format.DataError {
	n, next, how = d.rest(b, n, next, how)
	if how != recordOver {
		return d.fault(b, field{from: next, to: next, open: next}, how, start, next)
	}
	whose := "the header has"
	if d.inOrder {
		whose = "the columns are"
	}
	e := &format.DataError{Offset: int64(start), Start: int64(start),
		Reason: fmt.Sprintf("the record has %s, and %s %d", count(n, "field"), whose, len(d.fields)),
		Advice: "a field that holds a delimiter or a line end must be quoted, " + advise(`short_rows: "null"`)}
	if n > len(d.fields) {
		e.Advice = "a field that holds a delimiter or a line end must be quoted, " + advise("long_rows: ignore")
		if d.inOrder {
			e.Advice = "name all fields: csv: {header: [...]}; " + e.Advice
		} else if i := strings.IndexAny(d.nameOf(0), ";\t|"); i >= 0 && len(d.names) == 1 {
			e.Advice = fmt.Sprintf("if another character is between fields: csv: {delimiter: %q}; ", d.names[0][i:i+1]) + e.Advice
		}
	}
	return e
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
