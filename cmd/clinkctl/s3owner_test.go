package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B10, B11, B16 and B34: whose an upload is, and who may give it up.

// uploadsBy gives the ids of the open uploads by key.
func (w *s3World) uploadsBy() map[string]string {
	ids := map[string]string{}
	for _, u := range w.store.Uploads(bucket) {
		ids[u.Key] = u.ID
	}
	return ids
}

// A unit fails after another one was prepared: what is journaled stays, what is not is given up at once.
func TestB10FailureKeepsWhatIsJournaled(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.Deny, s3test.On{Verb: s3test.UploadPart, Key: "-000002."})
	w.run().exits(3, w.resumes()).says("access is denied")
	w.unset()
	w.shows(0, 1)
	h := w.first()
	if id := w.uploadsBy()[prefix+"/"+h.Name]; id != payloadOf(t, h).Upload {
		t.Fatalf("the journaled upload is %q, and there is %q", payloadOf(t, h).Upload, id)
	}
	since := w.counting()
	w.resume().exits(0, "")
	if n := since(s3test.CreateMultipartUpload); n != 1 {
		t.Errorf("%d uploads were begun for the one artifact that was missing", n)
	}
	w.exactlyOnce()
}

// abandon is how a person gives a prepared run up: then nothing is left.
func TestB10AbandonGivesUp(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.Deny, s3test.On{Verb: s3test.UploadPart, Key: "-000002."})
	w.run().exits(3, w.resumes())
	w.unset()
	w.call("abandon", w.token()).exits(0, "")
	w.shows(0, 0)
	if s := w.state(); s.Ended == nil || s.Ended.Outcome != runstate.Aborted {
		t.Errorf("the run ended %+v", s.Ended)
	}
}

// Two runs stage under one prefix. The end of one touches nothing of the other, and nothing of strangers.
func TestB11NeighbourUnderOnePrefix(t *testing.T) {
	w := newS3World(t)
	w.decided() // and prepared
	before := w.uploadsBy()
	w.strangersUpload("sub0-20260101t000000zdeadbeef-000001.csv")
	w.strangersUpload("sub9.csv")
	first := w.rows
	w.write("more.csv", rowsHead+"100,other\n")
	text := strings.Replace(w.read(filepath.Base(w.job())), "orders.csv", "more.csv", 1)
	w.write("other.yaml", text)
	w.call("run", w.path("other.yaml")).exits(0, "")
	after := w.uploadsBy()
	for key, id := range before {
		if after[key] != id {
			t.Errorf("the neighbour's upload of %s is gone", key)
		}
	}
	w.resume().exits(0, "")
	w.rows = append(first, "100,other\n")
	left := slices.Sorted(maps.Keys(w.uploadsBy()))
	if len(left) != 2 {
		t.Errorf("of the strangers' two uploads %v are left", left)
	}
	for _, key := range left {
		w.store.ForgetUpload(bucket, key)
	}
	w.exactlyOnce()
}

// strangersUpload begins an upload to a key below the prefix that no run of ours has.
func (w *s3World) strangersUpload(name string) {
	w.t.Helper()
	_, err := w.stranger().CreateMultipartUpload(w.t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String(prefix + "/" + name)})
	if err != nil {
		w.t.Fatal(err)
	}
}

// The reply to the beginning of an upload is lost: the one that nobody knows of is found by its exact key and given up, also
// where a store lists nothing by a prefix.
func TestB16OrphanIsFoundByItsKey(t *testing.T) {
	for _, sw := range []s3test.Switch{"", s3test.ListUploadsByExactKeyOnly} {
		t.Run(string(sw), func(t *testing.T) {
			w := newS3World(t)
			if sw != "" {
				w.set(sw, s3test.On{})
			}
			w.set(s3test.DropReplyAfter, s3test.On{Verb: s3test.CreateMultipartUpload, Key: "-000002.", Times: 1})
			w.run().exits(3, w.resumes())
			w.shows(0, 2) // one journaled, one that nobody knows
			w.resume().exits(0, "")
			w.exactlyOnce()
			w.unset()
		})
	}
}

// A store that lists no uploads, or not beyond a page, ends the run all the same; what it hides is no outstanding handle.
func TestB16ListingIsNoProof(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.ListUploadsNothing, s3test.On{})
	w.set(s3test.DropReplyAfter, s3test.On{Verb: s3test.CreateMultipartUpload, Key: "-000002.", Times: 1})
	w.run().exits(3, w.resumes())
	w.resume().exits(0, "")
	w.unset()
	w.shows(3, 1)
	w.store.ForgetUpload(bucket, w.store.Uploads(bucket)[0].Key)
	w.exactlyOnce()
}

// A sweep that is refused is a warning of a run that is done.
func TestB16SweepRefused(t *testing.T) {
	w := newS3World(t)
	w.decided()
	w.set(s3test.DenyList, s3test.On{Verb: s3test.ListMultipartUploads})
	w.resume().exits(0, "").says("something staged is left behind")
	w.unset()
	if s := w.state(); s.Ended == nil || s.Ended.Outcome != runstate.Done || len(s.Ended.Warnings) != 1 {
		t.Errorf("the run ended %+v", s.Ended)
	}
	w.shows(3, 0)
}

// The same job under a key and again: two sets of names, and no token twice.
func TestB34TokensAreNeverReused(t *testing.T) {
	w := newS3World(t)
	w.run("--key", "k").exits(0, "")
	w.run("--key", "k").exits(0, "")
	w.shows(3, 0)
	w.run("--key", "k", "--again", "1").exits(0, "")
	w.shows(6, 0)
	tokens := map[string]string{}
	for _, name := range w.names() {
		o, _ := w.store.Object(bucket, prefix+"/"+name)
		token := o.Metadata["clinkctl-token"]
		if other, used := tokens[token]; used || len(token) != 32 {
			t.Errorf("%s and %s have the token %q", name, other, token)
		}
		tokens[token] = name
	}
}

// strangersPart puts another first part into an upload of ours.
func (w *s3World) strangersPart(h runstate.Handle) {
	w.t.Helper()
	_, err := w.stranger().UploadPart(w.t.Context(), &awss3.UploadPartInput{Bucket: aws.String(bucket), Key: aws.String(prefix + "/" + h.Name),
		UploadId: aws.String(payloadOf(w.t, h).Upload), PartNumber: aws.Int32(1), Body: strings.NewReader("not what was written")})
	if err != nil {
		w.t.Fatal(err)
	}
}

// stranger is a client of the store that is not clinkctl.
func (w *s3World) stranger() *awss3.Client {
	return awss3.New(awss3.Options{BaseEndpoint: aws.String(w.server.URL), Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s3Access, s3Secret, "")})
}
