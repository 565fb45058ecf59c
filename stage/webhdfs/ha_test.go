//go:build ha

// Tests on two real NameNodes, which `scripts/test --long ha` starts.

package webhdfs_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/webhdfs"
)

// pair is two NameNodes of one cluster.
type pair struct {
	*cluster
	t     *testing.T
	dir   string
	nodes []any
}

func newPair(t *testing.T) *pair {
	t.Helper()
	nodes := strings.Split(os.Getenv("CLINKCTL_TEST_WEBHDFS"), ",")
	p := &pair{t: t, dir: os.Getenv("CLINKCTL_TEST_HA_DIR"), nodes: []any{nodes[0], nodes[1]}}
	p.service("restart", p.dir)
	p.active("nn1")
	p.cluster = &cluster{host: nodes[0], pace: 5, outside: outside{t: t, base: "http://" + nodes[1] + "/webhdfs/v1", root: "/ha/" + t.Name()}}
	return p
}

func (p *pair) service(args ...string) {
	p.t.Helper()
	if out, err := exec.Command("../../scripts/services/hdfs", args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func (p *pair) active(name string) { p.service("active", p.dir, name) }

// failOver kills the active NameNode, and makes the other one active.
func (p *pair) failOver() {
	p.service("kill", p.dir, "nn1")
	p.active("nn2")
}

func (p *pair) open(around func(http.RoundTripper) http.RoundTripper) stage.Sink {
	p.t.Helper()
	s, err := webhdfs.Backend(p.env(around)).Open(p.t.Context(), p.at("to", map[string]any{"namenodes": p.nodes, "retries": 8}), true)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *pair) stage(s stage.Sink) (runstate.Handle, []byte) {
	p.t.Helper()
	a, data := runstate.Artifact{Run: fakeRun, Attempt: 1, Checkpoint: 1, Ext: "csv"}, bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	w, err := s.(stage.Bytes).Create(p.t.Context(), a)
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	h, err := w.Prepare(p.t.Context(), 1, runstate.DigestOf(data))
	if err != nil {
		p.t.Fatal(err)
	}
	return h, data
}

// published checks that the artifact is there once, whole, and that nothing else is.
func (p *pair) published(s stage.Sink, h runstate.Handle, data []byte) {
	p.t.Helper()
	if e, err := s.Inspect(p.t.Context(), h); err != nil || e.State != stage.Published {
		p.t.Fatalf("it is %s (%s), %v", e.State, e.Detail, err)
	}
	if seen := p.visible("to"); len(seen) != 1 || !bytes.Equal(seen[h.Name], data) {
		p.t.Fatalf("readers see %d files, or other bytes", len(seen))
	}
	if left := p.staged("to"); len(left) > 0 {
		p.t.Fatalf("%q is left", left)
	}
}

func TestFailoverBetweenPrepareAndPublish(t *testing.T) {
	p := newPair(t)
	s := p.open(nil)
	h, data := p.stage(s)
	p.failOver()
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	p.published(s, h, data)
}

// The rename is done, its reply is lost with the NameNode that has done it, and the other one is asked then.
func TestFailoverBetweenRenameAndReply(t *testing.T) {
	p := newPair(t)
	var once sync.Once
	s := p.open(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if r.URL.Query().Get("op") == "RENAME" && strings.Contains(r.URL.Query().Get("destination"), "/sub0-") {
				once.Do(func() {
					p.failOver()
					err = errors.Join(errors.New("the connection is lost"), response.Body.Close())
					response = nil
				})
			}
			return response, err
		})
	})
	h, data := p.stage(s)
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	p.published(s, h, data)
}

// Nobody is active for a while: what is asked then is unknown, and nothing is lost.
func TestNobodyIsActive(t *testing.T) {
	p := newPair(t)
	s := p.open(nil)
	h, data := p.stage(s)
	p.service("kill", p.dir, "nn1")
	if e, err := s.Inspect(t.Context(), h); err == nil {
		t.Errorf("it is said to be %s (%s) while nobody is active", e.State, e.Detail)
	}
	if err := s.Publish(t.Context(), h); err == nil || errors.Is(err, stage.ErrForeign) {
		t.Errorf("publish while nobody is active: %v", err)
	}
	p.active("nn2")
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	p.published(s, h, data)
}
