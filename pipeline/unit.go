package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// discardTime bounds how long a subtask that failed tries to remove what it had staged. What is left is swept later.
const discardTime = 10 * time.Second

func (s *subtask) openWriters(ctx context.Context) error {
	if len(s.writer) > 0 {
		return nil
	}
	ckpt := s.held.journal.NextCheckpoint(s.number)
	for i, stager := range s.stagers {
		if i == s.rejects {
			continue
		}
		w, err := stager.Open(ctx, runstate.Artifact{Run: s.held.run(), Attempt: s.attempt.number, Sink: i, Subtask: s.number,
			Checkpoint: ckpt, Ext: s.exts[i]}, s.schema)
		if err != nil {
			return err
		}
		s.writer = append(s.writer, w)
	}
	return nil
}

// prepare makes the unit at hand durable in every sink and journals it. A unit that covers nothing is none.
func (s *subtask) prepare(ctx context.Context) error {
	if len(s.unit.Ranges) == 0 && len(s.writer) == 0 {
		return nil
	}
	if s.refuse != nil { // last, as its sink is
		s.writer, s.refuse = append(s.writer, s.refuse), nil
	}
	s.unit.Attempt, s.unit.Subtask = s.attempt.number, s.number
	s.unit.Checkpoint = s.held.journal.NextCheckpoint(s.number)
	for len(s.writer) > 0 {
		h, err := s.writer[0].Prepare(ctx)
		if err != nil {
			return err
		}
		s.unit.Handles = append(s.unit.Handles, h)
		s.writer = s.writer[1:]
	}
	warnings, err := s.source.Check(ctx, s.unit.Ranges)
	s.held.engine.warn(warnings)
	if err != nil {
		return err
	}
	unit := s.unit
	s.unit, s.size, s.writer = runstate.Unit{}, 0, nil
	if err := s.held.journal.Append(runstate.Record{Prepared: &unit}); errors.Is(err, vfs.ErrFenced) {
		s.unit = unit // another process's record has the number: the handles are not journaled, and are discarded
		return err
	} else if err != nil {
		return err // whether the handles are journaled is unknown: nothing of them is removed here
	}
	s.held.engine.Progress.Units.Add(1)
	return nil
}

// discard throws away the unit at hand, whatever became of the context. It does nothing after a clean end.
func (s *subtask) discard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	var errs []error
	for _, h := range s.unit.Handles {
		errs = append(errs, s.held.sinks[h.Sink].Abort(ctx, h))
	}
	if s.refuse != nil {
		s.writer = append(s.writer, s.refuse)
	}
	for _, w := range s.writer {
		errs = append(errs, w.Discard(ctx))
	}
	s.unit, s.writer, s.refuse = runstate.Unit{}, nil, nil
	return errors.Join(errs...)
}

// writeEmpty prepares an artifact without rows in every sink.
func (a *attempt) writeEmpty(ctx context.Context) error {
	s := &subtask{attempt: a}
	s.batch.Reset(a.schema.Columns)
	if err := s.openWriters(ctx); err != nil {
		return errors.Join(err, s.discard(ctx))
	}
	return errors.Join(s.prepare(ctx), s.discard(ctx))
}
