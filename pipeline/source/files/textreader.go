package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// textReader reads a range of a file of text.
type textReader struct {
	text
	f          file
	from       *stream
	end        int64 // of the range
	within     bool  // the range ends before the file does, so at a record's end
	chunker    *format.Chunker
	decoder    format.Decoder
	projection *pipeline.Projection
	hash       *runstate.Hasher

	buf      []byte
	batch    columnar.Batch
	at       int64 // position of the chunk at hand
	row      int64 // number in the file of its first record, from 1; 0 where nobody asks
	records  int64 // in it
	rejected []format.Rejected
	skip     []int // records that were rejected, by their number in the chunk
	raw      []byte
	lines    lineCount
}

func (t text) open(ctx context.Context, f file, r runstate.Range) (pipeline.Reader, error) {
	head, err := t.headBytes(ctx, f)
	if err != nil {
		return nil, err
	}
	reader := &textReader{text: t, f: f, end: r.To, within: r.To < f.Size && t.compression(f) == format.Uncompressed, hash: runstate.NewHasher(),
		lines: lineCount{from: r.From, before: -1}}
	if reader.projection, err = t.plan.Projection(); err != nil {
		return nil, err
	}
	reading := format.Reading{Schema: reader.projection.Read, Head: head}
	if t.plan.Rejects() {
		reading.Reject = reader.reject
	}
	if reader.decoder, err = t.format.NewDecoder(reading); err != nil {
		return nil, t.located(ctx, f, err)
	}
	if t.plan.Uses(pipeline.VarRow) {
		if reader.row, err = t.recordsBefore(ctx, f, r.From); err != nil {
			return nil, err
		}
		reader.row++
	}
	if reader.from, err = t.stream(ctx, f, r.From); err != nil {
		return nil, err
	}
	reader.chunker = format.NewChunker(io.LimitReader(reader.from, r.To-r.From), t.format, 0)
	reader.chunker.At = r.From
	return reader, nil
}

// recordsBefore counts the records of a file up to a position, by reading it.
func (t text) recordsBefore(ctx context.Context, f file, at int64) (records int64, err error) {
	if at <= int64(f.Head) {
		return 0, nil
	}
	r, err := t.stream(ctx, f, int64(f.Head))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	chunker := format.NewChunker(io.LimitReader(r, at-int64(f.Head)), t.format, 0)
	chunker.At = int64(f.Head)
	var buf []byte
	for {
		chunk, err := chunker.Next(buf, format.Limit{Rows: math.MaxInt64})
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return 0, t.located(ctx, f, err)
		}
		records += chunk.Rows
		buf = chunk.Data
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
}

func (r *textReader) reject(x format.Rejected) error {
	r.rejected = append(r.rejected, x)
	r.skip = append(r.skip, x.Record)
	return nil
}

func (r *textReader) Next(ctx context.Context, limit format.Limit, b *columnar.Batch) (step pipeline.Step, err error) {
	if err := ctx.Err(); err != nil {
		return step, err
	}
	kept := r.from.passed()
	chunk, err := r.chunker.Next(r.buf, limit)
	if err == io.EOF {
		return step, err
	}
	if err != nil {
		return step, r.changedWhileRead(ctx, r.f.Path, r.located(ctx, r.f, err))
	}
	r.buf = chunk.Data
	if r.within && chunk.Source < int64(len(chunk.Data)) {
		return step, fmt.Errorf("%w: no record of %s ends at byte %d any more", pipeline.ErrSourceChanged, r.f.Path, chunk.At+chunk.Source)
	}
	_, _ = r.hash.Write(chunk.Data[:chunk.Source]) // cannot fail; before the decoder, which may change the bytes
	if err := r.decode(ctx, chunk, b); err != nil {
		return step, err
	}
	step = pipeline.Step{To: chunk.At + chunk.Source, Bytes: chunk.Source, Read: chunk.Source}
	if r.compression(r.f) != format.Uncompressed {
		step.Read = r.from.passed() - kept
	}
	step.Rejected, err = r.toldRejected(ctx)
	return step, err
}

// decode makes rows of a chunk.
func (r *textReader) decode(ctx context.Context, chunk format.Chunk, b *columnar.Batch) error {
	r.at, r.rejected, r.skip = chunk.At, r.rejected[:0], r.skip[:0]
	if r.plan.Rejects() {
		r.lines.pass(r.raw)
		r.raw = append(r.raw[:0], chunk.Data...)
	}
	if r.row > 0 {
		r.row += r.records
	}
	if err := r.decoder.Decode(chunk.Data, chunk.At, &r.batch); err != nil {
		return r.changedWhileRead(ctx, r.f.Path, r.located(ctx, r.f, err))
	}
	r.records = int64(r.batch.Rows + len(r.skip))
	err := r.projection.Apply(&r.batch, b, pipeline.Place{Path: r.f.Path, Row: r.row, Skip: r.skip})
	r.buf = r.batch.Data // which may have grown
	return err
}

// toldRejected gives the records that were rejected, with their lines.
func (r *textReader) toldRejected(ctx context.Context) ([]pipeline.Rejected, error) {
	var told []pipeline.Rejected
	for _, x := range r.rejected {
		if r.lines.before < 0 {
			_, line, err := r.countLines(ctx, r.f, 0, r.lines.from)
			if err != nil {
				return nil, err
			}
			r.lines.before = line - 1
		}
		e := *x.Err
		e.File = r.f.Path
		e.Record, e.Line = r.lines.of(r.raw, e.Start-r.at), r.lines.of(r.raw, e.Offset-r.at)
		told = append(told, pipeline.Rejected{Err: &e, Raw: bytes.Clone(withoutLineEnd(r.raw[x.From:x.To]))})
	}
	return told, nil
}

func withoutLineEnd(record []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(record, lineFeed), []byte{'\r'})
}

// lineCount counts the lines of a file as a range of it is read.
type lineCount struct {
	from   int64 // where the range begins
	before int64 // line feeds before it; -1 until somebody counted
	passed int64 // line feeds of the range, before the chunk at hand
	at, in int64 // of the chunk at hand: the spot asked for last, and the line feeds before it
}

var lineFeed = []byte{'\n'}

func (l *lineCount) pass(chunk []byte) {
	l.passed += int64(bytes.Count(chunk, lineFeed))
	l.at, l.in = 0, 0
}

// of gives the line, from 1, of a spot in the chunk at hand. Asked for spots in their order, it counts the chunk once.
func (l *lineCount) of(chunk []byte, at int64) int64 {
	at = max(0, min(at, int64(len(chunk))))
	if at < l.at {
		l.at, l.in = 0, 0
	}
	l.in += int64(bytes.Count(chunk[l.at:at], lineFeed))
	l.at = at
	return l.before + l.passed + l.in + 1
}

func (r *textReader) Digest() string {
	d := r.hash.Digest()
	r.hash = runstate.NewHasher()
	return d
}

// Absent is as format.Absent has it, if the format tells.
func (r *textReader) Absent() ([]string, bool) {
	if d, ok := r.decoder.(format.Absent); ok {
		return d.Absent()
	}
	return nil, false
}

func (r *textReader) Close() error { return r.from.Close() }

// Place finds the row by reading the file's records again, from where the batch began.
func (r *textReader) Place(ctx context.Context, refused error) error {
	e, ok := errors.AsType[*format.DataError](refused)
	if !ok || e.Offset != format.Unplaced {
		return refused
	}
	e.File = r.f.Path
	if e.Row < 1 {
		return e
	}
	if start, err := r.recordAt(ctx, recordOf(int(e.Row)-1, r.skip)); err == nil { // else the file is named, and the column
		e.Offset, e.Start = start, start
		return r.located(ctx, r.f, e)
	}
	return e
}

// recordOf gives the number of the record that a row of a batch is, both from 0, where some records are no rows.
func recordOf(row int, skip []int) int {
	for _, s := range skip {
		if s <= row {
			row++
		}
	}
	return row
}

// recordAt gives the position of the n-th record, from 0, of the chunk at hand.
func (r *textReader) recordAt(ctx context.Context, n int) (at int64, err error) {
	s, err := r.stream(ctx, r.f, r.at)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	chunker := format.NewChunker(io.LimitReader(s, r.end-r.at), r.format, 0)
	chunker.At = r.at
	if n > 0 {
		if _, err := chunker.Next(nil, format.Limit{Rows: int64(n)}); err != nil {
			return 0, err
		}
	}
	chunk, err := chunker.Next(nil, format.Limit{Rows: 1})
	if err != nil {
		return 0, err
	}
	return chunk.At + int64(r.noRecords(chunk.Data)), nil
}

// noRecords gives the length of the lines that a text begins with and that are no records: blank ones, comments.
func (r *textReader) noRecords(b []byte) int {
	start := 0
	for {
		line := bytes.IndexByte(b[start:], '\n') + 1
		if end, rows := r.format.Rows(b[start:start+line], 1); line == 0 || end != line || rows > 0 {
			return start
		}
		start += line
	}
}
