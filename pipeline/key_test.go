package pipeline_test

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// TestCommittedKey: a key that is committed is done, whatever has become of the source, here and under another state.
func TestCommittedKey(t *testing.T) {
	changes := map[string]func(t *testing.T, w *world){
		"same source":    func(*testing.T, *world) {},
		"changed source": func(t *testing.T, w *world) { w.replace(t, "/src/1.csv", []byte(header+"7,seven\n")) },
		"missing source": func(t *testing.T, w *world) { removeAll(t, w.mem.Outside(), "/src") },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			w, p := small(t, *seed)
			w.run(t, p, "k", pipeline.Done)
			change(t, w)
			r := w.run(t, p, "k", pipeline.Done)
			if !r[0].Already || (len(r[0].Warnings) > 0) != (name != "same source") {
				t.Fatal(show(r))
			}
			want := pipeline.Done
			if name == "missing source" {
				want = pipeline.World // the other state knows nothing of the key before it has found the source's destination
			}
			w.expect(t, w.other().Run(t.Context(), p, "k", 0), want)
			w.checkWhole(t, sourceRows(smallRows))
		})
	}
}

// TestChangedSourceOfAKey: 4 while the run is undecided; once it is decided it is settled, and 0.
func TestChangedSourceOfAKey(t *testing.T) {
	w, p := small(t, *seed)
	for _, at := range worlds(t, w, p, "k") {
		s := at.view(t).State
		at.replace(t, "/src/1.csv", []byte(header+"7,seven,and more than before\n"))
		want := pipeline.Person
		if s.Decision == runstate.Commit || at.marked(t) {
			want = pipeline.Done
		}
		at.run(t, p, "k", want)
		if want == pipeline.Done {
			at.checkWhole(t, sourceRows(smallRows))
		}
	}
}

// marked tells whether a key's mark is at a destination.
func (w *world) marked(t *testing.T) bool {
	t.Helper()
	for _, dir := range []string{outA, outB} {
		names, err := w.mem.Outside().List(dir + "/.clinkctl")
		must(t, err)
		for _, name := range names {
			if strings.HasPrefix(name, "key-") {
				return true
			}
		}
	}
	return false
}

// TestOtherPlan: one key, two plans: 64, naming the difference, and the mark is untouched. So it is for another state
// directory, before and after the first run has ended, and for a key whose run is undecided.
func TestOtherPlan(t *testing.T) {
	w, p := small(t, *seed)
	other := p
	other.Checkpoint.Bytes = 17
	for _, at := range worlds(t, w, p, "k") {
		marked := at.marked(t)
		journal, before := at.journal(t)
		r := at.run(t, other, "k", pipeline.Usage)
		if !strings.Contains(r[0].Error, "checkpoint.bytes: 17 now, 12 then") {
			t.Fatal(show(r))
		}
		if marked {
			at.expect(t, at.other().Run(t.Context(), other, "k", 0), pipeline.Usage)
		}
		after, err := vfs.ReadFile(at.mem.Outside(), journal)
		must(t, err)
		if !bytes.Equal(before, after) {
			t.Fatal("the journal was changed")
		}
		at.resume(t, pipeline.Done)
		at.checkWhole(t, sourceRows(smallRows))
	}
}

// TestLoserWithAnotherPlan: the own run of a key that another plan's run has decided meanwhile is aborted, and it is 64.
func TestLoserWithAnotherPlan(t *testing.T) {
	w, p := small(t, *seed)
	at := stateOf(t, worlds(t, w, p, "k"), allPrepared)
	other := p
	other.Checkpoint.Bytes = 17
	b := at.other()
	at.expect(t, b.Run(t.Context(), other, "k", 0), pipeline.Done)
	at.resume(t, pipeline.Usage)
	if open := at.openRuns(t); len(open) > 0 {
		t.Fatal("the loser is still open")
	}
	at.checkWhole(t, sourceRows(smallRows))
}

// TestAgain exports a committed key once more.
func TestAgain(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		w.run(t, p, key, pipeline.Done)
		e, _ := w.process()
		for range 2 {
			w.expect(t, e.Run(t.Context(), p, key, 1), pipeline.Done)
			w.eachRow(t, 2)
		}
		w.expect(t, e.Run(t.Context(), p, key, 2), pipeline.Done)
		w.eachRow(t, 3)
	}
}

// TestManifestGone: a run without a key counts as committed while its manifests are there; one with a key counts for ever.
func TestManifestGone(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		r := w.run(t, p, key, pipeline.Done)
		must(t, w.mem.Outside().Remove(path.Join(outB, runstate.ManifestName(r[0].Run))))
		w.run(t, p, key, pipeline.Done)
		times := 1
		if key == "" {
			times = 2
		}
		w.eachRow(t, times)
	}
}

// TestBadMark: a mark that cannot be read, or is of a newer version, stops everything that needs it, and stays.
func TestBadMark(t *testing.T) {
	w, p := small(t, *seed)
	at := stateOf(t, worlds(t, w, p, "k"), decided)
	names, err := at.mem.Outside().List(outB + "/.clinkctl")
	must(t, err)
	dir := outB
	if !strings.Contains(strings.Join(names, " "), "key-") {
		dir = outA
		names, err = at.mem.Outside().List(outA + "/.clinkctl")
		must(t, err)
	}
	var mark string
	for _, name := range names {
		if strings.HasPrefix(name, "key-") {
			mark = path.Join(dir, ".clinkctl", name)
		}
	}
	good, err := vfs.ReadFile(at.mem.Outside(), mark)
	must(t, err)
	for name, bad := range map[string]string{
		"cut":              string(good[:len(good)/2]),
		"newer":            strings.Replace(string(good), `"clinkctl_mark":1`, `"clinkctl_mark":2`, 1),
		"of another key":   strings.Replace(string(good), `"key":"k"`, `"key":"l"`, 1),
		"flipped":          strings.Replace(string(good), `prepared`, `prepareD`, 1),
		"another plan":     strings.Replace(string(good), `"plan_digest":"xxh128:`, `"plan_digest":"xxh128:0`, 1),
		"without manifest": string(good[:strings.Index(string(good), `,"manifests"`)]) + "}\n",
		"empty":            "",
	} {
		t.Run(name, func(t *testing.T) {
			w := at.fork()
			w.replace(t, mark, []byte(bad))
			r := w.expect(t, w.other().Run(t.Context(), p, "k", 0), pipeline.Person)
			if !strings.Contains(r[0].Error, "mark") {
				t.Fatal(show(r))
			}
			text, err := vfs.ReadFile(w.mem.Outside(), mark)
			must(t, err)
			if string(text) != bad {
				t.Fatal("the mark was changed")
			}
			w.resume(t, pipeline.Done) // it is decided here
			w.checkWhole(t, sourceRows(smallRows))
		})
	}
}
