//go:build ha

// Tests on two real NameNodes, which `scripts/test --long ha` starts.

package hdfs_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"testing"

	colinmarc "github.com/colinmarc/hdfs/v2"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/hdfs"
)

// pair is two NameNodes of one cluster.
type pair struct {
	t     *testing.T
	dir   string
	nodes []string
	root  string
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, dir: os.Getenv("CLINKCTL_TEST_HA_DIR"), nodes: strings.Split(os.Getenv("CLINKCTL_TEST_HDFS"), ","), root: "/ha-native/" + t.Name()}
	p.service("restart", p.dir)
	p.active("nn1")
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

func (p *pair) open(nodes ...string) stage.Sink {
	p.t.Helper()
	at := stage.Place{To: "hdfs://ha" + p.root, Reach: map[string]any{"namenodes": []any{nodes[0], nodes[1]}, "user": "root", "retries": 10, "timeout": "20s"}}
	s, err := hdfs.Backend(hdfs.Env{Random: rand.Reader, Sleep: sleep}).Open(p.t.Context(), at, true)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

var haData = bytes.Repeat([]byte("0123456789abcdef"), 1<<17)

// published checks that the artifact is there once, whole, and that nothing else is.
func (p *pair) published(s stage.Sink, h runstate.Handle) {
	p.t.Helper()
	if e, err := s.Inspect(p.t.Context(), h); err != nil || e.State != stage.Published {
		p.t.Fatalf("it is %s (%s), %v", e.State, e.Detail, err)
	}
	client, err := colinmarc.NewClient(colinmarc.ClientOptions{Addresses: p.nodes, User: "root"})
	if err != nil {
		p.t.Fatal(err)
	}
	c := &cluster{Client: client}
	if seen := c.visible(p.t, p.root); len(seen) != 1 || !bytes.Equal(seen[h.Name], haData) {
		p.t.Fatalf("readers see %d files, or other bytes", len(seen))
	}
	if left := c.staged(p.t, p.root); len(left) > 0 {
		p.t.Fatalf("%q is left", left)
	}
	if err := errors.Join(client.Close(), s.Close()); err != nil {
		p.t.Error(err)
	}
}

func TestFailoverBetweenPrepareAndPublish(t *testing.T) {
	p := newPair(t)
	s := p.open(p.nodes...)
	h := stageOne(t, s, runstate.Artifact{Run: run, Attempt: 1, Checkpoint: 1, Ext: "csv"}, string(haData))
	p.failOver()
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	p.published(s, h)
}

// The rename is done, its reply is lost with the NameNode that has done it, and the other one is asked then. A proxy before the
// first NameNode does that.
func TestFailoverBetweenRenameAndReply(t *testing.T) {
	p := newPair(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go p.proxy(c, &once)
		}
	}()
	s := p.open(listener.Addr().String(), p.nodes[1])
	h := stageOne(t, s, runstate.Artifact{Run: run, Attempt: 1, Checkpoint: 1, Ext: "csv"}, string(haData))
	if err := s.Publish(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	dropped := true
	once.Do(func() { dropped = false })
	if !dropped {
		t.Error("no reply was dropped")
	}
	p.published(s, h)
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
}

// proxy passes a connection on to the first NameNode. The reply to the first rename of an artifact is not passed on.
func (p *pair) proxy(client net.Conn, once *sync.Once) {
	server, err := net.Dial("tcp", p.nodes[0])
	if err != nil {
		_ = client.Close() // as a NameNode that is dead
		return
	}
	renamed := make(chan struct{}, 1)
	go func() {
		buffer := make([]byte, 1<<16)
		for {
			n, err := client.Read(buffer)
			if bytes.Contains(buffer[:n], []byte("rename2")) && bytes.Contains(buffer[:n], []byte(path.Join(p.root, "sub0-"))) {
				renamed <- struct{}{}
			}
			if _, writeErr := server.Write(buffer[:n]); err != nil || writeErr != nil {
				_ = server.Close()
				return
			}
		}
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		drop := false
		select {
		case <-renamed:
			once.Do(func() {
				drop = true
				p.failOver()
			})
		default:
		}
		if !drop && err == nil {
			_, err = client.Write(buffer[:n])
		}
		if drop || err != nil {
			_ = client.Close()
			return
		}
	}
}
