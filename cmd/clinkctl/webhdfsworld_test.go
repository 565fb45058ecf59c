package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/webhdfs"
	"github.com/clinkctl/clinkctl/stage/webhdfs/webhdfstest"
)

// hdfsWorld is a machine with a source, a job, a state directory, and an HDFS that misbehaves on purpose. What has nothing
// to do with the destination is s3World's.
type hdfsWorld struct {
	*s3World
	ns   *webhdfstest.Namespace
	node *webhdfstest.NameNode
	tree hdfsTree // what there is, seen from outside
	to   string   // the destination's folder
}

// hdfsTree is what an HDFS has, by paths.
type hdfsTree interface {
	Files() map[string][]byte
	Dirs() []string
	OpenFiles() []string
}

// newHDFSWorld makes a machine whose source has six rows, in two artifacts of three.
func newHDFSWorld(t *testing.T) *hdfsWorld { return hdfsWorldWith(t, webhdfstest.Options{}) }

func hdfsWorldWith(t *testing.T, o webhdfstest.Options) *hdfsWorld {
	t.Helper()
	w := &hdfsWorld{s3World: &s3World{t: t, dir: t.TempDir(), sleep: atOnce}, ns: webhdfstest.New(o), to: "/lake/out"}
	w.node, w.tree = w.ns.NameNode(), w.ns
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(w.serve))
	w.server.Config.ErrorLog = quiet()
	w.server.Start()
	t.Cleanup(w.server.Close)
	t.Cleanup(w.ns.Close)
	w.options = map[string]string{"retries": "2", "timeout": "20s", "block_size": "1MiB"}
	w.around = closing
	isolate(t, w.dir)
	w.source(6, 3, 8)
	return w
}

func (w *hdfsWorld) serve(rw http.ResponseWriter, r *http.Request) {
	if handle := w.handle.Load(); handle != nil {
		(*handle)(rw, r)
		return
	}
	w.node.ServeHTTP(rw, r)
}

// host is where the NameNode is.
func (w *hdfsWorld) host() string { return hostOf(w.server) }

func hostOf(s *httptest.Server) string {
	_, host, _ := strings.Cut(s.URL, "://")
	return host
}

// job writes the job's file, and gives its path.
func (w *hdfsWorld) job() string {
	w.write("orders.yaml", w.jobAt("webhdfs", w.host()))
	return w.path("orders.yaml")
}

// jobAt is the job with its destination at a host, by a protocol.
func (w *hdfsWorld) jobAt(scheme, host string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "source: {path: %q}\n%s\nsinks:\n  - to: %s://%s%s\n    %s:\n", w.path("orders.csv"), strings.Join(w.plan, "\n"), scheme, host, w.to, scheme)
	for name, value := range w.options {
		fmt.Fprintf(&text, "      %s: %s\n", name, value)
	}
	return text.String()
}

func (w *hdfsWorld) call(args ...string) ended {
	var out, err bytes.Buffer
	code := Main(args, hdfsWiring(webhdfs.Env{Random: rand.Reader, Sleep: w.sleep, Around: w.around}), Streams{Out: &out, Err: &err})
	return ended{w.t, args, code, out.String(), err.String()}
}

func hdfsWiring(env webhdfs.Env) Wiring {
	wiring := Production()
	for i, b := range wiring.Backends {
		if b.Scheme == "webhdfs" {
			wiring.Backends[i] = webhdfs.Backend(env)
		}
	}
	return wiring
}

// mainWebHDFS is the program with a backend for HDFS that does not wait, and asks each thing on a connection of its own.
func mainWebHDFS() {
	w := hdfsWiring(webhdfs.Env{Random: rand.Reader, Sleep: atOnce, Around: closing})
	os.Exit(Main(os.Args[1:], w, Streams{Out: os.Stdout, Err: os.Stderr}))
}

func (w *hdfsWorld) start(args ...string) *process {
	w.t.Helper()
	p := &process{cmd: exec.Command("clinkctl-webhdfs", args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended by now, unless the test failed
	return p
}

func (w *hdfsWorld) run(args ...string) ended {
	return w.call(append([]string{"run", w.job(), "--progress", "none"}, args...)...)
}

func (w *hdfsWorld) resume(args ...string) ended {
	return w.call(append([]string{"resume", "--progress", "none"}, args...)...)
}

// names are what the destination shows to readers.
func (w *hdfsWorld) names() []string {
	var names []string
	for at := range w.tree.Files() {
		if name, ok := strings.CutPrefix(at, w.to+"/"); ok && !strings.HasPrefix(name, stage.Hidden) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// staged are the files that are staged, and folders that are there for a moment, below the destination.
func (w *hdfsWorld) staged() []string {
	var staged []string
	hidden := path.Join(w.to, stage.Hidden) + "/"
	for at := range w.tree.Files() {
		name, ok := strings.CutPrefix(at, hidden)
		if ok && name != "id" && !strings.HasPrefix(name, "key-") {
			staged = append(staged, name)
		}
	}
	for _, at := range w.tree.Dirs() {
		if name, ok := strings.CutPrefix(at, hidden); ok && (strings.HasPrefix(name, "tmp-") || strings.HasPrefix(name, "probe-")) {
			staged = append(staged, name+"/")
		}
	}
	slices.Sort(staged)
	return staged
}

// exactlyOnce checks that every row is published once, that the journal says so, and that nothing is left or warned of.
func (w *hdfsWorld) exactlyOnce() {
	w.t.Helper()
	w.once()
	if left := w.left(); len(left) > 0 {
		w.t.Errorf("%v are left", left)
	}
	for _, dir := range w.runs() {
		if s := w.stateOf(dir); s.Ended != nil && len(s.Ended.Warnings) > 0 {
			w.t.Errorf("the run ended with %v", s.Ended.Warnings)
		}
	}
}

// left is whatever is under the hidden folder but for the id and marks of keys, empty folders as well.
func (w *hdfsWorld) left() []string {
	left := w.staged()
	for _, at := range w.tree.Dirs() {
		if name, ok := strings.CutPrefix(at, path.Join(w.to, stage.Hidden)+"/"); ok && !slices.Contains(left, name+"/") {
			left = append(left, name+"/")
		}
	}
	return left
}

// once is exactlyOnce but for warnings and for what is left of notes.
func (w *hdfsWorld) once() {
	w.t.Helper()
	var got []string
	files := w.tree.Files()
	for _, name := range w.names() {
		if _, err := runstate.ParseName(name); err != nil {
			continue
		}
		text, ok := strings.CutPrefix(string(files[path.Join(w.to, name)]), rowsHead)
		if !ok {
			w.t.Fatalf("%s does not begin with the header: %.40q", name, text)
		}
		got = append(got, slices.Collect(strings.Lines(text))...)
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(w.rows))) {
		w.t.Errorf("%d rows are published, and not the source's %d", len(got), len(w.rows))
	}
	if open := w.tree.OpenFiles(); len(open) > 0 {
		w.t.Errorf("%v are open", open)
	}
	for _, dir := range w.runs() {
		s := w.stateOf(dir)
		if s.Ended == nil || s.Ended.Outcome != runstate.Done || len(s.Outstanding()) > 0 {
			w.t.Errorf("the journal says decided %v, %d outstanding, ended %+v", s.Decision, len(s.Outstanding()), s.Ended)
		}
		if name := runstate.ManifestName(s.Begun.Run); !slices.Contains(w.names(), name) {
			w.t.Errorf("there is no %s among %v", name, w.names())
		}
	}
}

// shows checks what readers see, and how many files are staged.
func (w *hdfsWorld) shows(objects, staged int) {
	w.t.Helper()
	if got := w.names(); len(got) != objects {
		w.t.Errorf("readers see %v, and not %d files", got, objects)
	}
	if got := w.staged(); len(got) != staged {
		w.t.Errorf("%v are staged, and not %d", got, staged)
	}
}

func (w *hdfsWorld) set(sw webhdfstest.Switch, on webhdfstest.On) { w.ns.Set(sw, on) }

// unset turns all switches off, which must have fired.
func (w *hdfsWorld) unset() {
	w.t.Helper()
	if unused := w.ns.Unused(); len(unused) > 0 {
		w.t.Errorf("%v never fired", unused)
	}
	w.ns.Unset()
}

// decided makes a run that is decided and has published nothing: the connection is lost before each rename.
func (w *hdfsWorld) decided() {
	w.t.Helper()
	w.set(webhdfstest.DropRequest, webhdfstest.On{Verb: webhdfstest.Rename, Path: "/sub0-"})
	w.run().exits(3, w.resumes())
	w.unset()
	w.shows(0, 2)
	w.isOpen(2)
}

// prepared makes a run with one unit prepared, and no decision: the second upload is refused.
func (w *hdfsWorld) prepared() {
	w.t.Helper()
	w.set(webhdfstest.Exception, webhdfstest.On{Verb: webhdfstest.CreateData, Path: "-000002.", Code: "AccessControlException"})
	w.run().exits(3, w.resumes())
	w.unset()
	w.shows(0, 1)
}

// final is the path of the run's first artifact, once it is published.
func (w *hdfsWorld) final() string { return path.Join(w.to, w.first().Name) }

// stagedAt is the path of the folder that an artifact is staged in.
func (w *hdfsWorld) stagedAt(h runstate.Handle) string {
	w.t.Helper()
	a, err := runstate.ParseName(h.Name)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, at := range w.tree.Dirs() {
		if strings.HasPrefix(path.Base(at), a.Stem()+".a") {
			return at
		}
	}
	w.t.Fatalf("%s is not staged", h.Name)
	return ""
}

func (w *hdfsWorld) lost() string {
	w.t.Helper()
	return fmt.Sprintf("clinkctl resolve %s %s --as lost --because '...'", w.token(), w.first().Name)
}

// another makes one more server of the namespace, with a certificate where tls is set.
func (w *hdfsWorld) another(handler http.Handler, tls bool) *httptest.Server {
	w.t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = quiet()
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	w.t.Cleanup(s.Close)
	w.t.Cleanup(w.ns.Close) // before the server
	return s
}

var errGone = errors.New("the network is gone")
