package pipeline_test

import (
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// A process that waits for a run's lock and is asked to stop answers at once that the run is held.
func TestAStopEndsTheWaitForALock(t *testing.T) {
	w := newWorld(t, 1, 24)
	e, p := w.process()
	stop := make(chan struct{})
	close(stop)
	e.Stop = stop
	first := e.Run(t.Context(), w.plan(), "k", 0) // begun, and stopped before anything is read
	if first[0].Code != pipeline.Open {
		t.Fatal(show(first))
	}
	lock, err := runstate.TakeLock(p, state+"/job/"+string(first[0].Run))
	must(t, err)
	defer func() { must(t, lock.Release()) }()

	other, _ := w.process()
	other.Wait, other.Stop = time.Hour, stop
	before := w.clock.Now()
	for _, r := range [][]pipeline.Result{other.Run(t.Context(), w.plan(), "k", 0), other.Resume(t.Context(), nil, pipeline.Carry{})} {
		if pipeline.WorstOf(r) != pipeline.Held {
			t.Error(show(r))
		}
	}
	if waited := w.clock.Now().Sub(before); waited > time.Minute {
		t.Errorf("it waited %v", waited)
	}
}
