package csv

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/format"
)

// naive is the splitter as a child would write it: the ends of all whole records of b.
func naive(b []byte) (ends []int) {
	quoted := false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\n' && !quoted:
			ends = append(ends, i+1)
		}
	}
	return ends
}

var plainDialect = readDialect(format.ReadOptions("csv", nil))

func naiveRows(b []byte, max int) (end, rows int) {
	for _, e := range naive(b) {
		if rows == max {
			break
		}
		if plainDialect.noRecord(b[:e], end) == 0 {
			rows++
		}
		end = e
	}
	return end, rows
}

func dense() *rapid.Generator[[]byte] {
	return rapid.SliceOfN(rapid.SampledFrom([]byte("\"\"\n\n\r,ab")), 0, 60)
}

func TestSplitterAgreesWithNaiveAtEveryCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := dense().Draw(t, "bytes")
		max := rapid.IntRange(0, 8).Draw(t, "max")
		for cut := range len(whole) + 1 {
			checkSplitter(t, whole[:cut], max)
		}
	})
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a,b\n\"x\ny\",2\r\n\n\"\"\"\n\"\n"), 2)
	f.Add([]byte("a\"b\n\"c\nd\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, max int) {
		if len(b) > 300 {
			b = b[:300]
		}
		checkSplitter(t, b, max)
	})
}

func checkSplitter(t interface {
	Helper()
	Fatalf(string, ...any)
}, b []byte, max int) {
	t.Helper()
	s := splitter{plainDialect}
	ends := naive(b)
	last := 0
	if len(ends) > 0 {
		last = ends[len(ends)-1]
	}
	if got := s.Last(b); got != last {
		t.Fatalf("Last(%q) = %d, want %d", b, got, last)
	}
	for at := 1; at <= len(b)+1; at++ {
		want := 0
		for _, e := range ends {
			if e >= at {
				want = e
				break
			}
		}
		if got := s.After(b, at); got != want {
			t.Fatalf("After(%q, %d) = %d, want %d", b, at, got, want)
		}
	}
	end, rows := s.Rows(b, max)
	if wantEnd, wantRows := naiveRows(b, max); end != wantEnd || rows != wantRows {
		if max > 0 {
			t.Fatalf("Rows(%q, %d) = %d, %d, want %d, %d", b, max, end, rows, wantEnd, wantRows)
		}
	}
}
