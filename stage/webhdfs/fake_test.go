package webhdfs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/stagetest"
	"github.com/clinkctl/clinkctl/stage/webhdfs"
	"github.com/clinkctl/clinkctl/stage/webhdfs/webhdfstest"
)

// fakeCluster is an HDFS in memory that waits for nothing.
func fakeCluster(t *testing.T, o webhdfstest.Options) (*cluster, *webhdfstest.Namespace) {
	t.Helper()
	ns := webhdfstest.New(o)
	server := httptest.NewServer(ns.NameNode())
	t.Cleanup(server.Close)
	t.Cleanup(ns.Close)
	c := newCluster(t, strings.TrimPrefix(server.URL, "http://"))
	c.pace = 1000
	return c, ns
}

// The laws on a fake, with every kind of checksum, and lists of several pages.
func TestLawsOnFake(t *testing.T) {
	for _, checksum := range []string{"CRC32C", "COMPOSITE-CRC32C"} {
		t.Run(checksum, func(t *testing.T) {
			c, _ := fakeCluster(t, webhdfstest.Options{Checksum: checksum, ListLimit: 2})
			stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place { return c.place(t, name, nil) })
		})
	}
}

const fakeRun = runstate.Token("20261130t013000z7f3a9c1e")

func artifactOf(ckpt int) runstate.Artifact {
	return runstate.Artifact{Run: fakeRun, Attempt: 1, Sink: 1, Checkpoint: ckpt, Ext: "csv"}
}

func (c *cluster) open(t *testing.T, name string, options map[string]any) stage.Sink {
	t.Helper()
	s, err := webhdfs.Backend(c.env(nil)).Open(t.Context(), c.at(name, options), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// The checksum that is computed is HDFS's, whatever the length is and however the bytes come: Prepare compares them.
func checksums(t *testing.T, c *cluster, name string, block, blocks int) {
	s := c.open(t, name, map[string]any{"block_size": block})
	pattern := make([]byte, blocks*block+1)
	for i := range pattern {
		pattern[i] = byte(i*i>>3 + i)
	}
	for i, size := range []int{0, 1, 511, 512, 513, block - 1, block, block + 1, 2 * block, 2*block + 1, 3 * block, blocks*block - 1, blocks * block, blocks*block + 1} {
		data := pattern[:size]
		a := artifactOf(i + 1)
		w, err := s.(stage.Bytes).Create(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		for step, rest := 1, data; len(rest) > 0; step = step*7%100_003 + 1 {
			n := min(step, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		h, err := w.Prepare(t.Context(), 1, runstate.DigestOf(data))
		if err != nil {
			t.Errorf("%d bytes in blocks of %d: %v", size, block, err)
			continue
		}
		if err := s.Publish(t.Context(), h); err != nil {
			t.Error(err)
		}
		if e, err := s.Inspect(t.Context(), h); err != nil || e.State != stage.Published {
			t.Errorf("%d bytes: %s, %v", size, e.State, err)
		}
	}
}

func TestChecksumOnFake(t *testing.T) {
	for _, kind := range []string{"CRC32C", "CRC32", "COMPOSITE-CRC32C"} {
		c, _ := fakeCluster(t, webhdfstest.Options{Checksum: kind})
		checksums(t, c, "small", 1<<10, 33)
		checksums(t, c, "large", 1<<20, 4)
	}
}

func TestChecksumOnReal(t *testing.T) {
	c := realCluster(t)
	checksums(t, c, "large", 1<<20, 33)
}

// After a write that has failed for good every further call says so, and Discard leaves nothing.
func TestWriterAfterFailure(t *testing.T) {
	for name, size := range map[string]int{"kept": 10, "not kept": 3 << 20} {
		for sw, on := range map[webhdfstest.Switch]webhdfstest.On{
			webhdfstest.CutUpload: {Path: "/sub0-", N: 5},
			webhdfstest.Exception: {Verb: webhdfstest.CreateData, Path: "/sub0-", Code: "AccessControlException"},
			webhdfstest.SafeMode:  {Verb: webhdfstest.CreateData, Path: "/sub0-"},
			webhdfstest.PlainText: {Verb: webhdfstest.Create, Path: "/sub0-", From: 2},
		} {
			t.Run(fmt.Sprint(name, " ", sw), func(t *testing.T) {
				c, ns := fakeCluster(t, webhdfstest.Options{})
				s := c.open(t, "to", nil)
				if sw == webhdfstest.PlainText { // the first upload fails, and no further one begins
					ns.Set(webhdfstest.CutUpload, webhdfstest.On{Path: "/sub0-", N: 5, Times: 1})
				}
				ns.Set(sw, on)
				w, err := s.(stage.Bytes).Create(t.Context(), artifactOf(1))
				if err != nil {
					t.Fatal(err)
				}
				_, err = w.Write(make([]byte, size))
				if err == nil {
					_, err = w.Prepare(t.Context(), 1, "")
				}
				if err == nil {
					t.Fatal("it is prepared")
				}
				if _, err := w.Write([]byte("x")); err == nil {
					t.Error("it is written to")
				}
				if _, err := w.Prepare(t.Context(), 1, ""); err == nil {
					t.Error("it is prepared")
				}
				ns.Unset()
				if err := w.Discard(t.Context()); err != nil {
					t.Error(err)
				}
				if staged := c.staged("to"); len(staged) > 0 {
					t.Errorf("%v are left", staged)
				}
			})
		}
	}
}

// A note whose folder cannot be removed after it was written is written all the same.
func TestNoteIsOurs(t *testing.T) {
	c, ns := fakeCluster(t, webhdfstest.Options{})
	s := c.open(t, "to", nil)
	name := runstate.ManifestName(fakeRun)
	ns.Set(webhdfstest.DropReplyAfter, webhdfstest.On{Verb: webhdfstest.Rename, Times: 1})
	if err := s.PutNote(t.Context(), name, []byte("note")); err != nil {
		t.Error(err)
	}
	if err := s.PutNote(t.Context(), name, []byte("other")); err == nil {
		t.Error("a note is replaced")
	}
	if got, err := s.Note(t.Context(), name); string(got) != "note" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if staged := c.staged("to"); len(staged) > 0 {
		t.Errorf("%v are left", staged)
	}
}

// store opens the cluster as a source, with around laid around its requests.
func (c *cluster) store(t *testing.T, around func(http.RoundTripper) http.RoundTripper) stage.Store {
	t.Helper()
	s, err := webhdfs.Backend(c.env(around)).Store(t.Context(), c.at("", nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *cluster) address(name string) string {
	return "webhdfs://" + c.host + path.Join(c.root, name)
}

// broken is a body that ends, in the middle of it, with an error or as if it were all.
type broken struct {
	io.Reader
	io.Closer
	err error
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = b.err
	}
	return n, err
}

// breaking lets every answer with data end after n bytes.
func breaking(n int64, end error, seen func()) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err == nil && r.URL.Query().Get("op") == "OPEN" && r.URL.Query().Get("datanode") == "true" {
				answer.Body = broken{io.LimitReader(answer.Body, n), answer.Body, end}
				seen()
			}
			return answer, err
		})
	}
}

func TestSourceOverBrokenConnections(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef\n"), 1000)
	for name, end := range map[string]error{"broken": errors.New("connection reset"), "cut": io.EOF} {
		t.Run(name, func(t *testing.T) {
			c, ns := fakeCluster(t, webhdfstest.Options{})
			ns.Put(path.Join(c.root, "in.csv"), data)
			times := 0
			s := c.store(t, breaking(5000, end, func() { times++ }))
			for _, offset := range []int64{0, 1, 16_999, 17_000, 20_000} {
				r, err := s.Open(t.Context(), c.address("in.csv"), "", offset)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				if want := data[min(int(offset), len(data)):]; err != nil || !bytes.Equal(got, want) {
					t.Errorf("from %d: %d bytes of %d, %v", offset, len(got), len(want), err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			if times < 6 {
				t.Errorf("%d answers", times)
			}
		})
	}
}

// A file that changes while it is read is ErrChanged, before all of it is read as one.
func TestSourceChanges(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef\n"), 1000)
	for name, change := range map[string]func(c *cluster, ns *webhdfstest.Namespace){
		"appended": func(c *cluster, ns *webhdfstest.Namespace) {
			ns.Put(path.Join(c.root, "in.csv"), append(data, data...))
		},
		"replaced": func(c *cluster, ns *webhdfstest.Namespace) { ns.Put(path.Join(c.root, "in.csv"), data) },
	} {
		for _, end := range []error{errors.New("connection reset"), nil} {
			t.Run(fmt.Sprint(name, end), func(t *testing.T) {
				c, ns := fakeCluster(t, webhdfstest.Options{})
				ns.Put(path.Join(c.root, "in.csv"), data)
				limit := int64(5000)
				if end == nil {
					limit = 1 << 20
				}
				s := c.store(t, breaking(limit, end, func() { change(c, ns) }))
				is, err := s.Stat(t.Context(), c.address("in.csv"))
				if err != nil {
					t.Fatal(err)
				}
				r, err := s.Open(t.Context(), c.address("in.csv"), is.Version, 0)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, r); !errors.Is(err, stage.ErrChanged) {
					t.Errorf("%d bytes, %v", n, err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				if _, err := s.Open(t.Context(), c.address("in.csv"), is.Version, 0); !errors.Is(err, stage.ErrChanged) {
					t.Errorf("it is opened again: %v", err)
				}
			})
		}
	}
}

func TestSourcePatterns(t *testing.T) {
	c, ns := fakeCluster(t, webhdfstest.Options{ListLimit: 2})
	for _, name := range []string{"a.csv", "b.csv", ".hidden.csv", "_SUCCESS.csv", "c.txt", "d/a.csv", "e/a.csv", "_f/a.csv", "[x].csv", "x y%2B+.csv", ".clinkctl/id"} {
		ns.Put(path.Join(c.root, name), nil)
	}
	s := c.store(t, nil)
	for pattern, want := range map[string][]string{
		"*.csv":       {"[x].csv", "a.csv", "b.csv", "x y%2B+.csv"},
		"*/a.csv":     {"d/a.csv", "e/a.csv"},
		"?.csv":       {"a.csv", "b.csv"},
		"[x].csv":     {"[x].csv"},
		".hidden.csv": {".hidden.csv"},
		"_f/*":        {"_f/a.csv"},
		"_SUCC*":      nil,
		"z*":          nil,
		"none":        nil,
	} {
		got, err := s.List(t.Context(), c.address(pattern))
		for i := range want {
			want[i] = c.address(want[i])
		}
		if !slices.Equal(got, want) || (err == nil) != (len(want) > 0) {
			t.Errorf("%s: %q and not %q, %v", pattern, got, want, err)
		}
	}
	for _, bad := range []string{"d", "[a"} {
		if got, err := s.List(t.Context(), c.address(bad)); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

// A call that is cancelled starts no modification, and ends.
func TestCancelled(t *testing.T) {
	c, ns := fakeCluster(t, webhdfstest.Options{})
	s := c.open(t, "to", nil)
	n := len(ns.Requests())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.(stage.Bytes).Create(ctx, artifactOf(1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := s.PutNote(ctx, runstate.ManifestName(fakeRun), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := len(ns.Requests()) - n; got != 0 {
		t.Errorf("%d requests", got)
	}
}

// What a process leaves that is killed while it writes its manifest is swept with its run; what is another run's stays.
func TestSweepOfUnfinishedManifest(t *testing.T) {
	c, fake := fakeCluster(t, webhdfstest.Options{})
	s := c.open(t, "to", nil)
	other := runstate.Token("20261130t013000z00000001")
	for _, run := range []runstate.Token{fakeRun, other} {
		fake.Put(path.Join(c.root, "to", stage.Hidden, "tmp-"+runstate.ManifestName(run)+"-0123456789abcdef", "file"), []byte("half"))
	}
	if err := s.(stage.Sweeper).Sweep(t.Context(), fakeRun, nil); err != nil {
		t.Fatal(err)
	}
	for name := range fake.Files() {
		if strings.Contains(name, "tmp-") && !strings.Contains(name, string(other)) {
			t.Errorf("%s is left", name)
		}
	}
	if n := len(fake.Files()); n != 2 { // the id and the other run's
		t.Errorf("%d files are there and not 2", n)
	}
}
