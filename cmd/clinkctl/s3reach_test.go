package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Options that say how a store is reached.

func TestOptionProfile(t *testing.T) {
	w := newS3World(t)
	w.write("aws-credentials", "[traps]\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = plain\n")
	w.store.Rotate("AKIDPROFILE", "plain", "")
	w.options["profile"] = "traps"
	w.withoutKeys()
	w.run().exits(0, "")
	w.exactlyOnce()
	w.options["profile"] = "absent"
	w.run("--key", "k").exits(1, "").says("absent")
}

// The bucket is in the path at an endpoint of the user's own, and in the host's name where that is asked for.
func TestOptionPathStyle(t *testing.T) {
	for _, c := range []struct {
		value string
		style s3test.Switch
		host  string
	}{
		{"", s3test.PathStyleOnly, ""},
		{"true", s3test.PathStyleOnly, ""},
		{"false", s3test.VirtualStyleOnly, bucket + "."},
	} {
		t.Run("path_style "+c.value, func(t *testing.T) {
			w := newS3World(t)
			if c.value != "" {
				w.options["path_style"] = c.value
			}
			at := strings.TrimPrefix(w.server.URL, "http://")
			w.options["endpoint"] = "http://s3.traps.example"
			w.around = seeing(func(r *http.Request) {
				if !strings.HasPrefix(r.URL.Host, c.host+"s3.traps.example") {
					t.Errorf("a request goes to %s", r.URL.Host)
				}
				if r.Host == "" {
					r.Host = r.URL.Host
				}
				r.URL.Host = at
			})
			w.set(c.style, s3test.On{})
			w.run().exits(0, "")
			w.exactlyOnce()
			if n := w.store.Fired(c.style); n > 0 {
				t.Errorf("%d requests were in the other style", n)
			}
		})
	}
}

func TestOptionPartSize(t *testing.T) {
	for size, parts := range map[string]int{"5MiB": 3, "6291456": 2, "12MiB": 1} {
		w := newS3World(t)
		w.source(11, 11, 1<<20)
		w.options["part_size"] = size
		w.run().exits(0, "")
		if o, _ := w.store.Object(bucket, prefix+"/"+w.first().Name); len(o.Parts) != parts {
			t.Errorf("%s: the parts are %v", size, o.Parts)
		}
	}
}

// As many parts as the option says are on their way at once, of all writers together, and no more.
func TestOptionParallel(t *testing.T) {
	for _, n := range []int64{1, 3} {
		w := newS3World(t)
		w.source(64, 32, 1<<20)
		w.plan = append(w.plan, "subtasks: 2")
		w.options["parallel"] = fmt.Sprint(n)
		var now, most atomic.Int64
		w.around = func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				if matches(s3test.UploadPart, r) {
					most.Store(max(most.Load(), now.Add(1)))
					defer now.Add(-1)
				}
				return next.RoundTrip(r)
			})
		}
		w.run().exits(0, "")
		w.exactlyOnce()
		if most.Load() > n || n == 1 && most.Load() != 1 {
			t.Errorf("%d parts were on their way at once, and not %d", most.Load(), n)
		}
	}
}

func TestOptionRetries(t *testing.T) {
	for _, n := range []int{1, 2} {
		w := newS3World(t)
		w.options["retries"] = fmt.Sprint(n)
		w.set(s3test.SlowDown, s3test.On{Verb: s3test.GetObject})
		w.run().exits(1, "").says("SlowDown")
		if got := w.store.Count(s3test.GetObject); got != n {
			t.Errorf("%d tries, and not %d", got, n)
		}
	}
}

// A completion is asked for once, whatever retries says: what has become of it is looked at.
func TestCompletionIsNotRepeated(t *testing.T) {
	w := newS3World(t)
	w.options["retries"] = "9"
	w.set(s3test.Internal, s3test.On{Verb: s3test.CompleteMultipartUpload})
	w.run().exits(3, w.resumes())
	if n := w.store.Count(s3test.CompleteMultipartUpload); n != 2 {
		t.Errorf("%d completions for 2 artifacts", n)
	}
	w.unset()
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// A store that does not answer is left after the time limit, whatever stands still.
func TestOptionTimeout(t *testing.T) {
	for sw, done := range map[s3test.Switch]bool{s3test.Stall: false, s3test.StallReply: true} {
		t.Run(string(sw), func(t *testing.T) {
			w := newS3World(t)
			w.options["timeout"] = "1s"
			w.set(sw, s3test.On{Verb: s3test.GetObject})
			start := time.Now()
			w.run().exits(1, "").says("no answer in time (option timeout)")
			w.unset()
			w.set(sw, s3test.On{Verb: s3test.CompleteMultipartUpload, Key: "-000002."})
			if e := w.run(); done {
				e.exits(0, "")
			} else {
				e.exits(3, w.resumes()).says("no answer in time (option timeout)")
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
			w.unset()
			w.options["timeout"] = "20s"
			w.run().exits(0, "")
			w.exactlyOnce()
		})
	}
}
