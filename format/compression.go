package format

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how a whole file of text is compressed.
type Compression string

// The compressions. Bzip2 can only be read.
const (
	ByName       Compression = "auto" // as the file's name says
	Uncompressed Compression = "none"
	Gzip         Compression = "gzip"  // RFC 1952, of any number of members
	Zstd         Compression = "zstd"  // RFC 8878, of any number of frames
	Bzip2        Compression = "bzip2" // of any number of streams
)

// compressionExts are the extensions of compressed files; the first of each is given to what is written.
var compressionExts = []struct {
	ext string
	of  Compression
}{{"gz", Gzip}, {"gzip", Gzip}, {"zst", Zstd}, {"zstd", Zstd}, {"bz2", Bzip2}}

// CutCompression takes the extension of a compression off a file's name, and gives the compression.
func CutCompression(name string) (rest string, c Compression) {
	for _, e := range compressionExts {
		if rest := len(name) - len(e.ext) - 1; rest >= 0 && strings.EqualFold(name[rest:], "."+e.ext) {
			return name[:rest], e.of
		}
	}
	return name, Uncompressed
}

// Of is the compression of a file of a name.
func (c Compression) Of(name string) Compression {
	if c != ByName {
		return c
	}
	_, c = CutCompression(name)
	return c
}

// Ext gives the extension of files of a format's extension that are so compressed: "csv.gz".
func (c Compression) Ext(ext string) string {
	for _, e := range compressionExts {
		if e.of == c {
			return ext + "." + e.ext
		}
	}
	return ext
}

// maxWindow is how far back, in bytes, a zstd frame may refer: what it takes in memory to read it. The zstd command has the
// same bound.
const maxWindow = 128 << 20

// NewReader reads what was compressed. Data that is damaged or ends early is a *DataError; an error of r is not. c is not
// ByName. Memory does not depend on the size of the data.
func (c Compression) NewReader(r io.Reader) (io.ReadCloser, error) {
	if c == Uncompressed {
		return io.NopCloser(r), nil
	}
	source := &sourceReader{r: bufio.NewReaderSize(r, 256<<10)}
	d := &decompressor{source: source, as: c}
	var err error
	switch c {
	case Bzip2:
		d.r = bzip2.NewReader(source)
	case Zstd:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			d.r, d.close = z, z.Close
		}
	case Gzip:
		if _, err := source.Peek(1); err == io.EOF {
			d.r = source // of no members at all: a file that is empty
			break
		}
		var z *gzip.Reader
		if z, err = gzip.NewReader(source); err == nil {
			d.r = z
		}
	default:
		return nil, fmt.Errorf("compression %q is not known", c)
	}
	if err != nil {
		return nil, d.failed(err)
	}
	return d, nil
}

// sourceReader keeps the error of what it reads from, so that it is not taken for damage.
type sourceReader struct {
	r   *bufio.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.note(err)
	return n, err
}

func (s *sourceReader) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	s.note(err)
	return b, err
}

func (s *sourceReader) Peek(n int) ([]byte, error) {
	b, err := s.r.Peek(n)
	s.note(err)
	return b, err
}

func (s *sourceReader) note(err error) {
	if err != nil && err != io.EOF {
		s.err = err
	}
}

type decompressor struct {
	r      io.Reader
	source *sourceReader
	as     Compression
	at     int64 // bytes given
	close  func()
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.at += int64(n)
	if err != nil && err != io.EOF {
		err = d.failed(err)
	}
	return n, err
}

// failed tells an error of the source from one of the data.
func (d *decompressor) failed(err error) error {
	if d.source.err != nil {
		return d.source.err
	}
	e := &DataError{Offset: d.at, Start: d.at, Reason: fmt.Sprintf("the %s data is damaged: %v", d.as, err), Advice: "get the file again"}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		e.Reason = fmt.Sprintf("the %s data ends in the middle", d.as)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		e.Reason = fmt.Sprintf("the zstd data needs a window of more than %d MiB", maxWindow>>20)
		e.Advice = "compress it again without --long or --ultra"
	case d.at == 0:
		e.Reason = fmt.Sprintf("the file is not %s: %v", d.as, err)
		e.Advice = "say how it is compressed with the format's option compression: none, gzip, zstd or bzip2"
	}
	return e
}

func (d *decompressor) Close() error {
	if d.close != nil {
		d.close()
	}
	return nil
}

// zstdWindow is how far back a zstd frame that is written refers, in bytes: as far as one of the zstd command's default level.
const zstdWindow = 2 << 20

// Compressor compresses files, one after another or several at once, and keeps what one file took for the next: it is megabytes, and
// each file's own would be garbage faster than it is collected.
type Compressor struct {
	Compression
	pool *sync.Pool // of resetter; nil: it cannot be written
}

// resetter is a gzip.Writer or a zstd.Encoder.
type resetter interface {
	io.WriteCloser
	Reset(io.Writer)
}

// NewCompressor makes the Compressor of a compression.
func NewCompressor(c Compression) Compressor {
	switch c {
	case Gzip:
		return Compressor{c, &sync.Pool{New: func() any { return gzip.NewWriter(nil) }}}
	case Zstd:
		return Compressor{c, &sync.Pool{New: func() any {
			z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true),
				zstd.WithWindowSize(zstdWindow))
			if err != nil {
				panic(err) // of options that cannot be
			}
			return z
		}}}
	}
	return Compressor{c, nil}
}

// NewWriter compresses what is written to it. Equal data is compressed to equal bytes. Whoever writes closes it, once, which does not
// close w.
func (c Compressor) NewWriter(w io.Writer) (io.WriteCloser, error) {
	if c.pool == nil {
		return nil, fmt.Errorf("compression %q cannot be written", c.Compression)
	}
	z := c.pool.Get().(resetter)
	z.Reset(w)
	return &pooledWriter{z, c.pool}, nil
}

// pooledWriter gives its compressor back when it is closed. One that nobody closes is garbage.
type pooledWriter struct {
	resetter
	pool *sync.Pool
}

func (p *pooledWriter) Close() error {
	err := p.resetter.Close()
	p.Reset(nil) // lets the file go
	p.pool.Put(p.resetter)
	p.resetter = nil
	return err
}

// Compressed gives an encoder that writes compressed what open's encoder writes. open is called once, at once.
func Compressed(c Compressor, w io.Writer, open func(io.Writer) (Encoder, error)) (Encoder, error) {
	if c.Compression == Uncompressed || c.Compression == ByName || c.Compression == "" {
		return open(w)
	}
	z, err := c.NewWriter(w)
	if err != nil {
		return nil, err
	}
	e, err := open(z)
	if err != nil {
		return nil, errors.Join(err, z.Close())
	}
	return compressed{e, z}, nil
}

type compressed struct {
	Encoder
	z io.Closer
}

// Nulled is as Counter has it.
func (c compressed) Nulled() int64 {
	if counter, ok := c.Encoder.(Counter); ok {
		return counter.Nulled()
	}
	return 0
}

func (c compressed) Close() error {
	if err := c.Encoder.Close(); err != nil {
		return err
	}
	return c.z.Close()
}

// ReadCompression reads the option compression of a format of text. auto, for a file to be written, is none.
func ReadCompression(o *Options) Compressor {
	return NewCompressor(Compression(o.Choice("compression", string(ByName), string(Uncompressed), string(Gzip), string(Zstd), string(Bzip2))))
}
