package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// The state directory:
//
//	<state>/<job>/lock               held while a run is chosen
//	<state>/<job>/<run>/             lock, journal, reserve, progress.json
//	<state>/<job>/aside-<run>/       a run that was put aside by abandon --damaged, with aside.json
const asidePrefix = "aside-"

// choosing is how long anybody waits for the lock under which runs are chosen: its holders fold journals and write one
// record.
const choosing = 30 * time.Second

// Entry is a run that the state directory has.
type Entry struct {
	Run  runstate.Token
	Job  string
	Dir  string
	View *runstate.View // what could be read of the journal; nil if nothing could
	Err  error          // why the journal cannot be worked with
}

// open tells whether the run is begun and not ended. One that cannot be read counts.
func (r Entry) open() bool { return r.Err != nil || r.View.State.Ended == nil }

// list gives the names in a folder of the state directory; one that is not there has none.
func (e *Engine) list(dir string) ([]string, error) {
	names, err := e.FS.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// Jobs lists the jobs that the state directory has runs of.
func (e *Engine) Jobs() ([]string, error) {
	names, err := e.list(e.State)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		info, err := e.FS.Stat(path.Join(e.State, name))
		return err != nil || !info.Dir
	}), nil
}

// Runs lists a job's runs, oldest first. Folders without a whole begun record are nothing.
func (e *Engine) Runs(job string) ([]Entry, error) {
	dir := path.Join(e.State, job)
	names, err := e.list(dir)
	if err != nil {
		return nil, err
	}
	var runs []Entry
	for _, name := range names {
		token, err := runstate.ParseToken(name)
		if err != nil {
			continue
		}
		r := Entry{Run: token, Job: job, Dir: path.Join(dir, name)}
		r.View, r.Err = runstate.Read(e.FS, r.Dir, runstate.Format)
		if errors.Is(r.Err, runstate.ErrNoRun) {
			continue
		}
		runs = append(runs, r)
	}
	slices.SortStableFunc(runs, Entry.compare)
	return runs, nil
}

// compare tells which run began before: of one second, of which tokens do not tell more, by their journals.
func (r Entry) compare(o Entry) int {
	if c := r.Run.Began().Compare(o.Run.Began()); c != 0 || r.View == nil || o.View == nil || len(r.View.Records) == 0 || len(o.View.Records) == 0 {
		return c
	}
	return r.View.Records[0].At.Compare(o.View.Records[0].At)
}

// lockJob takes the lock under which a job's runs are chosen.
func (e *Engine) lockJob(ctx context.Context, job string) (*runstate.Lock, error) {
	dir := path.Join(e.State, job)
	if _, err := vfs.MkdirAll(e.FS, dir); err != nil {
		return nil, err
	}
	start := e.Patience.Now()
	for {
		l, err := runstate.TakeLock(e.FS, dir)
		if !errors.Is(err, vfs.ErrLocked) {
			return l, err
		}
		if !e.waitFor(ctx, start, choosing, 20*time.Millisecond) {
			return nil, failf(Held, "", "another process is choosing a run of job %s", job)
		}
	}
}

// waitFor pauses before a lock is tried again. It tells whether to try: not when the time since start is used up, and not
// when this process was asked to stop.
func (e *Engine) waitFor(ctx context.Context, start time.Time, most, pause time.Duration) bool {
	if e.stopped() || e.Patience.Now().Sub(start) >= most {
		return false
	}
	return e.Patience.Sleep(ctx, pause) == nil
}

// lockRun takes a run's lock and opens its journal; vfs.ErrLocked if another process holds it.
func (e *Engine) lockRun(r Entry) (*held, error) {
	lock, err := runstate.TakeLock(e.FS, r.Dir)
	if err != nil {
		return nil, err
	}
	h, err := e.open(r.Dir, lock)
	if errors.Is(err, vfs.ErrFenced) { // somebody else works on it after all
		err = vfs.ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return h, nil
}

// unreadable is the failure of a run whose journal cannot be worked with.
func (e *Engine) unreadable(r Entry) error {
	if newer, ok := errors.AsType[*runstate.NewerError](r.Err); ok {
		return fail(Person, "", newer)
	}
	if _, ok := errors.AsType[*runstate.DamageError](r.Err); ok {
		return fail(Person, e.command("abandon --damaged %s --because '...'", r.Run), r.Err)
	}
	return fail(Open, e.command("resume %s", r.Run), fmt.Errorf("read the journal of run %s: %w", r.Run, r.Err))
}

func (e *Engine) heldBy(r Entry) error {
	who := ""
	if r.View != nil && len(r.View.State.Attempts) > 0 {
		a := r.View.State.Attempts[len(r.View.State.Attempts)-1]
		who = fmt.Sprintf(" (process %d on %s)", a.Process, a.Host)
	}
	return failf(Held, "", "run %s of job %s is held by another process%s; wait for it with --wait", r.Run, r.Job, who)
}
