package main

import (
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// A state at a store that replaces objects is refused by whoever works, and never written to by whoever only looks. One that
// does not answer is no state of which anything is known.
func TestStateIsProbed(t *testing.T) {
	w := newS3World(t)
	state := "s3://" + bucket + "/state"
	t.Setenv("AWS_ENDPOINT_URL", w.server.URL)
	w.run("--state", state).exits(0, "")
	puts := w.store.Count(s3test.PutObject)
	out := w.call("status", "--state", state).exits(0, "").out
	if !strings.Contains(out, "done") || w.store.Count(s3test.PutObject) != puts {
		t.Fatalf("%d puts of status, which shows %s", w.store.Count(s3test.PutObject)-puts, out)
	}
	w.set(s3test.IgnoreIfNoneMatch, s3test.On{Verb: s3test.PutObject, Key: "other"})
	for _, command := range []string{"run", "plan"} {
		w.call(command, w.job(), "--state", "s3://"+bucket+"/other").exits(64, "").says("runs could not be kept apart")
	}
	w.unset()
	w.store.Unset()
	w.set(s3test.Deny, s3test.On{Key: "state/"})
	w.call("run", w.job(), "--state", state).exits(1, "")
	w.call("resume", "--state", state).exits(3, "")
}
