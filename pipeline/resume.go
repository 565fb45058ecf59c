package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// Resume carries unfinished runs to their end: of the jobs and runs that are named, or of every job under the state
// directory. Runs that are alive are left alone, and told. Of a run that is named and has ended, the outcome is told.
func (e *Engine) Resume(ctx context.Context, names []string, c Carry) []Result {
	if err := runstate.CheckHome(e.FS, e.State); err != nil {
		return []Result{failedResult(fail(Usage, "", err))}
	}
	entries, err := e.named(names)
	if err != nil {
		return []Result{failedResult(err)}
	}
	handles := 0
	for _, r := range entries {
		if r.open() && r.View != nil {
			handles += len(r.View.State.Outstanding())
		}
	}
	e.Log.Info("runs to carry on", "runs", len(slices.DeleteFunc(slices.Clone(entries), func(r Entry) bool { return !r.open() })), "handles", handles)
	var results []Result
	for _, r := range entries {
		if !r.open() && len(names) == 0 {
			continue
		}
		results = append(results, e.resumeOne(ctx, r, c))
	}
	return results
}

func failedResult(err error) Result {
	var r Result
	r.failed(err)
	return r
}

// named gives the runs that names stand for, without names all runs. A name is a run's token or a job's.
func (e *Engine) named(names []string) ([]Entry, error) {
	jobs, err := e.Jobs()
	if err != nil {
		return nil, fail(World, "", err)
	}
	var all, picked []Entry
	for _, job := range jobs {
		runs, err := e.Runs(job)
		if err != nil {
			return nil, fail(World, "", err)
		}
		all = append(all, runs...)
	}
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		n := len(picked)
		for _, r := range all {
			if string(r.Run) == name || r.Job == name && r.open() {
				picked = append(picked, r)
			}
		}
		if n == len(picked) && !slices.Contains(jobs, name) {
			return nil, failf(Usage, e.command("status"), "there is no job or run %q under %s", name, e.Home)
		}
	}
	return picked, nil
}

// Find gives the run of a token.
func (e *Engine) Find(run runstate.Token) (Entry, error) {
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return Entry{}, fail(Usage, e.command("status"), err)
	}
	runs, err := e.named([]string{string(run)})
	if err != nil {
		return Entry{}, err
	}
	return runs[0], nil
}

func (e *Engine) resumeOne(ctx context.Context, r Entry, c Carry) Result {
	h, err := e.take(ctx, r)
	if err != nil {
		out := Result{Run: r.Run, Job: r.Job}
		if r.View != nil {
			out.fill(r.View.State)
		}
		out.failed(err)
		return out
	}
	return e.finishHeld(ctx, h, c)
}

// take locks a run and opens its journal, waiting for the lock as long as the engine's Wait.
func (e *Engine) take(ctx context.Context, r Entry) (*held, error) {
	start := e.Patience.Now()
	for {
		h, err := e.lockRun(r)
		switch {
		case errors.Is(err, vfs.ErrLocked):
			if !e.waitFor(ctx, start, e.Wait, lockPoll) {
				return nil, e.heldBy(r)
			}
		case err != nil:
			r.Err = err
			return nil, e.unreadable(r)
		default:
			return h, nil
		}
	}
}

// Abandon aborts an undecided run. One whose key has its mark is finished instead; a decided one is refused.
func (e *Engine) Abandon(ctx context.Context, run runstate.Token, why string) Result {
	r, err := e.Find(run)
	if err != nil {
		return failedResult(err)
	}
	if r.Err == nil && r.View.State.Ended != nil && r.View.State.Ended.Outcome != runstate.Aborted {
		return failedResult(failf(Usage, "", "run %s has ended %s: nothing was abandoned", run, r.View.State.Ended.Outcome))
	}
	return e.resumeOne(ctx, r, Carry{Abandon: true, Why: why})
}

// Resolve takes a person's word about an artifact of a decided run, and carries the run on. sink tells apart artifacts
// that have one name at several destinations; it may be empty where that is not so.
func (e *Engine) Resolve(ctx context.Context, run runstate.Token, artifact, sink string, as runstate.Verdict, why string) Result {
	r, err := e.Find(run)
	if err != nil {
		return failedResult(err)
	}
	if r.Err != nil {
		return failedResult(e.unreadable(r))
	}
	id, err := pickArtifact(r.View.State, artifact, sink)
	if err != nil {
		return failedResult(fail(Usage, e.command("status"), err))
	}
	if why == "" {
		return failedResult(failf(Usage, "", "say why with --because"))
	}
	out := e.resumeOne(ctx, r, Carry{resolve: &runstate.Resolved{HandleID: id, As: as, Why: why}})
	if out.Outcome == runstate.Partial { // what was asked for is done; whoever asks for the key is told 4
		out.Code, out.Error = Done, ""
	}
	return out
}

func pickArtifact(s *runstate.State, artifact, sink string) (runstate.HandleID, error) {
	if s.Decision != runstate.Commit {
		return runstate.HandleID{}, fmt.Errorf("run %s is not decided: resume or abandon it", s.Begun.Run)
	}
	var found []runstate.HandleID
	for _, h := range s.Outstanding() {
		if h.Name == artifact && (sink == "" || s.Begun.Sinks[h.Sink].To == sink) {
			found = append(found, h.ID())
		}
	}
	switch len(found) {
	case 0:
		return runstate.HandleID{}, fmt.Errorf("run %s has no artifact %s that is outstanding", s.Begun.Run, artifact)
	case 1:
		return found[0], nil
	}
	return runstate.HandleID{}, fmt.Errorf("%s is outstanding in %d sinks: tell which with --sink", artifact, len(found))
}
