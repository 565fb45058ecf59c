package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Labels of the guarantee. What is asked for and what is given are compared before anything is read.
const (
	LabelKeyed   = "exactly_once"
	LabelUnkeyed = "exactly_once from this state directory"
)

// Run exports what a plan says under a key ("" for the key that is made of plan and source). Dead runs of the job are
// carried to their end first. The last result is the wanted run's; results of other runs stand before it.
func (e *Engine) Run(ctx context.Context, plan Plan, key string, again int) []Result {
	results, err := e.runAll(ctx, plan, key, again)
	if err != nil {
		r := Result{Job: plan.Name, Key: key}
		r.failed(err)
		results = append(results, r)
	}
	return results
}

func (e *Engine) runAll(ctx context.Context, plan Plan, key string, again int) ([]Result, error) {
	w, missing, err := e.wanted(ctx, plan, key, again)
	if err != nil {
		return nil, err
	}
	if err := runstate.CheckHome(e.FS, e.State); err != nil {
		return nil, fail(Usage, "", err)
	}
	if missing != nil {
		if _, err := e.FS.Stat(e.State); errors.Is(err, fs.ErrNotExist) {
			return nil, missing // nothing of this job can be there
		}
	}
	tried := map[runstate.Token]error{}
	others, r, err := e.chooseAll(ctx, w, tried, nil)
	if r == nil && err == nil {
		err = missing
	}
	if r == nil && err == nil {
		others, r, err = e.beginNew(ctx, w, tried, others)
	}
	for _, run := range slices.Sorted(maps.Keys(tried)) {
		if tried[run] != nil {
			o := Result{Run: run, Job: plan.Name}
			o.failed(tried[run])
			others = append(others, o)
		}
	}
	if r != nil {
		others = append(others, *r)
	}
	return others, err
}

// wanted looks the source up. That it is missing matters only once it is known that the key has no run.
func (e *Engine) wanted(ctx context.Context, plan Plan, key string, again int) (w want, missing, err error) {
	w = want{plan: plan, key: key, again: again}
	if err := plan.checkValues(key); err != nil {
		return w, nil, fail(Usage, "", err)
	}
	if w.digest, err = plan.Digest(); err != nil {
		return w, nil, err
	}
	source, found, err := e.Catalog.Sources().Find(ctx, plan)
	if err != nil {
		return w, sourceFailure(err), nil
	}
	w.source, w.found = source, &found
	return w, nil, nil
}

// sourceFailure gives an error of a source, met before a run is begun, its code.
func sourceFailure(err error) error {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if _, ok := errors.AsType[*format.DataError](err); ok {
		return fail(BadData, "", err)
	}
	return fail(World, "", err)
}

// chooseAll carries runs until the wanted key has a result, or has no run and begin is nil.
func (e *Engine) chooseAll(ctx context.Context, w want, tried map[runstate.Token]error, begin func([]Entry) (*held, error)) (others []Result, r *Result, err error) {
	start := e.Patience.Now()
	for {
		c, err := e.choose(ctx, w, tried, begin)
		if _, claimed := errors.AsType[*runstate.ClaimedError](err); claimed && ctx.Err() == nil {
			continue // its run is there now
		}
		switch {
		case err != nil:
			return others, nil, err
		case c.ended != nil:
			r, err := e.alreadyEnded(ctx, *c.ended, w)
			if r != nil || err != nil {
				return others, r, err
			}
			tried[c.ended.Run] = nil // its manifest is gone, and it has no key: it does not count
		case c.busy != nil:
			if !e.waitFor(ctx, start, e.Wait, lockPoll) {
				return others, nil, e.heldBy(*c.busy)
			}
		case c.held == nil:
			return others, nil, nil
		case c.own:
			r, again, err := e.carryOwn(ctx, c.held, w)
			if again {
				continue
			}
			return others, r, err
		default:
			tried[c.held.run()] = nil
			o := e.carryOther(ctx, c.held, w.plan)
			if o.Code != Done {
				others = append(others, o)
			}
		}
	}
}

// carryOther carries a dead run of another key to its end, under its own plan. What keeps it open is no reason to keep
// the wanted run from being done.
func (e *Engine) carryOther(ctx context.Context, h *held, now Plan) Result {
	e.Log.Info("an earlier run was not finished", "run", h.run(), "handles", len(h.state().Outstanding()))
	c := Carry{}
	if now.OnPending == PendingAbort && h.state().Decision == runstate.Undecided {
		c = Carry{Abandon: true, Why: "on_pending: abort"}
	}
	return e.finishHeld(ctx, h, c)
}

// finishHeld carries a run, closes it and says what became of it. A run whose key was decided by another run is followed.
func (e *Engine) finishHeld(ctx context.Context, h *held, c Carry) Result {
	var r Result
	err := h.carry(ctx, c)
	r.fill(h.state())
	digest := h.state().Begun.PlanDigest
	if closed := h.close(); closed != nil && err == nil {
		err = fail(Open, e.command("resume %s", r.Run), closed)
	}
	if foreign, ok := errors.AsType[*publish.ForeignMark](err); ok && r.Outcome == runstate.Aborted {
		return e.follow(ctx, foreign.Mark, digest, h.plan)
	}
	if err != nil {
		r.failed(err)
		return r
	}
	switch {
	case r.Outcome == runstate.Partial:
		r.failed(partial(h.state()))
	case r.Outcome == runstate.Aborted && !c.Abandon:
		r.failed(failf(World, "", "run %s was aborted: %s", r.Run, h.state().Why))
	}
	return r
}

// partial is the failure of a run that has ended without all of its artifacts. It names what of the source is missing.
func partial(s *runstate.State) error {
	var missing []string
	var rows int64
	for _, u := range s.Units {
		for _, h := range u.Handles {
			if u.Dropped || s.Resolved[h.ID()].As != runstate.AsLost {
				continue
			}
			rows += h.Rows
			for _, r := range u.Ranges {
				missing = append(missing, fmt.Sprintf("%s %d to %d of %s are not in %s", s.Begun.Splits[r.Split].Units(), r.From, r.To, s.Begun.Splits[r.Split].Part, h.Place))
			}
		}
	}
	if n := len(missing); n > shownRanges {
		missing = append(missing[:shownRanges], fmt.Sprintf("and %d more, which its manifests name", n-shownRanges))
	}
	return failf(Person, "", "run %s of this key ended partial, %d rows were declared lost: %s. Export them apart, or remove what is published and run with --again %d",
		s.Begun.Run, rows, strings.Join(missing, "; "), s.Begun.Again+1)
}

// shownRanges is how many missing ranges a message names.
const shownRanges = 5

// carryOwn carries the wanted key's run. again says that it has ended aborted before it could be anybody's, and that the
// choice is open again.
func (e *Engine) carryOwn(ctx context.Context, h *held, w want) (r *Result, again bool, err error) {
	b := h.state().Begun
	if b.PlanDigest != w.digest {
		err := otherPlan(w.plan, h.plan, b.Run, ", or abandon that run, which is open")
		return nil, false, errors.Join(err, h.close())
	}
	aborting := h.state().Decision == runstate.Abort
	if w.plan.OnPending == PendingAbort && h.state().Decision == runstate.Undecided && len(h.state().Attempts) > 0 {
		aborting = true
		o := e.finishHeld(ctx, h, Carry{Abandon: true, Why: "on_pending: abort"})
		return &o, o.Code == Done, nil
	}
	o := e.finishHeld(ctx, h, Carry{Subtasks: w.plan.Subtasks, MaxRejects: &w.plan.MaxRejects})
	return &o, aborting && o.Outcome == runstate.Aborted, nil
}

// otherPlan is the failure of a key that is asked for with another plan than a run of it has. more is a further way out.
func otherPlan(now, then Plan, run runstate.Token, more string) error {
	diff := now.Differences(then)
	if len(diff) == 0 {
		diff = []string{"the same job was expanded by another version of clinkctl"}
	}
	return failf(Usage, "", "run %s has this key and another plan (%s): put the job back, or use another key%s",
		run, strings.Join(diff, "; "), more)
}

// alreadyEnded is the result of a key whose run has ended. Without a key of the caller's, a run counts only while its
// manifests are at the destinations; both results are nil if it does not.
func (e *Engine) alreadyEnded(ctx context.Context, ended Entry, w want) (*Result, error) {
	s := ended.View.State
	r := &Result{Already: true}
	r.fill(s)
	plan, err := decodePlan(s.Begun.Plan)
	if err != nil {
		return nil, fail(Person, "", err)
	}
	if s.Begun.PlanDigest != w.digest {
		return nil, otherPlan(w.plan, plan, s.Begun.Run, "")
	}
	if w.key == "" {
		counts, err := e.counts(ctx, s.Begun)
		if errors.Is(err, stage.ErrElsewhere) {
			return nil, failf(World, "", "whether run %s still counts cannot be told: %w; if that is on purpose, export again with --again %d", s.Begun.Run, err, w.again+1)
		}
		if err != nil {
			return nil, fail(World, "", err)
		}
		if !counts {
			return nil, nil
		}
	}
	if s.Ended.Outcome == runstate.Partial {
		r.failed(partial(s))
		return r, nil
	}
	if w.found == nil {
		r.Warnings = append(r.Warnings, "the source is not there any more; this key was exported before")
	} else if w.found.Digest != s.Begun.Fingerprint {
		r.Warnings = append(r.Warnings, "the source has changed since this key was exported; nothing was exported now")
	}
	return r, nil
}
