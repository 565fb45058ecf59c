package s3_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

func (st *store) open(t *testing.T) stage.Store {
	t.Helper()
	s, err := s3.Backend(st.env(nil)).Store(t.Context(), st.at("", nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (st *store) address(key string) string { return "s3://" + st.bucket + "/" + key }

func (st *store) put(t *testing.T, key, text string) {
	t.Helper()
	_, err := st.client.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(st.bucket), Key: aws.String(key), Body: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
}

// Every test of the store is of a real one and of the one in memory.
func stores(t *testing.T, test func(t *testing.T, st *store)) {
	t.Run("in memory", func(t *testing.T) {
		st, _ := fakeStore(t)
		test(t, st)
	})
	t.Run("real", func(t *testing.T) { test(t, realStore(t)) })
}

func TestList(t *testing.T) {
	stores(t, func(t *testing.T, st *store) {
		for _, key := range []string{"in/a-1.csv", "in/a-2.csv", "in/b.csv", "in/.hidden.csv", "in/_part.csv", "in/deep/a-3.csv", "in/a-[1].csv", "other.csv"} {
			st.put(t, key, "x")
		}
		for pattern, want := range map[string][]string{
			"in/a-*.csv":   {"in/a-1.csv", "in/a-2.csv", "in/a-[1].csv"},
			"in/*.csv":     {"in/a-1.csv", "in/a-2.csv", "in/a-[1].csv", "in/b.csv"},
			"in/*/*.csv":   {"in/deep/a-3.csv"},
			"*/a-?.csv":    {"in/a-1.csv", "in/a-2.csv"},
			"in/a-[1].csv": {"in/a-[1].csv"}, // the key that is called so
			"in/a-[2].csv": {"in/a-2.csv"},
			"other.csv":    {"other.csv"},
			"in/_*.csv":    nil,
			"in/none*":     nil,
			"in/none":      nil,
			"in":           nil,
		} {
			for i := range want {
				want[i] = st.address(want[i])
			}
			got, err := st.open(t).List(t.Context(), st.address(pattern))
			if !slices.Equal(got, want) || want == nil && !errors.Is(err, fs.ErrNotExist) || want != nil && err != nil {
				t.Errorf("%s lists %q, %v", pattern, got, err)
			}
		}
		if _, err := st.open(t).List(t.Context(), "s3://no-such-bucket-here/x*"); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a bucket that is not there is %v", err)
		}
	})
}

func TestReading(t *testing.T) {
	stores(t, func(t *testing.T, st *store) {
		data := make([]byte, 5<<20+17)
		random := rand.NewChaCha8([32]byte{1})
		_, _ = random.Read(data)
		st.put(t, "big", string(data))
		st.put(t, "empty", "")
		s := st.open(t)
		o, err := s.Fingerprint(t.Context(), st.address("big"))
		if err != nil || o.Size != int64(len(data)) || o.Version == "" || o.ModTime.IsZero() {
			t.Fatalf("%+v, %v", o, err)
		}
		for _, from := range []int64{0, 1, 1 << 20, o.Size - 1, o.Size} {
			r, err := s.Open(t.Context(), o.Path, o.Version, from)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, data[from:]) {
				t.Fatalf("from %d: %d bytes, %v", from, len(got), err)
			}
			at := r.(io.ReaderAt)
			for _, span := range [][2]int64{{0, 4}, {1<<20 - 3, 10}, {o.Size - 8, 8}, {3 << 20, 2 << 20}} {
				p := make([]byte, span[1])
				if n, err := at.ReadAt(p, span[0]); n != len(p) || !bytes.Equal(p, data[span[0]:span[0]+span[1]]) {
					t.Fatalf("%d bytes at %d, %v", n, span[0], err)
				}
			}
			if n, err := at.ReadAt(make([]byte, 10), o.Size-3); n != 3 || err != io.EOF {
				t.Fatalf("over the end: %d, %v", n, err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.Open(t.Context(), st.address("empty"), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); len(got) > 0 || err != nil {
			t.Fatal(got, err)
		}
		if _, err := s.Open(t.Context(), st.address("none"), "", 0); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	})
}

// An object that is put again under a reader is noticed, by the next request at the latest.
func TestChangedObject(t *testing.T) {
	stores(t, func(t *testing.T, st *store) {
		st.put(t, "a", strings.Repeat("first", 1<<20))
		s := st.open(t)
		o, err := s.Stat(t.Context(), st.address("a"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), o.Path, o.Version, 0)
		if err != nil {
			t.Fatal(err)
		}
		st.put(t, "a", strings.Repeat("other", 1<<20))
		if _, err := s.Open(t.Context(), o.Path, o.Version, 7); !errors.Is(err, stage.ErrChanged) {
			t.Fatal(err)
		}
		if _, err := r.(io.ReaderAt).ReadAt(make([]byte, 5), 0); !errors.Is(err, stage.ErrChanged) {
			t.Fatal(err)
		}
		again, err := s.Open(t.Context(), o.Path, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 5)
		if _, err := io.ReadFull(again, p); err != nil || string(p) != "other" {
			t.Fatalf("%q, %v", p, err)
		}
	})
}

// A connection that breaks is made anew where it broke; one that breaks too often is an error, not an end.
func TestBrokenReading(t *testing.T) {
	st, fake := fakeStore(t)
	text := strings.Repeat("0123456789", 100_000)
	st.put(t, "a", text)
	s := st.open(t)
	fake.Set(s3test.CutReply, s3test.On{Verb: s3test.GetObject, Times: 3})
	r, err := s.Open(t.Context(), st.address("a"), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || string(got) != text {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if fake.Fired(s3test.CutReply) != 3 {
		t.Fatal("nothing was cut")
	}
	fake.Set(s3test.DropRequest, s3test.On{Verb: s3test.GetObject})
	fake.Set(s3test.CutReply, s3test.On{Verb: s3test.GetObject})
	if r, err := s.Open(t.Context(), st.address("a"), "", 0); err == nil {
		if got, err := io.ReadAll(r); err == nil {
			t.Fatalf("%d bytes are called all", len(got))
		}
	}
}
