package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
)

// stopper turns signals into the end of a command: the first one stops it gently, and after the grace cancels it; the
// second one exits at once, which the journal makes safe.
type stopper struct {
	stop  chan struct{}
	open  atomic.Bool // a run is begun
	done  chan struct{}
	ended chan struct{}
}

// stopOnSignals starts to listen. finish ends it.
func (a *app) stopOnSignals(parent context.Context, grace time.Duration) (ctx context.Context, s *stopper, finish func()) {
	s = &stopper{stop: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{})}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(parent)
	go func() {
		defer close(s.ended)
		a.listen(s, signals, grace, cancel)
	}()
	return ctx, s, func() {
		signal.Stop(signals)
		close(s.done)
		<-s.ended
		cancel()
	}
}

func (a *app) listen(s *stopper, signals <-chan os.Signal, grace time.Duration, cancel func()) {
	var late, tooLate <-chan time.Time
	stopping := false
	for {
		select {
		case <-s.done:
			return
		case <-late:
			a.log.Warn("the grace is over: everything is cancelled", "grace", grace)
			cancel()
			tooLate = time.After(afterCancel)
		case <-tooLate:
			a.log.Warn("something cannot be cancelled: it is left to the journal")
			os.Exit(int(s.code()))
		case sig := <-signals:
			if stopping {
				os.Exit(int(s.code()))
			}
			stopping = true
			a.log.Warn("stopping: the unit at hand is finished or discarded", "signal", sig.String(), "grace", grace)
			close(s.stop)
			timer := time.NewTimer(grace)
			defer timer.Stop()
			late = timer.C
		}
	}
}

// afterCancel is how long what was cancelled may take to end. A write that hangs in the kernel never does.
const afterCancel = 2 * time.Second

// code is the exit code of a process that is stopped in the middle.
func (s *stopper) code() pipeline.Code {
	if s.open.Load() {
		return pipeline.Open
	}
	return pipeline.World
}
