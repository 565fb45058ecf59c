package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// watching is a watcher whose clock the test moves, and what it writes.
func watching(t *testing.T, kind progressKind) (w *watcher, out *bytes.Buffer, now *time.Time) {
	t.Helper()
	now, out = new(time.Time), &bytes.Buffer{}
	*now = time.Date(2026, 11, 30, 1, 30, 0, 0, time.UTC)
	e := &pipeline.Engine{Progress: &pipeline.Progress{}, Patience: publish.Patience{Now: func() time.Time { return *now }}}
	line := &terminal{out: out}
	return &watcher{engine: e, kind: kind, err: line, log: slog.New(slog.NewTextHandler(line, nil)), lines: *now}, out, now
}

func TestProgressLines(t *testing.T) {
	w, out, now := watching(t, progressLines)
	w.show(false)
	dir := t.TempDir()
	w.engine.Progress.Rows.Store(1000) // of an earlier run of this process
	w.run(dir)
	w.engine.Progress.Rows.Add(5)
	w.engine.Progress.Total.Add(70)
	for range 25 {
		*now = now.Add(time.Second)
		w.show(false)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "of=70 rows=5 ") {
		t.Errorf("25 seconds gave %q", lines)
	}
	p := readProgress(vfs.OS(), dir)
	if p == nil || p.Rows != 5 || p.Left || !p.At.Equal(*now) {
		t.Errorf("the file says %+v", p)
	}
	w.show(true)
	if p := readProgress(vfs.OS(), dir); p == nil || !p.Left {
		t.Errorf("in the end the file says %+v", p)
	}
}

func TestProgressJSON(t *testing.T) {
	w, out, _ := watching(t, progressJSON)
	w.run(t.TempDir())
	w.show(false)
	w.show(true)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q is no JSON", line)
		}
	}
	if len(lines) != 2 {
		t.Errorf("there are %d lines", len(lines))
	}
}

// TestProgressOfARunThatIsGone checks that nothing is made where a run's folder was.
func TestProgressOfARunThatIsGone(t *testing.T) {
	w, _, _ := watching(t, progressNone)
	dir := filepath.Join(t.TempDir(), "wiped")
	w.run(dir)
	w.show(false)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there again: %v", err)
	}
}

func TestBarStepsAside(t *testing.T) {
	w, out, _ := watching(t, progressBar)
	w.run(t.TempDir())
	w.engine.Progress.Total.Store(100)
	w.engine.Progress.Bytes.Store(50)
	w.engine.Progress.Rows.Store(7)
	w.show(false)
	if !strings.Contains(out.String(), "7 rows, 0 prepared, 0 published  50%") {
		t.Errorf("the bar is %q", out)
	}
	w.log.Info("something happens")
	text := out.String()
	at := strings.Index(text, "time=")
	if at < 1 || text[at-1] != '\r' {
		t.Errorf("the bar is in the way of the log: %q", text)
	}
	out.Reset()
	w.err.endBar()
	w.show(true)
	w.log.Info("the end")
	if strings.Contains(out.String(), "rows,") || strings.Contains(text, "\x1b") {
		t.Errorf("after its end the bar is still shown, or has colours: %q", out)
	}
}

func TestAutoIsLinesOffTheTerminal(t *testing.T) {
	if got := progressAuto.on(io.Discard); got != progressLines {
		t.Errorf("auto is %s where there is no terminal", got)
	}
	if got := progressBar.on(io.Discard); got != progressBar {
		t.Errorf("what is asked for is %s", got)
	}
}
