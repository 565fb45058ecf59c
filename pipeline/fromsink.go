package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// FoundRun is what a destination has staged of a run whose state is not here.
type FoundRun struct {
	Run       runstate.Token `json:"run"`
	To        string         `json:"to"`
	Artifacts int            `json:"artifacts"` // that are staged, finished or not
	Parts     int            `json:"parts"`
	Bytes     int64          `json:"bytes"`
	Since     time.Time      `json:"since"` // the oldest of it
}

// FromSink lists what destinations have staged of runs that this state knows nothing of. It changes nothing: whether such a
// run is dead nobody can tell but a person.
func (e *Engine) FromSink(ctx context.Context, places []stage.Place) ([]FoundRun, error) {
	known, err := e.named(nil)
	if err != nil {
		return nil, err
	}
	found := []FoundRun{}
	for _, at := range places {
		err := e.withFinder(ctx, at, func(finder stage.Finder, _ stage.Sink) error {
			all, err := finder.Found(ctx)
			if err != nil {
				return err
			}
			for _, f := range all {
				if !slices.ContainsFunc(known, func(r Entry) bool { return r.Run == f.Run }) {
					found = addFound(found, at.To, f)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func addFound(found []FoundRun, to string, f stage.Found) []FoundRun {
	i := slices.IndexFunc(found, func(r FoundRun) bool { return r.Run == f.Run && r.To == to })
	if i < 0 {
		found = append(found, FoundRun{Run: f.Run, To: to, Since: f.Since})
		i = len(found) - 1
	}
	r := &found[i]
	r.Artifacts, r.Parts, r.Bytes = r.Artifacts+1, r.Parts+f.Parts, r.Bytes+f.Bytes
	if f.Since.Before(r.Since) {
		r.Since = f.Since
	}
	return found
}

// withFinder opens a destination that can tell what is staged in it.
func (e *Engine) withFinder(ctx context.Context, at stage.Place, f func(stage.Finder, stage.Sink) error) error {
	sink, err := e.openPlace(ctx, at, false)
	if err != nil {
		return failf(World, "", "destination %s: %w", at.To, err)
	}
	finder, ok := sink.(stage.Finder)
	if !ok {
		return errors.Join(failf(Usage, "", "destination %s keeps nothing that its own runs do not know of", at.To), sink.Close())
	}
	err = f(finder, sink)
	if err = errors.Join(err, sink.Close()); err != nil {
		if _, told := errors.AsType[*Failure](err); !told {
			err = failf(World, "", "destination %s: %w", at.To, err)
		}
	}
	return err
}

// AbandonFromSink aborts what destinations have staged of a run whose state is lost. It refuses where the state is here, and
// where anything at a destination shows that the run was decided. It gives what it has aborted.
func (e *Engine) AbandonFromSink(ctx context.Context, places []stage.Place, run runstate.Token) ([]FoundRun, error) {
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return nil, fail(Usage, "", err)
	}
	known, err := e.named(nil)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(known, func(r Entry) bool { return r.Run == run }) {
		return nil, failf(Usage, e.command("abandon %s", run), "the state of run %s is here: it is not lost", run)
	}
	var found []FoundRun
	for _, at := range places { // all of them are looked at before anything is changed
		err := e.withFinder(ctx, at, func(finder stage.Finder, sink stage.Sink) error {
			if err := undecided(ctx, finder, sink, at.To, run); err != nil {
				return err
			}
			all, err := finder.Found(ctx)
			for _, f := range all {
				if f.Run == run {
					found = addFound(found, at.To, f)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, at := range places {
		err := e.withFinder(ctx, at, func(_ stage.Finder, sink stage.Sink) error {
			sweeper, ok := sink.(stage.Sweeper)
			if !ok {
				return nil
			}
			return sweeper.Sweep(ctx, run, nil)
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// undecided fails where a destination shows that a run was decided to commit: an artifact, a manifest or its key's mark.
func undecided(ctx context.Context, finder stage.Finder, sink stage.Sink, to string, run runstate.Token) error {
	if lister, ok := sink.(stage.Lister); ok {
		names, err := lister.Visible(ctx, run)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return failf(Person, "", "%s shows %s: run %s was decided to commit, and the rest of it belongs to that", to, names[0], run)
		}
	}
	if _, err := sink.Note(ctx, runstate.ManifestName(run)); err == nil {
		return failf(Person, "", "%s has the manifest of run %s: it was decided to commit", to, run)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	marks, err := finder.Marks(ctx)
	if err != nil {
		return err
	}
	for _, name := range marks {
		data, err := sink.Note(ctx, name)
		if err != nil {
			return err
		}
		var mark publish.Mark
		if err := json.Unmarshal(data, &mark); err != nil {
			return fmt.Errorf("the key's mark %s: %w", name, err)
		}
		if mark.Run == run {
			return failf(Person, "", "%s has the mark of key %q, which run %s has decided: run its job again with that key, and it is finished", to, mark.Key, run)
		}
	}
	return nil
}
