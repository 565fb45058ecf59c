package format_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/csv"
)

func newCSV(t interface{ Fatal(...any) }) format.Text {
	f, err := csv.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readers are ways in which the same bytes can arrive.
func readers(b []byte) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":      bytes.NewReader(b),
		"one byte":   iotest.OneByteReader(bytes.NewReader(b)),
		"half":       iotest.HalfReader(bytes.NewReader(b)),
		"data error": iotest.DataErrReader(bytes.NewReader(b)),
	}
}

// chunks reads everything, with limits as a checkpoint has them: counted down, and begun again when they are reached.
// Each chunk is decoded, too.
func chunks(t interface{ Fatalf(string, ...any) }, c *format.Chunker, limit format.Limit, d format.Decoder) (all []string, err error) {
	var buf []byte
	var batch columnar.Batch
	left := limit
	at := int64(0)
	for {
		chunk, err := c.Next(buf, left)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if cap(chunk.Data)-len(chunk.Data) < format.Slack {
			t.Fatalf("chunk of %d bytes has a capacity of %d", len(chunk.Data), cap(chunk.Data))
		}
		if chunk.At != at || chunk.Source < 1 {
			t.Fatalf("chunk is at %d for %d bytes, want at %d", chunk.At, chunk.Source, at)
		}
		at += chunk.Source
		if d != nil {
			if err := d.Decode(chunk.Data, chunk.At, &batch); err != nil {
				return all, err
			}
		}
		all = append(all, fmt.Sprintf("%q %d %d", chunk.Data, chunk.Source, chunk.Rows))
		left.Bytes -= min(chunk.Source, left.Bytes)
		left.Rows -= min(chunk.Rows, left.Rows)
		switch {
		case limit.Bytes > 0 && left.Bytes == 0:
			all = append(all, "cut by bytes")
			left = limit
		case limit.Rows > 0 && left.Rows == 0:
			all = append(all, "cut by rows")
			left = limit
		}
		buf = chunk.Data
	}
}

func TestChunks(t *testing.T) {
	for _, test := range []struct {
		name, file string
		size       int
		limit      format.Limit
		want       []string
	}{
		{"whole records that fit", "a\nb\nc\n", 4, format.Limit{}, []string{`"a\nb\n" 4 0`, `"c\n" 2 0`}},
		{"a record larger than the block", "aaaaaaaaaa\nb\n", 2, format.Limit{}, []string{`"aaaaaaaaaa\n" 11 0`, `"b\n" 2 0`}},
		{"no last line end", "a\nb", 8, format.Limit{}, []string{`"a\nb\n" 3 0`}},
		{"no last line end, in a chunk of its own", "a\nb", 2, format.Limit{}, []string{`"a\n" 2 0`, `"b\n" 1 0`}},
		{"a lone CR last", "a\nb\r", 8, format.Limit{}, []string{`"a\nb\r\n" 4 0`}},
		{"nothing", "", 8, format.Limit{}, nil},
		{"quoted line end", "\"a\nb\"\nc\n", 4, format.Limit{}, []string{`"\"a\nb\"\n" 6 0`, `"c\n" 2 0`}},
		{"bytes", "a\nb\nc\n", 100, format.Limit{Bytes: 3}, []string{`"a\nb\n" 4 0`, "cut by bytes", `"c\n" 2 0`}},
		{"bytes, to the end of a record", "aaaa\nb\nc\n", 100, format.Limit{Bytes: 1},
			[]string{`"aaaa\n" 5 0`, "cut by bytes", `"b\n" 2 0`, "cut by bytes", `"c\n" 2 0`, "cut by bytes"}},
		{"bytes beyond the block", "a\nb\nc\nd\n", 4, format.Limit{Bytes: 5},
			[]string{`"a\nb\n" 4 0`, `"c\n" 2 0`, "cut by bytes", `"d\n" 2 0`}},
		{"rows", "a\n\nb\n\nc\n", 100, format.Limit{Rows: 2}, []string{`"a\n\nb\n" 5 2`, "cut by rows", `"\nc\n" 3 1`}},
		{"rows beyond the block", "a\nb\nc\nd\n", 4, format.Limit{Rows: 3},
			[]string{`"a\nb\n" 4 2`, `"c\n" 2 1`, "cut by rows", `"d\n" 2 1`}},
		{"rows and bytes", "a\nb\nc\nd\n", 100, format.Limit{Rows: 3, Bytes: 4},
			[]string{`"a\nb\n" 4 2`, "cut by bytes", `"c\nd\n" 4 2`, "cut by bytes"}},
	} {
		for how, r := range readers([]byte(test.file)) {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				got, err := chunks(t, format.NewChunker(r, newCSV(t), test.size), test.limit, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestChunksDependOnBytesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.SliceOfN(rapid.SampledFrom([]byte("\"\"\n\n\n\r,ab")), 0, 80).Draw(t, "file")
		size := rapid.IntRange(1, 20).Draw(t, "size")
		limit := format.Limit{Bytes: int64(rapid.IntRange(0, 30).Draw(t, "bytes")), Rows: int64(rapid.IntRange(0, 5).Draw(t, "rows"))}
		read := func(r io.Reader) (all []string) {
			d, err := newCSV(t).NewDecoder(format.Reading{Schema: nil, Head: nil})
			if err != nil {
				t.Fatal(err)
			}
			all, err = chunks(t, format.NewChunker(r, newCSV(t), size), limit, d)
			var e *format.DataError
			if errors.As(err, &e) {
				all = append(all, fmt.Sprintf("a fault in the record at %d", e.Start))
			}
			return append(all, "end")
		}
		want := read(bytes.NewReader(file))
		for how, r := range readers(file) {
			if diff := cmp.Diff(want, read(r)); diff != "" {
				t.Fatalf("%s: %s", how, diff)
			}
		}
	})
}

// Where a checkpoint ends must not depend on the size of blocks either.
func TestCheckpointsDoNotDependOnBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.SliceOfN(rapid.SampledFrom([]byte("\n\n,ab")), 0, 80).Draw(t, "file")
		limit := format.Limit{Bytes: int64(rapid.IntRange(0, 30).Draw(t, "bytes")), Rows: int64(rapid.IntRange(0, 5).Draw(t, "rows"))}
		cuts := func(size int) string {
			got, err := chunks(t, format.NewChunker(bytes.NewReader(file), newCSV(t), size), limit, nil)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, s := range got {
				if strings.HasPrefix(s, "cut") {
					b.WriteString("|")
					continue
				}
				b.WriteString(s[1:strings.LastIndex(s, `"`)])
			}
			return b.String()
		}
		want := cuts(1 << 20)
		for _, size := range []int{1, 2, 5, 16} {
			if got := cuts(size); got != want {
				t.Fatalf("blocks of %d: %s, of 1 MiB: %s", size, got, want)
			}
		}
	})
}

func TestUnfinishedRecordIsLocated(t *testing.T) {
	for _, test := range []struct {
		name, file    string
		offset, start int64
	}{
		{"in the first record", "a,\"b\nc\n", 2, 0},
		{"in a later record", "a\nb,\"c\nd,e\n", 4, 2},
		{"without a last line end", "a\nb,\"c", 4, 2},
		{"with a doubled quote last", "a\n\"b\"\"", 2, 2},
		{"a bare quote", "a\nb,5\" pipe\nc\n", 5, 2},
		{"after blank lines", "a\n\n\n\"b\n", 4, 4},
	} {
		for how, r := range readers([]byte(test.file)) {
			for _, size := range []int{1, 4, 100} {
				for _, limit := range []format.Limit{{}, {Bytes: 1}, {Rows: 1}, {Bytes: 4}, {Bytes: 100}} {
					_, err := chunks(t, format.NewChunker(r, newCSV(t), size), limit, nil)
					var e *format.DataError
					if !errors.As(err, &e) {
						t.Fatalf("%s/%s: %v", test.name, how, err)
					}
					if e.Offset != test.offset || e.Start != test.start {
						t.Errorf("%s/%s: offset %d, start %d, want %d, %d: %v", test.name, how, e.Offset, e.Start, test.offset, test.start, e)
					}
					r = bytes.NewReader([]byte(test.file))
				}
			}
		}
	}
}

func TestChunkerKeepsItsError(t *testing.T) {
	for _, cause := range []error{io.ErrUnexpectedEOF, errors.New("disk")} {
		r := io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(cause))
		c := format.NewChunker(r, newCSV(t), 100)
		for range 2 {
			if _, err := c.Next(nil, format.Limit{}); !errors.Is(err, cause) {
				t.Errorf("got %v, want %v", err, cause)
			}
		}
	}
}

func TestChunkerReusesMemory(t *testing.T) {
	file := strings.Repeat("some record of a few bytes\n", 100_000)
	c := format.NewChunker(strings.NewReader(file), newCSV(t), 1<<16)
	var buf []byte
	n := testing.AllocsPerRun(30, func() {
		chunk, err := c.Next(buf, format.Limit{})
		if err != nil {
			t.Fatal(err)
		}
		buf = chunk.Data
	})
	if n > 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestRecordBeyondTheCap(t *testing.T) {
	r := io.MultiReader(strings.NewReader("a\nb\n"), endless{})
	c := format.NewChunker(r, newCSV(t), 0)
	var err error
	for err == nil {
		_, err = c.Next(nil, format.Limit{})
	}
	var e *format.DataError
	if !errors.As(err, &e) || e.Start != 4 || !strings.Contains(e.Reason, "more than 67108864 bytes") {
		t.Errorf("got %v", err)
	}
}
