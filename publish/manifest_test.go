package publish_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
)

var manifestName = runstate.ManifestName(token)

// TestManifests: two settlers of one run make the same bytes, from the journal, from the mark and from an adopter's journal.
func TestManifests(t *testing.T) {
	b := newBench(t, "k", 3, "a", "b")
	b.decide()
	m, err := publish.FindMark(t.Context(), "k", 0, b.sinksOf(0, 1))
	b.ok(err)
	b.ok(b.settler().Finish(t.Context()))
	for i, l := range b.sinks {
		if got := string(l.notes[manifestName]); got != m.Manifests[i] {
			t.Fatalf("%s\n%s", got, m.Manifests[i])
		}
		man, err := publish.ReadManifest(l.notes[manifestName])
		b.ok(err)
		if man.Rows != 30 || man.Bytes != 3000 || len(man.Artifacts) != 3 || man.Outcome != runstate.Done || man.Run != token || man.Key != "k" {
			t.Fatalf("%+v", man)
		}
	}
	unkeyed := newBench(t, "", 3, "a", "b")
	unkeyed.decide()
	b.ok(unkeyed.settler().Finish(t.Context()))
	want := strings.Replace(m.Manifests[1], "  \"key\": \"k\",\n", "", 1)
	if got := string(unkeyed.sinks[1].notes[manifestName]); got != want {
		t.Fatalf("%s\n%s", got, want)
	}
}

// TestManifestFound: one of this run that is there is never replaced, and its outcome is the run's; anything else under its
// name is for a person.
func TestManifestFound(t *testing.T) {
	partial := newBench(t, "k", 2, "a", "b")
	s := partial.decide()
	delete(partial.sinks[0].staged, nameOf(1))
	partial.ok(s.Resolve(t.Context(), runstate.HandleID{Name: nameOf(1)}, runstate.AsLost, "gone"))
	partial.ok(s.Finish(t.Context()))
	if got := partial.journal.State().Ended.Outcome; got != runstate.Partial {
		t.Fatal(got)
	}
	theirs := partial.sinks[1].notes[manifestName]
	if man, err := publish.ReadManifest(theirs); err != nil || man.Outcome != runstate.Partial {
		t.Fatalf("the sink that lost nothing says %+v, %v", man, err)
	}
	found := newBench(t, "k", 2, "a", "b")
	found.decide()
	found.sinks[1].notes[manifestName] = theirs
	found.ok(found.settler().Finish(t.Context()))
	if got := found.journal.State().Ended.Outcome; got != runstate.Partial || !bytes.Equal(found.sinks[1].notes[manifestName], theirs) {
		t.Fatalf("%s: %s", got, found.sinks[1].notes[manifestName])
	}
	for name, text := range map[string]string{"no manifest": "<html>", "of another run": strings.ReplaceAll(string(theirs), string(token), string(rival)),
		"of a newer version": strings.Replace(string(theirs), `"clinkctl_manifest": 1`, `"clinkctl_manifest": 9`, 1), "empty": ""} {
		b := newBench(t, "", 1, "a")
		b.decide()
		b.sinks[0].notes[manifestName] = []byte(text)
		if _, conflict := errors.AsType[*publish.ManifestConflict](b.settler().Finish(t.Context())); !conflict {
			t.Fatalf("%s: no conflict", name)
		}
		if string(b.sinks[0].notes[manifestName]) != text || b.journal.State().Ended != nil {
			t.Fatalf("%s: replaced, or ended", name)
		}
		delete(b.sinks[0].notes, manifestName)
		b.ok(b.settler().Finish(t.Context()))
	}
}

// TestManifestUnanswered: a manifest is only believed when it was read back.
func TestManifestUnanswered(t *testing.T) {
	b := newBench(t, "", 1, "a", "b")
	b.decide()
	l := b.sinks[1]
	l.onPutNote = func(n int, _ string) (error, bool) { return errNoAnswer, n == 1 }
	if err := b.settler().Finish(t.Context()); !errors.Is(err, errNoAnswer) {
		t.Fatal(err)
	}
	l.onPutNote = func(n int, _ string) (error, bool) { return nil, n == 2 } // well answered, and not there
	if err := b.settler().Finish(t.Context()); err == nil {
		t.Fatal("believed")
	}
	l.onNote = func(n int, _ string) (error, bool) { return errNoAnswer, n == 3 } // one look was the survey's
	if err := b.settler().Finish(t.Context()); !errors.Is(err, errNoAnswer) {
		t.Fatal(err)
	}
	b.ok(b.settler().Finish(t.Context()))
	if b.journal.State().Ended.Outcome != runstate.Done {
		t.Fatal(b.journal.State().Ended)
	}
}

// TestSweepDenied is a warning of a run that has ended.
func TestSweepDenied(t *testing.T) {
	b := newBench(t, "", 1, "a")
	b.decide()
	b.sinks[0].onSweep = func() error { return errNoAnswer }
	b.ok(b.settler().Finish(t.Context()))
	if e := b.journal.State().Ended; e.Outcome != runstate.Done || len(e.Warnings) != 1 {
		t.Fatalf("%+v", e)
	}
}

// TestTwoSettlers finish one run at once, from two journals, many times; one of them may die at any record.
func TestTwoSettlers(t *testing.T) {
	for round := range 200 {
		b := newBench(t, "k", 4, "a", "b")
		b.decide()
		m, err := publish.FindMark(t.Context(), "k", 0, b.sinksOf(0, 1))
		b.ok(err)
		b.ok(b.fsys.Mkdir("/adopted"))
		adopted, err := runstate.Import(b.fsys, "/adopted", []byte(m.Journal), runstate.Options{Now: b.clock})
		b.ok(err)
		owner, adopter := b.settler(), b.settler()
		adopter.Journal = adopted
		for _, s := range []*publish.Settler{owner, adopter} {
			s.Patience.Wait, s.Log = 0, slog.New(slog.DiscardHandler)
		}
		if die := round % 8; die > 0 { // the adopter stops on the way
			stop := make(chan struct{})
			n := 0
			adopter.Stop = stop
			adopter.Finished = func() {
				if n++; n == die {
					close(stop)
				}
			}
		}
		var wait sync.WaitGroup
		var first, second error
		wait.Go(func() { first = owner.Finish(t.Context()) })
		wait.Go(func() {
			if second = adopter.Survey(t.Context()); second == nil {
				second = adopter.Finish(t.Context())
			}
		})
		wait.Wait()
		if errors.Is(second, publish.ErrStopped) {
			second = nil
		}
		b.ok(errors.Join(first, second))
		for i, l := range b.sinks {
			if len(l.final) != 4 || len(l.staged) != 0 || string(l.notes[manifestName]) != m.Manifests[i] {
				t.Fatalf("round %d: %v, %v", round, l.final, l.staged)
			}
		}
		b.ok(adopted.Close())
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(`{"clinkctl_manifest":1,"outcome":"done","run":"20261130t013000z7f3a9c1e"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := publish.ReadManifest(data); err == nil && (m.Format < 1 || m.Format > publish.ManifestFormat) {
			t.Fatalf("%+v", m)
		}
	})
}
