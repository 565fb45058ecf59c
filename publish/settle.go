package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Settler decides one run and finishes it. Nothing else commits or aborts. It may be stopped, or die, between any two
// steps: another one goes on from the journal.
type Settler struct {
	Journal  *runstate.Journal
	Sinks    []stage.Sink // in the order of the run's plan
	Here     func() error // fails unless the run's folder is still the one that is locked
	Patience Patience
	Log      *slog.Logger
	Stop     <-chan struct{} // when closed, no further publishing or aborting is started
	Finished func()          // called after each artifact that was finished; may be nil

	mu     sync.Mutex
	silent map[int]bool // sinks that did not answer as long as patience lasted
}

// Unfinished says which artifacts keep a run from its end.
type Unfinished struct{ Problems []Problem }

func (u *Unfinished) Error() string {
	var lines []string
	for _, p := range u.Problems {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// Person tells whether a person is needed: trying again will not help.
func (u *Unfinished) Person() bool {
	return slices.ContainsFunc(u.Problems, func(p Problem) bool { return p.Fate != Unknown })
}

// ForeignMark says that the key was decided by another run.
type ForeignMark struct{ Mark *Mark }

func (f *ForeignMark) Error() string {
	return fmt.Sprintf("key %q was decided by run %s", f.Mark.Key, f.Mark.Run)
}

// OwnMark says that the run's own mark is at the destination, and its journal is not the one that the mark was made from:
// the journal is older than the world.
type OwnMark struct{ Mark *Mark }

func (f *OwnMark) Error() string {
	return fmt.Sprintf("run %s is decided by its key's mark, and its journal is older than that", f.Mark.Run)
}

// OlderError says that a destination shows more of a run than its journal knows.
type OlderError struct{ What string }

func (e *OlderError) Error() string {
	return e.What + ": the journal is older than the destination"
}

var (
	// ErrStopped says that something was left undone because it was asked to stop.
	ErrStopped = errors.New("stopped")
	// ErrDecided says that a run cannot be aborted since it is decided to commit.
	ErrDecided = errors.New("the run is decided to commit")
)

func (s *Settler) state() *runstate.State { return s.Journal.State() }

// at commits at a sink. One that has not answered for one artifact is asked once for each of the others: patience is for
// the destination, not for each artifact in it.
func (s *Settler) at(sink int) committer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.Patience
	if s.silent[sink] {
		p.Wait = 0
	}
	return committer{s.Sinks[sink], p, s.Log}
}

func (s *Settler) unanswered(p Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent == nil {
		s.silent = map[int]bool{}
	}
	s.silent[p.Handle.Sink] = p.Fate == Unknown
}

func (s *Settler) stopped() bool {
	select {
	case <-s.Stop:
		return true
	default:
		return false
	}
}

// Survey looks at everything that an undecided run has prepared, and at what else the destination shows of it. Units whose
// stage is gone are dropped: their ranges are open again. A run that the world shows to be decided is decided here.
func (s *Settler) Survey(ctx context.Context) error {
	mark, err := s.findMark(ctx)
	if err != nil {
		return err
	}
	if mark != nil {
		return s.decideBy(mark)
	}
	if err := s.checkVisible(ctx); err != nil {
		return err
	}
	if at, err := s.manifestAt(ctx); err != nil || at != "" {
		return s.decideByManifest(ctx, at, err)
	}
	units, err := s.inspectUnits(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(units, func(u surveyed) bool { return u.published != "" }) {
		return s.decideByWorld(ctx, units)
	}
	for _, u := range units {
		if u.gone == "" {
			continue
		}
		if err := s.drop(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settler) findMark(ctx context.Context) (*Mark, error) {
	b := s.state().Begun
	if b.Key == "" {
		return nil, nil
	}
	mark, err := FindMark(ctx, b.Key, b.Again, RowSinks(s.Sinks, b.Sinks))
	if err != nil || mark == nil {
		return nil, err
	}
	if mark.Run != b.Run {
		return nil, &ForeignMark{mark}
	}
	lines, err := s.Journal.Lines()
	if err != nil {
		return nil, err
	}
	if string(lines) != mark.Journal {
		return nil, &OwnMark{mark}
	}
	return mark, nil
}

// checkVisible fails where a destination shows an artifact of the run that the journal does not know.
func (s *Settler) checkVisible(ctx context.Context) error {
	known := map[runstate.HandleID]bool{}
	for h := range s.state().Kept() {
		known[h.ID()] = true
	}
	for i, sink := range s.Sinks {
		lister, ok := sink.(stage.Lister)
		if !ok {
			continue
		}
		names, err := lister.Visible(ctx, s.state().Begun.Run)
		if err != nil {
			return fmt.Errorf("list the run's artifacts in %s: %w", s.state().Begun.Sinks[i].To, err)
		}
		for _, name := range names {
			if !known[runstate.HandleID{Sink: i, Name: name}] {
				return &OlderError{fmt.Sprintf("%s in %s is not in the journal", name, s.state().Begun.Sinks[i].To)}
			}
		}
	}
	return nil
}

// surveyed is what the sinks show of a kept unit.
type surveyed struct {
	unit      runstate.Unit
	published string // name of an artifact of it that is published, "" if none is
	gone      string // what was seen of one that is gone
}

func (s *Settler) inspectUnits(ctx context.Context) ([]surveyed, error) {
	seen, err := s.inspectAll(ctx, slices.Collect(s.state().Kept()))
	if err != nil {
		return nil, err
	}
	var units []surveyed
	for _, u := range s.state().Units {
		if u.Dropped {
			continue
		}
		unit := surveyed{unit: u.Unit}
		for _, h := range u.Handles {
			switch e := seen[h.ID()]; e.State {
			case stage.Published:
				unit.published = h.Name
			case stage.Gone:
				unit.gone = fmt.Sprintf("%s: %s", h.Name, e.Detail)
			}
		}
		units = append(units, unit)
	}
	return units, nil
}

// inspectAll looks at artifacts. What is foreign, or does not answer, is *Unfinished.
func (s *Settler) inspectAll(ctx context.Context, handles []runstate.Handle) (map[runstate.HandleID]stage.Evidence, error) {
	var mu sync.Mutex
	seen := map[runstate.HandleID]stage.Evidence{}
	err := s.all(ctx, handles, func(ctx context.Context, h runstate.Handle) error {
		e, err := s.at(h.Sink).look(ctx, h)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || e.State == stage.Foreign:
			p := *verdict(h, e, err)
			s.unanswered(p)
			return p
		}
		mu.Lock()
		defer mu.Unlock()
		seen[h.ID()] = e
		return nil
	}, goOn)
	return seen, err
}

// decideByWorld handles an undecided run of which something is published: the decision was made, and the journal lost it.
func (s *Settler) decideByWorld(ctx context.Context, units []surveyed) error {
	i := slices.IndexFunc(units, func(u surveyed) bool { return u.published != "" })
	if err := s.state().Tiled(); err != nil {
		return &OlderError{fmt.Sprintf("%s is published, and %v", units[i].published, err)}
	}
	s.Log.Warn("an artifact is published already: the decision was commit", "artifact", units[i].published)
	return s.Decide(ctx)
}

// manifestAt names a destination that has the run's manifest, "" if none has.
func (s *Settler) manifestAt(ctx context.Context) (string, error) {
	b := s.state().Begun
	for i, sink := range s.Sinks {
		_, err := sink.Note(ctx, runstate.ManifestName(b.Run))
		if err == nil {
			return b.Sinks[i].To, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for the run's manifest in %s: %w", b.Sinks[i].To, err)
		}
	}
	return "", nil
}

// decideByManifest handles an undecided run whose manifest is published, though its artifacts may have been taken away.
func (s *Settler) decideByManifest(ctx context.Context, at string, err error) error {
	if err != nil {
		return err
	}
	if err := s.state().Tiled(); err != nil {
		return &OlderError{fmt.Sprintf("the run's manifest is in %s, and %v", at, err)}
	}
	s.Log.Warn("the run's manifest is published already: the decision was commit", "destination", at)
	return s.Decide(ctx)
}

func (s *Settler) drop(ctx context.Context, u surveyed) error {
	s.Log.Warn("a staged artifact is gone; its rows are read again", "subtask", u.unit.Subtask, "checkpoint", u.unit.Checkpoint, "seen", u.gone)
	if err := s.Journal.Append(runstate.Record{Dropped: &runstate.Dropped{UnitID: u.unit.ID(), Why: u.gone}}); err != nil {
		return err
	}
	for _, h := range u.unit.Handles {
		if err := s.Sinks[h.Sink].Abort(ctx, h); err != nil {
			// Not the run's loss: the unit does not count any more, and the sweep before the end tries again.
			s.Log.Warn("what is left of a dropped unit could not be removed", "artifact", h.Name, "error", err)
		}
	}
	return nil
}

// Decide decides to commit. The run has been surveyed since its last unit was prepared. For a run with a key the decision
// is the mark; only then is it journaled.
func (s *Settler) Decide(ctx context.Context) error {
	if err := Gate(s.state()); err != nil {
		return err
	}
	if err := s.Here(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b := s.state().Begun
	if b.Key == "" {
		return s.decide(nil)
	}
	err := s.putMark(ctx)
	if err != nil && !errors.Is(err, errMarkThere) {
		return err
	}
	mark, err := s.findMark(ctx) // read back: what stands there is the decision
	if err != nil {
		return err
	}
	if mark == nil {
		return fmt.Errorf("the key's mark is not there after it was made")
	}
	return s.decideBy(mark)
}

func (s *Settler) decideBy(mark *Mark) error { return s.decide(mark.Manifests) }

func (s *Settler) decide(manifests []string) error {
	if s.state().Decision == runstate.Commit {
		return nil
	}
	return s.Journal.Append(runstate.Record{Decided: &runstate.Decided{Decision: runstate.Commit, Manifests: manifests}})
}
