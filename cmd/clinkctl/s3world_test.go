package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// s3World is a machine with a source, a job, a state directory, and an object store that misbehaves on purpose.
type s3World struct {
	t       *testing.T
	store   *s3test.Server
	server  *httptest.Server
	dir     string
	rows    []string                                   // of the source
	options map[string]string                          // of the destination, under s3
	plan    []string                                   // further lines of the job
	handle  atomic.Pointer[http.HandlerFunc]           // in front of the store; nil for none
	around  func(http.RoundTripper) http.RoundTripper  // of every request; may be nil
	sleep   func(context.Context, time.Duration) error // of the backend
	late    time.Duration                              // how long a completion of a dead process may still land
}

const (
	s3Access = "AKIDTRAPS"
	s3Secret = "p@ss:w/ord!&#% $x+topsecret"
	bucket   = "lake"
	prefix   = "out"
	rowsHead = "id,name\n"
)

// newS3World makes a machine whose source has six rows, in two artifacts of three.
func newS3World(t *testing.T) *s3World {
	t.Helper()
	store := s3test.New(s3test.Options{Buckets: []string{bucket}, AccessKey: s3Access, SecretKey: s3Secret})
	w := &s3World{t: t, store: store, dir: t.TempDir(), late: time.Millisecond, sleep: atOnce}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	t.Cleanup(store.Close)
	w.options = map[string]string{"endpoint": w.server.URL, "retries": "1", "timeout": "20s", "part_size": "5MiB"}
	isolate(t, w.dir)
	t.Setenv("AWS_ACCESS_KEY_ID", s3Access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3Secret)
	w.source(6, 3, 8)
	return w
}

func (w *s3World) serve(rw http.ResponseWriter, r *http.Request) {
	if handle := w.handle.Load(); handle != nil {
		(*handle)(rw, r)
		return
	}
	w.store.ServeHTTP(rw, r)
}

// isolate takes out of the environment what a person's own machine may say there.
func isolate(t *testing.T, dir string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		proxy := strings.HasSuffix(strings.ToLower(name), "_proxy")
		if strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "CLINKCTL_") || proxy {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "aws-config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(dir, "aws-credentials"))
	t.Setenv("CLINKCTL_STATE", filepath.Join(dir, "state"))
}

// atOnce is a pause that takes no time.
func atOnce(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// source gives the job n rows of a width in bytes, at most so many in an artifact.
func (w *s3World) source(n, artifact, width int) {
	w.t.Helper()
	w.rows = make([]string, n)
	for i := range w.rows {
		row := fmt.Sprintf("%d,name-%d-", i, i)
		w.rows[i] = row + strings.Repeat("x", max(0, width-len(row)-1)) + "\n"
	}
	w.write("orders.csv", rowsHead+strings.Join(w.rows, ""))
	w.plan = []string{fmt.Sprintf("checkpoint: {rows: %d}", artifact), "commit_wait: 0s"}
}

// twoParts gives the job two artifacts of two parts each.
func (w *s3World) twoParts() { w.source(12, 6, 1<<20) }

func (w *s3World) path(name string) string { return filepath.Join(w.dir, name) }

func (w *s3World) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *s3World) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// job writes the job's file, and gives its path.
func (w *s3World) job() string {
	var text strings.Builder
	fmt.Fprintf(&text, "source: {path: %q}\n%s\nsinks:\n  - to: s3://%s/%s\n    s3:\n", w.path("orders.csv"), strings.Join(w.plan, "\n"), bucket, prefix)
	for name, value := range w.options {
		fmt.Fprintf(&text, "      %s: %s\n", name, value)
	}
	w.write("orders.yaml", text.String())
	return w.path("orders.yaml")
}

// wiring is the product's, with a backend for this store that does not wait.
func (w *s3World) wiring() Wiring {
	return s3Wiring(s3.Env{Random: rand.Reader, Now: time.Now, Sleep: w.sleep, Late: w.late, Around: w.around})
}

func s3Wiring(env s3.Env) Wiring {
	wiring := Production()
	for i, b := range wiring.Backends {
		if b.Scheme == "s3" {
			wiring.Backends[i] = s3.Backend(env)
		}
	}
	return wiring
}

// ended is a command that has ended.
type ended struct {
	t        *testing.T
	args     []string
	code     int
	out, err string
}

// call runs a command.
func (w *s3World) call(args ...string) ended {
	var out, err bytes.Buffer
	code := Main(args, w.wiring(), Streams{Out: &out, Err: &err})
	return ended{w.t, args, code, out.String(), err.String()}
}

func (w *s3World) run(args ...string) ended {
	return w.call(append([]string{"run", w.job(), "--progress", "none"}, args...)...)
}

func (w *s3World) resume(args ...string) ended {
	return w.call(append([]string{"resume", "--progress", "none"}, args...)...)
}

// exits checks the exit code, and the last line on stderr where there is a command to type next.
func (e ended) exits(code int, next string) ended {
	e.t.Helper()
	lines := strings.Split(strings.TrimSpace(e.err), "\n")
	last := lines[len(lines)-1]
	if next != "" {
		next = "next: " + next
	}
	if e.code != code || next != "" && last != next || next == "" && strings.HasPrefix(last, "next: ") {
		e.t.Fatalf("%s: exit %d and not %d; the last line is %q and not %q\nstdout: %s\nstderr: %s", e.args[0], e.code, code, last, next, e.out, e.err)
	}
	return e
}

// says checks what is told on stderr.
func (e ended) says(texts ...string) ended {
	e.t.Helper()
	for _, text := range texts {
		if !strings.Contains(e.err, text) {
			e.t.Errorf("%s does not say %q: %s", e.args[0], text, e.err)
		}
	}
	return e
}

// quiet is a log of a server whose complaints are expected.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// roundTrip is a function that carries requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
