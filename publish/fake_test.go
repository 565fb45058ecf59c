package publish_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// liar is a destination that tells whatever a test wants it to. What it really does is in staged, final and notes.
type liar struct {
	id   string
	bad  bool          // it gets the records that are refused
	late time.Duration // of stage.Late, where it is not 0

	mu     sync.Mutex
	staged map[string]bool
	final  map[string]string // "ours", or other bytes
	notes  map[string][]byte
	calls  []string
	count  map[string]int

	// Each may answer instead, or change the world first. n counts the calls of its kind from 1. Nil errors and false go on.
	onInspect func(n int, h runstate.Handle) (e stage.Evidence, err error, instead bool)
	onPublish func(n int, h runstate.Handle) (err error, instead bool)
	onAbort   func(n int, h runstate.Handle) (err error, instead bool)
	onNote    func(n int, name string) (err error, instead bool)
	onPutNote func(n int, name string) (err error, instead bool)
	onSweep   func() error
}

// newLiar makes a destination; of records that are refused if its identity begins with bad.
func newLiar(id string) *liar {
	return &liar{id: id, bad: strings.HasPrefix(id, "bad"), staged: map[string]bool{}, final: map[string]string{}, notes: map[string][]byte{}, count: map[string]int{}}
}

func (l *liar) called(what, of string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, what+" "+of)
	l.count[what]++
	return l.count[what]
}

func (l *liar) Identity() string { return l.id }
func (l *liar) Close() error     { return nil }

func (l *liar) Inspect(_ context.Context, h runstate.Handle) (stage.Evidence, error) {
	n := l.called("inspect", h.Name)
	if l.onInspect != nil {
		if e, err, instead := l.onInspect(n, h); instead {
			return e, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.final[h.Name] == "ours":
		return stage.Evidence{State: stage.Published, Detail: "there"}, nil
	case l.final[h.Name] != "":
		return stage.Evidence{State: stage.Foreign, Detail: "other bytes"}, nil
	case l.staged[h.Name]:
		return stage.Evidence{State: stage.Staged}, nil
	}
	return stage.Evidence{State: stage.Gone, Detail: "nowhere"}, nil
}

func (l *liar) Publish(_ context.Context, h runstate.Handle) error {
	n := l.called("publish", h.Name)
	if l.onPublish != nil {
		if err, instead := l.onPublish(n, h); instead {
			return err
		}
	}
	return l.publish(h)
}

func (l *liar) publish(h runstate.Handle) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.final[h.Name] == "ours":
	case l.final[h.Name] != "":
		return stage.ErrForeign
	case !l.staged[h.Name]:
		return errors.New("nothing to publish")
	}
	l.final[h.Name] = "ours"
	delete(l.staged, h.Name)
	return nil
}

func (l *liar) Abort(_ context.Context, h runstate.Handle) error {
	n := l.called("abort", h.Name)
	if l.onAbort != nil {
		if err, instead := l.onAbort(n, h); instead {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.final[h.Name] == "ours" {
		return stage.ErrPublished
	}
	delete(l.staged, h.Name)
	return nil
}

func (l *liar) PutNote(_ context.Context, name string, data []byte) error {
	n := l.called("put", name)
	if l.onPutNote != nil {
		if err, instead := l.onPutNote(n, name); instead {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.notes[name]; taken {
		return fs.ErrExist
	}
	l.notes[name] = slices.Clone(data)
	return nil
}

func (l *liar) Note(_ context.Context, name string) ([]byte, error) {
	n := l.called("note", name)
	if l.onNote != nil {
		if err, instead := l.onNote(n, name); instead {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	data, ok := l.notes[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(data), nil
}

func (l *liar) Visible(_ context.Context, run runstate.Token) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for name := range l.final {
		if a, err := runstate.ParseName(name); err == nil && a.Run == run {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (l *liar) Sweep(context.Context, runstate.Token, []runstate.Handle) error {
	l.called("sweep", "")
	if l.onSweep != nil {
		return l.onSweep()
	}
	return nil
}

// lateLiar is a liar whose writes may land late.
type lateLiar struct{ *liar }

func (l lateLiar) Late() time.Duration { return l.late }

const token = runstate.Token("20261130t013000z7f3a9c1e")

// bench is a run with everything prepared, and what a settler needs.
type bench struct {
	t       *testing.T
	fsys    *vfs.Mem
	journal *runstate.Journal
	sinks   []*liar
	wrap    func(*liar) stage.Sink
	now     time.Time
	slept   []time.Duration
	stop    chan struct{}
	here    error
}

// newBench prepares units at sinks with these identities, in this order.
func newBench(t *testing.T, key string, units int, ids ...string) *bench {
	t.Helper()
	b := &bench{t: t, fsys: vfs.NewMem(1), now: time.Date(2026, 11, 30, 1, 30, 0, 0, time.UTC), stop: make(chan struct{})}
	for _, id := range ids {
		b.sinks = append(b.sinks, newLiar(id))
	}
	b.journal = b.begin("/run", token, key, units)
	t.Cleanup(b.close)
	return b
}

// close replays the journal and compares that with what the run's process held for its state.
func (b *bench) close() {
	if err := b.journal.Close(); err != nil {
		b.t.Error(err)
	}
	v, err := runstate.Read(b.fsys, b.journal.Dir(), runstate.Format)
	if err != nil {
		b.t.Error(err)
		return
	}
	now, then := b.journal.State(), v.State
	if len(now.Finished) != len(then.Finished) || now.Decision != then.Decision || (now.Ended == nil) != (then.Ended == nil) {
		b.t.Errorf("the journal replays to another state: %+v, %+v", now, then)
	}
}

func (b *bench) begin(dir string, run runstate.Token, key string, units int) *runstate.Journal {
	b.t.Helper()
	begun := runstate.Begun{Run: run, Job: "job", Key: key, Plan: json.RawMessage("{}"), PlanDigest: "xxh128:00", Guarantee: "exactly_once",
		Source: json.RawMessage("{}"), Columns: []runstate.Column{}}
	for n := range units {
		begun.Splits = append(begun.Splits, runstate.Split{Part: fmt.Sprintf("/src/%d", n), From: 0, To: 100})
	}
	for _, l := range b.sinks {
		begun.Sinks = append(begun.Sinks, runstate.SinkID{To: "/to/" + l.id, Identity: l.id, Rejects: l.bad})
	}
	b.ok(b.fsys.Mkdir(dir))
	j, err := runstate.Begin(b.fsys, dir, begun, runstate.Options{Now: b.clock})
	b.ok(err)
	b.ok(j.Append(runstate.Record{Attempt: &runstate.Attempt{Number: 1, Subtasks: 1}}))
	for n := range units {
		u := runstate.Unit{Attempt: 1, Checkpoint: n + 1, Rows: 10, Ranges: []runstate.Range{{Split: n, From: 0, To: 100, End: true, Digest: "xxh128:11"}}}
		for i, l := range b.sinks {
			name := runstate.Artifact{Run: run, Checkpoint: n + 1, Ext: "csv"}.Name()
			l.staged[name] = true
			h := runstate.Handle{Name: name, Sink: i, Attempt: 1, Checkpoint: n + 1, Place: "/to/" + l.id, Rows: 10,
				Bytes: 1000, Digest: "xxh128:22", Backend: "liar", Payload: json.RawMessage("{}")}
			if l.bad {
				u.Rejected, h.Rows = 2, 2
				u.Handles[0].Nulled = 5
			}
			u.Handles = append(u.Handles, h)
		}
		b.ok(j.Append(runstate.Record{Prepared: &u}))
	}
	return j
}

func (b *bench) clock() time.Time { return b.now }

// refuseRecords makes every write to the journal fail.
func (b *bench) refuseRecords() {
	b.fsys.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpWrite {
			return vfs.Fail(syscall.EIO)
		}
		return vfs.Fault{}
	})
}

// reopen opens the journal as a later process does.
func (b *bench) reopen() {
	b.t.Helper()
	b.fsys.OnOp(nil)
	b.ok(b.journal.Close())
	j, err := runstate.Open(b.fsys, b.journal.Dir(), runstate.Options{Now: b.clock})
	b.ok(err)
	b.journal = j
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// settler settles the run with a minute's patience.
func (b *bench) settler() *publish.Settler {
	s := &publish.Settler{Journal: b.journal, Here: func() error { return b.here }, Log: slog.New(slog.DiscardHandler), Stop: b.stop,
		Patience: publish.Patience{Wait: time.Minute, First: time.Second, Most: 10 * time.Second, Now: b.clock, Random: func() float64 { return 0.5 },
			Sleep: func(ctx context.Context, d time.Duration) error {
				b.now, b.slept = b.now.Add(d), append(b.slept, d)
				return ctx.Err()
			}}}
	for _, l := range b.sinks {
		var sink stage.Sink = l
		if b.wrap != nil {
			sink = b.wrap(l)
		}
		s.Sinks = append(s.Sinks, sink)
	}
	return s
}

// decide surveys and decides.
func (b *bench) decide() *publish.Settler {
	b.t.Helper()
	s := b.settler()
	b.ok(s.Survey(b.t.Context()))
	b.ok(s.Decide(b.t.Context()))
	return s
}

// home is the sink that keeps the key's mark.
func (b *bench) home() *liar {
	rows := slices.DeleteFunc(slices.Clone(b.sinks), func(l *liar) bool { return l.bad })
	return slices.MinFunc(rows, func(x, y *liar) int { return cmp.Compare(x.id, y.id) })
}

// problems are the fates that keep a run from its end.
func problems(t *testing.T, err error) []publish.Fate {
	t.Helper()
	u, ok := errors.AsType[*publish.Unfinished](err)
	if !ok {
		t.Fatalf("%v is not Unfinished", err)
	}
	var fates []publish.Fate
	for _, p := range u.Problems {
		fates = append(fates, p.Fate)
	}
	return fates
}
