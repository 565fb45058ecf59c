package pipeline_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/csv"
	"github.com/clinkctl/clinkctl/format/lines"
	"github.com/clinkctl/clinkctl/format/ndjson"
	"github.com/clinkctl/clinkctl/format/parquet"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/source/files"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
)

// world is a machine in memory: a source, two destinations, a state directory, and processes that come and go.
type world struct {
	mem    *vfs.Mem
	random *counter
	clock  *clock
	seed   uint64
	wrap   func(stage.Sink) stage.Sink // may be nil
	shape  *shape                      // of formats; nil: csv that is copied
}

const (
	header = "id,name\n"
	outA   = "/out/a"
	outB   = "/out/b"
	outBad = "/out/bad"
	state  = "/state"
)

// sourceRows are the records of the world's source files, headers left out.
func sourceRows(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("%d,name-%d\n", i, i)
	}
	return rows
}

// newWorld makes a machine with two source files that hold n rows together.
func newWorld(t *testing.T, seed uint64, n int) *world {
	t.Helper()
	w := &world{mem: vfs.NewMem(seed), random: &counter{n: seed << 32}, clock: &clock{now: time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)}, seed: seed}
	out := w.mem.Outside()
	rows := sourceRows(n)
	for _, dir := range []string{"/src", outA, outB} {
		must(t, mkdirAll(out, dir))
	}
	must(t, write(out, "/src/1.csv", header+strings.Join(rows[:n/2], "")))
	must(t, write(out, "/src/2.csv", header+strings.Join(rows[n/2:], "")))
	return w
}

func mkdirAll(fsys vfs.FS, dir string) error {
	_, err := vfs.MkdirAll(fsys, dir)
	return err
}

func write(fsys vfs.FS, name, text string) error {
	if err := vfs.WriteNew(fsys, name, []byte(text)); err != nil {
		return err
	}
	return fsys.SyncDir(path.Dir(name))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fork is a machine in the same state that shares nothing.
func (w *world) fork() *world {
	f := *w
	f.mem = w.mem.Clone()
	f.random = &counter{n: w.random.n + 1<<20}
	f.clock = &clock{now: w.clock.Now(), still: w.clock.still}
	return &f
}

// counter is a source of bytes that never repeat.
type counter struct {
	mu sync.Mutex
	n  uint64
}

func (c *counter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; i < len(p); i += 8 {
		c.n++
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], c.n*0x9e3779b97f4a7c15)
		copy(p[i:], b[:])
	}
	return len(p), nil
}

// clock moves when somebody sleeps, and a little whenever it is read.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	still bool // sleeping only lets others go on, for processes that wait for each other
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	runtime.Gosched()
	c.mu.Lock()
	if !c.still {
		c.now = c.now.Add(d)
	}
	c.mu.Unlock()
	return ctx.Err()
}

// plan is two subtasks, three checkpoints each, two sinks.
func (w *world) plan() pipeline.Plan {
	p := w.copied()
	if w.shape != nil {
		w.shape.plan(&p)
	}
	return p
}

func (w *world) copied() pipeline.Plan {
	return pipeline.Plan{
		Name:    "job",
		Source:  pipeline.SourcePlan{Path: "/src/*.csv", Format: "csv"},
		Columns: []runstate.Column{},
		Sinks: []pipeline.SinkPlan{{To: outA, Format: "lines", Ext: "csv"},
			{To: outB, Format: "lines", Ext: "csv"}},
		Subtasks:   2,
		Checkpoint: pipeline.Checkpoint{Bytes: 45},
		OnEmpty:    pipeline.EmptySkip,
		OnPending:  pipeline.PendingResume,
		CommitWait: pipeline.Duration(time.Second),
	}
}

// process is an engine in a process of its own.
func (w *world) process() (*pipeline.Engine, *vfs.Process) {
	p := w.mem.Process()
	return w.engine(p), p
}

func (w *world) engine(fsys vfs.FS) *pipeline.Engine {
	random := rand.New(rand.NewPCG(w.seed, 1))
	return &pipeline.Engine{
		FS:      fsys,
		State:   state,
		Home:    state,
		Catalog: catalog{fsys, w.random, w.wrap},
		Patience: publish.Patience{First: 100 * time.Millisecond, Most: time.Second, Now: w.clock.Now, Sleep: w.clock.Sleep,
			Random: random.Float64},
		Random:   w.random,
		Log:      slog.New(slog.DiscardHandler),
		Progress: &pipeline.Progress{},
		Process:  pipeline.Process{Host: "test", PID: 1},
	}
}

type catalog struct {
	fsys   vfs.FS
	random io.Reader
	wrap   func(stage.Sink) stage.Sink
}

func (c catalog) Backend(string) (stage.Backend, error) {
	b := file.Backend(c.fsys, c.random)
	if c.wrap == nil {
		return b, nil
	}
	open := b.Open
	b.Open = func(ctx context.Context, at stage.Place, create bool) (stage.Sink, error) {
		s, err := open(ctx, at, create)
		if err != nil {
			return nil, err
		}
		return c.wrap(s), nil
	}
	return b, nil
}

func (c catalog) Format(name string, options map[string]any) (format.Format, error) {
	for _, k := range []format.Kind{csv.Kind(), lines.Kind(), ndjson.Kind(), parquet.Kind()} {
		if k.Name == name {
			return k.New(options)
		}
	}
	return nil, fmt.Errorf("no format %s", name)
}

func (c catalog) store(context.Context, stage.Place) (stage.Store, error) {
	return file.NewStore(c.fsys), nil
}

func (c catalog) Sources() pipeline.Sources {
	return files.Sources{Stores: c.store, Formats: c.Format}
}

// checkWhole fails unless both destinations hold exactly the source's rows, once, as their manifests say, and nothing is
// staged.
func (w *world) checkWhole(t *testing.T, rows []string) {
	t.Helper()
	if w.shape != nil {
		rows = w.shape.rows
		if err := w.whole(outBad, w.shape.bad); w.shape.bad != nil && err != nil {
			t.Fatalf("%s: %v\n%s", outBad, err, w.tree())
		}
	}
	for _, dir := range []string{outA, outB} {
		if err := w.whole(dir, rows); err != nil {
			t.Fatalf("%s: %v\n%s", dir, err, w.tree())
		}
	}
	if left := w.staged(); len(left) > 0 && !w.warned(t) {
		t.Fatalf("left staged: %v", left)
	}
}

// warned tells whether a run has ended with a warning that something is left.
func (w *world) warned(t *testing.T) bool {
	t.Helper()
	e, _ := w.process()
	runs, err := e.Runs("job")
	must(t, err)
	return slices.ContainsFunc(runs, func(r pipeline.Entry) bool {
		return r.View != nil && r.View.State.Ended != nil && len(r.View.State.Ended.Warnings) > 0
	})
}

func (w *world) whole(dir string, rows []string) error {
	fsys := w.mem.Outside()
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	var got []string
	manifests := map[string]publish.ManifestArtifact{}
	seen := 0
	for _, name := range names {
		if _, err := runstate.ParseManifestName(name); err == nil {
			text, err := vfs.ReadFile(fsys, path.Join(dir, name))
			if err != nil {
				return err
			}
			m, err := publish.ReadManifest(text)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, a := range m.Artifacts {
				manifests[a.Name] = a
			}
			seen++
		}
	}
	if seen != 1 {
		return fmt.Errorf("%d manifests", seen)
	}
	for _, name := range names {
		if _, err := runstate.ParseName(name); err != nil {
			continue
		}
		text, err := vfs.ReadFile(fsys, path.Join(dir, name))
		if err != nil {
			return err
		}
		m, ok := manifests[name]
		if !ok {
			return fmt.Errorf("%s is in no manifest", name)
		}
		delete(manifests, name)
		records, err := w.shape.records(name, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if m.Bytes != int64(len(text)) || m.Rows != int64(len(records)) || m.Digest != runstate.DigestOf(text) {
			return fmt.Errorf("%s is not what its manifest says: %+v", name, m)
		}
		got = append(got, records...)
	}
	if len(manifests) > 0 {
		return fmt.Errorf("not there, and in the manifest: %v", manifests)
	}
	want := slices.Clone(rows)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Errorf("rows differ: %d there, %d wanted\n%q\n%q", len(got), len(want), got, want)
	}
	return nil
}

// staged lists what lies in the hidden folders and is neither the destination's id nor a mark. A probe of a run that was
// never begun may be there: no journal knows it.
func (w *world) staged() []string {
	fsys := w.mem.Outside()
	var left []string
	for _, dir := range []string{outA, outB, outBad} {
		hidden := path.Join(dir, stage.Hidden)
		names, _ := fsys.List(hidden)
		for _, name := range names {
			if name != "id" && !strings.HasPrefix(name, "key-") && !strings.HasPrefix(name, "probe-") && !strings.HasPrefix(name, "tmp-") {
				left = append(left, path.Join(hidden, name))
			}
		}
	}
	return left
}

// tree is everything on the machine, for failures.
func (w *world) tree() string {
	var b strings.Builder
	var walk func(dir string)
	fsys := w.mem.Outside()
	walk = func(dir string) {
		names, _ := fsys.List(dir)
		for _, name := range names {
			at := path.Join(dir, name)
			info, err := fsys.Stat(at)
			fmt.Fprintf(&b, "%s %d %v\n", at, info.Size, err)
			if info.Dir {
				walk(at)
			}
			if name == "journal" {
				text, _ := vfs.ReadFile(fsys, at)
				fmt.Fprintf(&b, "%s", text)
			}
		}
	}
	walk("/")
	return b.String()
}

func show(results []pipeline.Result) string {
	text, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
