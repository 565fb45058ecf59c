package csv

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

func mustNew(t testing.TB, options map[string]any) *Format {
	t.Helper()
	f, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func dataError(t testing.TB, err error) *format.DataError {
	t.Helper()
	var e *format.DataError
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want a DataError", err)
	}
	return e
}

func TestCopying(t *testing.T) {
	f := mustNew(t, nil)
	for _, test := range []struct {
		name, chunk string
		rows        int
	}{
		{"plain", "1,a\n2,b\n", 2},
		{"blank lines", "\n1,a\r\n\r\n\n2,b\n\n", 2},
		{"quotes", "1,\"a\nb\"\n2,\"c\"\"d\"\r\n", 2},
		{"empty quoted", "\"\"\n\"\",\"\"\n", 2},
		{"blank lines among quotes", "\n\"\"\n\n\r\n1\n", 2},
		{"blank lines in quotes", "\"\n\n\r\n\"\n", 1},
		{"lone CR", "a\rb\n\"x\",a\rb\n", 2},
		{"nothing", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := f.NewDecoder(format.Reading{Schema: &columnar.Schema{}, Head: []byte("id,name\n")})
			if err != nil {
				t.Fatal(err)
			}
			var out columnar.Batch
			if err := d.Decode([]byte(test.chunk), 100, &out); err != nil {
				t.Fatal(err)
			}
			if out.Rows != test.rows || string(out.Data) != test.chunk || len(out.Columns) != 0 {
				t.Errorf("%d rows, data %q, %d columns, want %d rows and the chunk", out.Rows, out.Data, len(out.Columns), test.rows)
			}
		})
	}
}

func TestCopyingRefuses(t *testing.T) {
	f := mustNew(t, nil)
	for _, test := range []struct {
		name, chunk   string
		offset, start int64
		reason        string
	}{
		{"bare quote", "1,a\n2,b\"c\"\n", 107, 104, "has a quote, and does not begin"},
		{"bare quote after CR", "2,\"\",b\r\"c\"\n", 107, 100, "has a quote, and does not begin"},
		{"text after a closing quote", "1,\"a\"b\n", 105, 100, "has text after its closing quote"},
		{"space after a closing quote", "1,\"a\" ,b\n", 105, 100, "has text after its closing quote"},
		{"CR after a closing quote", "1,\"a\"\rb\n", 105, 100, "has text after its closing quote"},
		{"two unmatched quotes", "1,\"a\n2,b\n3,\"c\n4,d\n", 102, 100, "begins with a quote that opens a field"},
		{"unmatched", "1,a\n2,\"b\n", 106, 104, "does not end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := f.NewDecoder(format.Reading{Schema: &columnar.Schema{}, Head: nil})
			if err != nil {
				t.Fatal(err)
			}
			var out columnar.Batch
			e := dataError(t, d.Decode([]byte(test.chunk), 100, &out))
			if e.Offset != test.offset || e.Start != test.start || !strings.Contains(e.Reason, test.reason) {
				t.Errorf("got offset %d, start %d, %v; want %d, %d, %s", e.Offset, e.Start, e, test.offset, test.start, test.reason)
			}
		})
	}
}

func TestHead(t *testing.T) {
	f := mustNew(t, nil)
	for _, test := range []struct {
		start string
		whole bool
		size  int
		err   error
	}{
		{"id,name\n1,a\n", false, 8, nil},
		{"id,name\r\n1,a\n", true, 9, nil},
		{"\xef\xbb\xbfid,name\n1,a\n", true, 11, nil},
		{"\xef\xbb\xbf\"id\n\",name\n1,a\n", true, 14, nil},
		{"\n\r\nid\n1\n", true, 6, nil},
		{"id,name", true, 7, nil},
		{"id,name", false, 0, format.ErrShort},
		{"", false, 0, format.ErrShort},
		{"\xef\xbb", false, 0, format.ErrShort},
		{"", true, 0, nil},
		{"\n\n", true, 2, nil},
		{"\xef\xbb\xbf", true, 3, nil},
		{"\"id", false, 0, format.ErrShort},
	} {
		if size, err := f.Head([]byte(test.start), test.whole); size != test.size || err != test.err {
			t.Errorf("Head(%q, %v) = %d, %v, want %d, %v", test.start, test.whole, size, err, test.size, test.err)
		}
	}
}

func TestHeadRefuses(t *testing.T) {
	f := mustNew(t, nil)
	for _, test := range []struct {
		start         string
		whole         bool
		offset, begin int64
		reason        string
	}{
		{"\xff\xfei\x00d\x00", true, 0, 0, "UTF-16"},
		{"\xfe\xff\x00i\x00d", false, 0, 0, "UTF-16"},
		{"id,\"name\n1,a\n", true, 3, 0, "begins with a quote"},
		{"\xef\xbb\xbfid,na\"me\n1,a\n", true, 8, 3, "has a quote, and does not begin"},
		{"id,na\"me\n1,a\n", false, 5, 0, "has a quote, and does not begin"},
		{"id,\"na\"me\"\n1,a\n", false, 7, 0, "has text after its closing quote"},
		{strings.Repeat("x", 1<<20+1), false, 0, 0, "does not end within"},
	} {
		_, err := f.Head([]byte(test.start), test.whole)
		e := dataError(t, err)
		if e.Offset != test.offset || e.Start != test.begin || strings.HasPrefix(e.Reason, "(in the header)") != (e.Field > 0) || !strings.Contains(e.Reason, test.reason) {
			t.Errorf("%.30q: offset %d, start %d, %v; want %d, %d, %s", test.start, e.Offset, e.Start, e, test.offset, test.begin, test.reason)
		}
	}
}

func TestSameHead(t *testing.T) {
	f := mustNew(t, nil)
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"id,name\n", "id,name\n", true},
		{"id,name\r\n", "\xef\xbb\xbfid,name", true},
		{"\"id\",name\r\n", "\nid,\"name\"\n", true},
		{"id,name\n", "name,id\n", false},
		{"id,name\n", "id\n", false},
		{"id,name\n", "Id,name\n", false},
		{"", "", true},
		{"", "id\n", false},
		{"i\"d\n", "i\"d\n", true},
		{"i\"d\n", "id\n", false},
	} {
		if got := f.SameHead([]byte(test.a), []byte(test.b)); got != test.same {
			t.Errorf("SameHead(%q, %q) = %v", test.a, test.b, got)
		}
	}
}

func TestCopiedFileHasOneHeader(t *testing.T) {
	f := mustNew(t, nil)
	for head, want := range map[string]string{
		"\xef\xbb\xbfid,name\r\n": "id,name\r\n1,a\n",
		"id,name":                 "id,name\n1,a\n",
	} {
		var b bytes.Buffer
		e, err := f.NewEncoder(&b, format.Target{Head: []byte(head)})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Encode(&columnar.Batch{Rows: 1, Data: []byte("1,a\n")}); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil || b.String() != want {
			t.Errorf("wrote %q, %v, want %q", b.String(), err, want)
		}
	}
}

// lineReader gives a header line and then the same line until so many bytes are read, without holding them.
type lineReader struct {
	first, line []byte
	left        int
	at          int
}

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && n < r.left {
		c := copy(p[n:], r.line[r.at:])
		n += c
		r.at = (r.at + c) % len(r.line)
	}
	r.left -= n
	return n, nil
}

func TestUnmatchedQuoteIsFoundFast(t *testing.T) {
	for name, line := range map[string]string{
		"no other quote":      "12345,some text,2026-11-30\n",
		"other fields quoted": "12345,\"some text\",2026-11-30\n",
		"quoted line ends":    "12345,\"some\ntext\",2026-11-30\n",
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			f := mustNew(t, nil)
			first := "1,a,2026-11-30\n2,\"b,2026-11-30\n"
			r := &lineReader{first: []byte(first), line: []byte(line), left: 200 << 20}
			c := format.NewChunker(r, f, 0)
			d, err := f.NewDecoder(format.Reading{Schema: &columnar.Schema{}, Head: nil})
			if err != nil {
				t.Fatal(err)
			}
			var out columnar.Batch
			for err == nil {
				var chunk format.Chunk
				if chunk, err = c.Next(nil, format.Limit{}); err == nil {
					err = d.Decode(chunk.Data, chunk.At, &out)
				}
			}
			e := dataError(t, err)
			if e.Start != 15 {
				t.Errorf("record begins at %d, want 15: %v", e.Start, e)
			}
			if e.Offset != 17 && name != "quoted line ends" {
				t.Errorf("offset %d, want 17: %v", e.Offset, e)
			}
			if spent := time.Since(begun); spent > 20*time.Second {
				t.Errorf("took %v", spent)
			}
		})
	}
}
