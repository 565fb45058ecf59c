package webhdfs_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/stagetest"
	"github.com/clinkctl/clinkctl/stage/webhdfs"
)

// The laws on a real NameNode.
func TestLaws(t *testing.T) {
	c := realCluster(t)
	stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place { return c.place(t, name, nil) })
}

// cluster is an HDFS with a folder for one test, seen from outside clinkctl.
type cluster struct {
	outside
	host   string // and port, of the NameNode's WebHDFS
	places atomic.Int64
	pace   time.Duration // how many times shorter pauses are
	reach  map[string]any
}

// realCluster is the one that CLINKCTL_TEST_WEBHDFS names.
func realCluster(t *testing.T) *cluster {
	t.Helper()
	host := os.Getenv("CLINKCTL_TEST_WEBHDFS")
	if host == "" {
		t.Skip(`CLINKCTL_TEST_WEBHDFS names no NameNode: eval "$(scripts/services/hdfs start DIR)"`)
	}
	return newCluster(t, host)
}

func newCluster(t *testing.T, host string) *cluster {
	t.Helper()
	c := &cluster{host: host, pace: 5, reach: map[string]any{"user": "root"}, outside: outside{t: t, base: "http://" + host + "/webhdfs/v1",
		root: fmt.Sprintf("/t%d-%d", os.Getpid(), time.Now().UnixNano())}}
	t.Cleanup(func() { c.outside.t = t; c.remove("") })
	return c
}

// at is a destination in the test's folder.
func (c *cluster) at(name string, options map[string]any) stage.Place {
	reach := map[string]any{"retries": 4, "timeout": "20s"}
	maps.Copy(reach, c.reach)
	maps.Copy(reach, options)
	return stage.Place{To: "webhdfs://" + c.host + path.Join(c.root, name), Reach: reach}
}

func (c *cluster) env(around func(http.RoundTripper) http.RoundTripper) webhdfs.Env {
	return webhdfs.Env{Random: rand.Reader, Sleep: c.sleep, Around: around}
}

func (c *cluster) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d / c.pace):
		return nil
	}
}

// place is a destination for the laws. HDFS has no names with a colon.
func (c *cluster) place(t *testing.T, name string, options map[string]any) stagetest.Place {
	at := fmt.Sprintf("%d/%s", c.places.Add(1), strings.ReplaceAll(name, ":", "_"))
	steer, see := &steering{}, c.outside
	see.t = t
	return stagetest.Place{
		Open: func() stage.Sink {
			s, err := webhdfs.Backend(c.env(steer.around)).Open(t.Context(), c.at(at, options), true)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Visible: func() map[string][]byte { return see.visible(at) },
		Staged:  func() []string { return see.staged(at) },
		Plant:   func(name string, data []byte) { see.put(path.Join(at, name), data) },
		Unstage: func(h runstate.Handle) {
			a, err := runstate.ParseName(h.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range see.staged(at) {
				if strings.Contains(name, a.Stem()+".a") {
					see.remove(path.Join(at, name))
				}
			}
		},
		PlantStaged: func(run runstate.Token, name string) {
			see.put(path.Join(at, stage.Hidden, string(run), name), nil)
		},
		Deny: steer.deny,
		Hold: steer.hold,
		Replace: func() func() {
			see.rename(at, at+".away")
			see.mkdirs(at)
			return func() {
				see.rename(at, at+".other")
				see.rename(at+".away", at)
			}
		},
	}
}

// steering is what the laws make of a sink's requests.
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

func (s *steering) around(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		denied, entered, released := s.denied, s.entered, s.released
		renames := r.URL.Query().Get("op") == "RENAME"
		if renames {
			s.entered = nil
		}
		s.mu.Unlock()
		if denied && r.Method == http.MethodGet {
			return answer(r, http.StatusForbidden, "org.apache.hadoop.security.AccessControlException", "on purpose"), nil
		}
		if renames && entered != nil {
			close(entered)
			<-released
		}
		return next.RoundTrip(r)
	})
}
