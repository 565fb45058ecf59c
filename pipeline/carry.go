package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// Carry says how far a run is carried.
type Carry struct {
	Subtasks   int    // 0: as many as the plan says
	MaxRejects *int64 // nil: as the last attempt, or else the plan
	CommitOnly bool   // read nothing, and leave an undecided run undecided
	Abandon    bool   // abort an undecided run
	Why        string
	resolve    *runstate.Resolved // a person's word, taken before the run is finished
}

func decodePlan(text []byte) (Plan, error) {
	var p Plan
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("the plan in the journal: %w", err)
	}
	return p, nil
}

// planOf is the plan that a run is carried on under: what it was begun with, and what its last attempt was told.
func planOf(s *runstate.State) (Plan, error) {
	p, err := decodePlan(s.Begun.Plan)
	if n := len(s.Attempts); n > 0 && s.Attempts[n-1].MaxRejects != nil {
		p.MaxRejects = *s.Attempts[n-1].MaxRejects
	}
	return p, err
}

// carry brings a run to its end, as far as it can be. It is the one path of run and resume. A full disk under the state
// directory costs the reserve, once.
func (h *held) carry(ctx context.Context, c Carry) error {
	if h.engine.OnRun != nil {
		h.engine.OnRun(h.dir)
	}
	err := h.work(ctx, c)
	if err != nil {
		if fenced := h.lock.StillHere(); errors.Is(fenced, vfs.ErrFenced) { // what it met is what another process does
			return h.classify(errors.Join(fenced, err))
		}
	}
	if own, ok := errors.AsType[*publish.OwnMark](err); ok {
		if err := h.takeMark(own.Mark); err != nil {
			return h.classify(err)
		}
		err = h.work(ctx, c)
	}
	if c.Abandon && errors.Is(err, publish.ErrDecided) && h.state().Decision == runstate.Undecided {
		h.engine.Log.Warn("the run's key has its mark: the decision was commit, and the run is finished instead", "run", h.run())
		err = h.work(ctx, Carry{})
	}
	if err != nil && h.ending && errors.Is(err, syscall.ENOSPC) && h.journal.Failed() != nil {
		err = h.workOnReserve(ctx, c, err)
	}
	if errors.Is(err, runstate.ErrReplaced) && h.state().Decision == runstate.Undecided {
		return h.withdraw(ctx, err)
	}
	if err != nil {
		return h.classify(err)
	}
	return nil
}

// withdraw removes what this process has staged for a run whose folder was removed or replaced before the decision: nobody
// else can finish it, and nothing of it is visible. If the folder was only moved, what it kept is read again.
func (h *held) withdraw(ctx context.Context, err error) error {
	for i, sink := range h.sinks {
		if sweeper, ok := sink.(stage.Sweeper); ok {
			if err := sweeper.Sweep(ctx, h.run(), nil); err != nil {
				h.engine.Log.Warn("something staged is left behind", "destination", h.state().Begun.Sinks[i].To, "error", err)
			}
		}
	}
	return failf(World, "", "%w; nothing is published and nothing is pending: run it again", err)
}

// workOnReserve goes on after a full disk has refused a record, on the space that was kept for that. If all that was left
// to do was to abort, the first failure says why.
func (h *held) workOnReserve(ctx context.Context, c Carry, first error) error {
	h.engine.Log.Warn("the disk of the state directory is full: its reserve is given up", "run", h.run())
	if err := h.reopen(); err != nil {
		return err
	}
	err := h.work(ctx, c)
	if err == nil && h.state().Decision == runstate.Abort && !c.Abandon {
		return first
	}
	return err
}

func (h *held) work(ctx context.Context, c Carry) error {
	if h.state().Ended != nil {
		h.dropReserve()
		return nil
	}
	if err := h.openSinks(ctx); err != nil {
		return err
	}
	settler := h.settler()
	switch {
	case c.Abandon:
		h.ending = true
		if err := settler.Abort(ctx, c.Why); err != nil {
			return err
		}
		h.dropReserve()
		return nil
	case c.resolve != nil:
		h.ending = true
		if err := h.resolve(ctx, settler, *c.resolve); err != nil {
			return err
		}
	case h.state().Decision == runstate.Undecided:
		if err := h.decide(ctx, settler, c); err != nil {
			return h.refused(ctx, settler, err)
		}
	}
	h.ending = true
	if err := settler.Finish(ctx); err != nil {
		return err
	}
	h.dropReserve()
	return nil
}

// dropReserve removes the reserve of a run that has ended. That it is left changes nothing of how the run ended.
func (h *held) dropReserve() {
	if err := runstate.DropReserve(h.engine.FS, h.dir); err != nil {
		h.engine.Log.Warn("the reserve of a run that has ended is left behind", "run", h.run(), "error", err)
	}
}

// resolve takes a person's word, unless it was journaled before a full disk stopped this process.
func (h *held) resolve(ctx context.Context, settler *publish.Settler, word runstate.Resolved) error {
	if _, done := h.state().Resolved[word.HandleID]; done {
		return nil
	}
	err := settler.Resolve(ctx, word.HandleID, word.As, word.Why)
	if err != nil && h.journal.Failed() == nil {
		return fail(Person, h.engine.command("resume %s", h.run()), err)
	}
	return err
}

// refused aborts a run whose data was refused, or whose key was decided by another run: it can never commit.
func (h *held) refused(ctx context.Context, settler *publish.Settler, err error) error {
	_, data := errors.AsType[*format.DataError](err)
	_, foreign := errors.AsType[*publish.ForeignMark](err)
	if !data && !foreign && !errors.Is(err, errEmpty) {
		return err
	}
	h.ending = true
	if aborted := settler.Abort(ctx, err.Error()); aborted != nil {
		return errors.Join(err, aborted)
	}
	h.dropReserve()
	return err
}

var errEmpty = errors.New("the source holds no rows, and on_empty is fail")

// maxRounds is how often one process reads what is not covered. More than once it does so only where what it has staged
// has disappeared meanwhile.
const maxRounds = 4

// decide reads what no kept unit covers and decides the run.
func (h *held) decide(ctx context.Context, settler *publish.Settler, c Carry) error {
	if c.MaxRejects != nil {
		h.plan.MaxRejects = *c.MaxRejects
	}
	var source Source
	var reading *attempt
	for round := 0; ; round++ {
		if err := settler.Survey(ctx); err != nil {
			return err
		}
		if h.state().Decision != runstate.Undecided {
			return nil
		}
		if c.CommitOnly {
			return fmt.Errorf("the run is undecided, and --commit-only reads nothing")
		}
		if err := h.plan.tooMany(h.state().Rejected(), nil); err != nil {
			return err
		}
		if h.engine.stopped() {
			return publish.ErrStopped
		}
		if source == nil {
			var err error
			if source, err = h.reopenSource(ctx); err != nil {
				return err
			}
		}
		open := h.state().Open()
		if len(open) == 0 && !h.emptyToWrite() {
			return h.commit(ctx, settler, source)
		}
		if round == maxRounds {
			return fmt.Errorf("what is staged has disappeared %d times before it was decided: something clears %s", maxRounds, stage.Hidden)
		}
		if reading == nil {
			var err error
			if reading, err = h.startReading(ctx, source, c); err != nil {
				return err
			}
		}
		if err := h.stageMore(ctx, reading, open); err != nil {
			return err
		}
	}
}

// reopenSource opens the source that the run was begun with. What is kept of it is compared where it must be.
func (h *held) reopenSource(ctx context.Context) (Source, error) {
	b := h.state().Begun
	h.plan.Vars = h.plan.vars(b.Key, b.Run)
	source, warnings, err := h.engine.Catalog.Sources().Reopen(ctx, h.plan, b.Source, b.Splits, h.kept())
	h.engine.warn(warnings)
	if err != nil {
		return nil, err
	}
	for _, name := range source.Unmatched(ctx) {
		h.engine.Log.Warn("a new file matches the source's pattern; this run does not read it", "file", name)
	}
	return source, nil
}

// kept gives the ranges of all units that count.
func (h *held) kept() []runstate.Range { return slices.Concat(h.state().Covered()...) }

func (e *Engine) warn(warnings []string) {
	for _, w := range warnings {
		e.Log.Warn(w)
	}
}

func (h *held) emptyToWrite() bool {
	if h.plan.OnEmpty != EmptyWrite || h.state().Rows() > 0 {
		return false
	}
	for kept := range h.state().Kept() {
		if !h.state().Begun.Sinks[kept.Sink].Rejects {
			return false
		}
	}
	return true
}

func (h *held) startReading(ctx context.Context, source Source, c Carry) (*attempt, error) {
	subtasks := h.plan.Subtasks
	if c.Subtasks > 0 {
		subtasks = c.Subtasks
	}
	if err := h.newAttempt(subtasks); err != nil {
		return nil, err
	}
	if !h.fresh {
		h.sweepOrphans(ctx)
	}
	return h.newReading(ctx, source)
}

// sweepOrphans removes what earlier attempts have staged and no kept handle names. It makes room, and it frees the names of
// attempts that a journal put back from a copy does not know. What it cannot remove, the sweep before the end tries again.
func (h *held) sweepOrphans(ctx context.Context) {
	for i, sink := range h.sinks {
		sweeper, ok := sink.(stage.Sweeper)
		if !ok {
			continue
		}
		var live []runstate.Handle
		for kept := range h.state().Kept() {
			if kept.Sink == i {
				live = append(live, kept)
			}
		}
		if err := sweeper.Sweep(ctx, h.run(), live); err != nil {
			h.engine.Log.Warn("what earlier attempts have staged is left behind for now", "sink", h.state().Begun.Sinks[i].To, "error", err)
		}
	}
}

func (h *held) stageMore(ctx context.Context, reading *attempt, open []runstate.Range) error {
	if len(open) == 0 {
		return reading.writeEmpty(ctx)
	}
	var total int64
	for _, r := range open {
		total += reading.source.Size(r)
	}
	h.engine.Progress.Total.Add(total)
	attempts := h.state().Attempts
	return reading.read(ctx, open, attempts[len(attempts)-1].Subtasks)
}

// commit takes the last look at the source and decides. Everything is covered and was surveyed since.
func (h *held) commit(ctx context.Context, settler *publish.Settler, source Source) error {
	if h.plan.OnEmpty == EmptyFail && h.state().Rows() == 0 {
		if n := h.state().Rejected(); n > 0 {
			return fmt.Errorf("%w; %s", errEmpty, count(n, "record was refused", "records were refused"))
		}
		return errEmpty
	}
	warnings, err := source.Check(ctx, h.kept())
	h.engine.warn(warnings)
	if err != nil {
		return err
	}
	h.ending = true
	return settler.Decide(ctx)
}

// classify gives an error of a run at hand its exit code and the command that goes on from it.
func (h *held) classify(err error) error {
	if errors.Is(err, vfs.ErrFenced) { // whatever else it met
		return failf(Held, "", "run %s was taken over, and is carried on there: %w", h.run(), err)
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	e, run := h.engine, h.run()
	resume := e.command("resume %s", run)
	if data, ok := errors.AsType[*format.DataError](err); ok && h.state().Ended != nil {
		return fail(BadData, "", data)
	}
	if errors.Is(err, errEmpty) && h.state().Ended != nil {
		return fail(BadData, "", err)
	}
	if u, ok := errors.AsType[*publish.Unfinished](err); ok && u.Person() {
		return fail(Person, e.wayOut(h, u), err)
	}
	if _, ok := errors.AsType[*publish.OlderError](err); ok {
		return fail(Person, e.command("abandon --damaged %s --because '...'", run), err)
	}
	if _, ok := errors.AsType[*publish.BadMarkError](err); ok {
		return fail(Person, resume, err)
	}
	if _, ok := errors.AsType[*publish.ManifestConflict](err); ok {
		return fail(Person, resume, err)
	}
	if errors.Is(err, ErrSourceChanged) {
		return fail(Person, e.command("abandon %s", run), fmt.Errorf("%w; put the source back and resume, or abandon the run", err))
	}
	if errors.Is(err, runstate.ErrReplaced) {
		return fail(Open, "", err)
	}
	return fail(Open, resume, err)
}

// wayOut is the command for a run that a person must look at. What is lost must be resolved. A foreign file can be moved
// away, and then nothing is lost. An artifact that is published though the run is decided to abort shows that the journal
// is older than the world.
func (e *Engine) wayOut(h *held, u *publish.Unfinished) string {
	if h.state().Decision == runstate.Abort {
		return e.command("abandon --damaged %s --because '...'", h.run())
	}
	for _, p := range u.Problems {
		if p.Fate == publish.Lost {
			return e.command("resolve %s %s --as lost --because '...'", h.run(), p.Handle.Name)
		}
	}
	return e.command("resume %s", h.run())
}
