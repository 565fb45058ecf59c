package publish

import (
	"context"
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// each does something with every artifact, until this process is asked to stop: ErrStopped.
func (s *Settler) each(ctx context.Context, handles []runstate.Handle, do func(context.Context, runstate.Handle) error) error {
	return s.all(ctx, handles, do, s.stopped)
}

// all does something with every artifact: in their order, but for those in a Wide sink, of which several have their turn at
// once. A Problem of one does not keep it from the others; all of them are *Unfinished. Any other error ends it, when what
// has started has ended.
func (s *Settler) all(ctx context.Context, handles []runstate.Handle, do func(context.Context, runstate.Handle) error, stopped func() bool) error {
	found := &findings{at: map[runstate.HandleID]int{}}
	group, within := errgroup.WithContext(ctx)
	turns := make([]chan struct{}, len(s.Sinks))
	for i, sink := range s.Sinks {
		turns[i] = make(chan struct{}, width(sink))
	}
	halted := false
	for i, h := range handles {
		if halted = stopped(); halted || within.Err() != nil {
			break
		}
		found.at[h.ID()] = i
		turn := turns[h.Sink]
		if cap(turn) == 1 {
			if err := found.take(do(ctx, h)); err != nil {
				return errors.Join(err, group.Wait())
			}
			continue
		}
		turn <- struct{}{}
		group.Go(func() error {
			defer func() { <-turn }()
			return found.take(do(ctx, h)) // one that has started finishes
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil && !halted {
		return err
	}
	if halted {
		return errors.Join(ErrStopped, found.unfinished())
	}
	return found.unfinished()
}

// goOn is for looks, which the wish to stop does not end.
func goOn() bool { return false }

func width(s stage.Sink) int {
	if w, ok := s.(Wide); ok {
		return max(1, w.Wide())
	}
	return 1
}

// findings are the problems that were met, in the order of the artifacts.
type findings struct {
	mu       sync.Mutex
	at       map[runstate.HandleID]int
	problems []Problem
}

// take notes a problem, and gives back any other error.
func (f *findings) take(err error) error {
	p, ok := errors.AsType[Problem](err)
	if !ok {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problems = append(f.problems, p)
	return nil
}

func (f *findings) unfinished() error {
	slices.SortFunc(f.problems, func(a, b Problem) int { return f.at[a.Handle.ID()] - f.at[b.Handle.ID()] })
	return unfinished(f.problems)
}
