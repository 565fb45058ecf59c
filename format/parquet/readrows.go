package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

const (
	// batchRows is how many rows a batch has at most.
	batchRows = 8192
	// firstStep and mostStep are how many rows of each column are read at once. Only between steps is it known how large a batch
	// has become.
	firstStep, mostStep = 64, 1024
	// Of its file a leaf reads about windowBytes at once; where there are many, less, but not less than minWindow.
	windowBytes, minWindow, allWindows = 256 << 10, 16 << 10, 8 << 20
)

// tableReader reads rows of a file.
type tableReader struct {
	file    *tableFile
	reject  func(format.Rejected) error
	columns []columnar.Column // as declared
	sources []columnSource    // of each of them
	codecs  codecs
	room    room
	row, to int64 // of the file: to be read next, and not to be reached
	group   int   // that row is in
	left    int64 // rows of it that are still to be read
	perRow  int64 // bytes of the rows that were read last, on average

	native  columnar.Batch // of the columns that are read, with the file's types
	data    []byte         // of the batch at hand
	refused map[int]*refusedRow
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
		s, err := r.source(c)
		if err != nil {
			return err
		}
		if s.node != nil {
			s.native = len(natives)
			natives = append(natives, s.node.column())
		}
		r.sources = append(r.sources, s)
	}
	r.native.Reset(natives)
	r.makeStreams()
	if from < 0 || from > r.to {
		return fmt.Errorf("rows %d to %d", from, r.to)
	}
	return r.seek(from)
}

// source finds what a column is read from.
func (r *tableReader) source(c columnar.Column) (s columnSource, err error) {
	n, err := r.file.find(c)
	s = columnSource{native: -1}
	if err != nil || n == nil {
		return s, err
	}
	if n.typ.Kind == 0 {
		return s, refuseColumn(c.Name, r.file.unreadable(n), "declare the other columns, to leave it out")
	}
	s.node = n.as(c.Type, r.file.reading)
	if s.node.typ.Kind == 0 {
		return s, refuseColumn(c.Name, "has fields of the same name, without their case", "rename one of them in the source")
	}
	if path := s.node.lacks(c.Type, ""); path != "" && !r.file.missingNull {
		return s, refuseColumn(c.Name, "has no field "+path+" in the file", `or accept it: parquet: {missing: "null"}`)
	}
	if s.caster, err = columnar.NewCaster(s.node.column(), c); err != nil {
		return s, refuseColumn(c.Name, fmt.Sprintf("cannot be read as %s: %v", c.Type, err), "")
	}
	return s, nil
}

// makeStreams makes the streams of all leaves that are read.
func (r *tableReader) makeStreams() {
	var nodes [][]*node
	count := 0
	for _, s := range r.sources {
		var leaves []*node
		if s.node != nil {
			leaves = s.node.leaves(nil)
		}
		nodes, count = append(nodes, leaves), count+len(leaves)
	}
	window := min(windowBytes, max(minWindow, allWindows/max(1, count)))
	for i, leaves := range nodes {
		for _, n := range leaves {
			s := newStream(n, r.file.r, &r.codecs, &r.room, window, r.columns[i].Cast == columnar.CastLossy)
			r.sources[i].leaves = append(r.sources[i].leaves, s)
		}
	}
}

// leaves appends the leaves of a node.
func (n *node) leaves(to []*node) []*node {
	if len(n.kids) == 0 {
		return append(to, n)
	}
	for _, kid := range n.kids {
		to = kid.leaves(to)
	}
	return to
}

// seek goes to a row of the file.
func (r *tableReader) seek(row int64) error {
	if r.row >= r.to {
		return nil
	}
	groups := r.file.meta.RowGroups
	for r.group = 0; r.group < len(groups) && row >= groups[r.group].NumRows; r.group++ {
		row -= groups[r.group].NumRows
	}
	if r.group == len(groups) {
		return fmt.Errorf("it has less than %d rows", r.to)
	}
	// What cannot be read is refused before anything is.
	for i, end := r.group, row+r.to-r.row; i < len(groups) && end > 0; i++ {
		for leaf := range r.eachLeaf {
			if err := r.file.checkChunk(i, leaf); err != nil {
				return err
			}
		}
		end -= groups[i].NumRows
	}
	return r.openGroup(row)
}

// eachLeaf goes over all streams.
func (r *tableReader) eachLeaf(yield func(*stream) bool) {
	for i := range r.sources {
		for _, l := range r.sources[i].leaves {
			if !yield(l) {
				return
			}
		}
	}
}

// openGroup begins to read the row group at hand, from a row on.
func (r *tableReader) openGroup(row int64) error {
	g := &r.file.meta.RowGroups[r.group]
	r.left = g.NumRows - row
	for l := range r.eachLeaf {
		m := &g.Columns[l.node.leaf].MetaData
		l.begin(m, r.file.chunkEnd(m))
		if err := l.pass(row); err != nil {
			return err
		}
	}
	return nil
}

// nextGroup begins to read the row group after the one at hand.
func (r *tableReader) nextGroup() error {
	for r.group++; r.group < len(r.file.meta.RowGroups); r.group++ {
		if r.file.meta.RowGroups[r.group].NumRows > 0 {
			return r.openGroup(0)
		}
	}
	return fmt.Errorf("it ends at row %d", r.row)
}

// Next is as format.TableReader has it.
func (r *tableReader) Next(max int64, out *columnar.Batch) (passed int64, err error) {
	if r.row >= r.to {
		return 0, io.EOF
	}
	err = r.file.guarded(func() (err error) {
		passed, err = r.next(min(max, batchRows, r.to-r.row), out)
		return err
	})
	return passed, err
}

func (r *tableReader) next(most int64, out *columnar.Batch) (int64, error) {
	if r.left == 0 {
		if err := r.nextGroup(); err != nil {
			return 0, err
		}
	}
	rows, err := r.fill(int(min(most, r.left)))
	if err != nil {
		return 0, err
	}
	for l := range r.eachLeaf {
		if int64(rows) == r.left && !l.ended(rows) {
			return 0, l.damaged(errors.New("a column has more rows than its row group"))
		}
	}
	if err := r.finish(rows, out); err != nil {
		return 0, err
	}
	r.row += int64(rows)
	r.left -= int64(rows)
	return int64(rows), nil
}

// fill reads rows of every column, as many as fit a batch, and gives how many.
func (r *tableReader) fill(most int) (rows int, err error) {
	step := firstStep
	for rows < most {
		if r.perRow > 0 {
			step = min(mostStep, max(1, int((format.BlockSize-int64(rows)*r.perRow)/r.perRow)))
		}
		want := min(most, rows+step)
		got := want
		for l := range r.eachLeaf {
			n, err := l.fill(want)
			if err != nil {
				return 0, err
			}
			got = min(got, n)
		}
		rows = got
		size := int64(0)
		for l := range r.eachLeaf {
			size += int64(l.bytes())
		}
		r.perRow = size/int64(rows) + 1
		if rows < want || size >= format.BlockSize {
			break
		}
	}
	return rows, nil
}

// finish puts the rows together, casts them, and takes those that are refused out.
func (r *tableReader) finish(rows int, out *columnar.Batch) error {
	out.Reset(r.columns)
	out.Rows = rows
	r.data = out.Data[:0]
	clear(r.refused)
	for i := range r.sources {
		if err := r.finishColumn(i, rows, &out.Columns[i]); err != nil {
			return err
		}
		if int64(len(r.data)) > math.MaxUint32 {
			return &format.DataError{Offset: format.Unplaced, Row: r.row + 1, Reason: "rows have more than 4 GiB of text", Advice: "leave columns out"}
		}
	}
	for l := range r.eachLeaf {
		l.drop(rows)
	}
	out.Data, r.data = r.data, nil
	return r.takeOut(out)
}

func (r *tableReader) finishColumn(i, rows int, out *columnar.Vector) error {
	s, c := &r.sources[i], &r.columns[i]
	if s.native < 0 {
		for range rows {
			out.Null()
		}
		return nil
	}
	for _, l := range s.leaves {
		r.takeRefusals(i, l, rows)
	}
	v := out
	if !s.caster.Copies() {
		v = &r.native.Columns[s.native]
		v.Reset(s.node.typ)
	}
	b := builder{leaves: s.leaves, data: &r.data, rows: rows}
	if err := b.build(s.node, v); err != nil || v == out {
		return err
	}
	return s.caster.Cast(v, out, &r.data, func(x columnar.Refused) error {
		path := c.Name
		if x.Path != "" {
			path += "." + x.Path
		}
		r.refuse(x.Row, i, path, x.Value, x.Reason, x.Advice)
		return nil
	})
}

// takeRefusals notes the refusals of a leaf of the c-th column in the first rows of its queue.
func (r *tableReader) takeRefusals(c int, l *stream, rows int) {
	list := l.queue.refused.list
	row, value := -1, 0
	for i := 0; len(list) > 0 && i < len(l.queue.def); i++ {
		if l.most.rep == 0 || l.queue.rep[i] == 0 {
			if row++; row == rows {
				return
			}
		}
		if int(l.queue.def[i]) < l.most.def {
			continue
		}
		if x := list[0]; x.value == value {
			r.refuse(row, c, l.node.place.String(), x.text, x.reason, x.advice)
			list = list[1:]
		}
		value++
	}
}

// Close ends the reading.
func (r *tableReader) Close() error {
	r.codecs.close()
	return nil
}
