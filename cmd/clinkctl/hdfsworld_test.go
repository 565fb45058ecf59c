package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	colinmarc "github.com/colinmarc/hdfs/v2"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/hdfs"
)

// realHDFS is the one that CLINKCTL_TEST_HDFS names, seen from outside, with a folder for one test.
type realHDFS struct {
	t      *testing.T
	client *colinmarc.Client
	node   string // its address
	web    string // of its WebHDFS
	root   string
	worlds atomic.Int64
}

func newRealHDFS(t *testing.T) *realHDFS {
	t.Helper()
	node, web := os.Getenv("CLINKCTL_TEST_HDFS"), os.Getenv("CLINKCTL_TEST_WEBHDFS")
	if node == "" || web == "" {
		t.Skip(`CLINKCTL_TEST_HDFS and CLINKCTL_TEST_WEBHDFS name no NameNode: eval "$(scripts/services/hdfs start DIR)"`)
	}
	client, err := colinmarc.NewClient(colinmarc.ClientOptions{Addresses: []string{node}, User: "root"})
	if err != nil {
		t.Fatal(err)
	}
	h := &realHDFS{t: t, client: client, node: node, web: web, root: fmt.Sprintf("/c%d-%d", os.Getpid(), time.Now().UnixNano())}
	t.Cleanup(func() {
		if err := errors.Join(client.RemoveAll(h.root), client.Close()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// nativeWorld is a machine whose destination is a folder of a real HDFS, behind a proxy.
type nativeWorld struct {
	*hdfsWorld
	proxy *rpcProxy
}

// world makes a machine whose source has six rows, in two artifacts of three.
func (h *realHDFS) world(t *testing.T) *nativeWorld {
	t.Helper()
	to := fmt.Sprintf("%s/%d/out", h.root, h.worlds.Add(1))
	w := &nativeWorld{&hdfsWorld{s3World: &s3World{t: t, dir: t.TempDir()}, tree: &realTree{t, h.client, h.web, path.Dir(to)}, to: to}, newRPCProxy(t, h.node)}
	w.options = map[string]string{"user": "root", "retries": "1", "timeout": "20s", "block_size": "1MiB"}
	isolate(t, w.dir)
	w.source(6, 3, 8)
	return w
}

// job writes the job's file, and gives its path.
func (w *nativeWorld) job() string {
	w.write("orders.yaml", w.jobAt("hdfs", w.proxy.host()))
	return w.path("orders.yaml")
}

// mainHDFS is the program with a backend for HDFS that does not wait long.
func mainHDFS() { os.Exit(Main(os.Args[1:], nativeWiring(), Streams{Out: os.Stdout, Err: os.Stderr})) }

func nativeWiring() Wiring {
	wiring := Production()
	for i, b := range wiring.Backends {
		if b.Scheme == "hdfs" {
			wiring.Backends[i] = hdfs.Backend(hdfs.Env{Random: rand.Reader, Sleep: briefly})
		}
	}
	return wiring
}

// briefly is a pause that takes a part of its time: a real server is asked again when it may have moved on.
func briefly(ctx context.Context, d time.Duration) error { return sleep(ctx, d/10) }

// call runs a command, and waits until nothing of what it has asked is under way.
func (w *nativeWorld) call(args ...string) ended {
	var out, err bytes.Buffer
	code := Main(args, nativeWiring(), Streams{Out: &out, Err: &err})
	w.proxy.quiet()
	return ended{w.t, args, code, out.String(), err.String()}
}

func (w *nativeWorld) run(args ...string) ended {
	return w.call(append([]string{"run", w.job(), "--progress", "none"}, args...)...)
}

func (w *nativeWorld) resume() ended { return w.call("resume", "--progress", "none") }

// dies lets a process begin that is killed when something is lost.
func (w *nativeWorld) dies(l loss, args ...string) {
	w.t.Helper()
	p := &process{cmd: exec.Command("clinkctl-hdfs", args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	started := make(chan struct{})
	l.then = func() {
		<-started
		_ = p.cmd.Process.Kill() // it may be dead
	}
	w.proxy.set(l)
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	close(started)
	go func() { p.done <- p.cmd.Wait() }()
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended by now, unless the test failed
	if e := w.end(p); e.code != -1 {
		w.t.Fatalf("%s was not killed: exit %d: %s", args[0], e.code, e.err)
	}
	w.proxy.quiet()
	w.proxy.unset()
}

// realTree is a folder of a real HDFS.
type realTree struct {
	t      *testing.T
	client *colinmarc.Client
	web    string // where its WebHDFS is
	root   string
}

func (r *realTree) walk(see func(name string, is fs.FileInfo)) {
	r.t.Helper()
	err := r.client.Walk(r.root, func(name string, is fs.FileInfo, err error) error {
		if err == nil {
			see(name, is)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
}

func hidden(name string) bool { return strings.Contains(name, "/"+stage.Hidden+"/") }

// Files are all files, and the bytes of those that readers see.
func (r *realTree) Files() map[string][]byte {
	r.t.Helper()
	files := map[string][]byte{}
	r.walk(func(name string, is fs.FileInfo) {
		if is.IsDir() {
			return
		}
		files[name] = nil
		if hidden(name) {
			return // it may be open, of a process that was killed
		}
		data, err := r.client.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		files[name] = data
	})
	return files
}

// Dirs are all folders.
func (r *realTree) Dirs() []string {
	r.t.Helper()
	var dirs []string
	r.walk(func(name string, is fs.FileInfo) {
		if is.IsDir() {
			dirs = append(dirs, name)
		}
	})
	return dirs
}

// OpenFiles are those that readers see and that are not closed: HDFS gives no checksum of them.
func (r *realTree) OpenFiles() []string {
	r.t.Helper()
	var open []string
	r.walk(func(name string, is fs.FileInfo) {
		if is.IsDir() || hidden(name) {
			return
		}
		answer, err := http.Get("http://" + r.web + "/webhdfs/v1" + name + "?op=GETFILECHECKSUM&user.name=root")
		if err != nil {
			r.t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			r.t.Fatal(err)
		}
		if answer.StatusCode != http.StatusOK {
			open = append(open, fmt.Sprintf("%s: %s", name, said))
		}
	})
	return open
}
