package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Credentials that expire while a run is under way: with a source of new ones nobody is needed.

// byProcess lets credentials be what a program prints: what is in a file at that moment.
func (w *s3World) byProcess(access, secret, token string) {
	w.t.Helper()
	w.withoutKeys()
	w.write("aws-config", "[default]\ncredential_process = cat "+w.path("credentials.json")+"\n")
	w.write("credentials.json", fmt.Sprintf(`{"Version":1,"AccessKeyId":%q,"SecretAccessKey":%q,"SessionToken":%q,"Expiration":%q}`, access, secret, token, inAnHour()))
}

func (w *s3World) withoutKeys() {
	w.t.Setenv("AWS_ACCESS_KEY_ID", "")
	w.t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	w.t.Setenv("AWS_SESSION_TOKEN", "")
}

func inAnHour() string { return time.Now().Add(time.Hour).UTC().Format(time.RFC3339) }

// rotateAt gives out new credentials when the n-th request of a verb comes, and lets the old ones expire.
func (w *s3World) rotateAt(verb s3test.Verb, n int, give func(access, secret, token string)) {
	var seen atomic.Int64
	handle := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if matches(verb, r) && seen.Add(1) == int64(n) {
			give("AKIDNEW", "new secret", "new token")
			w.store.Rotate("AKIDNEW", "new secret", "new token")
		}
		w.store.ServeHTTP(rw, r)
	})
	w.handle.Store(&handle)
}

func matches(verb s3test.Verb, r *http.Request) bool {
	upload := r.URL.Query().Has("uploadId")
	switch verb {
	case s3test.UploadPart:
		return r.Method == http.MethodPut && upload
	case s3test.CompleteMultipartUpload:
		return r.Method == http.MethodPost && upload
	}
	return r.Method == http.MethodHead
}

var momentsOfExpiry = map[s3test.Verb]int{s3test.HeadObject: 1, s3test.UploadPart: 3, s3test.CompleteMultipartUpload: 1}

func TestExpiredCredentialsOfProcess(t *testing.T) {
	for verb, n := range momentsOfExpiry {
		t.Run(string(verb), func(t *testing.T) {
			w := newS3World(t)
			w.options["retries"] = "3"
			w.store.Rotate("AKIDOLD", "old secret", "old token")
			w.byProcess("AKIDOLD", "old secret", "old token")
			w.rotateAt(verb, n, func(access, secret, token string) {
				w.write("credentials.json", fmt.Sprintf(`{"Version":1,"AccessKeyId":%q,"SecretAccessKey":%q,"SessionToken":%q,"Expiration":%q}`, access, secret, token, inAnHour()))
			})
			w.run().exits(0, "")
			if w.store.Fired(s3test.ExpiredToken) == 0 {
				t.Error("nothing has expired")
			}
			w.exactlyOnce()
		})
	}
}

func TestExpiredCredentialsOfContainer(t *testing.T) {
	for verb, n := range momentsOfExpiry {
		t.Run(string(verb), func(t *testing.T) {
			w := newS3World(t)
			w.options["retries"] = "3"
			w.withoutKeys()
			var given atomic.Pointer[[3]string]
			given.Store(&[3]string{"AKIDOLD", "old secret", "old token"})
			container := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				g := given.Load()
				_, _ = fmt.Fprintf(rw, `{"AccessKeyId":%q,"SecretAccessKey":%q,"Token":%q,"Expiration":%q}`, g[0], g[1], g[2], inAnHour())
			}))
			t.Cleanup(container.Close)
			t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.URL)
			w.store.Rotate("AKIDOLD", "old secret", "old token")
			w.rotateAt(verb, n, func(access, secret, token string) { given.Store(&[3]string{access, secret, token}) })
			w.run().exits(0, "")
			if w.store.Fired(s3test.ExpiredToken) == 0 {
				t.Error("nothing has expired")
			}
			w.exactlyOnce()
		})
	}
}

// Without a source of new ones a person is needed, and is told what has expired: before a run nothing is begun.
func TestExpiredCredentialsForGood(t *testing.T) {
	w := newS3World(t)
	w.store.Rotate("AKIDNEW", "new secret", "new token")
	w.run().exits(1, "").says("the credentials have expired")
	if runs := w.runs(); len(runs) > 0 {
		t.Errorf("a run was begun: %v", runs)
	}
	w = newS3World(t)
	w.rotateAt(s3test.CompleteMultipartUpload, 1, func(string, string, string) {})
	w.run().exits(3, w.resumes()).says("the credentials have expired")
	w.isOpen(2)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDNEW")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "new secret")
	t.Setenv("AWS_SESSION_TOKEN", "new token")
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// A token that expires once, of credentials that cannot be had anew, is no reason to ask the same again for long.
func TestExpiredTokenOnce(t *testing.T) {
	w := newS3World(t)
	w.options["retries"] = "5"
	w.set(s3test.ExpiredToken, s3test.On{Verb: s3test.UploadPart, Key: "/sub0-"})
	w.run().exits(3, w.resumes()).says("the credentials have expired")
	w.unset()
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// No credentials at all, or a program that prints something else: nothing is begun, and nothing of it is told.
func TestNoCredentials(t *testing.T) {
	w := newS3World(t)
	w.withoutKeys()
	w.run().exits(1, "").says("there are no credentials", "AWS_ACCESS_KEY_ID")
	w.byProcess("AKIDOLD", s3Secret, "t")
	if err := os.WriteFile(w.path("credentials.json"), []byte("export AWS_SECRET_ACCESS_KEY="+s3Secret), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := w.run().exits(1, "").says("credential process"); strings.Contains(e.err, s3Secret) {
		t.Errorf("the secret is told: %s", e.err)
	}
	if n := len(w.store.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestClockSkew(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.ClockSkew, s3test.On{})
	w.run().exits(1, "").says("the clocks of this machine and the store differ")
	w.unset()
	w.set(s3test.ClockSkew, s3test.On{Verb: s3test.CompleteMultipartUpload})
	w.run().exits(3, w.resumes()).says("the clocks of this machine and the store differ")
	w.unset()
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// A store that says 404 of a key id that it does not know has not said that anything is absent.
func TestUnknownKeyIsNoAbsence(t *testing.T) {
	w := newS3World(t)
	w.decided()
	w.set(s3test.UnknownKeyIs404, s3test.On{})
	t.Setenv("AWS_ACCESS_KEY_ID", "OTHER")
	w.resume().exits(3, w.resumes())
	w.unset()
	w.shows(0, 2)
	w.isOpen(2)
	t.Setenv("AWS_ACCESS_KEY_ID", s3Access)
	w.resume().exits(0, "")
	w.exactlyOnce()
}
