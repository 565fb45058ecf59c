package csv

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// decoder reads records into columns.
type decoder struct {
	splitter
	null    []byte
	columns []columnar.Column
	fields  []int // the column of each field of a record, -1 for none
}

func (d *decoder) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(d.columns)
	out.Data = chunk
	nul := bytes.IndexByte(chunk, 0) >= 0
	for i := skipBlank(chunk, 0); i < len(chunk); i = skipBlank(chunk, i) {
		next, err := d.record(chunk, i, nul, out)
		if err != nil {
			err.Offset += at
			err.Start += at
			return err
		}
		out.Rows++
		i = next
	}
	return nil
}

// record reads the record that begins at b[start], and gives its end.
func (d *decoder) record(b []byte, start int, nul bool, out *columnar.Batch) (int, *format.DataError) {
	i := start
	for n := 0; ; n++ {
		f, next, how := d.scan(b, i)
		switch {
		case how == cutOff && f.quoted:
			return 0, fault(how, start, f.open())
		case how > recordOver:
			return 0, fault(how, start, next)
		case n == len(d.fields) || how == recordOver && n+1 < len(d.fields):
			n, next, how = d.rest(b, n+1, next, how)
			if how != recordOver {
				return 0, fault(how, start, next)
			}
			return 0, d.ragged(start, n)
		}
		if c := d.fields[n]; c >= 0 {
			if err := d.value(b, f, c, nul, out); err != nil {
				if n, _, how = d.rest(b, n+1, next, how); how == recordOver && n != len(d.fields) {
					return 0, d.ragged(start, n) // the value is in the wrong column, most likely
				}
				err.Start = int64(start)
				return 0, err
			}
		}
		if how == recordOver {
			return next, nil
		}
		i = next
	}
}

// rest passes the rest of a record of which n fields are read. It gives how many fields there are, and how it ended.
func (d *decoder) rest(b []byte, n, next int, how outcome) (int, int, outcome) {
	for how == delimited {
		_, next, how = d.scan(b, next)
		n++
	}
	return n, next, how
}

// ragged makes the error of a record that has more or fewer fields than the header.
func (d *decoder) ragged(start, n int) *format.DataError {
	return &format.DataError{Offset: int64(start), Start: int64(start),
		Reason: fmt.Sprintf("the record has %s, and the header has %d", count(n, "field"), len(d.fields)),
		Advice: "a field that holds a delimiter or a line end must be quoted"}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// value appends a field to its column.
func (d *decoder) value(b []byte, f field, c int, nul bool, out *columnar.Batch) *format.DataError {
	column, v := &d.columns[c], &out.Columns[c]
	text := b[f.from:f.to]
	if !f.quoted && bytes.Equal(text, d.null) {
		if column.Required {
			return refuse(f.from, column, text, "is NULL, and the column is required", "")
		}
		v.Null()
		return nil
	}
	if column.Type.Kind == columnar.String {
		if err := checkText(b, f, nul, column); err != nil {
			return err
		}
		v.AddSpan(columnar.Span{Off: uint32(f.from), Len: uint32(len(f.unescape(b)))})
		return nil
	}
	text = f.unescape(b)
	if err := v.Parse(column.Type, text); err != nil {
		return d.refuseValue(f, column, text, err)
	}
	return nil
}

// unescape makes doubled quotes single, in place, and gives the field's text.
func (f field) unescape(b []byte) []byte {
	text := b[f.from:f.to]
	if !f.doubled {
		return text
	}
	w := bytes.IndexByte(text, '"')
	for r := w; r < len(text); {
		text[w] = text[r]
		w++
		r++
		if text[r-1] == '"' {
			r++ // the other one of the two
		}
	}
	return text[:w]
}

// checkText refuses what is no text.
func checkText(b []byte, f field, nul bool, column *columnar.Column) *format.DataError {
	text := b[f.from:f.to]
	if nul {
		if i := bytes.IndexByte(text, 0); i >= 0 {
			return refuse(f.from+i, column, text, "has a NUL byte", "a file that has them is UTF-16, damaged, or no text")
		}
	}
	if !utf8.Valid(text) {
		return refuse(f.from+format.NotUTF8(text), column, text, "is not UTF-8", format.AdviceUTF8)
	}
	return nil
}

func (d *decoder) refuseValue(f field, column *columnar.Column, text []byte, cause error) *format.DataError {
	advice := "mend the source, or declare the column as string"
	reason := cause.Error()
	if len(text) == 0 {
		reason = "an empty field " + reason
		advice = fmt.Sprintf("NULL is written %s", d.null)
		if len(d.null) == 0 {
			advice = "NULL is a field without quotes"
		}
	}
	return refuse(f.from, column, text, reason, advice)
}

func refuse(at int, column *columnar.Column, value []byte, reason, advice string) *format.DataError {
	return &format.DataError{Offset: int64(at), Column: column.Name, Value: string(value), Reason: reason, Advice: advice}
}
