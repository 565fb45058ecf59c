package file_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
)

const (
	runA = runstate.Token("20261130t013000z7f3a9c1e")
	runB = runstate.Token("20261130t013000z00000001")
)

func openOS(t *testing.T, to string) stage.Sink {
	t.Helper()
	s, err := file.Backend(vfs.OS(), rand.Reader).Open(t.Context(), stage.Place{To: to}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func stageBytes(t *testing.T, s stage.Sink, a runstate.Artifact, data []byte) runstate.Handle {
	t.Helper()
	w, err := s.(stage.Bytes).Create(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	h, err := w.Prepare(t.Context(), 1, runstate.DigestOf(data))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPublishOnThisMachine(t *testing.T) {
	to := filepath.Join(t.TempDir(), "a", "b")
	s := openOS(t, to)
	if err := s.(stage.Prober).Probe(t.Context(), runA); err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	h := stageBytes(t, s, runstate.Artifact{Run: runA, Attempt: 1, Checkpoint: 1, Ext: "csv"}, data)
	if e, err := s.Inspect(t.Context(), h); err != nil || e.State != stage.Staged {
		t.Fatal(e, err)
	}
	for range 2 {
		if err := s.Publish(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := s.Inspect(t.Context(), h); err != nil || e.State != stage.Published {
		t.Fatal(e, err)
	}
	got, err := os.ReadFile(filepath.Join(to, h.Name))
	if err != nil || !bytes.Equal(got, data) {
		t.Fatal("other bytes are published", err)
	}
	if err := s.(stage.Sweeper).Sweep(t.Context(), runA, nil); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(to, stage.Hidden))
	if err != nil || len(left) != 1 || left[0].Name() != "id" {
		t.Fatal(left, err)
	}
}

func TestOpenWithoutCreate(t *testing.T) {
	to := filepath.Join(t.TempDir(), "a")
	b := file.Backend(vfs.OS(), rand.Reader)
	if _, err := b.Open(t.Context(), stage.Place{To: to}, false); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	first := openOS(t, to).Identity()
	again, err := b.Open(t.Context(), stage.Place{To: to}, false)
	if err != nil || again.Identity() != first {
		t.Fatal(again, err)
	}
}

func TestStoreReads(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"a.csv": "hello", "b.csv": "", "_c.csv": "no", ".d.csv": "no"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := file.NewStore(vfs.OS())
	files, err := s.List(t.Context(), dir+"/*.csv")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	r, err := s.Open(context.Background(), files[0], "", 2)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil || string(data) != "llo" {
		t.Fatal(string(data), err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	o, err := s.Fingerprint(t.Context(), files[0])
	if err != nil || o.First != runstate.DigestOf([]byte("hello")) || o.Last != o.First {
		t.Fatal(o, err)
	}
	for _, pattern := range []string{dir + "/*.tsv", dir + "/none.csv", dir + "/none/*.csv"} {
		if _, err := s.List(t.Context(), pattern); !errors.Is(err, fs.ErrNotExist) {
			t.Error(pattern, err)
		}
	}
	for _, pattern := range []string{dir, dir + "/**/*.csv", "a.csv", dir + "/[.csv"} {
		if files, err := s.List(t.Context(), pattern); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Error(pattern, files, err)
		}
	}
}
