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
	flags string // what a command that is told must repeat
	stop  chan struct{}
	run   atomic.Pointer[string] // token of the run at hand; nil before one is begun
	done  chan struct{}
	ended chan struct{}
}

// stopOnSignals starts to listen. finish ends it.
func (a *app) stopOnSignals(parent context.Context, w work) (ctx context.Context, s *stopper, finish func()) {
	s = &stopper{flags: w.home.flags, stop: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{})}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(parent)
	go func() {
		defer close(s.ended)
		a.listen(s, signals, w.grace, cancel)
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
			a.exitNow(s)
		case sig := <-signals:
			if stopping {
				a.exitNow(s)
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

// exitNow ends the process in the middle of what it does. The journal says what is left to do.
func (a *app) exitNow(s *stopper) {
	run := s.run.Load()
	if run == nil {
		os.Exit(int(pipeline.World))
	}
	a.sayNext("clinkctl resume " + *run + s.flags)
	os.Exit(int(pipeline.Open))
}
