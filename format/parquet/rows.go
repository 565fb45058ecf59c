package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

const (
	// batchRows is how many rows a batch has at most.
	batchRows = 8192
	// stepRows is how many rows of each column are read at once. Only between steps is it known how large a batch has become.
	stepRows = 512
	// maxBatch is how many bytes the text of a batch can have: a span's offset has 32 bits.
	maxBatch = math.MaxUint32 - 1
)

// tableReader reads rows of a file.
type tableReader struct {
	file    *tableFile
	reject  func(format.Rejected) error
	columns []columnar.Column // as declared
	sources []columnSource    // of each of them
	row, to int64             // of the file: to be read next, and not to be reached
	group   int               // that row is in
	left    int64             // rows of it that are still to be read
	perRow  int64             // bytes of the rows that were read last, on average

	native  columnar.Batch // of the columns that are read, with the file's types
	refused map[int]*format.DataError
	rows    []int // those of refused, sorted
}

// columnSource is where a column comes from.
type columnSource struct {
	node   *node
	leaves []*stream // in the order of the tree
	caster *columnar.Caster
	native int // its number among those that are read; -1 for one that the file lacks
}

// rejection is an error of whoever takes rejected rows.
type rejection struct{ error }

func (r rejection) Unwrap() error { return r.error }

func (r *tableReader) open(schema *columnar.Schema, from int64) error {
	if err := r.file.checkExtra(schema); err != nil {
		return err
	}
	var natives []columnar.Column
	for _, c := range schema.Columns {
		n, err := r.file.find(c.Name)
		if err != nil {
			return err
		}
		s := columnSource{node: n, native: -1}
		if n == nil {
			if c.Required {
				return r.file.lacks(c.Name)
			}
			r.sources = append(r.sources, s)
			continue
		}
		if n.typ.Kind == 0 {
			return &format.DataError{Offset: format.Unplaced, Column: c.Name, Reason: unreadable(r.file.root.kids[slices.Index(r.file.nodes, n)]), Advice: "leave it out"}
		}
		n = n.as(c)
		s.node, s.native = n, len(natives)
		if s.caster, err = columnar.NewCaster(n.column(), c); err != nil {
			return &format.DataError{Offset: format.Unplaced, Column: c.Name, Reason: fmt.Sprintf("cannot be read as %s: %v", c.Type, err)}
		}
		s.leaves = r.leavesIn(n, c.Cast == columnar.CastLossy, nil)
		natives = append(natives, n.column())
		r.sources = append(r.sources, s)
	}
	r.native.Reset(natives)
	return r.seek(from)
}

// as gives the node as a column wants it read: bytes that are not annotated as text, where old writers wrote text so.
func (n *node) as(c columnar.Column) *node {
	if n.typ.Kind != columnar.Binary || c.Type.Kind != columnar.String && c.Type.Kind != columnar.JSON {
		return n
	}
	other := *n
	other.typ, other.convert = columnar.Type{Kind: c.Type.Kind}, text
	return &other
}

// leavesIn makes the leaves of a node.
func (r *tableReader) leavesIn(n *node, lossy bool, to []*stream) []*stream {
	if len(n.kids) == 0 {
		return append(to, &stream{node: n, lossy: lossy, file: r.file})
	}
	for _, kid := range n.kids {
		to = r.leavesIn(kid, lossy, to)
	}
	return to
}

// seek goes to a row of the file.
func (r *tableReader) seek(row int64) error {
	groups := r.file.file.RowGroups()
	for r.group = 0; r.group < len(groups); r.group++ {
		rows := groups[r.group].NumRows()
		if row < rows {
			break
		}
		row -= rows
	}
	if r.row >= r.to || r.group == len(groups) {
		return nil
	}
	return r.openGroup(row)
}

// openGroup begins to read the row group at hand, from a row on.
func (r *tableReader) openGroup(row int64) error {
	g := r.file.file.RowGroups()[r.group]
	r.left = g.NumRows() - row
	for _, s := range r.sources {
		for _, l := range s.leaves {
			if err := l.open(g.ColumnChunks()[l.node.leaf], r.group); err != nil {
				return err
			}
			if err := l.skip(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// Next is as format.TableReader has it.
func (r *tableReader) Next(max int64, out *columnar.Batch) (int64, error) {
	var passed int64
	err := r.file.guarded(func() (err error) {
		passed, err = r.next(min(max, batchRows, r.to-r.row), out)
		return err
	})
	return passed, err
}

func (r *tableReader) next(most int64, out *columnar.Batch) (int64, error) {
	if r.row >= r.to {
		return 0, io.EOF
	}
	for r.left == 0 {
		if r.group++; r.group >= len(r.file.file.RowGroups()) {
			return 0, fmt.Errorf("the file ends at row %d", r.row)
		}
		if r.file.file.RowGroups()[r.group].NumRows() == 0 {
			continue
		}
		if err := r.openGroup(0); err != nil {
			return 0, err
		}
	}
	r.begin(out)
	passed, err := r.fill(min(most, r.left), out)
	if err != nil {
		return 0, err
	}
	if err := r.finish(int(passed), out); err != nil {
		return 0, err
	}
	r.row += passed
	r.left -= passed
	return passed, nil
}

// begin empties the batch.
func (r *tableReader) begin(out *columnar.Batch) {
	out.Reset(r.columns)
	out.Data = out.Data[:0]
	clear(r.refused)
	for _, s := range r.sources {
		for _, l := range s.leaves {
			l.reset()
		}
	}
}

// fill reads rows of every column, as many as fit a batch.
func (r *tableReader) fill(most int64, out *columnar.Batch) (int64, error) {
	rows := int64(0)
	for rows < most {
		step := min(most-rows, stepRows)
		if r.perRow > 0 {
			step = min(step, max(1, (format.BlockSize-r.bytes(out))/r.perRow))
		} else {
			step = 1 // of which nothing is known yet
		}
		for _, s := range r.sources {
			for _, l := range s.leaves {
				if err := l.read(step, &out.Data, r.refuse); err != nil {
					return 0, err
				}
			}
		}
		rows += step
		size := r.bytes(out)
		r.perRow = size/rows + 1
		if size >= format.BlockSize {
			break
		}
	}
	return rows, nil
}

// bytes is about how large what is read so far is.
func (r *tableReader) bytes(out *columnar.Batch) int64 {
	size := int64(len(out.Data))
	for _, s := range r.sources {
		for _, l := range s.leaves {
			size += int64(l.entries) * 8
		}
	}
	return size
}

// refuse notes that a row, from 0 of the batch, has a value that is refused. The first one of a row is told.
func (r *tableReader) refuse(row int, column, value string, reason error, advice string) error {
	e := &format.DataError{Offset: format.Unplaced, Row: r.row + int64(row) + 1, Column: column, Value: value, Reason: reason.Error(), Advice: advice}
	if r.reject == nil {
		return e
	}
	if r.refused == nil {
		r.refused = map[int]*format.DataError{}
	}
	if _, ok := r.refused[row]; !ok {
		r.refused[row] = e
	}
	return nil
}

// finish puts the rows together, casts them, and takes those that are refused out.
func (r *tableReader) finish(rows int, out *columnar.Batch) error {
	out.Rows = rows
	for i, s := range r.sources {
		if s.native < 0 {
			for range rows {
				out.Columns[i].Null()
			}
			continue
		}
		leaves := s.leaves
		if s.caster.Copies() {
			build(s.node, &out.Columns[i], &leaves)
			continue
		}
		native := &r.native.Columns[s.native]
		native.Reset(s.node.typ)
		build(s.node, native, &leaves)
		out.Columns[i].Reset(r.columns[i].Type)
		err := s.caster.Cast(native, &out.Columns[i], &out.Data, func(x columnar.Refused) error {
			column := r.columns[i].Name
			if x.Path != "" {
				column += "." + x.Path
			}
			return r.refuse(x.Row, column, x.Value, x.Reason, x.Advice)
		})
		if err != nil {
			return err
		}
	}
	if int64(len(out.Data)) > maxBatch {
		return errors.New("rows of more than 4 GiB cannot be read")
	}
	return r.takeOut(out)
}

// takeOut hands the refused rows over.
func (r *tableReader) takeOut(out *columnar.Batch) error {
	if len(r.refused) == 0 {
		return nil
	}
	r.rows = r.rows[:0]
	for row := range r.refused {
		r.rows = append(r.rows, row)
	}
	slices.Sort(r.rows)
	for _, row := range r.rows {
		if err := r.reject(format.Rejected{Err: r.refused[row], Record: row}); err != nil {
			return rejection{err}
		}
	}
	out.Drop(r.columns, r.rows)
	return nil
}

// Close ends the reading.
func (r *tableReader) Close() error {
	return r.file.guarded(func() error {
		var errs []error
		for _, s := range r.sources {
			for _, l := range s.leaves {
				errs = append(errs, l.close())
			}
		}
		return errors.Join(errs...)
	})
}

// build makes the vector of a node from what its leaves have read, which it takes off leaves.
func build(n *node, v *columnar.Vector, leaves *[]*stream) {
	l := (*leaves)[0]
	switch n.typ.Kind {
	case columnar.List:
		n.buildList(v, l)
		build(n.kids[0], &v.Kids[0], leaves)
	case columnar.Struct:
		n.buildValid(v, l)
		for i, kid := range n.kids {
			build(kid, &v.Kids[i], leaves)
		}
	default:
		l.take(v)
		n.buildValid(v, l)
		*leaves = (*leaves)[1:]
	}
}

// buildValid tells which instances of a node are there.
func (n *node) buildValid(v *columnar.Vector, l *stream) {
	for i := range l.entries {
		rep, def := l.levels(i)
		if rep > n.rep || def < n.outer {
			continue
		}
		if def >= n.def {
			v.Valid = append(v.Valid, 1)
		} else {
			v.Null()
		}
	}
}

// buildList tells which lists are there, and how long they are.
func (n *node) buildList(v *columnar.Vector, l *stream) {
	open := false
	for i := range l.entries {
		rep, def := l.levels(i)
		if rep <= n.rep {
			open = def >= n.def
			if def < n.outer {
				continue
			}
			if !open {
				v.Null()
				continue
			}
			v.Valid = append(v.Valid, 1)
			v.Len = append(v.Len, 0)
		}
		if open && rep <= n.rep+1 && def > n.def {
			v.Len[len(v.Len)-1]++
		}
	}
}
