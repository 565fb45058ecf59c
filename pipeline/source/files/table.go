package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// table is the layout of formats that read rows by their number. Positions are rows of the file, from 0.
type table struct {
	*source
	format format.Table
}

// rowUnit is the unit of positions.
const rowUnit = "rows"

// measure does nothing: what a file says of itself is read when it is needed.
func (table) measure(context.Context, *file) error { return nil }

// openTable opens a file. Whoever gets it closes it.
func (t table) openTable(ctx context.Context, f file) (format.TableFile, io.Closer, error) {
	r, err := t.openBytes(ctx, f.Path, 0)
	if err != nil {
		return nil, nil, err
	}
	at, ok := r.(io.ReaderAt)
	if !ok {
		err = errors.New("the store cannot read at an offset, which the format needs")
		return nil, nil, errors.Join(t.inFile(f.Path, err), r.Close())
	}
	opened, err := t.format.OpenTable(at, f.Size)
	if err != nil {
		return nil, nil, errors.Join(t.changedWhileRead(ctx, f.Path, t.inFile(f.Path, err)), r.Close())
	}
	return opened, r, nil
}

func rowsOf(opened format.TableFile) (rows int64) {
	for _, g := range opened.Groups() {
		rows += g.Rows
	}
	return rows
}

// split cuts a file between its groups.
func (t table) split(ctx context.Context, f file, piece int64) (splits []runstate.Split, err error) {
	opened, closer, err := t.openTable(ctx, f)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	sp := runstate.Split{Part: f.Path, Unit: rowUnit}
	var bytes int64
	for _, g := range opened.Groups() {
		if piece > 0 && bytes >= piece {
			splits = append(splits, sp)
			sp.From, bytes = sp.To, 0
		}
		sp.To += g.Rows
		bytes += g.Bytes
	}
	return append(splits, sp), nil
}

// head checks that a file has the plan's columns. There is nothing before the first row.
func (t table) head(ctx context.Context, f file, _ []byte) (_ []byte, err error) {
	opened, closer, err := t.openTable(ctx, f)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	r, err := opened.NewReader(format.Reading{Schema: t.projection.Read}, 0, 0)
	if err != nil {
		return nil, t.inFile(f.Path, err)
	}
	return []byte{}, r.Close()
}

func (table) copied([]byte) []byte { return nil }

// size takes all rows of a split's file for equally large.
func (t table) size(f file, r runstate.Range) int64 {
	var rows int64
	for _, sp := range t.splits {
		if sp.Part == f.Path {
			rows += sp.To - sp.From
		}
	}
	return share(r.To-r.From, rows, f.Size)
}

// share is about how many bytes so many rows of a file take; at least 1.
func share(n, rows, size int64) int64 {
	return max(1, int64(float64(n)/float64(max(rows, 1))*float64(size)))
}

// infer gives the columns of the first file: files say what their columns are.
func (t table) infer(ctx context.Context) (_ []columnar.Column, err error) {
	f := t.print.Files[0]
	opened, closer, err := t.openTable(ctx, f)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	columns := opened.Columns()
	reader, err := opened.NewReader(format.Reading{Schema: &columnar.Schema{Columns: columns}}, 0, 0)
	if err != nil { // one of a type that cannot be read
		return nil, t.inFile(f.Path, err)
	}
	return columns, reader.Close()
}

// digest reads a range again.
func (t table) digest(ctx context.Context, f file, r runstate.Range) (_ string, err error) {
	if _, err := runstate.Verifier(r.Digest); err != nil {
		return "", err
	}
	opened, err := t.openRows(ctx, f, r)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	for at := r.From; at < r.To; {
		n, err := opened.rows.Next(r.To-at, &opened.batch)
		if err != nil {
			return "", t.inFile(f.Path, err)
		}
		opened.hash.add(&opened.batch, opened.projection.Read.Columns)
		opened.rejected, opened.skip = nil, opened.skip[:0]
		at += n
	}
	return opened.Digest(), nil
}

// tableReader reads a range of rows.
type tableReader struct {
	table
	f          file
	perRow     func(rows int64) int64 // bytes that rows take
	closer     io.Closer
	rows       format.TableReader
	projection *pipeline.Projection
	hash       batchHash

	at, to   int64
	first    int64 // row of the file that the batch at hand begins with
	batch    columnar.Batch
	rejected []pipeline.Rejected
	skip     []int
}

func (t table) open(ctx context.Context, f file, r runstate.Range) (pipeline.Reader, error) {
	return t.openRows(ctx, f, r)
}

func (t table) openRows(ctx context.Context, f file, r runstate.Range) (*tableReader, error) {
	opened, closer, err := t.openTable(ctx, f)
	if err != nil {
		return nil, err
	}
	all := rowsOf(opened)
	reader := &tableReader{table: t, f: f, closer: closer, at: r.From, to: r.To, perRow: func(n int64) int64 { return share(n, all, f.Size) }}
	if reader.projection, err = t.plan.Projection(); err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	reading := format.Reading{Schema: reader.projection.Read}
	if t.plan.Rejects() {
		reading.Reject = reader.reject
	}
	if r.To > all {
		err = fmt.Errorf("%w: %s has %d rows", pipeline.ErrSourceChanged, f.Path, all)
	} else if reader.rows, err = opened.NewReader(reading, r.From, r.To); err != nil {
		err = t.inFile(f.Path, err)
	}
	if err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	return reader, nil
}

func (r *tableReader) reject(x format.Rejected) error {
	e := *x.Err
	e.File = r.f.Path
	r.rejected = append(r.rejected, pipeline.Rejected{Err: &e, Raw: x.Raw})
	r.skip = append(r.skip, x.Record)
	return nil
}

func (r *tableReader) Next(ctx context.Context, limit format.Limit, b *columnar.Batch) (step pipeline.Step, err error) {
	if err := ctx.Err(); err != nil {
		return step, err
	}
	if r.at >= r.to {
		return step, io.EOF
	}
	r.first, r.rejected, r.skip = r.at, nil, r.skip[:0]
	n, err := r.rows.Next(r.most(limit), &r.batch)
	if err != nil {
		return step, r.changedWhileRead(ctx, r.f.Path, r.inFile(r.f.Path, err))
	}
	r.hash.add(&r.batch, r.projection.Read.Columns)
	r.at += n
	size := r.perRow(n)
	step = pipeline.Step{To: r.at, Bytes: size, Read: size, Rejected: r.rejected}
	return step, r.projection.Apply(&r.batch, b, pipeline.Place{Path: r.f.Path, Row: r.first + 1, Skip: r.skip})
}

// most is how many rows the limit lets in.
func (r *tableReader) most(limit format.Limit) int64 {
	rows := r.to - r.at
	if limit.Rows > 0 {
		rows = min(rows, limit.Rows)
	}
	if limit.Bytes > 0 {
		for rows > 1 && r.perRow(rows/2) >= limit.Bytes {
			rows /= 2
		}
	}
	return rows
}

func (r *tableReader) Digest() string { return r.hash.take() }

func (r *tableReader) Close() error { return errors.Join(r.rows.Close(), r.closer.Close()) }

// Place gives the row of the file.
func (r *tableReader) Place(_ context.Context, refused error) error {
	e, ok := errors.AsType[*format.DataError](refused)
	if !ok || e.Offset != format.Unplaced {
		return refused
	}
	e.File = r.f.Path
	if e.Row > 0 {
		e.Row = r.first + int64(recordOf(int(e.Row)-1, r.skip)) + 1
	}
	return e
}
