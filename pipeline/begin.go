package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// beginNew begins the wanted run, unless its key turns out to be decided by another one.
func (e *Engine) beginNew(ctx context.Context, w want, tried map[runstate.Token]error, others []Result) ([]Result, *Result, error) {
	n := &newRun{engine: e, want: w}
	defer n.forget()
	mark, err := n.prepare(ctx)
	if err != nil {
		return others, nil, err
	}
	if mark != nil {
		r := e.follow(ctx, mark, w.digest, w.plan)
		return others, &r, nil
	}
	more, r, err := e.chooseAll(ctx, w, tried, n.begin)
	return append(others, more...), r, err
}

// newRun is a run before it is begun.
type newRun struct {
	engine *Engine
	want   want
	sinks  []stage.Sink
	begun  runstate.Begun
	taken  bool // the run was begun and has the sinks now
}

// prepare opens and probes the destinations and cuts the source. It gives the key's mark, if it has one already.
func (n *newRun) prepare(ctx context.Context) (*publish.Mark, error) {
	e := n.engine
	token, err := runstate.NewToken(e.Patience.Now(), e.Random)
	if err != nil {
		return nil, err
	}
	if n.want.plan, n.want.source, err = e.Inferred(ctx, n.want.plan, n.want.source); err != nil {
		return nil, err
	}
	p := n.want.plan
	if n.begun.Guarantee, err = e.Guarantee(p, n.want.key); err != nil {
		return nil, err
	}
	for _, s := range p.Sinks {
		sink, err := e.openPlace(ctx, s.Place(), true)
		if err != nil {
			return nil, destinationFailure(s.To, err)
		}
		n.sinks = append(n.sinks, sink)
		n.begun.Sinks = append(n.begun.Sinks, runstate.SinkID{To: s.To, Identity: sink.Identity(), Rejects: s.Rejects})
	}
	if twice := sameIdentity(n.begun.Sinks); twice != "" {
		return nil, failf(Usage, "", "two sinks lead to one place: %s", twice)
	}
	if err := n.compareIdentities(); err != nil {
		return nil, err
	}
	if n.want.key != "" {
		mark, err := publish.FindMark(ctx, n.want.key, n.want.again, publish.RowSinks(n.sinks, n.begun.Sinks))
		if _, bad := errors.AsType[*publish.BadMarkError](err); bad {
			return nil, fail(Person, "", err)
		}
		if err != nil || mark != nil {
			return mark, err
		}
	}
	if err := n.stillVisible(ctx); err != nil {
		return nil, err
	}
	for i, sink := range n.sinks {
		if prober, ok := sink.(stage.Prober); ok {
			if err := prober.Probe(ctx, token); err != nil {
				return nil, destinationFailure(p.Sinks[i].To, err)
			}
		}
	}
	deadline, err := n.checkLimits(ctx)
	if err != nil {
		return nil, err
	}
	return nil, n.describe(ctx, token, deadline)
}

// compareIdentities warns where a destination is not the one that the job's last run had under this path: it may be the empty
// folder under a volume that is not mounted.
func (n *newRun) compareIdentities() error {
	runs, err := n.engine.Runs(n.want.plan.Name)
	if err != nil {
		return err
	}
	last := map[string]runstate.SinkID{}
	for _, r := range runs {
		if b := r.begun(); b != nil {
			for _, id := range b.Sinks {
				last[id.To] = id
			}
		}
	}
	for _, id := range n.begun.Sinks {
		if was, ok := last[id.To]; ok && was.Identity != id.Identity {
			n.engine.Log.Warn("the destination is another one than the job's last run had there: is a volume not mounted?",
				"destination", id.To, "identity", id.Identity, "was", was.Identity)
		}
	}
	return nil
}

func destinationFailure(to string, err error) error {
	code := World
	if errors.Is(err, stage.ErrRefused) {
		code = Usage
	}
	return failf(code, "", "destination %s: %w", to, err)
}

func sameIdentity(sinks []runstate.SinkID) string {
	for i, a := range sinks {
		for _, b := range sinks[:i] {
			if a.Identity == b.Identity {
				return a.To + ", " + b.To
			}
		}
	}
	return ""
}

// describe makes the run's first record.
func (n *newRun) describe(ctx context.Context, token runstate.Token, deadline time.Time) error {
	e, p, found := n.engine, n.want.plan, n.want.found
	splits, err := n.want.source.Split(ctx)
	if err != nil {
		return sourceFailure(err)
	}
	head, err := n.want.source.Head(ctx) // what all heads lack is told before a run is begun
	if err != nil {
		return sourceFailure(err)
	}
	if err := e.checkWritable(p, head); err != nil {
		return fail(Usage, "", err)
	}
	plan, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the plan: %w", err)
	}
	b := &n.begun
	b.Run, b.Job, b.Key, b.Again, b.Plan, b.PlanDigest = token, p.Name, n.want.key, n.want.again, plan, n.want.digest
	b.Splits, b.Source, b.Fingerprint, b.Content = splits, found.Own, found.Digest, found.Content
	b.Columns, b.Made, b.Guarantee = p.Columns, e.Process.Versions, until(b.Guarantee, deadline)
	return nil
}

// checkWritable fails where a sink's format cannot hold the plan's columns.
func (e *Engine) checkWritable(p Plan, head []byte) error {
	schema, err := p.Schema()
	if err != nil {
		return err
	}
	if p.Infer && len(p.Columns) == 0 {
		return nil // there is nothing to write
	}
	for _, s := range p.Sinks {
		w, err := e.writer(s)
		if err != nil {
			return err
		}
		if s.Rejects {
			continue
		}
		if _, err := w.NewEncoder(io.Discard, format.Target{Schema: schema, Head: head}); err != nil {
			return fmt.Errorf("%s cannot be written to %s: %w", s.Format, s.To, err)
		}
	}
	return nil
}

// begin makes the run. The job's lock is held.
func (n *newRun) begin(runs []Entry) (*held, error) {
	h, err := n.engine.begin(n.begun, runs)
	if _, claimed := errors.AsType[*runstate.ClaimedError](err); claimed {
		return nil, err
	}
	if errors.Is(err, runstate.ErrBegun) { // it is there, and may not be durable
		return nil, failf(Open, n.engine.command("resume %s", n.begun.Run), "begin the run in %s: %w", n.engine.Home, err)
	}
	if err != nil {
		return nil, failf(World, "", "begin the run in %s: %w", n.engine.Home, err)
	}
	h.sinks, n.taken = n.sinks, true
	n.engine.Log.Info("run begun", "run", n.begun.Run, "job", n.begun.Job, "key", n.begun.Key, "guarantee", n.begun.Guarantee, "handles", 0)
	return h, nil
}

// forget closes the destinations of a run that was not begun.
func (n *newRun) forget() {
	for _, s := range n.sinks {
		if !n.taken {
			_ = s.Close() // nothing was written through it that anybody relies on
		}
	}
}
