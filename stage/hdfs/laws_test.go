package hdfs_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	colinmarc "github.com/colinmarc/hdfs/v2"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/hdfs"
	"github.com/clinkctl/clinkctl/stage/stagetest"
)

// The laws on a real NameNode.
func TestLaws(t *testing.T) {
	c := realCluster(t)
	stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place { return c.place(t, name) })
}

// cluster is an HDFS with a folder for one test, seen from outside clinkctl.
type cluster struct {
	*colinmarc.Client
	host, root string
	places     atomic.Int64
	reach      map[string]any
}

// realCluster is the one that CLINKCTL_TEST_HDFS names.
func realCluster(t *testing.T) *cluster {
	t.Helper()
	host := os.Getenv("CLINKCTL_TEST_HDFS")
	if host == "" {
		t.Skip(`CLINKCTL_TEST_HDFS names no NameNode: eval "$(scripts/services/hdfs start DIR)"`)
	}
	return newCluster(t, colinmarc.ClientOptions{Addresses: []string{host}, User: "root"}, map[string]any{"user": "root"})
}

func newCluster(t *testing.T, o colinmarc.ClientOptions, reach map[string]any) *cluster {
	t.Helper()
	client, err := colinmarc.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{Client: client, host: o.Addresses[0], reach: reach, root: fmt.Sprintf("/n%d-%d", os.Getpid(), time.Now().UnixNano())}
	t.Cleanup(func() {
		if err := errors.Join(client.RemoveAll(c.root), client.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// at is a destination in the test's folder.
func (c *cluster) at(name string) stage.Place {
	reach := map[string]any{"retries": 4, "timeout": "20s"}
	maps.Copy(reach, c.reach)
	return stage.Place{To: "hdfs://" + c.host + path.Join(c.root, name), Reach: reach}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d / 5):
		return nil
	}
}

// place is a destination for the laws. HDFS has no names with a colon.
func (c *cluster) place(t *testing.T, name string) stagetest.Place {
	at := fmt.Sprintf("%d/%s", c.places.Add(1), strings.ReplaceAll(name, ":", "_"))
	steer := &steering{}
	in := func(name string) string { return path.Join(c.root, at, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return stagetest.Place{
		Open: func() stage.Sink {
			s, err := hdfs.Backend(hdfs.Env{Random: rand.Reader, Sleep: sleep, Call: steer.call}).Open(t.Context(), c.at(at), true)
			must(err)
			return s
		},
		Visible: func() map[string][]byte { return c.visible(t, in("")) },
		Staged:  func() []string { return c.staged(t, in("")) },
		Plant:   func(name string, data []byte) { c.put(t, in(name), data) },
		Unstage: func(h runstate.Handle) {
			a, err := runstate.ParseName(h.Name)
			must(err)
			for _, name := range c.staged(t, in("")) {
				if strings.Contains(name, a.Stem()+".a") {
					must(c.RemoveAll(in(name)))
				}
			}
		},
		PlantStaged: func(run runstate.Token, name string) {
			must(c.MkdirAll(in(path.Join(stage.Hidden, string(run))), 0o755))
			c.put(t, in(path.Join(stage.Hidden, string(run), name)), nil)
		},
		Deny: steer.deny,
		Hold: steer.hold,
		Replace: func() func() {
			must(c.Rename(in(""), in("")+".away"))
			must(c.MkdirAll(in(""), 0o755))
			return func() {
				must(c.Rename(in(""), in("")+".other"))
				must(c.Rename(in("")+".away", in("")))
			}
		},
	}
}

func (c *cluster) put(t *testing.T, name string, data []byte) {
	t.Helper()
	w, err := c.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 0 {
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	for err = w.Close(); colinmarc.IsErrReplicating(err); err = w.Close() {
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) list(t *testing.T, name string) []os.FileInfo {
	t.Helper()
	all, err := c.ReadDir(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// visible is what a reader sees that looks at files in the folder itself.
func (c *cluster) visible(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	seen := map[string][]byte{}
	for _, e := range c.list(t, dir) {
		if e.Name() == stage.Hidden {
			continue
		}
		data, err := c.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Name()] = data
	}
	return seen
}

// staged is whatever is under the hidden folder, but for the id, notes and empty folders of runs.
func (c *cluster) staged(t *testing.T, dir string) (found []string) {
	t.Helper()
	for _, e := range c.list(t, path.Join(dir, stage.Hidden)) {
		at := path.Join(stage.Hidden, e.Name())
		switch {
		case e.Name() == "id", strings.HasPrefix(e.Name(), "key-"):
		case strings.HasPrefix(e.Name(), "tmp-"), strings.HasPrefix(e.Name(), "probe-"), !e.IsDir():
			found = append(found, at)
		default:
			for _, below := range c.list(t, path.Join(dir, at)) {
				found = append(found, path.Join(at, below.Name()))
			}
		}
	}
	return found
}

var errDenied = errors.New("denied on purpose")

// steering is what the laws make of a sink's calls.
type steering struct {
	mu       sync.Mutex
	denied   bool
	entered  chan struct{}
	released chan struct{}
}

func (s *steering) deny(deny bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = deny
}

func (s *steering) hold() (<-chan struct{}, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entered, s.released = make(chan struct{}), make(chan struct{})
	return s.entered, sync.OnceFunc(func() { close(s.released) })
}

func (s *steering) call(method string) error {
	s.mu.Lock()
	denied, entered, released := s.denied, s.entered, s.released
	if method == "rename" {
		s.entered = nil
	}
	s.mu.Unlock()
	if denied && (method == "stat" || method == "list" || method == "open" || method == "checksum") {
		return errDenied
	}
	if method == "rename" && entered != nil {
		close(entered)
		<-released
	}
	return nil
}
