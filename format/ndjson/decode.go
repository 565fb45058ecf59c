package ndjson

import (
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// decoder reads objects into columns.
type decoder struct {
	columns []columnar.Column
	values  *jsontext.Decoder
	records records
}

func (d *decoder) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(d.columns)
	out.Data = chunk
	d.values.Lines(out)
	r := &d.records
	r.begin(&d.values.Scanner, at)
	for r.next() {
		err := isObject(r.s)
		if err == nil {
			err = d.values.Record()
		}
		if r.end(err) {
			out.Rows++
		} else {
			out.Pop(d.columns, out.Rows) // the record, if what follows it is to blame
		}
	}
	return r.err
}

// Absent is as format.Absent has it.
func (d *decoder) Absent() ([]string, bool) { return d.values.Absent() }

// copying checks that lines are objects, and leaves them as they are.
type copying struct {
	scanner jsontext.Scanner
	records records
}

func (d *copying) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(nil)
	d.scanner = jsontext.Lines(chunk)
	r := &d.records
	r.begin(&d.scanner, at)
	kept, from := 0, 0 // chunk[:kept] is what is left of what precedes chunk[from]
	for r.next() {
		line := r.line
		err := isObject(r.s)
		if err == nil {
			err = r.s.Value(1)
		}
		if err == nil {
			err = isUTF8(r.s.B[r.start:r.s.At], r.start)
		}
		if r.end(err) {
			out.Rows++
			continue
		}
		kept += copy(chunk[kept:], chunk[from:line])
		from = r.line
	}
	if from > 0 {
		chunk = chunk[:kept+copy(chunk[kept:], chunk[from:])]
	}
	out.Data = chunk
	return r.err
}

// isUTF8 refuses a record that is none, and so no JSON: a record that is copied is to be some.
func isUTF8(record []byte, start int) fault {
	if utf8.Valid(record) {
		return nil
	}
	return &format.DataError{Offset: int64(start + format.NotUTF8(record)), Reason: "the record is not UTF-8",
		Advice: format.AdviceUTF8 + "; or read values, and accept it: ndjson: {invalid_utf8: replace}"}
}

// eachObject calls object for each record of a chunk that begins at offset at of its file, with a scanner that stands at it, whose
// Each walks over its members; object leaves the scanner after it. Records that are refused are passed, and the first one's error
// is given at the end.
func (f Format) eachObject(chunk []byte, at int64, object func(*jsontext.Scanner) fault) error {
	var first error
	s := jsontext.Lines(chunk)
	r := records{limit: f.limit, reject: func(x format.Rejected) error {
		if first == nil {
			first = x.Err
		}
		return nil
	}}
	r.begin(&s, at)
	for r.next() {
		err := isObject(&s)
		if err == nil {
			err = object(&s)
		}
		r.end(err)
	}
	if first != nil {
		return first
	}
	return r.err
}
