package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// attempt is one process's reading of what is not covered yet.
type attempt struct {
	held    *held
	source  Source
	number  int
	schema  *columnar.Schema
	stagers []stage.Stager // by sink
	exts    []string

	rejects  int          // the sink for records that are refused; -1 if there is none
	rejected atomic.Int64 // records of kept units, and of those at hand
	first    atomic.Pointer[format.DataError]
	absent   absent
}

// newReading prepares to stage for every sink. The source is open and checked.
func (h *held) newReading(ctx context.Context, source Source) (*attempt, error) {
	schema, err := h.plan.Schema()
	if err != nil {
		return nil, err
	}
	a := &attempt{held: h, source: source, number: len(h.state().Attempts), schema: schema,
		rejects: slices.IndexFunc(h.plan.Sinks, func(s SinkPlan) bool { return s.Rejects })}
	var head []byte
	if len(schema.Columns) == 0 {
		if head, err = source.Head(ctx); err != nil {
			return nil, err
		}
	}
	for i, s := range h.plan.Sinks {
		if s.Rejects {
			head = nil // it is the last one
		}
		stager, err := h.engine.stager(s, head, h.sinks[i])
		if err != nil {
			return nil, err
		}
		a.stagers, a.exts = append(a.stagers, stager), append(a.exts, s.Ext)
	}
	return a, nil
}

func (e *Engine) stager(p SinkPlan, head []byte, sink stage.Sink) (stage.Stager, error) {
	if s, ok := sink.(stage.Stager); ok {
		return s, nil
	}
	bytes, ok := sink.(stage.Bytes)
	if !ok {
		return nil, fmt.Errorf("nothing can be staged in %s", p.To)
	}
	w, err := e.writer(p)
	if err != nil {
		return nil, err
	}
	return stage.Formatted(w, head, bytes), nil
}

// writer makes the format that a sink is written in.
func (e *Engine) writer(p SinkPlan) (format.Writer, error) {
	f, err := e.Catalog.Format(p.Format, p.Options)
	if err != nil {
		return nil, err
	}
	w, ok := f.(format.Writer)
	if !ok {
		return nil, fmt.Errorf("format %s cannot be written", p.Format)
	}
	return w, nil
}

// read stages the open ranges, each subtask its own. It returns publish.ErrStopped if it was asked to stop; what was
// prepared until then is journaled.
func (a *attempt) read(ctx context.Context, open []runstate.Range, subtasks int) error {
	a.rejected.Store(a.held.state().Rejected()) // of units that were dropped, they are met again
	var stopped atomic.Bool
	group, ctx := errgroup.WithContext(ctx)
	for n, work := range assign(open, subtasks, a.source.Size) {
		group.Go(func() error {
			s := &subtask{attempt: a, number: n}
			err := errors.Join(s.run(ctx, work), s.discard(ctx))
			if s.stopped { // no error: the other subtasks finish their units, too
				stopped.Store(true)
			}
			return err
		})
	}
	err := group.Wait()
	if err == nil {
		a.held.engine.warn(a.absent.warnings())
	}
	if err == nil && stopped.Load() {
		return publish.ErrStopped
	}
	return err
}

// assign gives every subtask a run of neighbouring ranges, of about the same size.
func assign(open []runstate.Range, subtasks int, size func(runstate.Range) int64) [][]runstate.Range {
	var total, done int64
	for _, r := range open {
		total += size(r)
	}
	work := make([][]runstate.Range, subtasks)
	for _, r := range open {
		n := min(int((done+size(r)/2)*int64(subtasks)/max(total, 1)), subtasks-1)
		work[n] = append(work[n], r)
		done += size(r)
	}
	return work
}

// subtask writes one artifact per sink and checkpoint, from the ranges that it was given, in order.
type subtask struct {
	*attempt
	number int
	unit   runstate.Unit // at hand
	size   int64         // bytes of source in it
	from   int64         // of the range at hand, what is before is covered by a unit
	writer []stage.Writer
	refuse stage.Writer // of the records that are refused; nil before the first one
	batch  columnar.Batch

	stopped bool // before all was read
}

func (s *subtask) run(ctx context.Context, work []runstate.Range) error {
	for _, r := range work {
		if err := s.readRange(ctx, r); err != nil {
			return err
		}
		if s.stopped {
			break
		}
	}
	return s.prepare(ctx)
}

func (s *subtask) readRange(ctx context.Context, r runstate.Range) (err error) {
	reader, err := s.source.Open(ctx, r)
	if err != nil {
		return err
	}
	defer func() {
		s.absent.note(reader)
		err = errors.Join(err, reader.Close())
	}()
	s.from = r.From
	for at := r.From; at < r.To; {
		if s.held.engine.stopped() {
			s.stopped = true
			s.cover(r, at, reader)
			return nil
		}
		next, err := s.fill(ctx, reader, r, at)
		if err == io.EOF && r.To == runstate.Endless {
			r.To = at // here it ends
			break
		}
		if err == io.EOF {
			return fmt.Errorf("%w: it ends at %d of %d", ErrSourceChanged, at, r.To)
		}
		if err != nil {
			return err
		}
		at = next
	}
	s.cover(r, r.To, reader)
	return nil
}

// fill reads the next batch into the unit at hand, and prepares the unit if that fills it. It gives the position after it.
func (s *subtask) fill(ctx context.Context, reader Reader, r runstate.Range, at int64) (int64, error) {
	ckpt := s.held.plan.Checkpoint
	limit := format.Limit{Bytes: ckpt.Bytes - s.size}
	if ckpt.Rows > 0 {
		limit.Rows = ckpt.Rows - s.unit.Rows
	}
	step, err := reader.Next(ctx, limit, &s.batch)
	if err != nil {
		return at, err
	}
	if err := s.write(ctx); err != nil {
		return at, reader.Place(ctx, err)
	}
	if err := s.putAside(ctx, step.Rejected); err != nil {
		return at, err
	}
	s.held.engine.Progress.Bytes.Add(step.Read)
	s.size += step.Bytes
	if s.size >= ckpt.Bytes || ckpt.Rows > 0 && s.unit.Rows >= ckpt.Rows {
		s.cover(r, step.To, reader)
		return step.To, s.prepare(ctx)
	}
	return step.To, nil
}

// cover adds to the unit what was read of a range and is not covered yet, up to a position. Of a range whose end was not known,
// r.To is the end once it is reached.
func (s *subtask) cover(r runstate.Range, to int64, reader Reader) {
	end := r.End && to == r.To
	if s.from < to || end && s.held.state().Begun.Splits[r.Split].To == runstate.Unknown {
		s.unit.Ranges = append(s.unit.Ranges, runstate.Range{Split: r.Split, From: s.from, To: to, Digest: reader.Digest(), End: end})
	}
	s.from = to
}

func (s *subtask) write(ctx context.Context) error {
	if s.batch.Rows == 0 {
		return nil
	}
	if s.held.plan.Infer && len(s.schema.Columns) == 0 {
		return &format.DataError{Offset: format.Unplaced, Row: 1, Reason: "the source shows no columns", Advice: "declare them"}
	}
	if err := s.openWriters(ctx); err != nil {
		return err
	}
	for _, w := range s.writer {
		if err := w.Write(ctx, &s.batch); err != nil {
			return err
		}
	}
	s.unit.Rows += int64(s.batch.Rows)
	s.held.engine.Progress.Rows.Add(int64(s.batch.Rows))
	return nil
}
