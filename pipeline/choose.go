package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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
func (e *Engine) choose(ctx context.Context, w want, tried map[runstate.Token]error, begin func([]Entry) (*held, error)) (c choice, err error) {
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
	c.held, err = begin(runs)
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

// begin makes a run: its folder, its lock, its first record. The job's lock is held; runs are those that the job had when it
// was found that the wanted key has none. Where hosts share the runs without a lock, the run's first line is a claim, too:
// *runstate.ClaimedError says that another run was faster.
func (e *Engine) begin(b runstate.Begun, runs []Entry) (*held, error) {
	line, err := runstate.FirstLine(b, e.options())
	if err != nil {
		return nil, err
	}
	if err := e.claim(b, line, runs); err != nil {
		return nil, err
	}
	dir := path.Join(e.State, b.Job, string(b.Run))
	if err := e.FS.Mkdir(dir); err != nil {
		return nil, err
	}
	if err := e.FS.SyncDir(path.Dir(dir)); err != nil {
		return nil, err
	}
	lock, err := runstate.TakeLock(e.FS, dir)
	if errors.Is(err, vfs.ErrLocked) { // another process has found the claim, and works on it
		return nil, &runstate.ClaimedError{Line: line}
	}
	if err != nil {
		return nil, err
	}
	journal, err := runstate.Import(e.FS, dir, line, e.options())
	if errors.Is(err, vfs.ErrFenced) {
		return nil, errors.Join(&runstate.ClaimedError{Line: line}, lock.Release())
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release(), runstate.Unmake(e.FS, dir))
	}
	plan, err := decodePlan(b.Plan)
	return &held{engine: e, dir: dir, lock: lock, journal: journal, plan: plan, fresh: true}, err
}

// claim claims the key of a run for it. A claim of a run that has ended and does not count, or was put aside, is passed.
func (e *Engine) claim(b runstate.Begun, line []byte, runs []Entry) error {
	home, ok := e.FS.(runstate.Claimer)
	if !ok {
		return nil
	}
	asides, err := e.asides(b.Job)
	if err != nil {
		return err
	}
	err = home.Claim(path.Join(e.State, b.Job, "keys", claimName(b)), line, func(theirs []byte) (bool, error) {
		s, err := runstate.ParseLines("the claim of a key", theirs)
		if err != nil {
			return false, err
		}
		ended := slices.ContainsFunc(runs, func(r Entry) bool { return r.Run == s.Begun.Run && !r.open() })
		return ended || slices.ContainsFunc(asides, func(a Aside) bool { return a.Run == s.Begun.Run }), nil
	})
	if claimed, ok := errors.AsType[*runstate.ClaimedError](err); ok {
		return errors.Join(err, e.complete(b.Job, claimed.Line))
	}
	return err
}

// claimName is made of what makes a key.
func claimName(b runstate.Begun) string {
	text := fmt.Sprintf("%q %d", b.Key, b.Again)
	if b.Key == "" {
		text = fmt.Sprintf("%s %s %d", b.PlanDigest, b.Fingerprint, b.Again)
	}
	_, hex, _ := strings.Cut(runstate.DigestOf([]byte(text)), ":")
	return hex
}

// complete makes the journal of a run that was claimed by a process that may have died right after: the claim is its begin.
func (e *Engine) complete(job string, line []byte) error {
	s, err := runstate.ParseLines("the claim of a key", line)
	if err != nil {
		return err
	}
	dir := path.Join(e.State, job, string(s.Begun.Run))
	if _, err := runstate.Read(e.FS, dir, runstate.Format); !errors.Is(err, runstate.ErrNoRun) {
		return nil // what is wrong with it is told when it is carried on
	}
	journal, err := runstate.Import(e.FS, dir, line, e.options())
	if errors.Is(err, vfs.ErrFenced) { // it is there by now
		return nil
	}
	if err != nil {
		return err
	}
	return journal.Close()
}
