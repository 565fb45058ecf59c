package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
)

// patience is how sinks that do not answer are asked again; how long is the plan's.
func patience() publish.Patience {
	return publish.Patience{First: 100 * time.Millisecond, Most: 5 * time.Second, Now: time.Now, Sleep: sleep, Random: rand.Float64}
}

// sleep waits, unless the context ends before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// engine makes an engine for reading: one for work needs more.
func (a *app) engine(home stateHome) *pipeline.Engine {
	return &pipeline.Engine{
		FS: home.fsys, State: home.dir, Home: home.name, Catalog: a.wiring, Patience: patience(), Random: a.wiring.Random, Log: a.log,
		Process:  pipeline.Process{Host: hostname(), PID: os.Getpid(), Versions: versions()},
		Progress: &pipeline.Progress{}, Flags: home.flags,
	}
}

// work is what commands that work on runs have in common.
type work struct {
	home     stateHome
	grace    time.Duration
	wait     time.Duration
	progress progressKind
}

const defaultGrace = 8 * time.Second

// workOf reads the settings of a command that works on runs, and makes its log.
func (a *app) workOf(s *settings) (w work, err error) {
	if err := a.setLog(s.text(logFormatOption())); err != nil {
		return w, err
	}
	if w.progress, err = parseProgress(s.text(progressOption())); err != nil {
		return w, err
	}
	w.wait, err = durationFlag(waitOption(), s.text(waitOption()), 0)
	return w, err
}

func durationFlag(o option, text string, absent time.Duration) (time.Duration, error) {
	if text == "" {
		return absent, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usage("--%s is %q, and must be a duration with its unit: 500ms, 30s, 5m", o.name(), text)
	}
	return d, nil
}

// do lets an engine work, with signals and progress.
func (a *app) do(cmd *cobra.Command, w work, f func(ctx context.Context, e *pipeline.Engine) []pipeline.Result) []pipeline.Result {
	e := a.engine(w.home)
	e.Wait = w.wait
	ctx, stopper, finish := a.stopOnSignals(context.Background(), w)
	defer finish()
	e.Stop = stopper.stop
	watch := a.watch(e, w.progress)
	defer watch.close()
	e.OnRun = func(dir string) {
		run := path.Base(dir)
		stopper.run.Store(&run)
		watch.run(dir)
	}
	return f(ctx, e)
}

func versions() runstate.Versions {
	b := buildInfo()
	return runstate.Versions{Clinkctl: b.Version, Go: b.Go}
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
