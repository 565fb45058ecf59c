package main

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B90 to B93: processes that meet, die, and are asked to stop.

// mainS3 is the program with a backend for object stores that does not wait.
func mainS3() {
	w := s3Wiring(s3.Env{Random: rand.Reader, Now: time.Now, Sleep: atOnce, Late: time.Millisecond})
	os.Exit(Main(os.Args[1:], w, Streams{Out: os.Stdout, Err: os.Stderr}))
}

// start runs a command as a process of its own.
func (w *s3World) start(args ...string) *process {
	w.t.Helper()
	p := &process{cmd: exec.Command("clinkctl-s3", args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended by now, unless the test failed
	return p
}

// end waits until a process has ended; its code is -1 if it was killed.
func (w *s3World) end(p *process) ended {
	w.t.Helper()
	select {
	case err := <-p.done:
		code := 0
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			code = failed.ExitCode()
		} else if err != nil {
			w.t.Fatal(err)
		}
		return ended{w.t, p.cmd.Args[1:], code, p.out.String(), p.err.String()}
	case <-time.After(scriptPatience):
		w.t.Fatalf("the process does not end: %s", p.err.String())
		return ended{}
	}
}

// stalled starts a run that stands still at an artifact.
func (w *s3World) stalled(verb s3test.Verb, args ...string) *process {
	w.t.Helper()
	w.set(s3test.Stall, s3test.On{Verb: verb, Key: "/sub0-", Times: 1})
	p := w.start(append([]string{"run", w.job(), "--progress", "none"}, args...)...)
	if err := w.store.AwaitFired(w.t.Context(), s3test.Stall, 1); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// A second process answers at once while another one holds the run.
func TestB90TwoAtOnce(t *testing.T) {
	w := newS3World(t)
	p := w.stalled(s3test.UploadPart)
	start := time.Now()
	w.run().exits(5, "").says("is held by another process")
	w.resume().exits(5, "")
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v", took)
	}
	w.store.Release()
	w.end(p).exits(0, "")
	w.run().exits(0, "")
	w.exactlyOnce()
}

// A process that was killed holds nothing: the next one goes on at once.
func TestB91KilledOwner(t *testing.T) {
	for _, verb := range []s3test.Verb{s3test.CreateMultipartUpload, s3test.UploadPart, s3test.CompleteMultipartUpload} {
		t.Run(string(verb), func(t *testing.T) {
			w := newS3World(t)
			p := w.stalled(verb)
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			w.end(p)
			w.unset()
			w.run().exits(0, "")
			w.exactlyOnce()
		})
	}
}

// A run that is asked to stop while a part is on its way ends within the grace, and says how to go on.
func TestB93Terminated(t *testing.T) {
	w := newS3World(t)
	p := w.stalled(s3test.UploadPart, "--grace", "100ms")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.end(p).exits(3, w.resumes()).says("stopping", "the grace is over")
	w.unset()
	w.shows(0, 0) // what was on its way was not journaled, and is given up
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// With time enough the unit at hand is finished, and is not read again.
func TestB93TerminatedWithTime(t *testing.T) {
	w := newS3World(t)
	p := w.stalled(s3test.UploadPart, "--grace", "1h")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < scriptPatience && !strings.Contains(p.err.String(), "stopping"); {
		time.Sleep(time.Millisecond)
	}
	w.store.Release()
	w.end(p).exits(3, w.resumes()).says("stopping")
	w.unset()
	w.shows(0, 1)
	since := w.counting()
	w.resume().exits(0, "")
	if n := since(s3test.CreateMultipartUpload); n != 1 {
		t.Errorf("%d uploads were begun for the one artifact that was missing", n)
	}
	w.exactlyOnce()
}

// After the decision nothing further is published once a stop was asked for, and what is on its way is waited for.
func TestB93TerminatedWhilePublishing(t *testing.T) {
	w := newS3World(t)
	p := w.stalled(s3test.CompleteMultipartUpload, "--grace", "100ms")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.end(p).exits(3, w.resumes()).says("the grace is over")
	w.unset()
	w.resume().exits(0, "")
	w.exactlyOnce()
}
