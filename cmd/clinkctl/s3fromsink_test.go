package main

import (
	"os"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// What a destination has staged of a run whose state is lost is listed, and aborted only when a person names the run. Other
// runs, also those that are known, and strangers stay.
func TestFromSink(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.Deny, s3test.On{Verb: s3test.CompleteMultipartUpload})
	w.set(s3test.SlowDown, s3test.On{Verb: s3test.UploadPart, From: 3}) // the probe's part, and one artifact's
	w.run().exits(3, w.resumes())
	w.store.Unset()
	lost := w.token()
	if err := os.RemoveAll(w.path("state")); err != nil {
		t.Fatal(err)
	}
	w.set(s3test.SlowDown, s3test.On{Verb: s3test.UploadPart, From: 3})
	w.run("--key", "k").exits(3, w.resumes())
	w.store.Unset()
	known := w.token()
	w.write("job.yaml", w.read("orders.yaml"))

	out := w.call("resume", "--from-sink", w.path("job.yaml")).exits(0, "").out
	if !strings.Contains(out, lost+"  s3://"+bucket+"/"+prefix+"  1") || strings.Contains(out, known) {
		t.Fatalf("it lists %s", out)
	}
	before := len(w.store.Uploads(bucket))
	w.call("abandon", "--from-sink", w.path("job.yaml"), known).exits(64, "clinkctl abandon "+known).says("it is not lost")
	w.call("abandon", "--from-sink", w.path("job.yaml"), "../x").exits(64, "")
	w.call("resume", "--from-sink", w.path("job.yaml"), lost).exits(64, "")
	if got := len(w.store.Uploads(bucket)); got != before {
		t.Fatalf("%d uploads are open, and were %d", got, before)
	}
	w.call("abandon", "--from-sink", w.path("job.yaml"), lost, "--json").exits(0, "")
	if got := len(w.store.Uploads(bucket)); got >= before || got == 0 {
		t.Fatalf("%d uploads are open, and were %d", got, before)
	}
	w.resume().exits(0, "")
	w.exactlyOnce()
	if out := w.call("resume", "--from-sink", w.path("job.yaml")).exits(0, "").out; !strings.HasPrefix(out, "nothing is staged") {
		t.Fatal(out)
	}
}

// A run that was decided is never given up: its artifact, or its key's mark, says so.
func TestFromSinkOfDecided(t *testing.T) {
	for _, args := range [][]string{nil, {"--key", "k"}} {
		w := newS3World(t)
		on := s3test.On{Verb: s3test.CompleteMultipartUpload}
		if args == nil { // one of the two is published
			on.Key = "000002"
		}
		w.set(s3test.SlowDown, on)
		w.run(args...).exits(3, w.resumes())
		w.store.Unset()
		lost := w.token()
		if err := os.RemoveAll(w.path("state")); err != nil {
			t.Fatal(err)
		}
		before := len(w.store.Uploads(bucket))
		w.call("abandon", "--from-sink", w.path("orders.yaml"), lost).exits(4, "").says("decided")
		if got := len(w.store.Uploads(bucket)); got != before || got == 0 {
			t.Fatalf("%d uploads are open, and were %d", got, before)
		}
	}
}
