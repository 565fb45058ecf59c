package main

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B01 to B08: what a store answers to a completion proves nothing, good or bad.

// decided makes a run that is decided and has published nothing: the connection is lost before each completion.
func (w *s3World) decided() {
	w.t.Helper()
	w.set(s3test.DropRequest, s3test.On{Verb: s3test.CompleteMultipartUpload})
	w.run().exits(3, w.resumes())
	w.unset()
	w.shows(0, 2)
	if s := w.state(); s.Decision != runstate.Commit || len(s.Outstanding()) != 2 {
		w.t.Fatalf("the run is %v, with %d outstanding", s.Decision, len(s.Outstanding()))
	}
}

// first is the handle of the run's first artifact.
func (w *s3World) first() runstate.Handle {
	w.t.Helper()
	for h := range w.state().Kept() {
		return h
	}
	w.t.Fatal("the run has no artifact")
	return runstate.Handle{}
}

// isOpen checks that the run is decided to commit, and how many of its artifacts are not finished.
func (w *s3World) isOpen(outstanding int) {
	w.t.Helper()
	if s := w.state(); s.Decision != runstate.Commit || s.Ended != nil || len(s.Outstanding()) != outstanding {
		w.t.Errorf("the run is decided %q, ended %v, with %d outstanding and not %d", s.Decision, s.Ended, len(s.Outstanding()), outstanding)
	}
}

// The object is made and the reply is lost: the look at its key says so.
func TestB01DroppedReply(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.DropReplyAfter, s3test.On{Verb: s3test.CompleteMultipartUpload})
	since := w.counting()
	w.run().exits(0, "")
	w.exactlyOnce()
	if n := since(s3test.CompleteMultipartUpload); n != 2 {
		t.Errorf("%d completions for 2 artifacts", n)
	}
	w.unset()
}

// A status of 200 has an error in its body. Nothing was done, and the run stays open.
func TestB01ErrorIn200(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.ErrorIn200, s3test.On{Times: 2})
	w.run().exits(3, w.resumes()).says("UNKNOWN", "InternalError")
	w.shows(0, 2)
	w.isOpen(2)
	w.unset()
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// Every way to hear nothing good of a completion that was done: the run ends well, and completes nothing twice.
func TestB01DoneAndAnsweredBadly(t *testing.T) {
	for _, c := range []struct {
		sw s3test.Switch
		on s3test.On
	}{
		{s3test.ErrorIn200Done, s3test.On{}},
		{s3test.ErrorAfter, s3test.On{Verb: s3test.CompleteMultipartUpload}},
		{s3test.ErrorAfter, s3test.On{Verb: s3test.CompleteMultipartUpload, Status: http.StatusNotFound, Code: "NoSuchUpload"}},
		{s3test.ErrorAfter, s3test.On{Verb: s3test.CompleteMultipartUpload, Status: http.StatusConflict, Code: "OperationAborted"}},
		{s3test.ErrorAfter, s3test.On{Verb: s3test.CompleteMultipartUpload, Status: http.StatusPreconditionFailed, Code: "PreconditionFailed"}},
		{s3test.ErrorAfter, s3test.On{Verb: s3test.CompleteMultipartUpload, Status: http.StatusForbidden, Code: "AccessDenied"}},
		{s3test.CutReply, s3test.On{Verb: s3test.CompleteMultipartUpload}},
	} {
		t.Run(fmt.Sprintf("%s %d", c.sw, c.on.Status), func(t *testing.T) {
			w := newS3World(t)
			w.set(c.sw, c.on)
			since := w.counting()
			w.run().exits(0, "")
			w.exactlyOnce()
			if n := since(s3test.CompleteMultipartUpload); n != 2 {
				t.Errorf("%d completions for 2 artifacts", n)
			}
			w.unset()
		})
	}
}

// An upload that is gone before the decision costs its rows being read again; after it, they are lost, and that is said.
func TestB02UploadGoneBeforeDecision(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.Deny, s3test.On{Verb: s3test.UploadPart, Key: "-000002."})
	w.run().exits(3, w.resumes())
	w.unset()
	if n := w.store.ForgetUpload(bucket, prefix+"/"+w.first().Name); n != 1 {
		t.Fatalf("%d uploads were forgotten", n)
	}
	w.resume().exits(0, "").says("a staged artifact is gone; its rows are read again")
	w.exactlyOnce()
}

func TestB02UploadGoneAfterDecision(t *testing.T) {
	w := newS3World(t)
	w.decided()
	lost := w.first()
	w.store.ForgetUpload(bucket, prefix+"/"+lost.Name)
	next := fmt.Sprintf("clinkctl resolve %s %s --as lost --because '...'", w.token(), lost.Name)
	for range 2 {
		w.resume().exits(4, next).says("LOST", lost.Name, "the store has no upload")
		w.shows(1, 0) // the other one
		w.isOpen(1)
	}
	w.call("resolve", w.token(), lost.Name, "--as", "lost", "--because", "the trap").exits(0, "")
	w.run().exits(4, "").says("ended partial", "3 rows were declared lost")
	if s := w.state(); s.Ended == nil || s.Ended.Outcome != runstate.Partial {
		t.Errorf("the run ended %+v", s.Ended)
	}
	w.shows(2, 0) // and the manifest
}

// Another object of the same size is at the key: it is no proof, and it is not replaced.
func TestB03OtherObjectOfEqualSize(t *testing.T) {
	for _, forget := range []bool{false, true} {
		t.Run(fmt.Sprint("forget ", forget), func(t *testing.T) {
			w := newS3World(t)
			w.decided()
			h := w.first()
			key := prefix + "/" + h.Name
			foreign := make([]byte, h.Bytes)
			w.store.PutObject(bucket, key, foreign, nil)
			if forget {
				w.store.ForgetUpload(bucket, key)
			}
			w.resume().exits(4, w.resumes()).says("CONFLICT", "shows no token of clinkctl's")
			w.isOpen(1)
			if o, _ := w.store.Object(bucket, key); string(o.Data) != string(foreign) {
				t.Error("the foreign object was replaced")
			}
			w.store.DeleteObject(bucket, key)
			if forget {
				w.resume().exits(4, fmt.Sprintf("clinkctl resolve %s %s --as lost --because '...'", w.token(), h.Name)).says("LOST")
				return
			}
			w.resume().exits(0, "")
			w.exactlyOnce()
		})
	}
}

// What has our token and another size, or our size and the token of another artifact, is not ours.
func TestB03TokenAndSizeAndChecksum(t *testing.T) {
	for _, c := range []struct {
		says string
		make func(token string, h runstate.Handle) (data []byte, shown string)
	}{
		{"with the token of another artifact", func(_ string, h runstate.Handle) ([]byte, string) {
			return make([]byte, h.Bytes), "0123456789abcdef0123456789abcdef"
		}},
		{"has our token and 3 bytes", func(token string, _ runstate.Handle) ([]byte, string) { return []byte("cut"), token }},
		{"has our token and the checksum", func(token string, h runstate.Handle) ([]byte, string) { return make([]byte, h.Bytes), token }},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newS3World(t)
			w.options["checksum"] = "crc64nvme"
			w.decided()
			h := w.first()
			data, token := c.make(payloadOf(t, h).Token, h)
			w.store.PutObject(bucket, prefix+"/"+h.Name, data, map[string]string{"clinkctl-token": token})
			w.resume().exits(4, w.resumes()).says("CONFLICT", c.says)
			w.isOpen(1)
		})
	}
}

// A store that drops metadata tells ours from others by nothing. It is refused before anything is begun.
func TestB03MetadataDropped(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.DropMetadata, s3test.On{})
	w.run().exits(64, "").says("does not keep the metadata of objects")
	w.shows(0, 0)
	w.unset()
	if runs := w.runs(); len(runs) > 0 {
		t.Errorf("a run was begun: %v", runs)
	}
}

// Without the right to look at objects nothing can be proved: refused before a run, and unknown in one.
func TestB05HeadDenied(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.DenyHead, s3test.On{})
	w.run().exits(1, "").says("s3:GetObject")
	w.unset()
	if runs := w.runs(); len(runs) > 0 {
		t.Errorf("a run was begun: %v", runs)
	}
	w.decided()
	w.set(s3test.DenyHead, s3test.On{})
	w.resume().exits(3, w.resumes()).says("UNKNOWN", "access is denied")
	w.shows(0, 2)
	w.isOpen(2)
	w.unset()
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// The process knows that an artifact is published and cannot say so: the next one completes nothing again.
func TestB07PublishedAndNotJournaled(t *testing.T) {
	w := newS3World(t)
	w.decided()
	w.around = blindAfterComplete
	w.resume().exits(3, w.resumes()).says("UNKNOWN")
	w.shows(2, 0)
	w.isOpen(2)
	w.around = nil
	since := w.counting()
	w.resume().exits(0, "")
	if n := since(s3test.CompleteMultipartUpload); n != 0 {
		t.Errorf("%d completions of what was complete", n)
	}
	w.exactlyOnce()
	w.resume().exits(0, "")
}

// blindAfterComplete lets no look at a key be answered once an upload to it was completed.
func blindAfterComplete(next http.RoundTripper) http.RoundTripper {
	var completed sync.Map // by path
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if _, blind := completed.Load(r.URL.Path); blind && r.Method == http.MethodHead {
			return nil, errors.New("the network is gone")
		}
		answer, err := next.RoundTrip(r)
		if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
			completed.Store(r.URL.Path, true)
		}
		return answer, err
	})
}

// A look that fails is asked again, and is never absence.
func TestB08HeadFailsTwice(t *testing.T) {
	for sw, on := range map[s3test.Switch]s3test.On{
		s3test.SlowDown: {Verb: s3test.HeadObject, Key: "/sub0-", Times: 2},
		s3test.Internal: {Verb: s3test.HeadObject, Key: "/sub0-", Times: 2},
		s3test.Deny:     {Verb: s3test.HeadObject, Key: "/sub0-", Times: 2},
	} {
		t.Run(string(sw), func(t *testing.T) {
			w := newS3World(t)
			w.plan[1] = "commit_wait: 20s"
			w.set(sw, on)
			w.run().exits(0, "").says("asking again")
			w.exactlyOnce()
			w.unset()
		})
	}
}

func TestB08HeadFailsForGood(t *testing.T) {
	w := newS3World(t)
	w.decided()
	w.store.ForgetUpload(bucket, prefix+"/"+w.first().Name)
	w.set(s3test.SlowDown, s3test.On{Verb: s3test.HeadObject})
	w.resume().exits(3, w.resumes()).says("UNKNOWN")
	w.unset()
	w.isOpen(2) // the rows of the one may be published, for all that is known
}
