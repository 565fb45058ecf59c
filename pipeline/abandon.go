package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// Aside is what is left of a run that was put aside, in aside.json.
type Aside struct {
	Run     runstate.Token `json:"run"`
	Why     string         `json:"why"`
	Begun   *asideKey      `json:"begun,omitempty"`  // nil if the journal's first record cannot be read
	Visible []AsideNames   `json:"visible"`          // what the sinks showed of the run
	Unseen  string         `json:"unseen,omitempty"` // why they could not be looked at, if they could not
}

type asideKey struct {
	Key         string            `json:"key"`
	Again       int               `json:"again"`
	PlanDigest  string            `json:"plan_digest"`
	Fingerprint string            `json:"fingerprint"`
	Sinks       []runstate.SinkID `json:"sinks"`
}

// AsideNames are names at one destination.
type AsideNames struct {
	To    string   `json:"to"`
	Names []string `json:"names"`
}

const asideFile = "aside.json"

// AbandonDamaged puts aside a run whose journal cannot be read, or is older than its destination, or whose destination is not
// there any more. Nothing is unpublished:
// what the destinations show of the run is listed, and while they show it the run's key is not free. A run whose key has
// its mark is adopted from the mark instead.
func (e *Engine) AbandonDamaged(ctx context.Context, run runstate.Token, why string) (Result, *Aside) {
	r, err := e.Find(run)
	if err != nil {
		return failedResult(err), nil
	}
	if why == "" {
		return failedResult(failf(Usage, "", "say why with --because")), nil
	}
	lock, err := runstate.TakeLock(e.FS, r.Dir)
	if errors.Is(err, vfs.ErrLocked) {
		return failedResult(e.heldBy(r)), nil
	}
	if err != nil {
		return failedResult(fail(World, "", err)), nil
	}
	res, aside, err := e.putAside(ctx, r, lock, why)
	if err != nil {
		res.failed(err)
	}
	return res, aside
}

func (e *Engine) putAside(ctx context.Context, r Entry, lock *runstate.Lock, why string) (res Result, aside *Aside, err error) {
	defer func() {
		if lock != nil {
			err = errors.Join(err, lock.Release())
		}
	}()
	res = Result{Run: r.Run, Job: r.Job}
	r.View, r.Err = runstate.Read(e.FS, r.Dir, runstate.Format) // nobody else changes it any more
	if err := e.mayPutAside(r); err != nil {
		return res, nil, err
	}
	aside = &Aside{Run: r.Run, Why: why}
	begun := r.begun()
	if begun != nil {
		aside.Begun = &asideKey{begun.Key, begun.Again, begun.PlanDigest, begun.Fingerprint, begun.Sinks}
	}
	mark, visible, err := e.showRun(ctx, r, begun)
	if unreachable := errors.Is(err, fs.ErrNotExist) || errors.Is(err, stage.ErrElsewhere); err != nil && !unreachable {
		return res, nil, fail(Open, "", err)
	} else if unreachable {
		aside.Unseen = err.Error()
	}
	if mark != nil {
		err := lock.Release()
		lock = nil
		if err != nil {
			return res, nil, err
		}
		return e.adoptOwn(ctx, r, mark), nil, nil
	}
	if r.Err == nil && aside.Unseen == "" && r.View.State.Decision == runstate.Commit {
		return res, nil, failf(Usage, e.command("resume %s", r.Run), "run %s is decided to commit, and its journal can be read: it is finished, never abandoned", r.Run)
	}
	if r.Err == nil && aside.Unseen == "" && len(visible) == 0 {
		return res, nil, failf(Usage, e.command("abandon %s", r.Run),
			"the journal of run %s can be read, and no destination shows more than it knows: resume the run, or abandon it", r.Run)
	}
	aside.Visible = visible
	if aside.Unseen == "" && len(visible) == 0 {
		e.sweepAside(ctx, r, begun)
	}
	if err := runstate.DropReserve(e.FS, r.Dir); err != nil { // the disk may be full
		return res, nil, fail(Open, "", err)
	}
	text, err := json.MarshalIndent(aside, "", "  ")
	if err != nil {
		return res, nil, err
	}
	if err := vfs.WriteNew(e.FS, path.Join(r.Dir, asideFile), append(text, '\n')); err != nil && !errors.Is(err, fs.ErrExist) {
		return res, nil, fail(Open, "", err)
	}
	if err := e.moveAside(r); err != nil {
		return res, nil, fail(Open, "", err)
	}
	return res, aside, nil
}

// sweepAside removes what is staged of a run that is put aside and of which nothing is visible: it will never be published.
func (e *Engine) sweepAside(ctx context.Context, r Entry, begun *runstate.Begun) {
	sinks, _, err := e.openAll(ctx, r, begun)
	for _, s := range sinks {
		if sweeper, ok := s.(stage.Sweeper); ok && err == nil {
			err = sweeper.Sweep(ctx, r.Run, nil)
		}
		err = errors.Join(err, s.Close())
	}
	if err != nil { // it is invisible, and no handle names it any more
		e.Log.Warn("something staged of a run that is put aside is left behind", "run", r.Run, "error", err)
	}
}

// mayPutAside refuses a run whose journal tells how to bring it to its end.
func (e *Engine) mayPutAside(r Entry) error {
	if newer, ok := errors.AsType[*runstate.NewerError](r.Err); ok {
		return fail(Person, "", newer)
	}
	if r.Err != nil {
		return nil
	}
	if s := r.View.State; s.Ended != nil {
		return failf(Usage, "", "run %s has ended: %s", r.Run, s.Ended.Outcome)
	}
	return nil
}

// stillVisible fails where a run of the wanted key was put aside and its destinations still show something of it.
func (n *newRun) stillVisible(ctx context.Context) error {
	asides, err := n.engine.asides(n.want.plan.Name)
	if err != nil {
		return fail(Person, "", err)
	}
	for _, a := range asides {
		if !a.mayBe(n.want) {
			continue
		}
		visible, err := visibleIn(ctx, a.Run, n.sinks, n.begun.Sinks)
		if err != nil {
			return fail(World, "", err)
		}
		if len(visible) > 0 {
			return failf(Person, "", "run %s of this key was put aside (%s), and %s still shows %s: remove what is not wanted, then run again",
				a.Run, a.Why, visible[0].To, strings.Join(visible[0].Names, ", "))
		}
	}
	return nil
}

// mayBe tells whether a run that was put aside may be of a wanted key.
func (a Aside) mayBe(w want) bool {
	if a.Begun == nil {
		return w.key == "" // a key of the caller's would have its mark
	}
	return w.is(&runstate.Begun{Key: a.Begun.Key, Again: a.Begun.Again, PlanDigest: a.Begun.PlanDigest, Fingerprint: a.Begun.Fingerprint})
}

// asides reads what was put aside of a job.
func (e *Engine) asides(job string) ([]Aside, error) {
	dir := path.Join(e.State, job)
	names, err := e.list(dir)
	if err != nil {
		return nil, err
	}
	var all []Aside
	for _, name := range names {
		if !strings.HasPrefix(name, asidePrefix) {
			continue
		}
		text, err := vfs.ReadFile(e.FS, path.Join(dir, name, asideFile))
		if err != nil {
			return nil, err
		}
		var a Aside
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(dir, name, asideFile), err)
		}
		all = append(all, a)
	}
	return all, nil
}

func (r Entry) begun() *runstate.Begun {
	if r.View == nil {
		return nil
	}
	return r.View.State.Begun
}

func (e *Engine) moveAside(r Entry) error {
	parent := path.Dir(r.Dir)
	if err := e.FS.SyncDir(r.Dir); err != nil {
		return err
	}
	if err := e.FS.RenameNoReplace(r.Dir, path.Join(parent, asidePrefix+string(r.Run))); err != nil {
		return err
	}
	return e.FS.SyncDir(parent)
}

// adoptOwn makes a damaged run's journal again from its mark and finishes the run.
func (e *Engine) adoptOwn(ctx context.Context, r Entry, mark *publish.Mark) Result {
	if err := runstate.SetJournalAside(e.FS, r.Dir); err != nil {
		res := Result{Run: r.Run, Job: r.Job}
		res.failed(fail(World, "", err))
		return res
	}
	return e.adopt(ctx, mark)
}

// showRun looks at the destinations for a run's mark and its visible artifacts. Where its own first record cannot be read,
// the destinations are those of the job's other runs.
func (e *Engine) showRun(ctx context.Context, r Entry, begun *runstate.Begun) (*publish.Mark, []AsideNames, error) {
	sinks, ids, err := e.openAll(ctx, r, begun)
	defer func() {
		for _, s := range sinks {
			_ = s.Close() // nothing was written through it
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	if begun != nil && begun.Key != "" {
		mark, err := publish.FindMark(ctx, begun.Key, begun.Again, publish.RowSinks(sinks, ids))
		if err != nil || mark != nil && mark.Run == r.Run {
			return mark, nil, err
		}
	}
	visible, err := visibleIn(ctx, r.Run, sinks, ids)
	return nil, visible, err
}

// visibleIn lists what some destinations show of a run.
func visibleIn(ctx context.Context, run runstate.Token, sinks []stage.Sink, ids []runstate.SinkID) ([]AsideNames, error) {
	visible := []AsideNames{}
	for i, s := range sinks {
		lister, ok := s.(stage.Lister)
		if !ok {
			continue
		}
		names, err := lister.Visible(ctx, run)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			visible = append(visible, AsideNames{ids[i].To, names})
		}
	}
	return visible, nil
}

// openAll opens the destinations of a run. What is open is returned with an error, too.
func (e *Engine) openAll(ctx context.Context, r Entry, begun *runstate.Begun) (sinks []stage.Sink, ids []runstate.SinkID, err error) {
	ids, places, err := e.destinationsOf(r, begun)
	for i, id := range ids {
		if err != nil {
			break
		}
		var s stage.Sink
		if s, err = e.openPlace(ctx, places[i], false); err != nil {
			break
		}
		sinks = append(sinks, s)
		if s.Identity() != id.Identity {
			err = fmt.Errorf("destination %s: %w", id.To, stage.ErrElsewhere)
		}
	}
	return sinks, ids, err
}

// destinationsOf gives the destinations that a run was begun with, or those of all the job's runs where that cannot be read.
func (e *Engine) destinationsOf(r Entry, begun *runstate.Begun) (ids []runstate.SinkID, places []stage.Place, err error) {
	all := []*runstate.Begun{begun}
	if begun == nil {
		runs, err := e.Runs(r.Job)
		if err != nil {
			return nil, nil, err
		}
		all = nil
		for _, o := range runs {
			if b := o.begun(); b != nil {
				all = append(all, b)
			}
		}
	}
	for _, b := range all {
		for _, id := range b.Sinks {
			if slices.Contains(ids, id) {
				continue
			}
			at, err := placeOf(b, id)
			if err != nil {
				return nil, nil, err
			}
			ids, places = append(ids, id), append(places, at)
		}
	}
	return ids, places, nil
}
