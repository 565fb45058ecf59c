package hdfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"testing"

	"crypto/rand"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/hdfs"
)

const run = runstate.Token("20261130t013000z7f3a9c1e")

func (c *cluster) open(t *testing.T, name string) stage.Sink {
	t.Helper()
	s, err := hdfs.Backend(hdfs.Env{Random: rand.Reader, Sleep: sleep}).Open(t.Context(), c.at(name), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func stageOne(t *testing.T, s stage.Sink, a runstate.Artifact, data string) runstate.Handle {
	t.Helper()
	w, err := s.(stage.Bytes).Create(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	h, err := w.Prepare(t.Context(), 1, runstate.DigestOf([]byte(data)))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestReach is what fails when the library is not any more as rpc.go knows it: a rename onto a name that is taken replaces
// nothing, and a file that is being written is told from one that is not.
func TestReach(t *testing.T) {
	c := realCluster(t)
	s := c.open(t, "reach")
	if err := s.(stage.Prober).Probe(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	a := runstate.Artifact{Run: run, Attempt: 1, Checkpoint: 1, Ext: "csv"}
	h := stageOne(t, s, a, "ours")
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	w, err := c.Append(path.Join(c.root, "reach", h.Name))
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Inspect(t.Context(), h)
	if err != nil || e.State != stage.Foreign || !strings.Contains(e.Detail, "somebody is writing to it") {
		t.Errorf("an artifact that is being written to is %s (%s), %v", e.State, e.Detail, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Eight processes publish artifacts of the same name at the same moment, each its own: one does, and the others are told.
func TestEightPublishersOfOneName(t *testing.T) {
	c := realCluster(t)
	const publishers = 8
	for round := range 10 {
		a := runstate.Artifact{Run: run, Attempt: 1, Checkpoint: round + 1, Ext: "csv"}
		var sinks []stage.Sink
		var handles []runstate.Handle
		for i := range publishers {
			s := c.open(t, "race")
			a.Attempt = i + 1
			sinks, handles = append(sinks, s), append(handles, stageOne(t, s, a, fmt.Sprintf("bytes of %d\n", i)))
		}
		errs := make([]error, publishers)
		start := make(chan struct{})
		var running sync.WaitGroup
		for i, s := range sinks {
			running.Go(func() {
				<-start
				errs[i] = s.Publish(t.Context(), handles[i])
			})
		}
		close(start)
		running.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won < 0:
				won = i
			case err == nil:
				t.Errorf("round %d: %d and %d have both published", round, won, i)
			case !errors.Is(err, stage.ErrForeign):
				t.Errorf("round %d: %v", round, err)
			}
		}
		if won < 0 {
			t.Fatalf("round %d: nobody has published", round)
		}
		data, err := c.ReadFile(path.Join(c.root, "race", a.Name()))
		if err != nil || string(data) != fmt.Sprintf("bytes of %d\n", won) {
			t.Errorf("round %d: %d has published, and there is %q, %v", round, won, data, err)
		}
	}
}

// A foreign file appears after the look and before the rename.
func TestForeignFileJustBefore(t *testing.T) {
	c := realCluster(t)
	a := runstate.Artifact{Run: run, Attempt: 1, Checkpoint: 1, Ext: "csv"}
	planted := false
	s, err := hdfs.Backend(hdfs.Env{Random: rand.Reader, Sleep: sleep, Call: func(method string) error {
		if method == "rename" && planted {
			c.put(t, path.Join(c.root, "foreign", a.Name()), []byte("theirs"))
		}
		return nil
	}}).Open(t.Context(), c.at("foreign"), true)
	if err != nil {
		t.Fatal(err)
	}
	h := stageOne(t, s, a, "ours")
	planted = true
	err = s.Publish(t.Context(), h)
	planted = false
	if !errors.Is(err, stage.ErrForeign) {
		t.Error(err)
	}
	data, err := c.ReadFile(path.Join(c.root, "foreign", a.Name()))
	if err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
	if err := s.Abort(t.Context(), h); err != nil {
		t.Error(err)
	}
	if _, err := c.Stat(path.Join(c.root, "foreign", ".clinkctl", string(run))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
