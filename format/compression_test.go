package format_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// bzipped is "id,name\n1,a\n" and "2,b\n", in two streams, by bzip2 1.0.8.
const bzipped = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xc8\xbb\xe2\xeb\x00\x00\x04\xd9\x00\x00\x10\x00\x04\x20\x00\x26\x23" +
	"\x20\x00\x31\x06\x4c\x41\x01\xe9\x34\x20\x42\xe7\xc3\x5e\x2e\xe4\x8a\x70\xa1\x21\x91\x77\xc5\xd6\x42\x5a\x68" +
	"\x39\x31\x41\x59\x26\x53\x59\x45\x33\x35\x78\x00\x00\x01\x59\x00\x00\x10\x00\x04\x10\x00\x10\x00\x20\x00\x21" +
	"\x9a\x68\x33\x4d\x17\x3c\x5d\xc9\x14\xe1\x42\x41\x14\xcc\xd5\xe0"

// compress writes data in pieces of a size.
func compress(t interface{ Fatal(...any) }, c format.Compression, data []byte, piece int) []byte {
	return compressBy(t, format.NewCompressor(c), data, piece)
}

func compressBy(t interface{ Fatal(...any) }, c format.Compressor, data []byte, piece int) []byte {
	var out bytes.Buffer
	w, err := c.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		n := min(piece, len(data))
		if _, err := w.Write(data[:n]); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decompress(c format.Compression, r io.Reader) ([]byte, error) {
	z, err := c.NewReader(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	return data, errors.Join(err, z.Close())
}

// TestMembers: files of any number of members, frames and streams are read whole, and no data at all is none.
func TestMembers(t *testing.T) {
	skippable := "\x50\x2a\x4d\x18\x03\x00\x00\x00xyz"
	for _, test := range []struct {
		of   format.Compression
		data string
		want string
	}{
		{format.Gzip, string(compress(t, format.Gzip, []byte("a\nb"), 9)) + string(compress(t, format.Gzip, nil, 9)) + string(compress(t, format.Gzip, []byte("c\n"), 9)), "a\nbc\n"},
		{format.Zstd, string(compress(t, format.Zstd, []byte("a\nb"), 9)) + skippable + string(compress(t, format.Zstd, []byte("c\n"), 9)), "a\nbc\n"},
		{format.Bzip2, bzipped, "id,name\n1,a\n2,b\n"},
		{format.Gzip, "", ""}, {format.Zstd, "", ""}, {format.Uncompressed, "x", "x"},
	} {
		got, err := decompress(test.of, strings.NewReader(test.data))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %q, %v, want %q", test.of, got, err, test.want)
		}
	}
}

// TestEqualDataIsCompressedEqually: however it is written.
func TestEqualDataIsCompressedEqually(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Repeat([]byte(rapid.StringN(1, 50, -1).Draw(t, "data")), rapid.IntRange(1, 5000).Draw(t, "times"))
		for _, c := range []format.Compression{format.Gzip, format.Zstd} {
			a := compress(t, c, data, len(data))
			b := compress(t, c, data, rapid.IntRange(1, 70_000).Draw(t, "piece"))
			back, err := decompress(c, bytes.NewReader(a))
			if !bytes.Equal(a, b) || err != nil || !bytes.Equal(back, data) {
				t.Fatal(c, len(a), len(b), err)
			}
		}
	})
}

// TestCompressorsForget: what was compressed before, by the same compressor, makes no difference.
func TestCompressorsForget(t *testing.T) {
	var texts [][]byte
	for n := range uint64(4) {
		random := rand.New(rand.NewPCG(n%2, 1))
		var text []byte
		for len(text) < 3<<20 { // more than zstd's window
			text = strconv.AppendUint(append(text, ",some text "...), random.Uint64N(5000), 10)
		}
		texts = append(texts, append(text, byte(n)))
	}
	for _, c := range []format.Compression{format.Gzip, format.Zstd} {
		var first [][]byte
		for _, text := range texts {
			first = append(first, compress(t, c, text, 100_000))
		}
		again := format.NewCompressor(c)
		for range 2 {
			for i, text := range texts {
				if !bytes.Equal(compressBy(t, again, text, 100_000), first[i]) {
					t.Fatalf("%s: text %d is compressed otherwise", c, i)
				}
			}
		}
	}
}

// TestDamagedCompression: a file that is cut or changed anywhere is a data error, or reads the same.
func TestDamagedCompression(t *testing.T) {
	text := strings.Repeat("id,name\n1,some text\n", 20)
	for c, data := range map[format.Compression]string{format.Gzip: string(compress(t, format.Gzip, []byte(text), 1000)),
		format.Zstd: string(compress(t, format.Zstd, []byte(text), 1000)), format.Bzip2: bzipped[:51]} {
		whole, err := decompress(c, strings.NewReader(data))
		if err != nil || c != format.Bzip2 && string(whole) != text {
			t.Fatal(c, err)
		}
		for cut := 1; cut < len(data); cut++ {
			got, err := decompress(c, strings.NewReader(data[:cut]))
			if e, ok := errors.AsType[*format.DataError](err); !ok || e.Reason == "" || !strings.HasPrefix(string(whole), string(got)) {
				t.Errorf("%s cut at %d of %d: %q, %v", c, cut, len(data), got, err)
			}
		}
		for i := range data {
			bad := []byte(data)
			bad[i] ^= 0x10
			got, err := decompress(c, bytes.NewReader(bad))
			if _, ok := errors.AsType[*format.DataError](err); !ok && (err != nil || !bytes.Equal(got, whole)) {
				t.Errorf("%s changed at %d: %q, %v", c, i, got, err)
			}
		}
		if _, err := decompress(c, strings.NewReader(data+"and more")); err == nil {
			t.Errorf("%s: what follows the end is passed over", c)
		}
	}
}

// TestWrongCompression: what is no such data names the option.
func TestWrongCompression(t *testing.T) {
	for _, c := range []format.Compression{format.Gzip, format.Zstd, format.Bzip2} {
		_, err := decompress(c, strings.NewReader("id,name\n1,a\n"))
		if e, ok := errors.AsType[*format.DataError](err); !ok || !strings.Contains(e.Error(), "is not "+string(c)) || !strings.Contains(e.Advice, "compression") {
			t.Errorf("%s: %v", c, err)
		}
	}
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithWindowSize(256<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("a\n")) // so that the frame is not of one segment
	if err := errors.Join(w.Flush(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := decompress(format.Zstd, &out); err == nil || !strings.Contains(err.Error(), "window of more than 128 MiB") {
		t.Error(err)
	}
}

var errDisk = errors.New("the disk is gone")

type failing struct{ data io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.data.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

// TestErrorsOfTheSource: an error of what is read from is not taken for damage.
func TestErrorsOfTheSource(t *testing.T) {
	for _, c := range []format.Compression{format.Gzip, format.Zstd} {
		data := compress(t, c, []byte(strings.Repeat("some text\n", 100)), 1000)
		for cut := range len(data) {
			if _, err := decompress(c, failing{bytes.NewReader(data[:cut])}); !errors.Is(err, errDisk) {
				t.Errorf("%s after %d bytes: %v", c, cut, err)
			}
		}
	}
}

type plain struct{ w io.Writer }

func (p plain) Encode(b *columnar.Batch) error {
	_, err := p.w.Write(b.Data)
	return err
}
func (p plain) Close() error {
	_, err := io.WriteString(p.w, "end")
	return err
}

func TestCompressedEncoder(t *testing.T) {
	var out bytes.Buffer
	e, err := format.Compressed(format.NewCompressor(format.Gzip), &out, func(w io.Writer) (format.Encoder, error) { return plain{w}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Encode(&columnar.Batch{Data: []byte("a")}), e.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := decompress(format.Gzip, &out); err != nil || string(got) != "aend" {
		t.Error(got, err)
	}
	if _, err := format.Compressed(format.NewCompressor(format.Bzip2), &out, nil); err == nil {
		t.Error("bzip2 is written")
	}
}

func TestCompressedNames(t *testing.T) {
	for name, want := range map[string]format.Compression{"a.csv": format.Uncompressed, "a.csv.gz": format.Gzip, "a.zst": format.Zstd,
		"a.csv.bz2": format.Bzip2, "gz": format.Uncompressed} {
		if got := format.ByName.Of(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := format.Gzip.Of("a.csv"); got != format.Gzip {
		t.Error(got)
	}
	if format.Zstd.Ext("csv") != "csv.zst" || format.ByName.Ext("csv") != "csv" {
		t.Error(format.Zstd.Ext("csv"))
	}
}
