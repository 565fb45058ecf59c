package objects_test

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/objects"
	"github.com/clinkctl/clinkctl/runstate/objects/objectstest"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

const (
	run = "20261130t013000z7f3a9c1e"
	dir = "/orders/" + run
)

// clock moves when somebody sleeps.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept time.Duration
	onNap func() // called at each sleep
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.now, c.slept = c.now.Add(d), c.slept+d
	nap := c.onNap
	c.mu.Unlock()
	if nap != nil {
		nap()
	}
	return ctx.Err()
}

var seeds uint64

// process is one more process that works on a store. Its beat comes once.
func process(store runstate.Objects, c *clock) *objects.FS {
	seeds++
	return objects.New(store, objects.Env{Random: rand.NewChaCha8([32]byte{byte(seeds)}), Now: c.Now, Sleep: c.Sleep,
		Beat: func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }})
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin makes a journal with some bytes, as runstate does.
func begin(t *testing.T, f vfs.FS, text string) vfs.File {
	t.Helper()
	j, err := f.Create(dir + "/journal.new")
	ok(t, err)
	add(t, j, text)
	ok(t, f.Rename(dir+"/journal.new", dir+"/journal"))
	return j
}

func add(t *testing.T, f vfs.File, text string) {
	t.Helper()
	_, err := f.Write([]byte(text))
	ok(t, err)
	ok(t, f.Sync())
}

func text(t *testing.T, f vfs.FS) string {
	t.Helper()
	data, err := vfs.ReadFile(f, dir+"/journal")
	ok(t, err)
	return string(data)
}

// An append has its object, and is read by everybody; what is put together for readers reads the same.
func TestJournal(t *testing.T) {
	m, c := objectstest.New(), &clock{}
	f := process(m, c)
	if _, err := f.Open(dir + "/journal"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	j := begin(t, f, "one\n")
	for _, line := range []string{"two\n", "three\n", "four\n"} {
		add(t, j, line)
		add(t, j, "") // nothing is appended by nothing
	}
	want := "one\ntwo\nthree\nfour\n"
	if got := text(t, process(m, c)); got != want {
		t.Fatalf("%q", got)
	}
	before := len(m.Names())
	ok(t, j.Close())
	if names := m.Names(); len(names) != before+1 || !slices.Contains(names, "orders/"+run+"/journal-1/whole-000004") {
		t.Fatal(names)
	}
	again := process(m, c)
	m.OnOp(func(op objectstest.Op) objectstest.Fault {
		if op.Verb == "get" && !strings.Contains(op.Name, "whole-") {
			t.Errorf("%s is read", op.Name)
		}
		return objectstest.Fault{}
	})
	if got := text(t, again); got != want {
		t.Fatalf("%q", got)
	}
	m.OnOp(nil)
	j = begin(t, again, want) // opened for work: the same journal goes on
	add(t, j, "five\n")
	if got := text(t, f); got != want+"five\n" {
		t.Fatalf("%q", got)
	}
}

// Of two that append, the second is fenced, and stays so. One that was read before another has appended is fenced at once.
func TestFence(t *testing.T) {
	m, c := objectstest.New(), &clock{}
	first, second := process(m, c), process(m, c)
	a := begin(t, first, "one\n")
	b := begin(t, second, "one\n")
	add(t, b, "two of b\n")
	_, err := a.Write([]byte("two of a\n"))
	ok(t, err)
	if err := a.Sync(); !errors.Is(err, vfs.ErrFenced) {
		t.Fatal(err)
	}
	if _, err := a.Write([]byte("three of a\n")); err == nil {
		t.Fatal("a fenced journal is written to")
	}
	ok(t, a.Close())
	add(t, b, "three of b\n")
	stale, err := first.Create(dir + "/journal.new")
	ok(t, err)
	add(t, stale, "one\ntwo of b\n")
	if err := first.Rename(dir+"/journal.new", dir+"/journal"); !errors.Is(err, vfs.ErrFenced) {
		t.Fatal(err)
	}
	if got := text(t, first); got != "one\ntwo of b\nthree of b\n" {
		t.Fatalf("%q", got)
	}
}

// An append that nobody has answered is read back: what was made is ours, what was not is made again.
func TestUnknownAppend(t *testing.T) {
	for name, fault := range map[string]objectstest.Fault{"lost request": {Lost: true}, "lost reply": {Reply: true}} {
		m, c := objectstest.New(), &clock{}
		j := begin(t, process(m, c), "one\n")
		m.OnOp(func(op objectstest.Op) objectstest.Fault {
			if op.N <= 3 {
				return fault
			}
			return objectstest.Fault{}
		})
		add(t, j, "two\n")
		m.OnOp(func(op objectstest.Op) objectstest.Fault { return fault })
		_, err := j.Write([]byte("three\n"))
		ok(t, err)
		if err := j.Sync(); err == nil || errors.Is(err, vfs.ErrFenced) {
			t.Fatalf("%s: %v", name, err)
		}
		m.OnOp(nil)
		if got := text(t, process(m, c)); !strings.HasPrefix(got, "one\ntwo\n") {
			t.Fatalf("%s: %q", name, got)
		}
	}
}

// A journal is put aside, and another one takes its place.
func TestAnotherJournal(t *testing.T) {
	m, c := objectstest.New(), &clock{}
	f := process(m, c)
	begin(t, f, "old\n")
	ok(t, runstate.KeepOld(f, dir))
	begin(t, f, "made again\n")
	if got := text(t, process(m, c)); got != "made again\n" {
		t.Fatalf("%q", got)
	}
	ok(t, runstate.SetJournalAside(f, dir))
	if _, err := process(m, c).Open(dir + "/journal"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	begin(t, f, "third\n")
	if got := text(t, process(m, c)); got != "third\n" {
		t.Fatalf("%q", got)
	}
	for name, want := range map[string]string{"journal.old-1": "old\n", "journal.old-2": "made again\n"} {
		if data, err := vfs.ReadFile(f, dir+"/"+name); err != nil || string(data) != want {
			t.Fatalf("%s: %q, %v", name, data, err)
		}
	}
	ok(t, vfs.WriteNew(f, dir+"/aside.json", []byte("{}")))
	aside := "/orders/aside-" + run
	ok(t, f.RenameNoReplace(dir, aside))
	if names, err := f.List("/orders"); err != nil || !slices.Equal(names, []string{"aside-" + run}) {
		t.Fatal(names, err)
	}
	if data, err := vfs.ReadFile(f, aside+"/aside.json"); err != nil || string(data) != "{}" {
		t.Fatalf("%q, %v", data, err)
	}
}

// A holder whose beat moves keeps the lock; one whose beat stands still for six periods of the taker's own clock loses it, and
// learns of it when it looks.
func TestTakeOver(t *testing.T) {
	m, c := objectstest.New(), &clock{}
	dead := process(m, c)
	lock, err := runstate.TakeLock(dead, dir)
	ok(t, err)
	if _, err := dead.Lock(dir + "/lock"); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("in the same process: %v", err)
	}
	beats := 0
	c.onNap = func() { // somebody beats
		beats++
		_ = m.Replace(context.Background(), "orders/"+run+"/owner/000001.beat", []byte(`{"count":`+string(rune('1'+beats))+`}`))
	}
	if _, err := process(m, c).Lock(dir + "/lock"); !errors.Is(err, vfs.ErrLocked) {
		t.Fatal(err)
	}
	c.onNap, c.slept = nil, 0
	ok(t, lock.StillHere())
	taker := process(m, c)
	taken, err := runstate.TakeLock(taker, dir)
	ok(t, err)
	if c.slept < 60*time.Second || c.slept > 70*time.Second {
		t.Fatalf("it was watched for %v", c.slept)
	}
	if err := lock.StillHere(); !errors.Is(err, vfs.ErrFenced) {
		t.Fatal(err)
	}
	ok(t, taken.StillHere())
	c.slept = 0
	ok(t, taken.Release())
	next, err := runstate.TakeLock(process(m, c), dir)
	ok(t, err)
	if c.slept > 0 {
		t.Fatalf("a lock that was given back was watched for %v", c.slept)
	}
	ok(t, next.Release())
	ok(t, lock.Release())
}

// Of processes that take over at once, one does, and its beat keeps the others out.
func TestTakeOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := objectstest.New()
		sleep := func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		}
		ok(t, m.Create(t.Context(), "orders/"+run+"/owner/000001", []byte("dead\n")))
		locks := make([]vfs.Locked, 8)
		var all sync.WaitGroup
		for i := range locks {
			seeds++
			f := objects.New(m, objects.Env{Random: rand.NewChaCha8([32]byte{byte(seeds)}), Now: time.Now, Sleep: sleep})
			all.Go(func() {
				time.Sleep(time.Duration(i/2) * time.Second)
				var err error
				if locks[i], err = f.Lock(dir + "/lock"); err != nil && !errors.Is(err, vfs.ErrLocked) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		wins := 0
		for _, l := range locks {
			if l != nil {
				wins++
				ok(t, l.Close())
			}
		}
		if wins != 1 {
			t.Fatalf("%d have it", wins)
		}
	})
}

// A key has one run, whoever claims it, and the next one when that is over.
func TestClaim(t *testing.T) {
	m, c := objectstest.New(), &clock{}
	never := func([]byte) (bool, error) { return false, nil }
	ok(t, process(m, c).Claim("/orders/keys/k", []byte("first"), never))
	ok(t, process(m, c).Claim("/orders/keys/k", []byte("first"), never)) // as after a lost reply
	err := process(m, c).Claim("/orders/keys/k", []byte("second"), never)
	if claimed, is := errors.AsType[*runstate.ClaimedError](err); !is || string(claimed.Line) != "first" {
		t.Fatal(err)
	}
	over := func(line []byte) (bool, error) { return string(line) == "first", nil }
	ok(t, process(m, c).Claim("/orders/keys/k", []byte("second"), over))
	if err := process(m, c).Claim("/orders/keys/k", []byte("third"), over); err == nil {
		t.Fatal("two have the key")
	}
}

// A store that replaces is refused.
func TestProbe(t *testing.T) {
	m, c := objectstest.New(), &clock{}
	ok(t, process(m, c).Probe(".probe-1"))
	if err := process(replacing{m}, c).Probe(".probe-2"); err == nil {
		t.Fatal("a store that replaces objects is taken")
	}
}

type replacing struct{ *objectstest.Memory }

func (r replacing) Create(ctx context.Context, name string, data []byte) error {
	return r.Replace(ctx, name, data)
}
