package pipeline_test

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// keys are a run without a key and one with: what protects them differs.
var keys = []string{"", "k"}

// smallRows fit one file, one subtask and few checkpoints, so that a journal is short.
const smallRows = 6

// small is a world whose runs have one subtask, three checkpoints and two sinks.
func small(t *testing.T, seed uint64) (*world, pipeline.Plan) {
	t.Helper()
	w := newWorld(t, seed, smallRows)
	p := w.plan()
	p.Subtasks, p.Checkpoint.Bytes = 1, 12 // two rows each, the second across the two files
	return w, p
}

// run runs the job in a process of its own, and expects an exit code.
func (w *world) run(t *testing.T, p pipeline.Plan, key string, want pipeline.Code) []pipeline.Result {
	t.Helper()
	e, _ := w.process()
	return w.expect(t, e.Run(t.Context(), p, key, 0), want)
}

func (w *world) resume(t *testing.T, want pipeline.Code) []pipeline.Result {
	t.Helper()
	e, _ := w.process()
	return w.expect(t, e.Resume(t.Context(), nil, pipeline.Carry{}), want)
}

func (w *world) expect(t *testing.T, r []pipeline.Result, want pipeline.Code) []pipeline.Result {
	t.Helper()
	if got := pipeline.WorstOf(r); got != want {
		t.Fatalf("exit %d, want %d: %s\n%s", got, want, show(r), w.tree())
	}
	return r
}

// dieAt runs the job in a process that dies before the n-th operation that is, and expects it to come so far.
func (w *world) dieAt(t *testing.T, p pipeline.Plan, key string, n int, is func(vfs.Op) bool) {
	t.Helper()
	seen := 0
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		if is(op) {
			if seen++; seen >= n {
				return vfs.Die()
			}
		}
		return vfs.Fault{}
	})
	e, process := w.process()
	e.Run(t.Context(), p, key, 0)
	w.mem.OnOp(nil)
	if _, err := process.Stat("/"); err == nil {
		t.Fatalf("the process came to its end: %s", w.tree())
	}
	w.mem.ProcessDeath(false)
}

// journals gives the journals under a state directory.
func (w *world) journals(state string) []string {
	fsys := w.mem.Outside()
	var found []string
	jobs, _ := fsys.List(state)
	for _, job := range jobs {
		runs, _ := fsys.List(path.Join(state, job))
		for _, run := range runs {
			at := path.Join(state, job, run, "journal")
			if _, err := fsys.Stat(at); err == nil && !strings.HasPrefix(run, "aside-") {
				found = append(found, at)
			}
		}
	}
	return found
}

// journal is the path and the bytes of the only journal.
func (w *world) journal(t *testing.T) (string, []byte) {
	t.Helper()
	all := w.journals(state)
	if len(all) != 1 {
		t.Fatalf("%d journals", len(all))
	}
	text, err := vfs.ReadFile(w.mem.Outside(), all[0])
	must(t, err)
	return all[0], text
}

// view is the only journal as a reader sees it.
func (w *world) view(t *testing.T) *runstate.View {
	t.Helper()
	at, _ := w.journal(t)
	v, err := runstate.Read(w.mem.Outside(), path.Dir(at), runstate.Format)
	must(t, err)
	return v
}

// replace puts other bytes under a name, durably, in a new file.
func (w *world) replace(t *testing.T, name string, text []byte) {
	t.Helper()
	out := w.mem.Outside()
	must(t, out.Remove(name))
	must(t, write(out, name, string(text)))
}

// worlds runs the job and gives the machine as a kill right after each record of the journal would leave it: the first
// after begun.
func worlds(t *testing.T, w *world, p pipeline.Plan, key string) []*world {
	t.Helper()
	var all []*world
	w.mem.OnOp(func(op vfs.Op) vfs.Fault {
		journals := w.journals(state)
		if len(journals) == 0 || op.Name == vfs.OpSync && strings.Contains(op.Path, "journal") {
			return vfs.Fault{}
		}
		text, _ := vfs.ReadFile(w.mem.Outside(), journals[0])
		if bytes.Count(text, []byte("\n")) > len(all) {
			all = append(all, w.fork())
		}
		return vfs.Fault{}
	})
	w.run(t, p, key, pipeline.Done)
	w.mem.OnOp(nil)
	if len(all) < 10 {
		t.Fatalf("%d records", len(all))
	}
	return all
}

// stateOf finds the first of the worlds whose journal has reached something.
func stateOf(t *testing.T, all []*world, reached func(*runstate.State) bool) *world {
	t.Helper()
	for _, w := range all {
		if reached(w.view(t).State) {
			return w
		}
	}
	t.Fatal("no journal reaches that")
	return nil
}

// Reached by a journal, for stateOf.
func allPrepared(s *runstate.State) bool { return len(s.Attempts) > 0 && s.Tiled() == nil }
func decided(s *runstate.State) bool     { return s.Decision == runstate.Commit }
func halfFinished(s *runstate.State) bool {
	return len(s.Finished) >= 3
}
func onePrepared(s *runstate.State) bool { return len(s.Units) > 0 }

// visibleRows counts, at one destination, how often each row can be read.
func (w *world) visibleRows(t *testing.T, dir string) map[string]int {
	t.Helper()
	fsys := w.mem.Outside()
	rows := map[string]int{}
	names, err := fsys.List(dir)
	must(t, err)
	for _, name := range names {
		if _, err := runstate.ParseName(name); err != nil {
			continue
		}
		text, err := vfs.ReadFile(fsys, path.Join(dir, name))
		must(t, err)
		body, _ := strings.CutPrefix(string(text), header)
		for row := range strings.Lines(body) {
			rows[row]++
		}
	}
	return rows
}

// neverTwice fails if any row can be read twice.
func (w *world) neverTwice(t *testing.T) {
	t.Helper()
	for _, dir := range []string{outA, outB} {
		for row, n := range w.visibleRows(t, dir) {
			if n > 1 {
				t.Fatalf("%d times %q in %s\n%s", n, row, dir, w.tree())
			}
		}
	}
}

// wholeRows fails unless every row can be read exactly once at every destination, whatever else is there.
func (w *world) wholeRows(t *testing.T, rows []string) {
	t.Helper()
	w.neverTwice(t)
	for _, dir := range []string{outA, outB} {
		if got := w.visibleRows(t, dir); len(got) != len(rows) {
			t.Fatalf("%d rows of %d in %s\n%s", len(got), len(rows), dir, w.tree())
		}
	}
}

// obey does what a user does who types what he is told, until the job's run exits 0, and fails if that does not lead out.
// Where he is told to remove what is not wanted, he removes it.
func obey(t *testing.T, w *world, p pipeline.Plan, key string) {
	t.Helper()
	var said []string
	for range 12 {
		e, _ := w.process()
		r := append(e.Resume(t.Context(), nil, pipeline.Carry{}), e.Run(t.Context(), p, key, 0)...)
		w.neverTwice(t)
		code := pipeline.WorstOf(r)
		if code == pipeline.Done {
			return
		}
		i := slices.IndexFunc(r, func(r pipeline.Result) bool { return r.Code == code })
		said = append(said, fmt.Sprintf("%d %s -> %s", code, r[i].Error, r[i].Next))
		w.type_(t, e, r[i])
		w.neverTwice(t)
	}
	t.Fatalf("no way out:\n%s\n%s", strings.Join(said, "\n"), w.tree())
}

// type_ types the command that a result ends with.
func (w *world) type_(t *testing.T, e *pipeline.Engine, r pipeline.Result) {
	t.Helper()
	words := strings.Fields(r.Next)
	switch {
	case strings.Contains(r.Error, "remove what is not wanted"):
		w.removeVisible(t, r.Error)
	case len(words) >= 3 && words[1] == "resume":
		e.Resume(t.Context(), words[2:3], pipeline.Carry{})
	case len(words) >= 4 && words[1] == "abandon" && words[2] == "--damaged":
		e.AbandonDamaged(t.Context(), runstate.Token(words[3]), "a test")
	case len(words) >= 3 && words[1] == "abandon":
		e.Abandon(t.Context(), runstate.Token(words[2]), "a test")
	case len(words) >= 4 && words[1] == "resolve":
		for _, to := range []string{outA, outB, outBad} { // whichever has it outstanding
			e.Resolve(t.Context(), runstate.Token(words[2]), words[3], to, runstate.AsLost, "a test")
		}
	default:
		t.Fatalf("no command to type after %d: %q, next %q\n%s", r.Code, r.Error, r.Next, w.tree())
	}
}

// removeVisible removes the artifacts of the run that a message names.
func (w *world) removeVisible(t *testing.T, message string) {
	t.Helper()
	out := w.mem.Outside()
	for _, dir := range []string{outA, outB} {
		names, err := out.List(dir)
		must(t, err)
		for _, name := range names {
			if a, err := runstate.ParseName(name); err == nil && strings.Contains(message, string(a.Run)) {
				must(t, out.Remove(path.Join(dir, name)))
			}
		}
	}
}
