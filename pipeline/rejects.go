package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/runstate"
)

// DefaultMaxRejects is how many records may be refused and put aside unless the job says otherwise.
const DefaultMaxRejects = 1000

// Extension and format of the artifacts that records which are refused are put into.
const (
	RejectsExt    = "rejects.ndjson"
	RejectsFormat = "ndjson"
)

// rejectSchema is what is said of a record that was refused.
var rejectSchema = &columnar.Schema{Columns: []columnar.Column{
	{Name: "file", Type: columnar.Type{Kind: columnar.String}},
	{Name: "line", Type: columnar.Type{Kind: columnar.Int64}},        // on which the record begins, of text
	{Name: "row", Type: columnar.Type{Kind: columnar.Int64}},         // of a file that has no lines, from 1
	{Name: "column", Type: columnar.Type{Kind: columnar.String}},     // that is to blame, if one is
	{Name: "value", Type: columnar.Type{Kind: columnar.String}},      // of the column, as errors show it
	{Name: "reason", Type: columnar.Type{Kind: columnar.String}},     // what is wrong with it
	{Name: "raw", Type: columnar.Type{Kind: columnar.String}},        // the record as it stands in the source, of text that is UTF-8
	{Name: "raw_base64", Type: columnar.Type{Kind: columnar.Binary}}, // the same, of other text
}}

// putAside writes records that were refused to their sink. More than the plan allows are the end of the run.
func (s *subtask) putAside(ctx context.Context, rejected []Rejected) error {
	if len(rejected) == 0 {
		return nil
	}
	s.attempt.first.CompareAndSwap(nil, rejected[0].Err)
	if err := s.held.plan.tooMany(s.attempt.rejected.Add(int64(len(rejected))), s.attempt.first.Load()); err != nil {
		return err
	}
	if s.refuse == nil {
		w, err := s.stagers[s.rejects].Open(ctx, runstate.Artifact{Run: s.held.run(), Attempt: s.attempt.number, Sink: s.rejects, Subtask: s.number,
			Checkpoint: s.held.journal.NextCheckpoint(s.number), Ext: s.exts[s.rejects]}, rejectSchema)
		if err != nil {
			return err
		}
		s.refuse = w
	}
	var b columnar.Batch
	b.Reset(rejectSchema.Columns)
	for _, r := range rejected {
		r.addTo(&b)
	}
	if err := s.refuse.Write(ctx, &b); err != nil {
		return err
	}
	s.unit.Rejected += int64(len(rejected))
	return nil
}

// tooMany fails if more records are refused than the plan allows. such is one of them, nil if none is at hand.
func (p Plan) tooMany(rejected int64, such *format.DataError) error {
	if rejected <= p.MaxRejects {
		return nil
	}
	e := &format.DataError{Offset: format.Unplaced, Reason: count(rejected, "record is refused", "records are refused") + fmt.Sprintf(", and max_rejects is %d", p.MaxRejects)}
	if such != nil {
		e.Reason += fmt.Sprintf(": such as %v", such)
	}
	return e
}

func count(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// addTo appends the record to a batch of the rejectSchema.
func (r Rejected) addTo(b *columnar.Batch) {
	e := r.Err
	line := e.Line
	if e.Record > 0 {
		line = e.Record
	}
	addText(b, 0, []byte(e.File))
	addNumber(b, 1, line)
	addNumber(b, 2, e.Row)
	addText(b, 3, []byte(e.Column))
	addText(b, 4, []byte(e.Shown()))
	addText(b, 5, []byte(e.Reason))
	switch {
	case r.Raw == nil:
		b.Columns[6].Null()
		b.Columns[7].Null()
	case utf8.Valid(r.Raw):
		add(b, 6, r.Raw)
		b.Columns[7].Null()
	default:
		b.Columns[6].Null()
		add(b, 7, r.Raw)
	}
	b.Rows++
}

func add(b *columnar.Batch, c int, data []byte) {
	b.Columns[c].AddSpan(columnar.Span{Off: uint32(len(b.Data)), Len: uint32(len(data))})
	b.Data = append(b.Data, data...)
}

// addText appends a text, of which what is not UTF-8 is replaced; NULL if it is empty.
func addText(b *columnar.Batch, c int, text []byte) {
	if len(text) == 0 {
		b.Columns[c].Null()
		return
	}
	add(b, c, bytes.ToValidUTF8(text, []byte(string(utf8.RuneError))))
}

// addNumber appends a number; NULL if it is 0.
func addNumber(b *columnar.Batch, c int, n int64) {
	if n == 0 {
		b.Columns[c].Null()
		return
	}
	b.Columns[c].I64 = append(b.Columns[c].I64, n)
	b.Columns[c].Valid = append(b.Columns[c].Valid, 1)
}
