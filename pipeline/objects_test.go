package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/objects"
	"github.com/clinkctl/clinkctl/runstate/objects/objectstest"
)

// elsewhere is a process on a machine whose state is kept in a store of objects. It beats once.
func (w *world) elsewhere(store runstate.Objects) *pipeline.Engine {
	e := w.engine(w.mem.Process())
	e.State, e.Home = "/", "mem"
	e.FS = objects.New(store, objects.Env{Random: w.random, Now: w.clock.Now, Sleep: w.clock.Sleep,
		Beat: func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }})
	return e
}

// storeFaults are what can happen to a process at the k-th request to the store of its state.
var storeFaults = map[string]func(w *world, op objectstest.Op, k int) objectstest.Fault{
	"lost request": func(_ *world, op objectstest.Op, k int) objectstest.Fault { return objectstest.Fault{Lost: op.N == k} },
	"lost reply":   func(_ *world, op objectstest.Op, k int) objectstest.Fault { return objectstest.Fault{Reply: op.N == k} },
	"store gone":   func(_ *world, op objectstest.Op, k int) objectstest.Fault { return objectstest.Fault{Lost: op.N >= k} },
	"store gone after it": func(_ *world, op objectstest.Op, k int) objectstest.Fault {
		return objectstest.Fault{Reply: op.N == k, Lost: op.N > k}
	},
	"death": func(w *world, op objectstest.Op, k int) objectstest.Fault {
		if op.N == k {
			w.mem.ProcessDeath(false)
		}
		return objectstest.Fault{Lost: op.N >= k}
	},
	"death after it": func(w *world, op objectstest.Op, k int) objectstest.Fault {
		if op.N == k {
			w.mem.ProcessDeath(false)
		}
		return objectstest.Fault{Reply: op.N == k, Lost: op.N > k}
	},
}

// TestStateAtAStore: a run whose state is in a store of objects meets a fault at each request to it; another process, on a
// machine that has never heard of the run, brings it to its end.
func TestStateAtAStore(t *testing.T) {
	for name, fault := range storeFaults {
		for _, key := range keys {
			t.Run(fmt.Sprintf("%s/key=%s", name, key), func(t *testing.T) {
				t.Parallel()
				sweep(t, func(t *testing.T, k int) bool {
					w, store := newWorld(t, *seed, sweepRows), objectstest.New()
					met := false
					store.OnOp(func(op objectstest.Op) objectstest.Fault {
						f := fault(w, op, k)
						met = met || f != objectstest.Fault{}
						return f
					})
					r := w.elsewhere(store).Run(t.Context(), w.plan(), key, 0)
					store.OnOp(nil)
					if !met && pipeline.WorstOf(r) != pipeline.Done {
						t.Fatalf("without a fault: %s", show(r))
					}
					if r := w.elsewhere(store).Resume(t.Context(), nil, pipeline.Carry{Subtasks: 1 + k%3}); pipeline.WorstOf(r) != pipeline.Done {
						t.Fatalf("at %d, resume: %s\n%s", k, show(r), strings.Join(store.Names(), "\n"))
					}
					if r := w.elsewhere(store).Run(t.Context(), w.plan(), key, 0); pipeline.WorstOf(r) != pipeline.Done {
						t.Fatalf("at %d, run: %s\n%s", k, show(r), strings.Join(store.Names(), "\n"))
					}
					w.checkWhole(t, sourceRows(sweepRows))
					return met
				})
			})
		}
	}
}

// TestTakenOver: a process that was taken for dead wakes up at some request. It is fenced, or it has finished; it has published
// nothing that the other one has not, and every row is there once.
func TestTakenOver(t *testing.T) {
	for _, key := range keys {
		t.Run("key="+key, func(t *testing.T) {
			fenced := 0
			sweep(t, func(t *testing.T, k int) bool {
				w, store := newWorld(t, *seed, sweepRows), objectstest.New()
				met, asleep := false, sync.Once{}
				var other []pipeline.Result
				var sleeper *pipeline.Engine
				stopped := &stopping{Memory: store, at: k, onStop: func() {
					asleep.Do(func() {
						met = true
						other = w.elsewhere(store).Run(t.Context(), w.plan(), key, 0)
					})
				}}
				sleeper = w.elsewhere(stopped)
				r := sleeper.Run(t.Context(), w.plan(), key, 0)
				if code := pipeline.WorstOf(other); met && code != pipeline.Done && code != pipeline.Held {
					t.Fatalf("at %d, the other one: %s", k, show(other))
				}
				switch code := pipeline.WorstOf(r); code {
				case pipeline.Held:
					fenced++
				case pipeline.Done:
				default:
					t.Fatalf("at %d, the sleeper: %s", k, show(r))
				}
				if r := w.elsewhere(store).Run(t.Context(), w.plan(), key, 0); pipeline.WorstOf(r) != pipeline.Done {
					t.Fatalf("at %d, run: %s", k, show(r))
				}
				// What it stages after the end is invisible, and stays where the other one has published the same bytes under its name.
				for _, dir := range []string{outA, outB} {
					must(t, w.whole(dir, sourceRows(sweepRows)))
				}
				return met
			})
			if fenced == 0 {
				t.Fatal("nobody was ever fenced")
			}
		})
	}
}

// stopping is a store at whose request number a process stands still.
type stopping struct {
	*objectstest.Memory
	mu     sync.Mutex
	n, at  int
	onStop func()
}

func (s *stopping) step() {
	s.mu.Lock()
	s.n++
	stop := s.n == s.at
	s.mu.Unlock()
	if stop {
		s.onStop()
	}
}

func (s *stopping) Create(ctx context.Context, name string, data []byte) error {
	s.step()
	return s.Memory.Create(ctx, name, data)
}

func (s *stopping) Get(ctx context.Context, name string) ([]byte, error) {
	s.step()
	return s.Memory.Get(ctx, name)
}

func (s *stopping) List(ctx context.Context, folder string) ([]string, error) {
	s.step()
	return s.Memory.List(ctx, folder)
}

// TestOneKeyOneStore: processes on many machines that begin a key at once make one run of it.
func TestOneKeyOneStore(t *testing.T) {
	for _, key := range keys {
		w, store := newWorld(t, *seed, sweepRows), objectstest.New()
		w.clock.still = true
		var all sync.WaitGroup
		results := make([][]pipeline.Result, 6)
		for i := range results {
			e := w.elsewhere(store)
			all.Go(func() { results[i] = e.Run(t.Context(), w.plan(), key, 0) })
		}
		all.Wait()
		done := 0
		for _, r := range results {
			switch pipeline.WorstOf(r) {
			case pipeline.Done:
				done++
			case pipeline.Held:
			default:
				t.Errorf("key %q: %s", key, show(r))
			}
		}
		if done == 0 {
			t.Errorf("key %q: nobody has done it", key)
		}
		w.checkWhole(t, sourceRows(sweepRows))
	}
}

// TestDamagedAtAStore: a journal at a store that cannot be read is told, put aside by a person, and its key is free again.
func TestDamagedAtAStore(t *testing.T) {
	for _, key := range keys {
		w, store := newWorld(t, *seed, sweepRows), objectstest.New()
		store.OnOp(func(op objectstest.Op) objectstest.Fault { // dies when two units are prepared
			return objectstest.Fault{Lost: strings.Contains(op.Name, "journal-1/000005") && op.Verb == "create"}
		})
		w.elsewhere(store).Run(t.Context(), w.plan(), key, 0)
		store.OnOp(nil)
		var part string
		for _, name := range store.Names() {
			if strings.HasSuffix(name, "journal-1/000003") {
				part = name
			}
		}
		must(t, store.Replace(t.Context(), part, []byte("00000000 {}\n")))
		e := w.elsewhere(store)
		r := e.Resume(t.Context(), nil, pipeline.Carry{})
		if len(r) != 1 || r[0].Code != pipeline.Person {
			t.Fatalf("key %q: %s", key, show(r))
		}
		entries, err := e.Runs("job")
		must(t, err)
		out, aside := w.elsewhere(store).AbandonDamaged(t.Context(), entries[0].Run, "a test")
		if out.Code != pipeline.Done || aside == nil {
			t.Fatalf("key %q: %s", key, show([]pipeline.Result{out}))
		}
		if entries, err := w.elsewhere(store).Runs("job"); err != nil || len(entries) > 0 {
			t.Fatalf("key %q: %v, %v", key, entries, err)
		}
		if r := w.elsewhere(store).Run(t.Context(), w.plan(), key, 0); pipeline.WorstOf(r) != pipeline.Done {
			t.Fatalf("key %q: %s", key, show(r))
		}
		w.checkWhole(t, sourceRows(sweepRows))
	}
}

// TestAgainAtAStore: further exports of a key, and of a key whose run ended aborted, are further claims.
func TestAgainAtAStore(t *testing.T) {
	for _, key := range keys {
		w, store := newWorld(t, *seed, sweepRows), objectstest.New()
		store.OnOp(func(op objectstest.Op) objectstest.Fault {
			return objectstest.Fault{Lost: strings.Contains(op.Name, "journal-1/000005") && op.Verb == "create"}
		})
		w.elsewhere(store).Run(t.Context(), w.plan(), key, 0)
		store.OnOp(nil)
		e := w.elsewhere(store)
		entries, err := e.Runs("job")
		must(t, err)
		if r := e.Abandon(t.Context(), entries[0].Run, "a test"); r.Code != pipeline.Done {
			t.Fatal(show([]pipeline.Result{r}))
		}
		for again := range 3 {
			for _, already := range []bool{false, true} {
				r := w.elsewhere(store).Run(t.Context(), w.plan(), key, again)
				if pipeline.WorstOf(r) != pipeline.Done || r[len(r)-1].Already != already {
					t.Fatalf("key %q, again %d: %s", key, again, show(r))
				}
			}
		}
	}
}
