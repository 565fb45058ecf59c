package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B96 and B97: results go to stdout, all else to stderr, in the form that was asked for.

// stderrOf is what the process writes to its own stderr while something is done, past the streams of a command.
func stderrOf(t *testing.T, do func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = w
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(r) // it ends when w is closed
		text <- string(all)
	}()
	do()
	os.Stderr = was
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return <-text
}

// The store's library has a log of its own: nothing of it goes past ours, whatever happens.
func TestB97NothingPastTheLog(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.CutReply, s3test.On{Verb: s3test.CompleteMultipartUpload})
	w.set(s3test.DropReplyAfter, s3test.On{Verb: s3test.ListParts, Times: 1})
	var e ended
	if past := stderrOf(t, func() { e = w.run("--log-format", "json", "--json") }); past != "" {
		t.Errorf("past the log there is %q", past)
	}
	w.unset()
	for line := range strings.Lines(e.err) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is no JSON: %s", line)
		}
	}
	if !json.Valid([]byte(e.out)) {
		t.Errorf("the result is no JSON: %s", e.out)
	}
}

// No terminal, no escapes: a log of a CI system has lines only.
func TestB96NoEscapes(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.ErrorIn200, s3test.On{})
	e := w.call("run", w.job())
	e.exits(3, w.resumes())
	if strings.ContainsAny(e.err+e.out, "\x1b\r\b") {
		t.Errorf("there are control characters in %q %q", e.out, e.err)
	}
	w.unset()
}
