package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// What a run asks of a store that answers well.

// asked counts requests by verb: of artifacts, and of all else.
func (w *s3World) asked(from int) (artifacts, others map[s3test.Verb]int) {
	artifacts, others = map[s3test.Verb]int{}, map[s3test.Verb]int{}
	for _, r := range w.store.Requests()[from:] {
		if strings.Contains(r.Key, "/sub") {
			artifacts[r.Verb]++
			continue
		}
		others[r.Verb]++
	}
	return artifacts, others
}

// An artifact is begun, filled, looked at once before the decision (its key, and then its upload), and committed: that is a
// look at the key, the completion, and a look at the key.
func TestRequestsOfRun(t *testing.T) {
	for _, c := range []struct{ artifacts, parts int }{{1, 1}, {2, 1}, {1, 3}, {3, 2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			w := newS3World(t)
			rows := 2
			w.source(c.artifacts*rows, rows, (c.parts*5<<20-(1<<20))/rows)
			w.run().exits(0, "")
			w.exactlyOnce()
			artifacts, others := w.asked(0)
			n := c.artifacts
			want := map[s3test.Verb]int{s3test.CreateMultipartUpload: n, s3test.UploadPart: n * c.parts, s3test.CompleteMultipartUpload: n,
				s3test.HeadObject: 3 * n, s3test.ListParts: n}
			if diff := cmp.Diff(want, artifacts); diff != "" {
				t.Errorf("of artifacts: %s", diff)
			}
			if diff := cmp.Diff(othersOfRun(), others); diff != "" {
				t.Errorf("of all else: %s", diff)
			}
			w.nothingDeleted()
		})
	}
}

// othersOfRun are the requests of a first run that are about no artifact.
func othersOfRun() map[s3test.Verb]int {
	return map[s3test.Verb]int{
		s3test.GetObject:             5,                                                                            // the id before and after it is made, the manifest before the decision and read back
		s3test.PutObject:             3,                                                                            // the id, the same again to see that it is not replaced, the manifest
		s3test.HeadObject:            2,                                                                            // the probe's: one object that is there, and one that is not
		s3test.CreateMultipartUpload: 1, s3test.UploadPart: 1, s3test.ListParts: 2, s3test.AbortMultipartUpload: 1, // the probe's
		s3test.ListMultipartUploads:            2, // the probe's, and the sweep
		s3test.ListObjectsV2:                   2, // what is visible of the run, before it reads and before it decides
		s3test.GetBucketLifecycleConfiguration: 1,
	}
}

// nothingDeleted checks that no request deletes anything: the right to delete is not needed.
func (w *s3World) nothingDeleted() {
	w.t.Helper()
	if n := w.store.Count(s3test.DeleteObject) + w.store.Count(s3test.DeleteObjects); n > 0 {
		w.t.Errorf("%d requests delete", n)
	}
}

// A run that is done asks only whether it is.
func TestRequestsOfRunAgain(t *testing.T) {
	w := newS3World(t)
	w.run().exits(0, "")
	from := len(w.store.Requests())
	w.run().exits(0, "")
	artifacts, others := w.asked(from)
	if len(artifacts) > 0 {
		t.Errorf("%v is asked of artifacts", artifacts)
	}
	for verb := range maps.Keys(others) {
		if verb != s3test.GetObject {
			t.Errorf("%v is asked", others)
		}
	}
}

// What is carried on after the decision asks for nothing that was there before.
func TestRequestsOfResume(t *testing.T) {
	w := newS3World(t)
	w.decided()
	from := len(w.store.Requests())
	w.resume().exits(0, "")
	artifacts, _ := w.asked(from)
	want := map[s3test.Verb]int{s3test.CompleteMultipartUpload: 2, s3test.HeadObject: 4}
	if diff := cmp.Diff(want, artifacts); diff != "" {
		t.Errorf("of artifacts: %s", diff)
	}
}
