package pipeline

import (
	"context"
	"errors"
	"path"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// want is the run that a command asks for.
type want struct {
	plan   Plan
	digest string // of the plan
	key    string
	again  int
	source Source
	found  *Fingerprint // of the source; nil if it is not there
}

// is tells whether a run is of the wanted key. Without a key, plan and source are the key.
func (w want) is(b *runstate.Begun) bool {
	if w.key != "" {
		return b.Key == w.key && b.Again == w.again
	}
	return b.Key == "" && b.Again == w.again && b.PlanDigest == w.digest && w.found != nil && b.Fingerprint == w.found.Digest
}

// finishes tells whether carrying an open run to its end is what is wanted: it is of the wanted key, or would be if its
// source had not been touched since it was begun. Whether the bytes are the same is compared when it is carried on.
func (w want) finishes(b *runstate.Begun) bool {
	return w.is(b) || w.key == "" && b.Key == "" && b.Again == w.again && b.PlanDigest == w.digest && w.found != nil && b.Content == w.found.Content
}

// choice is what one hold of the job's lock has found, or made.
type choice struct {
	held  *held  // a run to carry: locked and open
	own   bool   // it is of the wanted key
	ended *Entry // the wanted key's run, which has ended and was not aborted
	busy  *Entry // the wanted key's run, which another process holds
}

// choose picks the next run to work on, in one hold of the job's lock: dead runs of other keys first, then the wanted
// key's. tried are the runs that this command has worked on already. Where the key has no run and begin is given, begin
// makes one.
func (e *Engine) choose(ctx context.Context, w want, tried map[runstate.Token]error, begin func() (*held, error)) (c choice, err error) {
	job, err := e.lockJob(ctx, w.plan.Name)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, job.Release()) }()
	runs, err := e.Runs(w.plan.Name)
	if err != nil {
		return c, err
	}
	for _, r := range runs {
		if _, done := tried[r.Run]; done || !r.open() || r.Err == nil && w.finishes(r.View.State.Begun) {
			continue
		}
		if h, err := e.pick(r, tried); h != nil || err != nil {
			return choice{held: h}, err
		}
	}
	c, err = e.chooseOwn(runs, w, tried)
	if err != nil || c != (choice{}) || begin == nil {
		return c, err
	}
	c.held, err = begin()
	c.own = true
	return c, err
}

// pick locks a dead run of another key. One that is alive is left alone; one that cannot be opened is noted.
func (e *Engine) pick(r Entry, tried map[runstate.Token]error) (*held, error) {
	if r.Err != nil {
		tried[r.Run] = e.unreadable(r)
		return nil, nil
	}
	h, err := e.lockRun(r)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, nil
	}
	if err != nil {
		r.Err = err
		tried[r.Run] = e.unreadable(r)
		return nil, nil
	}
	return h, nil
}

func (e *Engine) chooseOwn(runs []Entry, w want, tried map[runstate.Token]error) (choice, error) {
	for _, r := range runs {
		if r.Err != nil {
			if err := e.mayBeOwn(r, w); err != nil {
				return choice{}, err
			}
			continue
		}
		s := r.View.State
		if s.Ended == nil && !w.finishes(s.Begun) || s.Ended != nil && (!w.is(s.Begun) || s.Ended.Outcome == runstate.Aborted) {
			continue
		}
		if _, done := tried[r.Run]; done {
			continue
		}
		if s.Ended != nil {
			return choice{ended: &r}, nil
		}
		h, err := e.lockRun(r)
		if errors.Is(err, vfs.ErrLocked) {
			return choice{busy: &r}, nil
		}
		if err != nil {
			r.Err = err
			return choice{}, e.unreadable(r)
		}
		return choice{held: h, own: true}, nil
	}
	return choice{}, nil
}

// mayBeOwn fails where a run that cannot be read may be of the wanted key, and nothing but its journal would tell. A key
// that the caller gave has its mark at the destination.
func (e *Engine) mayBeOwn(r Entry, w want) error {
	if r.View != nil && r.View.State.Begun != nil && !w.is(r.View.State.Begun) || w.key != "" {
		return nil
	}
	return e.unreadable(r)
}

// begin makes a run: its folder, its lock, its first record. The job's lock is held.
func (e *Engine) begin(b runstate.Begun) (*held, error) {
	dir := path.Join(e.State, b.Job, string(b.Run))
	if err := e.FS.Mkdir(dir); err != nil {
		return nil, err
	}
	if err := e.FS.SyncDir(path.Dir(dir)); err != nil {
		return nil, err
	}
	lock, err := runstate.TakeLock(e.FS, dir)
	if err != nil {
		return nil, err
	}
	journal, err := runstate.Begin(e.FS, dir, b, e.options())
	if err != nil {
		return nil, errors.Join(err, lock.Release(), runstate.Unmake(e.FS, dir))
	}
	plan, err := decodePlan(b.Plan)
	return &held{engine: e, dir: dir, lock: lock, journal: journal, plan: plan, fresh: true}, err
}
