package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// What a journal and a destination show.

// state is the fold of the journal of the only run.
func (w *s3World) state() *runstate.State {
	w.t.Helper()
	runs := w.runs()
	if len(runs) != 1 {
		w.t.Fatalf("there are %d runs: %v", len(runs), runs)
	}
	return w.stateOf(runs[0])
}

func (w *s3World) stateOf(dir string) *runstate.State {
	w.t.Helper()
	view, err := runstate.Read(vfs.OS(), dir, runstate.Format)
	if err != nil {
		w.t.Fatal(err)
	}
	return view.State
}

// runs are the folders of the runs in the state directory, the oldest first.
func (w *s3World) runs() []string {
	w.t.Helper()
	found, err := filepath.Glob(w.path("state/*/*/journal"))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// token is the token of the only run.
func (w *s3World) token() string { w.t.Helper(); return string(w.state().Begun.Run) }

// resumes is the command that carries the only run on.
func (w *s3World) resumes() string { w.t.Helper(); return "clinkctl resume " + w.token() }

// names are what the destination shows to readers, below its prefix.
func (w *s3World) names() []string {
	var names []string
	for _, key := range w.store.Keys(bucket) {
		if name := strings.TrimPrefix(key, prefix+"/"); !strings.HasPrefix(name, stage.Hidden) {
			names = append(names, name)
		}
	}
	return names
}

// published are the rows that the destination shows, sorted.
func (w *s3World) published() []string {
	w.t.Helper()
	var rows []string
	for _, name := range w.names() {
		if _, err := runstate.ParseName(name); err != nil {
			continue
		}
		o, _ := w.store.Object(bucket, prefix+"/"+name)
		text, ok := strings.CutPrefix(string(o.Data), rowsHead)
		if !ok {
			w.t.Fatalf("%s does not begin with the header: %.40q", name, o.Data)
		}
		rows = append(rows, strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")...)
	}
	for i := range rows {
		rows[i] = strings.TrimSuffix(rows[i], "\n") + "\n"
	}
	slices.Sort(rows)
	return rows
}

// exactlyOnce checks that every row is published once, that the journal says so, and that nothing is left or warned of.
func (w *s3World) exactlyOnce() {
	w.t.Helper()
	w.once()
	for _, dir := range w.runs() {
		if s := w.stateOf(dir); s.Ended != nil && len(s.Ended.Warnings) > 0 {
			w.t.Errorf("the run ended with %v", s.Ended.Warnings)
		}
	}
}

// once is exactlyOnce but for warnings.
func (w *s3World) once() {
	w.t.Helper()
	want := slices.Sorted(slices.Values(w.rows))
	if got := w.published(); !slices.Equal(got, want) {
		w.t.Errorf("%d rows are published, and not the source's %d", len(got), len(want))
	}
	for _, dir := range w.runs() {
		s := w.stateOf(dir)
		if s.Ended == nil || s.Ended.Outcome != runstate.Done || len(s.Outstanding()) > 0 {
			w.t.Errorf("the journal says decided %v, %d outstanding, ended %+v", s.Decision, len(s.Outstanding()), s.Ended)
		}
		if name := runstate.ManifestName(s.Begun.Run); !slices.Contains(w.names(), name) {
			w.t.Errorf("there is no %s among %v", name, w.names())
		}
	}
	w.noUploads()
}

// noUploads checks that no upload is open, and that no probe is left.
func (w *s3World) noUploads() {
	w.t.Helper()
	for _, u := range w.store.Uploads(bucket) {
		w.t.Errorf("an upload of %s is left", u.Key)
	}
	for _, key := range w.store.Keys(bucket) {
		if strings.Contains(key, "/probe-") {
			w.t.Errorf("%s is left", key)
		}
	}
}

// shows checks what readers see, and how many uploads are open.
func (w *s3World) shows(objects, uploads int) {
	w.t.Helper()
	if got := w.names(); len(got) != objects {
		w.t.Errorf("readers see %v, and not %d objects", got, objects)
	}
	if got := w.store.Uploads(bucket); len(got) != uploads {
		w.t.Errorf("%d uploads are open, and not %d", len(got), uploads)
	}
}

// set turns a switch on, and unset turns all off, which must have fired.
func (w *s3World) set(sw s3test.Switch, on s3test.On) { w.store.Set(sw, on) }

func (w *s3World) unset() {
	w.t.Helper()
	if unused := w.store.Unused(); len(unused) > 0 {
		w.t.Errorf("%v never fired", unused)
	}
	w.store.Unset()
}

// counting counts the requests of verbs from now on: its result gives those since.
func (w *s3World) counting() func(verb s3test.Verb) int {
	from := len(w.store.Requests())
	return func(verb s3test.Verb) int {
		n := 0
		for _, r := range w.store.Requests()[from:] {
			if r.Verb == verb {
				n++
			}
		}
		return n
	}
}

// handlePayload is what a handle says to the backend.
type handlePayload struct {
	Token, Upload string
	Parts         []struct{ Size int64 }
}

func payloadOf(t *testing.T, h runstate.Handle) handlePayload {
	t.Helper()
	var p handlePayload
	if err := json.Unmarshal(h.Payload, &p); err != nil {
		t.Fatal(err)
	}
	return p
}
