package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/schollz/progressbar/v3"

	"github.com/clinkctl/clinkctl/pipeline"
)

// terminal is where logs and a bar are written together: the bar steps aside for every line of the log.
type terminal struct {
	out io.Writer

	mu   sync.Mutex
	line *progressbar.ProgressBar // nil while none is shown
}

// Write writes a whole line or more.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	return t.out.Write(p)
}

// clear takes the bar away until it is shown again.
func (t *terminal) clear() {
	if t.line != nil {
		_ = t.line.Clear() // it is only shown
	}
}

// bar shows how far a run is.
func (t *terminal) bar(p pipeline.Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.line == nil {
		t.line = progressbar.NewOptions64(max(1, p.Total), progressbar.OptionSetWriter(t.out), progressbar.OptionShowBytes(true),
			progressbar.OptionSetTheme(progressbar.ThemeASCII), progressbar.OptionSetWidth(20), progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish())
	}
	t.line.ChangeMax64(max(1, p.Total))
	t.line.Describe(fmt.Sprintf("%s, %d prepared, %d published", plural(p.Rows, "row", "rows"), p.Units, p.Published))
	_ = t.line.Set64(min(p.Bytes, max(1, p.Total)-1)) // it is only shown; a full bar would take itself away
}

// endBar takes the bar away for good.
func (t *terminal) endBar() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.line = nil
}
