package publish_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

var errNoAnswer = errors.New("503")

// TestCommitOfALiar: whatever a sink answers, an artifact is finished only when a look has shown it published and Publish
// has answered that it is durable.
func TestCommitOfALiar(t *testing.T) {
	tests := []struct {
		name string
		lie  func(b *bench, l *liar)
		want publish.Fate // "": committed
	}{
		{"honest", func(*bench, *liar) {}, ""},
		{"answers well and does nothing", func(_ *bench, l *liar) {
			l.onPublish = func(int, runstate.Handle) (error, bool) { return nil, true }
		}, publish.Unknown},
		{"does nothing the first time", func(_ *bench, l *liar) {
			l.onPublish = func(n int, _ runstate.Handle) (error, bool) { return nil, n == 1 }
		}, ""},
		{"lost reply", func(_ *bench, l *liar) {
			l.onPublish = func(n int, h runstate.Handle) (error, bool) {
				if n == 1 {
					return errors.Join(errNoAnswer, l.publish(h)), true
				}
				return nil, false
			}
		}, ""},
		{"never says that it is durable", func(_ *bench, l *liar) {
			l.onPublish = func(_ int, h runstate.Handle) (error, bool) { return errors.Join(errNoAnswer, l.publish(h)), true }
		}, publish.Unknown},
		{"looks denied for a while", func(_ *bench, l *liar) {
			l.onInspect = func(n int, _ runstate.Handle) (stage.Evidence, error, bool) {
				return stage.Evidence{}, errNoAnswer, n <= 3
			}
		}, ""},
		{"looks denied", func(_ *bench, l *liar) {
			l.onInspect = func(int, runstate.Handle) (stage.Evidence, error, bool) { return stage.Evidence{}, errNoAnswer, true }
		}, publish.Unknown},
		{"look denied once it is published", func(_ *bench, l *liar) {
			l.onInspect = func(_ int, h runstate.Handle) (stage.Evidence, error, bool) {
				return stage.Evidence{}, errNoAnswer, l.final[h.Name] == "ours"
			}
		}, publish.Unknown},
		{"gone", func(b *bench, l *liar) { clear(l.staged) }, publish.Lost},
		{"gone while it is published", func(b *bench, l *liar) {
			l.onPublish = func(int, runstate.Handle) (error, bool) { clear(l.staged); return nil, true }
		}, publish.Lost},
		{"gone, and lands late", func(b *bench, l *liar) {
			l.late = 30 * time.Second
			clear(l.staged)
			l.onInspect = func(n int, h runstate.Handle) (stage.Evidence, error, bool) {
				if n == 4 {
					l.final[h.Name] = "ours"
				}
				return stage.Evidence{}, nil, false
			}
		}, ""},
		{"gone for good, where it could land late", func(_ *bench, l *liar) { l.late = 30 * time.Second; clear(l.staged) }, publish.Lost},
		{"foreign", func(b *bench, l *liar) { l.final[nameOf(1)] = "theirs" }, publish.Conflict},
		{"foreign while it is published", func(_ *bench, l *liar) {
			l.onPublish = func(_ int, h runstate.Handle) (error, bool) { l.final[h.Name] = "theirs"; return nil, true }
		}, publish.Conflict},
		{"published before", func(_ *bench, l *liar) { l.final[nameOf(1)] = "ours" }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, "", 1, "a")
			b.wrap = func(l *liar) stage.Sink {
				if l.late > 0 {
					return lateLiar{l}
				}
				return l
			}
			b.decide()
			b.sinks[0].count = map[string]int{}
			test.lie(b, b.sinks[0])
			start := b.now
			err := b.settler().Finish(t.Context())
			if waited := b.now.Sub(start); waited > time.Minute+10*time.Second {
				t.Errorf("waited %v", waited)
			}
			if test.want == "" {
				b.ok(err)
				if b.sinks[0].final[nameOf(1)] != "ours" || b.journal.State().Ended.Outcome != runstate.Done {
					t.Fatalf("%+v", b.journal.State().Ended)
				}
				if b.sinks[0].count["publish"] == 0 {
					t.Fatal("nothing has made it durable")
				}
				return
			}
			if got := problems(t, err); !slices.Equal(got, []publish.Fate{test.want}) {
				t.Fatalf("%v, want %s", got, test.want)
			}
			if len(b.journal.State().Finished) > 0 || b.journal.State().Ended != nil {
				t.Fatal("it is called finished")
			}
			if test.want == publish.Unknown && len(b.slept) < 5 || test.want == publish.Conflict && len(b.slept) > 0 {
				t.Fatalf("slept %v", b.slept)
			}
		})
	}
}

func nameOf(ckpt int) string {
	return runstate.Artifact{Run: token, Checkpoint: ckpt, Ext: "csv"}.Name()
}

// TestPauses double, up to the most, and a random half of each is left out.
func TestPauses(t *testing.T) {
	b := newBench(t, "", 1, "a")
	s := b.decide()
	b.sinks[0].onInspect = func(int, runstate.Handle) (stage.Evidence, error, bool) { return stage.Evidence{}, errNoAnswer, true }
	if got := problems(t, s.Finish(t.Context())); got[0] != publish.Unknown {
		t.Fatal(got)
	}
	for i, d := range b.slept {
		full := min(time.Second<<i, 10*time.Second)
		if d != full*3/4 {
			t.Fatalf("pause %d is %v of %v", i, d, full)
		}
	}
	b.slept = nil
	s = b.settler()
	s.Patience.Wait = 0
	if err := s.Finish(t.Context()); err == nil || len(b.slept) > 0 {
		t.Fatalf("no patience, and slept %v: %v", b.slept, err)
	}
}

// TestOneSilentSink: patience is spent once at a sink that does not answer, not for each of its artifacts; the other sink's
// artifacts are all finished.
func TestOneSilentSink(t *testing.T) {
	b := newBench(t, "", 50, "a", "b")
	s := b.decide()
	b.sinks[0].onInspect = func(int, runstate.Handle) (stage.Evidence, error, bool) { return stage.Evidence{}, errNoAnswer, true }
	start := b.now
	if got := problems(t, s.Finish(t.Context())); len(got) != 50 {
		t.Fatalf("%d problems", len(got))
	}
	if waited := b.now.Sub(start); waited > 2*time.Minute {
		t.Fatalf("waited %v", waited)
	}
	if n := len(b.journal.State().Finished); n != 50 {
		t.Fatalf("%d artifacts are finished", n)
	}
	b.sinks[0].onInspect = nil
	b.ok(b.settler().Finish(t.Context()))
	if b.journal.State().Ended.Outcome != runstate.Done {
		t.Fatal(b.journal.State().Ended)
	}
}

// TestCancelled: after a cancellation nothing is started, wherever it comes.
func TestCancelled(t *testing.T) {
	for _, when := range []string{"inspect", "publish", "put", "sleep"} {
		for n := 1; n <= 3; n++ {
			b := newBench(t, "", 3, "a")
			s := b.decide()
			ctx, cancel := context.WithCancel(t.Context())
			l := b.sinks[0]
			l.count = map[string]int{}
			l.calls = nil
			cut := -1
			at := func(what string) {
				if what == when && l.count[what] == n {
					cancel()
					cut = len(l.calls)
				}
			}
			l.onInspect = func(int, runstate.Handle) (stage.Evidence, error, bool) {
				at("inspect")
				return stage.Evidence{}, errNoAnswer, when == "sleep"
			}
			l.onPublish = func(int, runstate.Handle) (error, bool) { at("publish"); return nil, false }
			l.onPutNote = func(int, string) (error, bool) { at("put"); return nil, false }
			sleep := s.Patience.Sleep
			s.Patience.Sleep = func(ctx context.Context, d time.Duration) error {
				l.count["sleep"]++
				at("sleep")
				return sleep(ctx, d)
			}
			err := s.Finish(ctx)
			cancel()
			if cut < 0 {
				continue
			}
			if err == nil && when != "put" {
				t.Fatalf("cancelled at %s %d, and all is well", when, n)
			}
			for _, call := range l.calls[cut:] {
				if call[:3] == "pub" || call[:3] == "put" {
					t.Fatalf("cancelled at %s %d, and then %q", when, n, call)
				}
			}
		}
	}
}

// TestStopBetweenHandles: what has started finishes, nothing further starts, and a later process goes on.
func TestStopBetweenHandles(t *testing.T) {
	b := newBench(t, "", 3, "a", "b")
	s := b.decide()
	b.sinks[1].onPublish = func(n int, _ runstate.Handle) (error, bool) {
		if n == 2 {
			close(b.stop)
		}
		return nil, false
	}
	if err := s.Finish(t.Context()); !errors.Is(err, publish.ErrStopped) {
		t.Fatal(err)
	}
	if n := len(b.journal.State().Finished); n != 4 {
		t.Fatalf("%d are finished", n)
	}
	b.stop = make(chan struct{})
	b.ok(b.settler().Finish(t.Context()))
}
