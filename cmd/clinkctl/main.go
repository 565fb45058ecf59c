// Command clinkctl exports batches exactly once.
package main

import (
	"os"
	"runtime/debug"
	"time"
)

// collectAt is by how many percent the heap may grow before it is collected. Batches and row groups are used again, so that
// there is little to collect, and it costs little; with Go's 100 memory would grow slowly to twice what is in use, and depend
// on how much is exported.
const collectAt = 10

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	w := Production()
	if beat, err := time.ParseDuration(os.Getenv("CLINKCTL_TEST_BEAT")); err == nil { // tests cannot wait a minute for a take-over
		w.Beat = beat
	}
	os.Exit(Main(os.Args[1:], w, Streams{Out: os.Stdout, Err: os.Stderr}))
}
