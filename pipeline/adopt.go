package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// lockPoll is how often a lock that is waited for is tried.
const lockPoll = 100 * time.Millisecond

// follow gives the result of a key that another run has decided: nothing is left to do if all its manifests are there,
// otherwise the run is adopted and finished. digest and plan are what was asked for.
func (e *Engine) follow(ctx context.Context, mark *publish.Mark, digest string, plan Plan) Result {
	if mark.PlanDigest != digest {
		r := Result{Job: plan.Name, Key: mark.Key}
		then, err := decodePlan(mark.State().Begun.Plan)
		if err == nil {
			err = otherPlan(plan, then, mark.Run, "")
		}
		r.failed(err)
		return r
	}
	r := Result{Already: true}
	r.fill(mark.State())
	if e.unfinishedHere(mark.State().Begun) { // somebody began it here since we chose: its handles are this job's
		return e.adopt(ctx, mark)
	}
	outcome, err := e.manifestsSay(ctx, mark.State().Begun)
	switch {
	case err != nil:
		r.failed(fail(Open, e.command("resume %s", mark.Run), err))
	case outcome == runstate.Done:
		r.Outcome, r.Pending = outcome, 0
		e.Log.Info("this key was committed before", "run", mark.Run)
	case outcome == runstate.Partial:
		r.Outcome, r.Pending = outcome, 0
		r.failed(failf(Person, "", "run %s of this key ended partial: its manifests name what is missing", mark.Run))
	default:
		return e.adopt(ctx, mark)
	}
	return r
}

// counts tells whether a run without a key still counts: all its manifests are there, where its rows are. A destination that is
// there without its identity, which somebody has removed with what is hidden, is looked at as any other.
func (e *Engine) counts(ctx context.Context, b *runstate.Begun) (bool, error) {
	rows := *b
	rows.Sinks = slices.DeleteFunc(slices.Clone(b.Sinks), func(id runstate.SinkID) bool { return id.Rejects })
	says, err := e.manifestsSay(ctx, &rows)
	if err != nil || says != "" {
		return says != "", err
	}
	for _, id := range rows.Sinks {
		if _, err := e.manifestAt(ctx, b, id, true); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("read the manifest of run %s in %s: %w", b.Run, id.To, err)
		}
	}
	return true, nil
}

// unfinishedHere tells whether this state directory has a run and has not seen its end.
func (e *Engine) unfinishedHere(b *runstate.Begun) bool {
	view, err := runstate.Read(e.FS, path.Join(e.State, b.Job, string(b.Run)), runstate.Format)
	return !errors.Is(err, runstate.ErrNoRun) && (err != nil || view.State.Ended == nil)
}

// manifestsSay reads a run's manifests at all its sinks, which makes them durable for this process too. "" says that one is
// missing. Where the folder of records that were refused is gone for good, those at the rows say all: they come when everything
// is published.
func (e *Engine) manifestsSay(ctx context.Context, b *runstate.Begun) (runstate.Outcome, error) {
	worst := runstate.Done
	for _, id := range b.Sinks {
		data, err := e.manifestAt(ctx, b, id, false)
		if id.Rejects && errors.Is(err, stage.ErrElsewhere) {
			e.Log.Warn("the folder of the records that a run has refused is another one now", "run", b.Run, "destination", id.To)
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("read the manifest of run %s in %s: %w", b.Run, id.To, err)
		}
		m, err := publish.ReadManifest(data)
		if err != nil {
			return "", fmt.Errorf("the manifest of run %s in %s: %w", b.Run, id.To, err)
		}
		if m.Outcome != runstate.Done {
			worst = runstate.Partial
		}
	}
	return worst, nil
}

// manifestAt reads a run's manifest at one of its destinations. Where the destination has lost its identity, renewed says to
// give it another one and to look all the same: a manifest that is there is there.
func (e *Engine) manifestAt(ctx context.Context, b *runstate.Begun, id runstate.SinkID, renewed bool) (data []byte, err error) {
	at, err := placeOf(b, id)
	if err != nil {
		return nil, err
	}
	sink, err := e.openPlace(ctx, at, renewed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	if sink.Identity() != id.Identity && !renewed {
		return nil, fmt.Errorf("%w: it is %s, and was %s", stage.ErrElsewhere, sink.Identity(), id.Identity)
	}
	return sink.Note(ctx, runstate.ManifestName(b.Run))
}

// adopt makes a journal from a key's mark and finishes that run.
func (e *Engine) adopt(ctx context.Context, mark *publish.Mark) Result {
	var r Result
	r.fill(mark.State())
	h, err := e.waitToAdopt(ctx, mark)
	if err != nil {
		r.failed(e.notAdopted(mark, err))
		return r
	}
	e.Log.Warn("the run that decided this key is not finished: finishing it", "run", mark.Run)
	return e.finishHeld(ctx, h, Carry{})
}

// waitToAdopt waits for the run's lock as long as the engine's Wait.
func (e *Engine) waitToAdopt(ctx context.Context, mark *publish.Mark) (*held, error) {
	start := e.Patience.Now()
	for {
		h, err := e.adoptHeld(ctx, mark)
		if !errors.Is(err, vfs.ErrLocked) || !e.waitFor(ctx, start, e.Wait, lockPoll) {
			return h, err
		}
	}
}

// notAdopted gives the reason why a run was not adopted its exit code.
func (e *Engine) notAdopted(mark *publish.Mark, err error) error {
	if errors.Is(err, vfs.ErrLocked) {
		return failf(Held, "", "run %s, which has decided this key, is held by another process", mark.Run)
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if _, damaged := errors.AsType[*runstate.DamageError](err); damaged { // our journal of it: it can be made again
		return e.unreadable(Entry{Run: mark.Run, Job: mark.State().Begun.Job, Err: err})
	}
	return fail(Open, e.command("resume %s", mark.Run), fmt.Errorf("adopt run %s from its mark: %w", mark.Run, err))
}

func (e *Engine) adoptHeld(ctx context.Context, mark *publish.Mark) (h *held, err error) {
	b := mark.State().Begun
	job, err := e.lockJob(ctx, b.Job)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, job.Release()) }()
	dir := path.Join(e.State, b.Job, string(b.Run))
	if _, err := vfs.MkdirAll(e.FS, dir); err != nil {
		return nil, err
	}
	lock, err := runstate.TakeLock(e.FS, dir)
	if err != nil {
		return nil, err
	}
	h, err = e.open(dir, lock)
	if errors.Is(err, runstate.ErrNoRun) {
		h, err = e.importMark(dir, lock, mark)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return h, nil
}

func (e *Engine) importMark(dir string, lock *runstate.Lock, mark *publish.Mark) (*held, error) {
	journal, err := runstate.Import(e.FS, dir, []byte(mark.Journal), e.options())
	if err != nil {
		return nil, err
	}
	plan, err := planOf(mark.State())
	if err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return &held{engine: e, dir: dir, lock: lock, journal: journal, plan: plan}, nil
}

// takeMark replaces a journal that is older than its own run's mark by the mark's. The old one is kept beside it.
func (h *held) takeMark(mark *publish.Mark) error {
	h.engine.Log.Warn("the journal is older than the key's mark: it is made again from the mark", "run", h.run())
	if err := h.journal.Close(); err != nil {
		return err
	}
	if err := runstate.KeepOld(h.engine.FS, h.dir); err != nil {
		return err
	}
	n, err := h.engine.importMark(h.dir, h.lock, mark)
	if err != nil {
		return err
	}
	h.journal, h.plan = n.journal, n.plan
	return nil
}
