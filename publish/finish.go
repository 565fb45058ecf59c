package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Finish brings a decided run to its end. What it cannot finish it leaves in the journal and returns as *Unfinished, after
// trying all the rest.
func (s *Settler) Finish(ctx context.Context) error {
	switch {
	case s.state().Ended != nil:
		return nil
	case s.state().Decision == runstate.Commit:
		return s.finishCommit(ctx)
	case s.state().Decision == runstate.Abort:
		return s.finishAbort(ctx)
	}
	return errors.New("the run is not decided")
}

func (s *Settler) finishCommit(ctx context.Context) error {
	open := s.state().Outstanding()
	s.Log.Info("artifacts to commit", "run", s.state().Begun.Run, "handles", len(open))
	err := s.each(ctx, open, func(ctx context.Context, h runstate.Handle) error {
		err := s.at(h.Sink).commit(ctx, h)
		if p, ok := errors.AsType[Problem](err); ok {
			s.unanswered(p)
		}
		if err != nil {
			return err
		}
		return s.finished(h)
	})
	if err != nil {
		return err
	}
	for i := range s.Sinks {
		if s.stopped() {
			return ErrStopped
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.publishManifest(ctx, i); err != nil {
			return err
		}
	}
	return s.end(ctx, s.state().Outcome(), nil)
}

func (s *Settler) finished(h runstate.Handle) error {
	id := h.ID()
	if err := s.Journal.Append(runstate.Record{Finished: &id}); err != nil {
		return err
	}
	if s.Finished != nil {
		s.Finished()
	}
	return nil
}

func unfinished(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Unfinished{problems}
}

// publishManifest fixes a sink's manifest in the journal and makes it visible. A manifest of this run that is there
// already, put there by somebody else who finished it, is taken as it is.
func (s *Settler) publishManifest(ctx context.Context, sink int) error {
	name := runstate.ManifestName(s.state().Begun.Run)
	if _, ok := s.state().Manifests[sink]; !ok {
		outcome, text, err := s.manifestFor(sink)
		if err == nil {
			text, err = withVersions(ctx, s.Sinks[sink], text, s.publishedAt(sink))
		}
		if err != nil {
			return err
		}
		if err := s.fixManifest(sink, outcome, text); err != nil {
			return err
		}
	}
	ours := s.state().Manifests[sink].Bytes
	err := s.Sinks[sink].PutNote(ctx, name, []byte(ours))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("publish the manifest in %s: %w", s.state().Begun.Sinks[sink].To, err)
	}
	there, err := s.Sinks[sink].Note(ctx, name)
	if err != nil {
		return fmt.Errorf("read the manifest in %s back: %w", s.state().Begun.Sinks[sink].To, err)
	}
	if string(there) == ours {
		return nil
	}
	m, err := ReadManifest(there)
	if err != nil || m.Run != s.state().Begun.Run {
		err = errors.Join(err, fmt.Errorf("%s in %s is not this run's manifest: move it away", name, s.state().Begun.Sinks[sink].To))
		return &ManifestConflict{err}
	}
	s.Log.Warn("somebody else has published this run's manifest", "outcome", m.Outcome)
	return s.fixManifest(sink, m.Outcome, there)
}

// publishedAt gives the artifacts of a sink that are published and count.
func (s *Settler) publishedAt(sink int) (handles []runstate.Handle) {
	for h := range s.state().Kept() {
		if h.Sink == sink && s.state().Resolved[h.ID()].As != runstate.AsLost {
			handles = append(handles, h)
		}
	}
	return handles
}

// ManifestConflict says that something else has the name of a run's manifest. A person must look.
type ManifestConflict struct{ Err error }

func (e *ManifestConflict) Error() string { return e.Err.Error() }

func (e *ManifestConflict) Unwrap() error { return e.Err }

func (s *Settler) manifestFor(sink int) (runstate.Outcome, []byte, error) {
	if s.state().Fixed != nil && len(s.state().Lost()) == 0 {
		return runstate.Done, []byte(s.state().Fixed[sink]), nil
	}
	return manifest(s.state(), sink)
}

func (s *Settler) fixManifest(sink int, outcome runstate.Outcome, text []byte) error {
	return s.Journal.Append(runstate.Record{Manifest: &runstate.ManifestRecord{
		Sink: sink, Outcome: outcome, Digest: runstate.DigestOf(text), Bytes: string(text)}})
}

// end sweeps what no live handle names and writes the last record.
func (s *Settler) end(ctx context.Context, outcome runstate.Outcome, warnings []string) error {
	for i, sink := range s.Sinks {
		sweeper, ok := sink.(stage.Sweeper)
		if !ok {
			continue
		}
		if err := sweeper.Sweep(ctx, s.state().Begun.Run, nil); err != nil {
			// What is left is invisible, carries our token and is no outstanding handle: a warning.
			warnings = append(warnings, fmt.Sprintf("sweep %s: %v", s.state().Begun.Sinks[i].To, err))
		}
	}
	for _, w := range warnings {
		s.Log.Warn("something staged is left behind", "error", w)
	}
	return s.Journal.Append(runstate.Record{Ended: &runstate.Ended{Outcome: outcome, Warnings: warnings}})
}

// Abort decides to abort an undecided run and brings it to its end. A run that is decided, or that the world shows to be,
// is not aborted: ErrDecided, *OlderError.
func (s *Settler) Abort(ctx context.Context, why string) error {
	switch s.state().Decision {
	case runstate.Commit:
		return ErrDecided
	case runstate.Undecided:
		if err := s.checkUnpublished(ctx); err != nil {
			return err
		}
		if err := s.Here(); err != nil {
			return err
		}
		if err := s.Journal.Append(runstate.Record{Decided: &runstate.Decided{Decision: runstate.Abort, Why: why}}); err != nil {
			return err
		}
	}
	return s.Finish(ctx)
}

// checkUnpublished proves that nothing of the run is visible and that it has no mark.
func (s *Settler) checkUnpublished(ctx context.Context) error {
	mark, err := s.findMark(ctx)
	if _, foreign := errors.AsType[*ForeignMark](err); err != nil && !foreign {
		return err
	}
	if mark != nil {
		return ErrDecided
	}
	if err := s.checkVisible(ctx); err != nil {
		return err
	}
	at, err := s.manifestAt(ctx)
	if err != nil {
		return err
	}
	if at != "" {
		return &OlderError{"the run's manifest is in " + at}
	}
	return s.all(ctx, slices.Collect(s.state().Kept()), func(ctx context.Context, h runstate.Handle) error {
		e, err := s.at(h.Sink).look(ctx, h)
		switch {
		case err != nil:
			return Problem{h, Unknown, err}
		case e.State == stage.Published:
			return &OlderError{fmt.Sprintf("%s is published in %s", h.Name, h.Place)}
		}
		return nil
	}, goOn)
}

func (s *Settler) finishAbort(ctx context.Context) error {
	open := s.state().Outstanding()
	s.Log.Info("artifacts to abort", "run", s.state().Begun.Run, "handles", len(open))
	var mu sync.Mutex
	var warnings []string
	err := s.each(ctx, open, func(ctx context.Context, h runstate.Handle) error {
		err := s.Sinks[h.Sink].Abort(ctx, h)
		switch {
		case err == nil:
			return s.finished(h)
		case ctx.Err() != nil:
			return err
		case errors.Is(err, stage.ErrPublished):
			return Problem{h, Conflict, err}
		}
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, fmt.Sprintf("abort %s: %v", h.Name, err)) // it stays invisible: nobody publishes an aborted run
		return nil
	})
	if err != nil {
		return err
	}
	return s.end(ctx, runstate.Aborted, warnings)
}

// Resolve takes a person's word about an artifact of a decided run. As lost it is aborted first, so that no late publish
// can land, and looked at after that; as published it is only looked at. A word that stage or destination contradicts is
// refused.
func (s *Settler) Resolve(ctx context.Context, id runstate.HandleID, as runstate.Verdict, why string) error {
	h, ok := s.state().Handle(id)
	if !ok {
		return fmt.Errorf("the run has no artifact %s", id.Name)
	}
	var aborted error
	if as == runstate.AsLost {
		aborted = s.Sinks[h.Sink].Abort(ctx, h)
	}
	e, err := s.at(h.Sink).look(ctx, h)
	switch {
	case err == nil && e.State == stage.Published && as == runstate.AsLost:
		return fmt.Errorf("%s is published: `clinkctl resume` finishes it", h.Name)
	case aborted != nil:
		return fmt.Errorf("it cannot be proved that %s will not be published late: %w", h.Name, aborted)
	case as == runstate.AsLost:
	case err == nil && e.State == stage.Staged:
		return fmt.Errorf("%s is staged and not published: `clinkctl resume` publishes it", h.Name)
	case err == nil && e.State == stage.Foreign:
		return fmt.Errorf("something else has the name of %s: %s", h.Name, e.Detail)
	case err == nil && e.State == stage.Gone:
		return fmt.Errorf("neither stage nor destination has %s: %s", h.Name, e.Detail)
	}
	return s.Journal.Append(runstate.Record{Resolved: &runstate.Resolved{HandleID: id, As: as, Why: why}})
}
