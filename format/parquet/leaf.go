package parquet

import (
	"bytes"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// leaf is a leaf column of a file, and where its values are in a batch.
type leaf struct {
	names    []string // of the column, and of the fields that lead to the leaf
	typ      columnar.Type
	kind     parquet.Kind
	steps    []step // from the column to the leaf, both included
	column   int    // its number in the file
	rep, def byte   // the most levels
	index    pageIndex
	to       *parquet.ColumnWriter

	page  int64  // bytes in the page at hand, about
	reps  []byte // repetition levels of rows about to be written; none of a column that is no list or struct
	defs  []byte // their definition levels
	first int    // the first of their values
}

// step is a vector on the way to a leaf.
type step struct {
	kid      int // which column of the batch, or which child of the vector before
	kind     columnar.Kind
	required bool
	rep      byte // of a list: the repetition level of all elements but the first

	v     *columnar.Vector
	row   int // the next of the vector's rows
	value int // and of its values that are not NULL
}

// bind puts the leaf before a batch's first row.
func (l *leaf) bind(b *columnar.Batch) {
	vectors := b.Columns
	for i := range l.steps {
		s := &l.steps[i]
		s.v, s.row, s.value = &vectors[s.kid], 0, 0
		vectors = s.v.Kids
	}
}

// vector is the vector that has the leaf's values.
func (l *leaf) vector() *columnar.Vector { return l.steps[len(l.steps)-1].v }

// next is the value that is to be passed next.
func (l *leaf) next() int { return l.steps[len(l.steps)-1].value }

// name is the leaf's name for people: "a.b".
func (l *leaf) name() string { return strings.Join(l.names, ".") }

// flat tells whether the leaf is a column.
func (l *leaf) flat() bool { return len(l.steps) == 1 }

// maxEntries is how many levels are gathered before they are handed on, about.
const maxEntries = 8192

// gather passes rows from the first of the batch to be passed next, up to the one before to, and gathers their levels. It stops
// where there are many, and gives the row after the last.
func (l *leaf) gather(row, to int) (int, error) {
	l.reps, l.defs = l.reps[:0], l.defs[:0]
	l.first = l.next()
	if l.flat() {
		return to, l.gatherFlat(row, to)
	}
	for row < to && len(l.defs) < maxEntries {
		if err := l.pass(0, 0, 0); err != nil {
			return row, format.AtRow(err, row)
		}
		row++
	}
	return row, nil
}

// gatherFlat is gather for a column. Its validity is its definition levels, but for those of a required one, which has none.
func (l *leaf) gatherFlat(row, to int) error {
	s := &l.steps[0]
	valid := s.v.Valid[row:to]
	if s.required {
		if i := bytes.IndexByte(valid, 0); i >= 0 {
			return format.AtRow(l.refuseNull(0), row+i)
		}
	}
	l.defs = append(l.defs, valid...)
	s.row = to
	s.value += bytes.Count(valid, []byte{1})
	return nil
}

// pass passes a row of the d-th step's vector. rep and def are its levels as far as the steps before it make them.
func (l *leaf) pass(d int, rep, def byte) error {
	s := &l.steps[d]
	s.row++
	if s.v.Valid[s.row-1] == 0 {
		if s.required {
			return l.refuseNull(d)
		}
		l.entry(rep, def)
		return nil
	}
	if !s.required {
		def++
	}
	s.value++
	switch s.kind {
	case columnar.Struct:
		return l.pass(d+1, rep, def)
	case columnar.List:
		n := s.v.Len[s.value-1]
		if n == 0 {
			l.entry(rep, def)
		}
		for range n {
			if err := l.pass(d+1, rep, def+1); err != nil {
				return err
			}
			rep = s.rep
		}
		return nil
	}
	l.entry(rep, def)
	return nil
}

func (l *leaf) entry(rep, def byte) {
	l.reps, l.defs = append(l.reps, rep), append(l.defs, def)
}

// refuseNull is the error of a NULL of the d-th step.
func (l *leaf) refuseNull(d int) error {
	return &format.DataError{Offset: format.Unplaced, Column: strings.Join(l.names[:d+1], "."), Reason: "is NULL, and a value is required"}
}

// full is the definition level that gather gives a value.
func (l *leaf) full() byte {
	if l.flat() {
		return 1
	}
	return l.def
}

// rowOf finds the row of the batch that a value is in. The leaf must be bound anew after that.
func (l *leaf) rowOf(b *columnar.Batch, value int) int {
	l.bind(b)
	row := 0
	for ; row < b.Rows && l.next() <= value; row++ {
		if l.pass(0, 0, 0) != nil {
			break
		}
	}
	return max(0, row-1)
}
