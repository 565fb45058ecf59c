package pipeline_test

import (
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// TestAbandon: an undecided run ends aborted with nothing staged; a decided one is refused and finished by resume; one whose
// key has its mark is finished instead.
func TestAbandon(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		for i, at := range worlds(t, w, p, key) {
			s := at.view(t).State
			run := s.Begun.Run
			if s.Ended != nil {
				continue
			}
			f := at.fork()
			e, _ := f.process()
			r := e.Abandon(t.Context(), run, "a test")
			switch {
			case s.Decision == runstate.Commit:
				f.expect(t, []pipeline.Result{r}, pipeline.Open)
				f.resume(t, pipeline.Done)
			case r.Outcome == runstate.Done: // the mark was there
				f.expect(t, []pipeline.Result{r}, pipeline.Done)
				if key == "" {
					t.Fatal("finished without a mark")
				}
			default:
				f.expect(t, []pipeline.Result{r}, pipeline.Done)
				if r.Outcome != runstate.Aborted || len(f.visibleRows(t, outA)) > 0 || len(f.staged()) > 0 {
					t.Fatalf("record %d: %+v, staged %v", i+1, r, f.staged())
				}
				f.expect(t, []pipeline.Result{e.Abandon(t.Context(), run, "again")}, pipeline.Done)
			}
			f.run(t, p, key, pipeline.Done)
			f.checkWhole(t, sourceRows(smallRows))
			at.healthyIsNotDamaged(t, run)
		}
	}
}

// healthyIsNotDamaged: abandon --damaged is refused where the journal can end the run.
func (w *world) healthyIsNotDamaged(t *testing.T, run runstate.Token) {
	t.Helper()
	f := w.fork()
	e, _ := f.process()
	r, aside := e.AbandonDamaged(t.Context(), run, "by mistake")
	if aside != nil || r.Code != pipeline.Usage && r.Outcome != runstate.Done {
		t.Fatalf("a run that its journal can end was put aside: %+v", r)
	}
}

// TestAbandonDamagedWithMark: a run whose key has its mark is adopted, never abandoned.
func TestAbandonDamagedWithMark(t *testing.T) {
	w, p := small(t, *seed)
	at := stateOf(t, worlds(t, w, p, "k"), decided)
	journal, text := at.journal(t)
	text[len(text)/3] ^= 1
	at.replace(t, journal, text)
	at.resume(t, pipeline.Person)
	e, _ := at.process()
	run := runstate.Token(strings.Split(journal, "/")[3])
	r, aside := e.AbandonDamaged(t.Context(), run, "bit rot")
	at.expect(t, []pipeline.Result{r}, pipeline.Done)
	if aside != nil || r.Outcome != runstate.Done {
		t.Fatalf("%+v %+v", r, aside)
	}
	at.checkWhole(t, sourceRows(smallRows))
	at.run(t, p, "k", pipeline.Done)
	at.checkWhole(t, sourceRows(smallRows))
}

// TestAbandonDamagedUnreadable: nothing of the journal can be read, and nothing of the run is visible: the key is free.
func TestAbandonDamagedUnreadable(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		at := stateOf(t, worlds(t, w, p, key), allPrepared)
		journal, text := at.journal(t)
		text[10] ^= 1
		at.replace(t, journal, text)
		at.run(t, p, key, pipeline.Person)
		e, _ := at.process()
		r, aside := e.AbandonDamaged(t.Context(), runstate.Token(strings.Split(journal, "/")[3]), "bit rot")
		at.expect(t, []pipeline.Result{r}, pipeline.Done)
		if aside == nil {
			t.Fatal("not put aside")
		}
		at.run(t, p, key, pipeline.Done)
		at.wholeRows(t, sourceRows(smallRows))
	}
}

// TestOnPendingAbort abandons dead undecided runs of the job, of the same key and of others.
func TestOnPendingAbort(t *testing.T) {
	for _, first := range []string{"", "j"} {
		w, p := small(t, *seed)
		at := stateOf(t, worlds(t, w, p, first), allPrepared)
		dead := at.view(t).State.Begun.Run
		p.OnPending = pipeline.PendingAbort
		at.run(t, p, "j", pipeline.Done)
		at.wholeRows(t, sourceRows(smallRows))
		e := at.engine(at.mem.Outside())
		entry, err := e.Find(dead)
		must(t, err)
		if entry.View.State.Ended == nil || entry.View.State.Ended.Outcome != runstate.Aborted {
			t.Fatalf("the dead run: %+v", entry.View.State.Ended)
		}
	}
}

// TestOtherRunsOfTheJob: a dead run of another key is carried to its end first; one that cannot be ended is set aside, does
// not stop the wanted one, and the exit is the worst; a run that is alive is left alone.
func TestOtherRunsOfTheJob(t *testing.T) {
	w, p := small(t, *seed)
	dead := stateOf(t, worlds(t, w, p, "monday"), allPrepared)

	carried := dead.fork()
	carried.run(t, p, "tuesday", pipeline.Done)
	carried.eachRow(t, 2)

	changed := dead.fork()
	changed.replace(t, "/src/1.csv", []byte(header+"7,seven\n"))
	r := changed.run(t, p, "tuesday", pipeline.Person)
	if len(r) != 2 || r[1].Code != pipeline.Done || r[1].Key != "tuesday" {
		t.Fatal(show(r))
	}
	for dir, rows := range map[string]map[string]int{outA: changed.visibleRows(t, outA), outB: changed.visibleRows(t, outB)} {
		if rows["7,seven\n"] != 1 || len(rows) != 1+smallRows/2 {
			t.Fatalf("%s: %v", dir, rows)
		}
	}

	alive := dead.fork()
	other := alive.mem.Process()
	lock, err := runstate.TakeLock(other, strings.TrimSuffix(alive.journals(state)[0], "/journal"))
	must(t, err)
	alive.run(t, p, "tuesday", pipeline.Done)
	alive.eachRow(t, 1)
	alive.run(t, p, "monday", pipeline.Held)
	alive.resume(t, pipeline.Held)
	must(t, lock.Release())
	alive.resume(t, pipeline.Done)
	alive.eachRow(t, 2)
}

// TestCommitOnly reads nothing: what is undecided stays so, what is decided is finished.
func TestCommitOnly(t *testing.T) {
	w, p := small(t, *seed)
	for _, at := range worlds(t, w, p, "") {
		s := at.view(t).State
		if s.Ended != nil {
			continue
		}
		before := at.mem.BytesRead("/src/1.csv")
		e, _ := at.process()
		want := pipeline.Open
		if s.Decision == runstate.Commit {
			want = pipeline.Done
		}
		at.expect(t, e.Resume(t.Context(), nil, pipeline.Carry{CommitOnly: true}), want)
		if read := at.mem.BytesRead("/src/1.csv") - before; read > 0 {
			t.Fatalf("%d bytes were read", read)
		}
		if after := at.view(t).State; after.Decision != s.Decision {
			t.Fatalf("decided %q", after.Decision)
		}
	}
}

// TestResumeNamed tells the outcome of runs that have ended, and refuses names that stand for nothing.
func TestResumeNamed(t *testing.T) {
	w, p := small(t, *seed)
	r := w.run(t, p, "k", pipeline.Done)
	e, _ := w.process()
	for name, want := range map[string]int{string(r[0].Run): 1, "job": 0} {
		if got := w.expect(t, e.Resume(t.Context(), []string{name}, pipeline.Carry{}), pipeline.Done); len(got) != want {
			t.Fatal(show(got))
		}
	}
	w.expect(t, e.Resume(t.Context(), []string{"nothing"}, pipeline.Carry{}), pipeline.Usage)
	w.checkWhole(t, sourceRows(smallRows))
}
