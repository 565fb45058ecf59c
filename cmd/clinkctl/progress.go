package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// progressKind is how progress is shown.
type progressKind string

const (
	progressAuto  progressKind = "auto" // a bar on a terminal, lines elsewhere
	progressBar   progressKind = "bar"
	progressLines progressKind = "lines" // through the log, every ten seconds
	progressJSON  progressKind = "json"  // an object a line, every second
	progressNone  progressKind = "none"
)

func parseProgress(text string) (progressKind, error) {
	if text == "" {
		return progressAuto, nil
	}
	kinds := []string{string(progressAuto), string(progressBar), string(progressLines), string(progressJSON), string(progressNone)}
	if !slices.Contains(kinds, text) {
		return "", badChoice(progressOption(), text, kinds...)
	}
	return progressKind(text), nil
}

// isTerminal tells whether a stream is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// canRedraw tells whether what is written to a stream can be drawn over.
func canRedraw(w io.Writer) bool { return isTerminal(w) && os.Getenv("TERM") != "dumb" }

// on decides what auto is.
func (k progressKind) on(w io.Writer) progressKind {
	if k != progressAuto {
		return k
	}
	if canRedraw(w) {
		return progressBar
	}
	return progressLines
}

// progressName is the file in a run's folder that tells other processes how far this one is. It is not synced, and
// nothing depends on it.
const progressName = "progress.json"

// progressFile is what it holds.
type progressFile struct {
	At      time.Time `json:"at"`
	Host    string    `json:"host"`
	Process int       `json:"process"`
	Left    bool      `json:"left,omitempty"` // the process works on the run no more
	pipeline.Snapshot
}

// readProgress gives a run's progress, nil if there is none that can be read.
func readProgress(fsys vfs.FS, dir string) *progressFile {
	data, err := vfs.ReadFile(fsys, path.Join(dir, progressName))
	if err != nil {
		return nil
	}
	var p progressFile
	if json.Unmarshal(data, &p) != nil {
		return nil
	}
	return &p
}

// watcher shows the progress of an engine and writes it into the folder of the run at hand.
type watcher struct {
	engine *pipeline.Engine
	kind   progressKind
	err    *terminal
	log    *slog.Logger
	stop   chan struct{}
	ended  chan struct{}

	mu     sync.Mutex
	dir    string            // of the run at hand
	base   pipeline.Snapshot // when it was begun or taken
	lines  time.Time         // when the last line was logged
	stored time.Time         // when progress was written to a store of objects
}

// Periods of what is shown.
const (
	watchPeriod = time.Second
	linePeriod  = 10 * time.Second
)

// watch starts to watch. close ends it.
func (a *app) watch(e *pipeline.Engine, kind progressKind) *watcher {
	w := &watcher{engine: e, kind: kind.on(a.err.out), err: a.err, log: a.log, lines: e.Patience.Now(),
		stop: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.loop()
	}()
	return w
}

// run says that another run is at hand.
func (w *watcher) run(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dir, w.base = dir, w.engine.Progress.Snapshot()
	if w.kind == progressBar {
		w.err.bar(pipeline.Snapshot{}) // rates are from here on
	}
}

func (w *watcher) close() {
	close(w.stop)
	<-w.ended
}

func (w *watcher) loop() {
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			w.err.endBar()
			w.show(true)
			return
		case <-tick.C:
			w.show(false)
		}
	}
}

// show shows the progress of the run at hand once.
func (w *watcher) show(last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		return
	}
	p := progressFile{At: w.engine.Patience.Now().UTC(), Host: w.engine.Process.Host, Process: w.engine.Process.PID, Left: last,
		Snapshot: since(w.base, w.engine.Progress.Snapshot())}
	text, err := json.Marshal(p)
	if err != nil {
		return // it is only shown
	}
	now := w.engine.Patience.Now()
	if store, ok := w.engine.FS.(replacer); !ok {
		writeProgress(w.dir, text)
	} else if last || now.Sub(w.stored) >= linePeriod {
		w.stored = now
		_ = store.Replace(path.Join(w.dir, progressName), append(text, '\n')) // nothing depends on it
	}
	switch {
	case w.kind == progressJSON:
		_, _ = w.err.Write(append(text, '\n')) // it is only shown
	case w.kind == progressBar && !last:
		w.err.bar(p.Snapshot)
	case w.kind == progressLines && !last && now.Sub(w.lines) >= linePeriod:
		w.lines = now
		w.log.Info("progress", "run", path.Base(w.dir), "bytes", p.Bytes, "of", p.Total, "rows", p.Rows, "units", p.Units, "published", p.Published)
	}
}

// replacer is a state in a store of objects.
type replacer interface {
	Replace(name string, data []byte) error
}

// since gives what has come since another moment.
func since(base, now pipeline.Snapshot) pipeline.Snapshot {
	return pipeline.Snapshot{Total: now.Total - base.Total, Bytes: now.Bytes - base.Bytes, Rows: now.Rows - base.Rows,
		Units: now.Units - base.Units, Published: now.Published - base.Published}
}

// writeProgress replaces a run's progress, so that a reader sees one or the other. It may fail: nothing depends on it.
func writeProgress(dir string, text []byte) {
	name := path.Join(dir, progressName)
	if os.WriteFile(name+".new", append(text, '\n'), 0o644) == nil {
		_ = os.Rename(name+".new", name)
	}
}
