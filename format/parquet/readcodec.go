package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	pqformat "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// The library's own codecs make as much room as compressed bytes say, or more and more of it where they are damaged. Here a page
// takes no more than its header says, and no more than its bytes can be.

// codecs decompress pages. They are used by one goroutine at a time.
type codecs struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
	src    bytes.Reader
	body   []byte // room for what is to be decompressed
}

// expansion is how many bytes one compressed byte can become at most.
var expansion = map[pqformat.CompressionCodec]int{pqformat.Snappy: 64, pqformat.Lz4: 256, pqformat.Lz4Raw: 256, pqformat.Zstd: 1 << 16}

var errSize = errors.New("it is not as large as its header says")

// decompress gives the size bytes that src is made of, in dst if that has room.
func (c *codecs) decompress(codec pqformat.CompressionCodec, dst, src []byte, size int) ([]byte, error) {
	if size == 0 {
		return dst[:0], nil // whatever stands for it
	}
	if most, ok := expansion[codec]; ok {
		if size/most > len(src)+1 {
			return dst, fmt.Errorf("%d compressed bytes cannot be %d", len(src), size)
		}
		if cap(dst) < size {
			dst = make([]byte, size)
		}
		dst = dst[:size]
	}
	dst, err := c.into(codec, dst, src, size)
	if err == nil && len(dst) != size {
		err = errSize
	}
	return dst, err
}

func (c *codecs) into(codec pqformat.CompressionCodec, dst, src []byte, size int) ([]byte, error) {
	switch codec {
	case pqformat.Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != size {
			return dst, errors.Join(errSize, err)
		}
		return snappy.Decode(dst, src)
	case pqformat.Lz4Raw:
		return lz4Block(dst, src)
	case pqformat.Lz4:
		return lz4Hadoop(dst, src)
	case pqformat.Zstd:
		return c.unzstd(dst, src)
	case pqformat.Gzip:
		return c.gunzip(dst, src, size)
	case pqformat.Brotli:
		c.src.Reset(src)
		if c.brotli == nil {
			c.brotli = brotli.NewReader(&c.src)
		} else if err := c.brotli.Reset(&c.src); err != nil {
			return dst, err
		}
		return drain(c.brotli, dst, size)
	}
	return dst, fmt.Errorf("compression %s is not known", codec)
}

func lz4Block(dst, src []byte) ([]byte, error) {
	n, err := lz4.UncompressBlock(src, dst)
	return dst[:max(0, n)], err
}

// lz4Hadoop reads blocks as Hadoop writes them: their size, then pieces of it, each behind its compressed size. Other writers meant a
// block without all that by the same name.
func lz4Hadoop(dst, src []byte) ([]byte, error) {
	n, ok := 0, true
	for rest := src; ok && len(rest) > 0; {
		n, rest, ok = hadoopBlock(dst, n, rest)
	}
	if ok && n == len(dst) {
		return dst, nil
	}
	return lz4Block(dst, src)
}

// hadoopBlock puts the first block of src behind n bytes of dst.
func hadoopBlock(dst []byte, n int, src []byte) (_ int, rest []byte, ok bool) {
	if len(src) < 4 {
		return 0, nil, false
	}
	size := int64(binary.BigEndian.Uint32(src))
	src = src[4:]
	if size > int64(len(dst)-n) {
		return 0, nil, false
	}
	for end := n + int(size); n < end; {
		if len(src) < 4 {
			return 0, nil, false
		}
		piece := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		if piece > int64(len(src)) {
			return 0, nil, false
		}
		m, err := lz4.UncompressBlock(src[:piece], dst[n:end])
		if err != nil || m <= 0 {
			return 0, nil, false
		}
		n, src = n+m, src[piece:]
	}
	return n, src, true
}

func (c *codecs) unzstd(dst, src []byte) (_ []byte, err error) {
	if c.zstd == nil {
		c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(maxPageSize), zstd.WithDecoderMaxWindow(maxPageSize))
		if err != nil {
			return dst, err
		}
	}
	return c.zstd.DecodeAll(src, dst[:0])
}

func (c *codecs) gunzip(dst, src []byte, size int) (_ []byte, err error) {
	c.src.Reset(src)
	if c.gzip == nil {
		c.gzip, err = gzip.NewReader(&c.src)
	} else {
		err = c.gzip.Reset(&c.src)
	}
	if err != nil {
		return dst, err
	}
	return drain(c.gzip, dst, size)
}

// drain reads all that r has, which is to be size bytes, and makes room for as many as come.
func drain(r io.Reader, dst []byte, size int) ([]byte, error) {
	dst = dst[:0]
	for {
		if len(dst) == cap(dst) {
			grown := make([]byte, len(dst), min(size, 2*cap(dst)+64<<10)+1) // a byte more, to see whether there is one
			copy(grown, dst)
			dst = grown
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), size+1)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > size:
			return dst, errSize
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

// close gives back what the codecs hold.
func (c *codecs) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
	*c = codecs{}
}
