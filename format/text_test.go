package format_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/format"
)

func TestByLineAgreesWithNaiveAtEveryCut(t *testing.T) {
	blank := func(line []byte) bool { return len(line) == 1 }
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOfN(rapid.SampledFrom([]byte("\n\na")), 0, 30).Draw(t, "bytes")
		max := rapid.IntRange(1, 8).Draw(t, "max")
		s := format.ByLine{}
		if rapid.Bool().Draw(t, "blank lines are none") {
			s.Blank = blank
		}
		for cut := range len(whole) + 1 {
			checkByLine(t, s, whole[:cut], max)
		}
	})
}

func checkByLine(t *rapid.T, s format.ByLine, b []byte, max int) {
	last, end, rows := 0, 0, 0
	for i, c := range b {
		if c != '\n' {
			continue
		}
		if rows < max {
			if s.Blank == nil || i > last {
				rows++
			}
			end = i + 1
		}
		last = i + 1
	}
	if got := s.Last(b); got != last {
		t.Fatalf("Last(%q) = %d, want %d", b, got, last)
	}
	if gotEnd, gotRows := s.Rows(b, max); gotEnd != end || gotRows != rows {
		t.Fatalf("Rows(%q, %d) = %d, %d, want %d, %d", b, max, gotEnd, gotRows, end, rows)
	}
	for at := 1; at <= len(b)+1; at++ {
		want := 0
		if at <= len(b) {
			want = at + bytes.IndexByte(b[at-1:], '\n')
			if want < at {
				want = 0
			}
		}
		if got := s.After(b, at); got != want {
			t.Fatalf("After(%q, %d) = %d, want %d", b, at, got, want)
		}
	}
}

func TestCleanHead(t *testing.T) {
	for head, want := range map[string]string{"": "", "\xef\xbb\xbf": "", "\xef\xbb\xbfa,b\r\n": "a,b\r\n", "a,b": "a,b\n", "a,b\n": "a,b\n"} {
		given := []byte(head)
		if got := format.CleanHead(given); string(got) != want || string(given) != head {
			t.Errorf("CleanHead(%q) = %q, want %q", head, got, want)
		}
	}
}

func TestNotUTF8(t *testing.T) {
	for text, want := range map[string]int{"": 0, "é": 2, "\xff": 0, "aé\xc3": 3, "a\xed\xa0\x80": 1, "\ufffd\xfe": 3} {
		if got := format.NotUTF8([]byte(text)); got != want {
			t.Errorf("NotUTF8(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestOptionsGiveAllErrorsAtOnce(t *testing.T) {
	o := format.ReadOptions("csv", map[string]any{"delimeter": ";", "null": 3, "codec": "zst", "b": true, "a": nil})
	if got := o.String("null", "x"); got != "x" {
		t.Errorf("null is %q", got)
	}
	if got := o.String("delimiter", ","); got != "," {
		t.Errorf("delimiter is %q", got)
	}
	if got := o.Choice("codec", "none", "zstd"); got != "none" {
		t.Errorf("codec is %q", got)
	}
	want := strings.Join([]string{
		"csv option null is 3, and must be a text: write it in quotes",
		`csv option codec is "zst", and can be none, zstd; did you mean zstd?`,
		"csv option a is unknown: there are null, delimiter, codec",
		"csv option b is unknown: there are null, delimiter, codec",
		"csv option delimeter is unknown; did you mean delimiter?",
	}, "\n")
	if err := o.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if err := format.ReadOptions("lines", nil).Err(); err != nil {
		t.Error(err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"delimiter", "null", "compression"}
	for name, want := range map[string]string{"delimter": "delimiter", "NULL": "null", "nul": "null", "compresion": "compression", "quote": "", "": "", "x": ""} {
		if got := format.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDataErrorReads(t *testing.T) {
	for _, test := range []struct {
		e    format.DataError
		want string
	}{
		{format.DataError{File: "a.csv", Offset: 7, Column: "id", Value: "A", Reason: "is not an int64"}, `a.csv at byte 7: column id: "A" is not an int64`},
		{format.DataError{File: "a.csv", Line: 3, Record: 2, Reason: "x", Advice: "mend it"}, `a.csv:3 (in the record that begins on line 2): x; mend it`},
		{format.DataError{File: "a.csv", Line: 3, Record: 3, Reason: "x"}, `a.csv:3: x`},
		{format.DataError{Offset: 7, Reason: "x"}, `at byte 7: x`},
		{format.DataError{Offset: format.Unplaced, Column: "id", Reason: "x"}, `column id: x`},
		{format.DataError{Offset: format.Unplaced, Reason: "x"}, `x`},
		{format.DataError{File: "f", Offset: 1, Value: strings.Repeat("é", 60), Reason: "x"}, `f at byte 1: "` + strings.Repeat("é", 40) + `..." x`},
	} {
		if got := test.e.Error(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestUTF16IsRefused(t *testing.T) {
	for start, name := range map[string]string{"\xff\xfea\x00": "UTF-16LE", "\xfe\xff\x00a": "UTF-16BE", "\xff\xfe\x00\x00a\x00\x00\x00": "UTF-32LE", "\x00\x00\xfe\xff\x00\x00\x00a": "UTF-32BE"} {
		var e *format.DataError
		if err := format.RefuseNoText([]byte(start)); !errors.As(err, &e) || !strings.Contains(e.Error(), name) {
			t.Errorf("%q: %v", start, err)
		}
	}
	if err := format.RefuseNoText([]byte("\xef\xbb\xbfa")); err != nil {
		t.Error(err)
	}
}
