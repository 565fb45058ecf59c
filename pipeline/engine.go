package pipeline

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"syscall"
	"time"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// Catalog is what a binary is wired with.
type Catalog interface {
	// Backend finds the backend of a destination.
	Backend(to string) (stage.Backend, error)
	// Format makes a format with its options.
	Format(name string, options map[string]any) (format.Format, error)
	// Sources opens sources.
	Sources() Sources
}

// Engine runs jobs against one state directory. Its fields are set before its first use and not changed.
type Engine struct {
	FS       vfs.FS
	State    string // state directory, absolute
	Home     string // what it is called, for people
	Catalog  Catalog
	Patience publish.Patience
	Random   io.Reader // cryptographic in production: tokens must never repeat
	Log      *slog.Logger
	Stop     <-chan struct{} // closed: finish or discard the unit at hand, start nothing new
	Wait     time.Duration   // for the lock of a run that another process holds
	Process  Process
	Progress *Progress
	OnRun    func(dir string) // called with a run's folder when work on it begins; may be nil
	Flags    string           // what a command that is told to the user must repeat, such as " --state /x"
}

// Process describes this process, for people who read journals.
type Process struct {
	Host     string
	PID      int
	Versions runstate.Versions
}

func (e *Engine) stopped() bool {
	select {
	case <-e.Stop:
		return true
	default:
		return false
	}
}

func (e *Engine) command(text string, args ...any) string {
	return "clinkctl " + fmt.Sprintf(text, args...) + e.Flags
}

func (e *Engine) options() runstate.Options { return runstate.Options{Now: e.Patience.Now} }

// spent is options for a journal whose reserve was given up.
func (e *Engine) spent() runstate.Options { return runstate.Options{Now: e.Patience.Now, Spent: true} }

// held is a run that this process works on: its lock is held and its journal is open.
type held struct {
	engine  *Engine
	dir     string
	lock    *runstate.Lock
	journal *runstate.Journal
	plan    Plan
	sinks   []stage.Sink // nil until opened
	ending  bool         // nothing is read any more: a full disk may cost the reserve
	fresh   bool         // this process has begun it: nobody else has staged for it
}

func (h *held) state() *runstate.State { return h.journal.State() }

func (h *held) run() runstate.Token { return h.state().Begun.Run }

// here fails unless the paths of lock and journal still name what is held.
func (h *held) here() error {
	if err := h.lock.StillHere(); err != nil {
		return err
	}
	return h.journal.StillHere()
}

func (h *held) close() error {
	var errs []error
	for _, s := range h.sinks {
		errs = append(errs, s.Close())
	}
	if h.journal != nil {
		errs = append(errs, h.journal.Close())
	}
	return errors.Join(append(errs, h.lock.Release())...)
}

// open opens the journal of a run whose lock is held. On a full disk the reserve is given up for the copy.
func (e *Engine) open(dir string, lock *runstate.Lock) (*held, error) {
	journal, err := runstate.Open(e.FS, dir, e.options())
	if errors.Is(err, syscall.ENOSPC) {
		if err := runstate.DropReserve(e.FS, dir); err != nil {
			return nil, err
		}
		journal, err = runstate.Open(e.FS, dir, e.spent())
	}
	if err != nil {
		return nil, err
	}
	h := &held{engine: e, dir: dir, lock: lock, journal: journal}
	h.plan, err = planOf(journal.State())
	if err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return h, nil
}

// reopen opens the journal again after a full disk has refused a record, without the reserve.
func (h *held) reopen() error {
	if err := errors.Join(h.journal.Close(), runstate.DropReserve(h.engine.FS, h.dir)); err != nil {
		return err
	}
	journal, err := runstate.Open(h.engine.FS, h.dir, h.engine.spent())
	if err != nil {
		return err
	}
	h.journal = journal
	return nil
}

// openSinks opens the destinations of a run that was begun, and makes sure that they are the ones it was begun with.
func (h *held) openSinks(ctx context.Context) error {
	if h.sinks != nil {
		return nil
	}
	var sinks []stage.Sink
	for i, id := range h.state().Begun.Sinks {
		s, err := h.openSink(ctx, i, id)
		if err != nil {
			for _, s := range sinks {
				err = errors.Join(err, s.Close())
			}
			return failf(Open, h.engine.command("resume %s", h.run()), "destination %s: %w%s", id.To, err, h.engine.goneForGood(h.run(), err))
		}
		sinks = append(sinks, s)
	}
	h.sinks = sinks
	return nil
}

// goneForGood says what to do about a destination that is not there, or is another one.
func (e *Engine) goneForGood(run runstate.Token, err error) string {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, stage.ErrElsewhere) {
		return ""
	}
	return fmt.Sprintf("; is a volume not mounted? If it is gone for good: %s", e.command("abandon --damaged %s --because '...'", run))
}

func (h *held) openSink(ctx context.Context, i int, id runstate.SinkID) (stage.Sink, error) {
	s, err := h.engine.openPlace(ctx, h.plan.Sinks[i].Place(), false)
	if err != nil {
		return nil, err
	}
	if s.Identity() != id.Identity {
		err := fmt.Errorf("%w: it is %s, and was %s", stage.ErrElsewhere, s.Identity(), id.Identity)
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openPlace opens a destination. create makes it if it is absent.
func (e *Engine) openPlace(ctx context.Context, at stage.Place, create bool) (stage.Sink, error) {
	backend, err := e.Catalog.Backend(at.To)
	if err != nil {
		return nil, err
	}
	return backend.Open(ctx, at, create)
}

// placeOf gives the place of a run's destination, as the plan has it that the run was begun with.
func placeOf(b *runstate.Begun, id runstate.SinkID) (stage.Place, error) {
	plan, err := decodePlan(b.Plan)
	if err != nil {
		return stage.Place{}, err
	}
	for _, s := range plan.Sinks {
		if s.To == id.To {
			return s.Place(), nil
		}
	}
	return stage.Place{}, fmt.Errorf("the plan of run %s has no destination %s", b.Run, id.To)
}

func (h *held) settler() *publish.Settler {
	e := h.engine
	p := e.Patience
	p.Wait = time.Duration(h.plan.CommitWait)
	return &publish.Settler{Journal: h.journal, Sinks: h.sinks, Here: h.here, Patience: p, Log: e.Log, Stop: e.Stop,
		Finished: func() { e.Progress.Published.Add(1) }}
}

// newAttempt journals that this process begins to stage for the run.
func (h *held) newAttempt(subtasks int) error {
	var id [16]byte
	if _, err := io.ReadFull(h.engine.Random, id[:]); err != nil {
		return fmt.Errorf("random bits of an attempt: %w", err)
	}
	p := h.engine.Process
	a := runstate.Attempt{Number: len(h.state().Attempts) + 1, Host: p.Host, Process: p.PID, ID: hex.EncodeToString(id[:]), Subtasks: subtasks}
	if h.plan.Rejects() {
		most := h.plan.MaxRejects
		a.MaxRejects = &most
	}
	return h.journal.Append(runstate.Record{Attempt: &a})
}
