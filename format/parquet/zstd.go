package parquet

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	pqzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// zstdWindow is how far back, in bytes, a compressor looks: most pages are not much larger than pageBytes. The library's own codec
// keeps 16 MiB of history for each page that is compressed at the same time, and loses it to the collector now and then.
const zstdWindow = 2 * pageBytes

// zstdCodec is the library's codec with an encoder of our own: one for all pages, whose memory is bounded and kept.
type zstdCodec struct {
	pqzstd.Codec
	once    sync.Once
	encoder *zstd.Encoder
	err     error
}

// Encode compresses a page.
func (c *zstdCodec) Encode(dst, src []byte) ([]byte, error) {
	c.once.Do(func() {
		c.encoder, c.err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(zstdWindow),
			zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
	})
	if c.err != nil {
		return dst, c.err
	}
	return c.encoder.EncodeAll(src, dst[:0]), nil
}
