package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

const mib = 1 << 20

var artifactOfTests = runstate.Artifact{Run: "20261130t013000z7f3a9c1e", Attempt: 1, Checkpoint: 1, Ext: "bin"}

func (st *store) sink(t *testing.T, options map[string]any) stage.Sink {
	t.Helper()
	s, err := s3.Backend(st.env(nil)).Open(t.Context(), st.at("x", options), true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func create(t *testing.T, s stage.Sink) stage.ByteWriter {
	t.Helper()
	w, err := s.(stage.Bytes).Create(t.Context(), artifactOfTests)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Of what was written the begin and the last parts are shown; what is only at the store is not there to be read.
func TestReadBack(t *testing.T) {
	st, _ := fakeStore(t)
	for _, size := range []int{0, 1, 5 * mib, 5*mib + 1, 17 * mib, 20 * mib} {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		w := create(t, st.sink(t, map[string]any{"part_size": "5MiB"}))
		for i := 0; i < size; i += 100_000 {
			if _, err := w.Write(data[i:min(size, i+100_000)]); err != nil {
				t.Fatal(err)
			}
		}
		r, n, err := w.(stage.ReadBack).ReadBack()
		if err != nil || n != int64(size) {
			t.Fatal(n, err)
		}
		for _, span := range [][2]int{{0, min(4, size)}, {max(0, size-8), min(8, size)}, {max(0, size-5*mib), min(size, 5*mib)}} {
			p := make([]byte, span[1])
			if k, err := r.ReadAt(p, int64(span[0])); k != len(p) || err != nil && err != io.EOF || !bytes.Equal(p, data[span[0]:span[0]+span[1]]) {
				t.Fatalf("%d bytes at %d of %d: %d, %v", span[1], span[0], size, k, err)
			}
		}
		if size > 12*mib {
			if _, err := r.ReadAt(make([]byte, 10), 1000); !errors.Is(err, errors.ErrUnsupported) {
				t.Fatal(err)
			}
		}
		if err := w.Discard(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// looking is a format whose files are read back at a place that may be at the store by then.
type looking struct{ at int64 }

func (looking) Name() string { return "looking" }
func (looking) Ext() string  { return "bin" }
func (looking) NewEncoder(w io.Writer, _ format.Target) (format.Encoder, error) {
	return filler{w}, nil
}

func (l looking) Check(r io.ReaderAt, _, _ int64, _ *columnar.Schema) error {
	if _, err := r.ReadAt(make([]byte, 8), l.at); err != nil {
		return fmt.Errorf("read the footer: %w", err)
	}
	return errors.New("it was read, and is wrong")
}

type filler struct{ w io.Writer }

func (f filler) Encode(*columnar.Batch) error { return nil }
func (f filler) Close() error {
	_, err := f.w.Write(make([]byte, 12*mib))
	return err
}

// A file that can be read back is checked before there is a handle; one whose footer is at the store by then is not refused.
func TestCheckBeforeHandle(t *testing.T) {
	st, _ := fakeStore(t)
	for at, want := range map[int64]string{12*mib - 8: "it was read, and is wrong", mib: ""} {
		s := st.sink(t, map[string]any{"part_size": "5MiB"})
		w, err := stage.Formatted(looking{at}, nil, s.(stage.Bytes)).Open(t.Context(), artifactOfTests, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Prepare(t.Context())
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Fatalf("at %d: %v", at, err)
		}
	}
}

// Parts are equal but for the last, which may be shorter; there is one of an artifact without bytes; those that are in flight are
// as many as parallel says.
func TestParts(t *testing.T) {
	st, fake := fakeStore(t)
	for size, want := range map[int]string{0: "[0]", 1: "[1]", 5 * mib: "[5242880]", 5*mib + 1: "[5242880 1]", 15 * mib: "[5242880 5242880 5242880]"} {
		w := create(t, st.sink(t, map[string]any{"part_size": "5MiB", "parallel": 2}))
		if _, err := w.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		h, err := w.Prepare(t.Context(), 1, runstate.DigestOf(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range fake.Uploads(st.bucket) {
			var sizes []int
			for n := range len(u.Parts) {
				sizes = append(sizes, u.Parts[n+1])
			}
			if got := fmt.Sprint(sizes); got != want {
				t.Errorf("%d bytes are in parts of %s, and not %s", size, got, want)
			}
		}
		if err := st.sink(t, nil).Abort(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
}

// A part too many is an error, and nothing of the artifact is left.
func TestTooManyParts(t *testing.T) {
	st, fake := fakeStore(t)
	fake.Set(s3test.MaxParts, s3test.On{N: 3})
	w := create(t, st.sink(t, map[string]any{"part_size": "5MiB"}))
	_, err := w.Write(make([]byte, 21*mib))
	if err == nil {
		_, err = w.Prepare(t.Context(), 1, "")
	}
	if err == nil {
		t.Fatal("a part too many is taken")
	}
	if err := w.Discard(t.Context()); err != nil || len(fake.Uploads(st.bucket)) > 0 {
		t.Fatal(err, fake.Uploads(st.bucket))
	}
}
