package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B20 to B25: stores that know less than AWS, or answer otherwise.

// A store of another maker gets no checksum that it was not asked for, whatever the environment says to the SDK.
func TestB20ChecksumsRejected(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusNotImplemented} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			w := newS3World(t)
			t.Setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_supported")
			t.Setenv("AWS_RESPONSE_CHECKSUM_VALIDATION", "when_supported")
			w.set(s3test.RejectChecksums, s3test.On{Status: status})
			w.run("--key", "k").exits(0, "")
			w.exactlyOnce()
			if n := w.store.Fired(s3test.RejectChecksums); n > 0 {
				t.Errorf("%d requests had a checksum", n)
			}
			for _, r := range w.store.Requests() {
				if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") || r.Header.Get("X-Amz-Trailer") != "" {
					t.Errorf("%s has a body in chunks", r.Verb)
				}
			}
		})
	}
}

// A checksum that was asked for and is rejected by one verb only is refused before anything is begun, with what to do.
func TestB21OneVerbRejectsChecksums(t *testing.T) {
	for _, verb := range []s3test.Verb{s3test.CreateMultipartUpload, s3test.UploadPart} {
		for _, sum := range []string{"crc64nvme", "crc32c", "sha256"} {
			t.Run(fmt.Sprint(verb, sum), func(t *testing.T) {
				w := newS3World(t)
				w.options["checksum"] = sum
				w.set(s3test.RejectChecksums, s3test.On{Verb: verb})
				w.run().exits(64, "").says("checksum: none")
				w.unset()
				w.shows(0, 0)
				w.options["checksum"] = "none"
				w.run().exits(0, "")
				w.exactlyOnce()
			})
		}
	}
}

// Checksums that are asked for go with every verb that has them, and the object shows them.
func TestB21ChecksumsAreStrict(t *testing.T) {
	for _, sum := range []string{"none", "crc64nvme", "crc32c", "sha256"} {
		t.Run(sum, func(t *testing.T) {
			w := newS3World(t)
			w.twoParts()
			w.options["checksum"] = sum
			w.set(s3test.StrictChecksums, s3test.On{})
			w.set(s3test.UnaskedPartSums, s3test.On{})
			w.run().exits(0, "")
			w.exactlyOnce()
			if n := w.store.Fired(s3test.StrictChecksums) + w.store.Fired(s3test.UnaskedPartSums); n > 0 {
				t.Errorf("%d requests were refused", n)
			}
		})
	}
}

// A store that takes checksums and keeps none: token and size are what proves.
func TestB21ChecksumsIgnored(t *testing.T) {
	w := newS3World(t)
	w.options["checksum"] = "crc64nvme"
	w.set(s3test.IgnoreChecksums, s3test.On{})
	w.run().exits(0, "")
	w.exactlyOnce()
	w.unset()
}

// A store that replaces though it is asked not to is refused: two processes could not be kept apart there.
func TestB23ConditionIgnored(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.IgnoreIfNoneMatch, s3test.On{})
	w.run().exits(64, "").says("If-None-Match")
	w.unset()
	w.shows(0, 0)
}

// Where only completions ignore the condition, the look before finds what is there. It is not replaced.
func TestB23CompleteIgnoresCondition(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.IgnoreIfNoneMatch, s3test.On{Verb: s3test.CompleteMultipartUpload})
	w.decidedBut(s3test.CompleteMultipartUpload)
	key := prefix + "/" + w.first().Name
	w.store.PutObject(bucket, key, []byte("foreign"), nil)
	w.resume().exits(4, w.resumes()).says("CONFLICT")
	if o, _ := w.store.Object(bucket, key); string(o.Data) != "foreign" {
		t.Error("the foreign object was replaced")
	}
	w.store.DeleteObject(bucket, key)
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// decidedBut is decided, with the switches that are on.
func (w *s3World) decidedBut(verb s3test.Verb) {
	w.t.Helper()
	w.set(s3test.DropRequest, s3test.On{Verb: verb})
	w.run().exits(3, w.resumes())
	w.store.Unset(s3test.DropRequest)
	w.isOpen(2)
}

// Conditions are answered with other codes than 412, or are not known at all.
func TestB23OddAnswersToConditions(t *testing.T) {
	t.Run("409 of a completion", func(t *testing.T) {
		w := newS3World(t)
		w.set(s3test.ConditionalConflict, s3test.On{Verb: s3test.CompleteMultipartUpload})
		w.run().exits(3, w.resumes()).says("UNKNOWN", "ConditionalRequestConflict")
		w.shows(0, 2)
		w.unset()
		w.resume().exits(0, "")
		w.exactlyOnce()
	})
	t.Run("409 of a note", func(t *testing.T) {
		w := newS3World(t)
		w.set(s3test.ConditionalConflict, s3test.On{Verb: s3test.PutObject, Times: 1})
		w.run().exits(1, "").says("ConditionalRequestConflict")
		w.unset()
		w.run().exits(0, "")
		w.exactlyOnce()
	})
	t.Run("501 of a completion", func(t *testing.T) {
		w := newS3World(t)
		w.set(s3test.Unsupported, s3test.On{Verb: s3test.CompleteMultipartUpload, Times: 1})
		w.run().exits(0, "") // without a condition, once the look before has shown that the key is free
		w.unset()
		w.exactlyOnce()
	})
	t.Run("501 of a note", func(t *testing.T) {
		w := newS3World(t)
		w.set(s3test.Unsupported, s3test.On{Verb: s3test.PutObject})
		w.run().exits(64, "").says("cannot create an object only if its key is free")
		w.unset()
		w.shows(0, 0)
	})
}

// ETags are the store's own: no run depends on what they are made of.
func TestB25ETags(t *testing.T) {
	for _, sw := range []s3test.Switch{s3test.OpaqueETag, s3test.PlainETag} {
		t.Run(string(sw), func(t *testing.T) {
			w := newS3World(t)
			w.twoParts() // a little over 5 MiB
			w.set(sw, s3test.On{})
			w.set(s3test.DropReplyAfter, s3test.On{Verb: s3test.CompleteMultipartUpload, Times: 1})
			w.run("--key", "k").exits(0, "")
			w.exactlyOnce()
			w.unset()
		})
	}
}
