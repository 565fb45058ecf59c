package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B01 to B03, where a completion happens after it was given up: the moment it lands is swept.

// The completion that was cut off lands at some later request, while it is asked again. Whatever a store says to the second
// one, each row is there once.
func TestB01LateCompletionIsAskedAgain(t *testing.T) {
	fired := map[s3test.Switch]int{}
	for _, sw := range []s3test.Switch{"", s3test.NoSuchUploadAfterComplete, s3test.ConditionBeforeReplay, s3test.UnknownUploadCompletes, s3test.ReplayNeedsObject} {
		for n := 1; n <= 12; n++ {
			t.Run(fmt.Sprint(sw, n), func(t *testing.T) {
				w := newS3World(t)
				w.source(3, 3, 8)
				w.plan[1] = "commit_wait: 20s"
				w.around = closing
				w.set(s3test.LateComplete, s3test.On{N: n, Times: 1})
				if sw != "" {
					w.set(sw, s3test.On{})
				}
				w.run().exits(0, "")
				w.exactlyOnce()
				if sw != "" {
					fired[sw] += w.store.Fired(sw)
				}
			})
		}
	}
	for _, sw := range []s3test.Switch{s3test.NoSuchUploadAfterComplete, s3test.ConditionBeforeReplay} {
		if fired[sw] == 0 {
			t.Errorf("%s never fired", sw)
		}
	}
}

// While a store is at a completion it may show neither upload nor object. Such an absence is not believed as long as the
// completion of a dead process may land; once it has landed, nothing is lost, even where it was called so.
func TestB02InvisibleWhileCompleting(t *testing.T) {
	dies := func(t *testing.T, looks int) *s3World {
		w := newS3World(t)
		w.source(3, 3, 8)
		w.around = closing
		w.set(s3test.InvisibleWhileCompleting, s3test.On{N: looks, Times: 1})
		w.set(s3test.LateComplete, s3test.On{N: looks, Times: 1})
		return w
	}
	t.Run("waited for", func(t *testing.T) {
		for _, looks := range []int{1, 4, 9, 14, 30} {
			w := dies(t, looks)
			w.late = time.Hour // it ends when it shows
			if e := w.run(); e.code != 0 {
				e.exits(3, w.resumes())
				w.resume().exits(0, "")
			}
			w.exactlyOnce()
			w.unset()
		}
	})
	t.Run("called lost", func(t *testing.T) {
		w := dies(t, 60)
		e := w.run()
		if e.code != 3 && e.code != 4 {
			t.Fatalf("exit %d: %s", e.code, e.err)
		}
		w.resume().exits(4, fmt.Sprintf("clinkctl resolve %s %s --as lost --because '...'", w.token(), w.first().Name)).says("LOST")
		w.shows(0, 1) // which nobody but this test sees
		w.store.Release()
		w.shows(1, 0)
		w.call("resolve", w.token(), w.first().Name, "--as", "lost", "--because", "the trap").exits(4, w.resumes()).says("is published")
		w.resume().exits(0, "")
		w.exactlyOnce()
	})
}

// An error in a status of 200, or a 500, and the completion happens afterwards.
func TestB01LateCompletionAfterAnError(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		for _, n := range []int{1, 5, 9} {
			t.Run(fmt.Sprint(status, n), func(t *testing.T) {
				w := newS3World(t)
				w.source(3, 3, 8)
				w.set(s3test.LateComplete, s3test.On{N: n, Times: 1, Status: status})
				if e := w.run(); e.code != 0 {
					e.exits(3, w.resumes())
				}
				w.unset()
				w.resume().exits(0, "")
				w.exactlyOnce()
			})
		}
	}
}

// Somebody else's object gets to the key between the look and the completion, the upload is gone, and the store says 200.
func TestB03UnknownUploadCompletes(t *testing.T) {
	w := newS3World(t)
	w.source(3, 3, 8)
	w.set(s3test.UnknownUploadCompletes, s3test.On{})
	handle := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if matches(s3test.CompleteMultipartUpload, r) {
			key := r.URL.Path[len("/"+bucket+"/"):]
			w.store.ForgetUpload(bucket, key)
			w.store.PutObject(bucket, key, []byte("foreign"), nil)
		}
		w.store.ServeHTTP(rw, r)
	})
	w.handle.Store(&handle)
	w.run().exits(4, w.resumes()).says("CONFLICT")
	w.isOpen(1)
	w.unset()
}

// An artifact was published, and was deleted before that was journaled: it is lost, also where a store would complete the
// upload again and say 200.
func TestB02PublishedAndDeleted(t *testing.T) {
	for _, sw := range []s3test.Switch{"", s3test.ReplayNeedsObject} {
		t.Run(string(sw), func(t *testing.T) {
			w := newS3World(t)
			w.source(3, 3, 8)
			if sw != "" {
				w.set(sw, s3test.On{})
			}
			w.around = blindAfterComplete
			w.run().exits(3, w.resumes())
			w.around = nil
			w.store.DeleteObject(bucket, prefix+"/"+w.first().Name)
			w.resume().exits(4, fmt.Sprintf("clinkctl resolve %s %s --as lost --because '...'", w.token(), w.first().Name)).says("LOST")
			w.isOpen(1)
			w.shows(0, 0)
		})
	}
}

// closing gives each request a connection of its own, so that none is repeated behind our back.
func closing(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		r.Close = true
		return next.RoundTrip(r)
	})
}
