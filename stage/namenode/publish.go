package namenode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// settling are the pauses between looks after a rename that was answered badly: it may still be under way.
func settling() []time.Duration {
	return []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond}
}

// Publish renames the staged file. What the NameNode answers to that is no proof, good or bad: where it is bad, both names
// are looked at.
func (s *Sink) Publish(ctx context.Context, h runstate.Handle) error {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return err
	}
	defer leave()
	final, err := s.finalOf(ctx, p)
	if err != nil {
		return err
	}
	if final == ours {
		return errors.Join(s.barrier(ctx), s.clear(ctx, p))
	}
	staged, detail, err := s.see(ctx, p, p.Staged)
	switch {
	case err != nil:
		return err
	case staged == other:
		return fmt.Errorf("publish %s: what is staged is not what was: %s", h.Name, detail)
	case staged == ours:
		err = s.Client.Rename(ctx, s.in(p.Staged), s.in(h.Name))
	default:
		err = errors.New(detail)
	}
	if err != nil {
		if err := s.settled(ctx, p, fmt.Errorf("publish %s: %w", h.Name, err)); err != nil {
			return err
		}
	}
	return s.clear(ctx, p)
}

// settled answers for a rename that was answered with cause: nil where the artifact turns out to be published all the same,
// and durably.
func (s *Sink) settled(ctx context.Context, p promise, cause error) error {
	for _, pause := range append(settling(), 0) {
		final, err := s.finalOf(ctx, p)
		switch {
		case errors.Is(err, stage.ErrForeign):
			return err
		case err != nil:
			return errors.Join(cause, err)
		case final == ours:
			return s.barrier(ctx)
		}
		if pause > 0 {
			if err := s.Sleep(ctx, pause); err != nil {
				return errors.Join(cause, err)
			}
		}
	}
	return errors.Join(cause, s.check(ctx))
}

// finalOf looks at an artifact's name; something else there is stage.ErrForeign.
func (s *Sink) finalOf(ctx context.Context, p promise) (sight, error) {
	final, detail, err := s.seeFinal(ctx, p)
	if err == nil && final == other {
		if err = s.check(ctx); err == nil {
			err = fmt.Errorf("publish %s: %w: %s", p.handle.Name, stage.ErrForeign, detail)
		}
	}
	return final, err
}

// clear removes the folder of a published artifact, which is empty. One that is not is left to Sweep, if it is not our
// artifact that is still in it.
func (s *Sink) clear(ctx context.Context, p promise) error {
	err := s.remove(ctx, s.in(path.Dir(p.Staged)), false)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("remove the folder that %s was staged in: %w", p.handle.Name, err)
	if errors.Is(err, fs.ErrExist) {
		final, _, lookErr := s.see(ctx, p, p.handle.Name)
		if lookErr == nil && final == ours {
			return nil
		}
		return errors.Join(err, lookErr)
	}
	return err
}

// barrier makes what a look has shown durable. A NameNode shows a change before it has the change on its disk, and answers to
// whoever has made one when it has that one and all before it there.
func (s *Sink) barrier(ctx context.Context) error {
	random, err := s.random(folderBytes)
	if err != nil {
		return err
	}
	dir := s.in(path.Join(stage.Hidden, tmpPrefix+random))
	if err := s.Client.Mkdirs(ctx, dir); err != nil {
		return fmt.Errorf("make what was seen durable: %w", err)
	}
	return s.remove(ctx, dir, false)
}

// Abort deletes the staged file, and its folder. What was deleted cannot be renamed any more; whether it was renamed before is
// looked at before and after.
func (s *Sink) Abort(ctx context.Context, h runstate.Handle) error {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return err
	}
	defer leave()
	if err := errors.Join(s.check(ctx), s.refusePublished(ctx, p)); err != nil {
		return err
	}
	if err := s.remove(ctx, s.in(path.Dir(p.Staged)), true); err != nil {
		return fmt.Errorf("abort %s: %w", h.Name, err)
	}
	if staged, _, err := s.see(ctx, p, p.Staged); err != nil || staged != absent {
		return errors.Join(fmt.Errorf("abort %s: it is still staged", h.Name), err)
	}
	return s.refusePublished(ctx, p)
}

// refusePublished answers ErrPublished if the artifact is published.
func (s *Sink) refusePublished(ctx context.Context, p promise) error {
	final, detail, err := s.see(ctx, p, p.handle.Name)
	if err != nil || final != ours {
		return err
	}
	return errors.Join(fmt.Errorf("abort %s: %w: %s", p.handle.Name, stage.ErrPublished, detail), s.barrier(ctx))
}

// Visible gives the names in the destination's folder that are artifacts of the run.
func (s *Sink) Visible(ctx context.Context, run runstate.Token) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	all, err := s.Client.List(ctx, s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.check(ctx)
	}
	if err != nil {
		return nil, err
	}
	var visible []string
	for _, is := range all {
		if !is.Dir && runOf(is.Name) == run {
			visible = append(visible, is.Name)
		}
	}
	return visible, s.check(ctx)
}
