package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/format"
)

// A column chunk is
//
//	[dictionary-page] data-page...
//
// and a page a header, of Thrift's compact protocol, and a body, the compressed
//
//	[repetition-levels] [definition-levels] values
//
// of which in a page of version 2 only the values are compressed. The library's own reader of pages is not used: it makes all of a
// page's levels, indexes and values at once, as many as a header claims, which a page of a few bytes can have 2^31 of.

const (
	// maxPageSize is how many bytes a page can have, before compression and after it.
	maxPageSize = 1 << 30
	// maxHeader is how many bytes the header of a page can have. It may have the bounds of long texts.
	maxHeader = 64 << 20
)

// chunkReader reads the pages of a column chunk.
type chunkReader struct {
	file   *source
	codecs *codecs
	codec  pqformat.CompressionCodec

	at, end int64 // of the file: what is read next, and what is not to be reached
	reads   int   // bytes that are read at once
	window  []byte
	ahead   []byte // what of window is at at, and after it
	page    int64  // where the page at hand begins

	body   []byte // room for a page as it is in the file, which is not compressed
	raw    []byte // for one that was
	levels []byte // and for the levels of one of version 2
}

// open begins a chunk, which ends before end.
func (c *chunkReader) open(m *pqformat.ColumnMetaData, end int64) {
	c.codec = m.Codec
	c.at, c.end = chunkStart(m), end
	c.page, c.ahead = c.at, nil
	if len(c.window) < c.ample() {
		c.window = nil
	}
}

// ample is how many bytes of the chunk are read at once, if no more are asked for.
func (c *chunkReader) ample() int { return int(min(int64(c.reads), c.end-c.at)) }

// look gives the next n bytes, or what there is of them, without passing them.
func (c *chunkReader) look(n int) ([]byte, error) {
	n = int(min(int64(n), c.end-c.at))
	if n <= len(c.ahead) {
		return c.ahead[:n], nil
	}
	if n > len(c.window) {
		c.window = make([]byte, max(n, c.ample()))
	}
	whole := c.window[:min(int64(len(c.window)), c.end-c.at)]
	have := copy(whole, c.ahead)
	if err := readAt(c.file, whole[have:], c.at+int64(have)); err != nil {
		return nil, err
	}
	c.ahead = whole
	return c.ahead[:n], nil
}

func (c *chunkReader) pass(n int) {
	c.at += int64(n)
	c.ahead = c.ahead[min(n, len(c.ahead)):]
}

// header reads the header of the next page. What it claims is checked as far as it can be.
func (c *chunkReader) header() (h pqformat.PageHeader, err error) {
	c.page = c.at
	for size := 256; ; size *= 8 {
		data, err := c.look(size)
		if err != nil {
			return h, err
		}
		p := passer{rest: data}
		p.structure(0, nil)
		if p.bad && len(data) == size && size < maxHeader {
			continue // it may be longer
		}
		if p.bad {
			return h, errors.New("the header of a page is damaged")
		}
		n := len(data) - len(p.rest)
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[:n], &h); err != nil {
			return h, err
		}
		c.pass(n)
		return h, c.check(&h)
	}
}

func (c *chunkReader) check(h *pqformat.PageHeader) error {
	switch size := int64(h.CompressedPageSize); {
	case size < 0 || h.UncompressedPageSize < 0 || size > c.end-c.at:
		return fmt.Errorf("a page has %d bytes, and its column chunk %d", size, c.end-c.at)
	case size > maxPageSize || h.UncompressedPageSize > maxPageSize:
		return &format.DataError{Offset: c.page, Reason: fmt.Sprintf("a page has more than %d MiB", maxPageSize>>20), Advice: "write the file with smaller pages"}
	}
	v1, v2, dict := &h.DataPageHeader, &h.DataPageHeaderV2, &h.DictionaryPageHeader
	switch h.Type {
	case pqformat.IndexPage:
		return nil
	case pqformat.DictionaryPage:
		if dict.Valid && dict.V.NumValues >= 0 {
			return nil
		}
	case pqformat.DataPage:
		if v1.Valid && v1.V.NumValues >= 0 {
			return nil
		}
	case pqformat.DataPageV2:
		rep, def := int64(v2.V.RepetitionLevelsByteLength), int64(v2.V.DefinitionLevelsByteLength)
		if v2.Valid && v2.V.NumValues >= 0 && rep >= 0 && def >= 0 && rep+def <= int64(min(h.CompressedPageSize, h.UncompressedPageSize)) {
			return nil
		}
	default:
		return fmt.Errorf("a page is of a kind that is not known: %d", h.Type)
	}
	return errors.New("the header of a page claims what cannot be")
}

// skip passes the body of a page.
func (c *chunkReader) skip(h *pqformat.PageHeader) { c.pass(int(h.CompressedPageSize)) }

// read gives the body of a page as it is in the file. It is of use until the next page, and one that is compressed until the next page
// of any leaf.
func (c *chunkReader) read(h *pqformat.PageHeader) (body []byte, err error) {
	n := int(h.CompressedPageSize)
	room := &c.body
	if c.codec != pqformat.Uncompressed {
		room = &c.codecs.body
	}
	if n <= len(c.window) {
		body, err = c.look(n)
	} else {
		*room = sized(*room, n)
		body = *room
		have := copy(body, c.ahead)
		err = readAt(c.file, body[have:], c.at+int64(have))
	}
	if err != nil {
		return nil, err
	}
	c.pass(n)
	if sum := crc32.ChecksumIEEE(body); h.CRC != 0 && uint32(h.CRC) != sum {
		return nil, fmt.Errorf("the checksum of a page is %08x, and should be %08x", sum, uint32(h.CRC))
	}
	return body, nil
}

// sized gives n bytes of room, those that b has if they are enough and not far too many.
func sized(b []byte, n int) []byte {
	if cap(b) < n || cap(b) > 16*n+maxKept {
		return make([]byte, n)
	}
	return b[:n]
}

// maxKept is how many bytes of room are kept where little of it is in use.
const maxKept = 8 << 20

// decompress gives the size bytes that a body is made of.
func (c *chunkReader) decompress(body []byte, size int) ([]byte, error) {
	if c.codec == pqformat.Uncompressed {
		return body, nil
	}
	if cap(c.raw) > 16*size+maxKept {
		c.raw = nil
	}
	raw, err := c.codecs.decompress(c.codec, c.raw, body, size)
	if err != nil {
		return nil, fmt.Errorf("a page is not compressed by %s: %w", c.codec, err)
	}
	c.raw = raw
	return raw, nil
}

// dataPage is a page of values, of which some entries stand for what is not there.
type dataPage struct {
	entries  int
	encoding pqformat.Encoding
	rep, def levels
	values   []byte
}

// maxLevels are the most levels that a leaf has.
type maxLevels struct {
	rep, def int
}

// data reads the body of a page of values.
func (c *chunkReader) data(h *pqformat.PageHeader, most maxLevels) (p dataPage, err error) {
	body, err := c.read(h)
	if err != nil {
		return p, err
	}
	if h.Type == pqformat.DataPageV2 {
		return c.data2(&h.DataPageHeaderV2.V, body, int(h.UncompressedPageSize), most)
	}
	v := &h.DataPageHeader.V
	p = dataPage{entries: int(v.NumValues), encoding: v.Encoding}
	if p.values, err = c.decompress(body, int(h.UncompressedPageSize)); err != nil {
		return p, err
	}
	if p.rep, p.values, err = levels1(v.RepetitionLevelEncoding, most.rep, p.entries, p.values); err != nil {
		return p, err
	}
	p.def, p.values, err = levels1(v.DefinitionLevelEncoding, most.def, p.entries, p.values)
	return p, err
}

// data2 is data for a page of version 2.
func (c *chunkReader) data2(v *pqformat.DataPageHeaderV2, body []byte, size int, most maxLevels) (p dataPage, err error) {
	p = dataPage{entries: int(v.NumValues), encoding: v.Encoding}
	rep, def := int(v.RepetitionLevelsByteLength), int(v.DefinitionLevelsByteLength)
	c.levels = append(c.levels[:0], body[:rep+def]...)
	p.rep, p.def = newLevels(c.levels[:rep], most.rep), newLevels(c.levels[rep:], most.def)
	p.values = body[rep+def:]
	switch {
	case !v.IsCompressed.Valid || v.IsCompressed.V:
		p.values, err = c.decompress(p.values, size-rep-def)
	case c.codec != pqformat.Uncompressed:
		c.raw = append(c.raw[:0], p.values...)
		p.values = c.raw
	}
	return p, err
}

func newLevels(runs []byte, most int) levels {
	if most == 0 {
		return noLevels{}
	}
	return &hybrid{rest: runs, width: bits.Len(uint(most))}
}

// levels1 begins to read levels of a page of version 1, and gives what follows them.
func levels1(e pqformat.Encoding, most, entries int, data []byte) (l levels, rest []byte, err error) {
	width := bits.Len(uint(most))
	switch {
	case most == 0:
		return noLevels{}, data, nil
	case e == pqformat.BitPacked:
		size := (int64(entries)*int64(width) + 7) / 8
		if size > int64(len(data)) {
			return nil, nil, errEnds
		}
		return &packedLevels{packed: data[:size], width: width}, data[size:], nil
	case e != pqformat.RLE:
		return nil, nil, fmt.Errorf("levels are not coded by %s", e)
	}
	runs, rest, err := prefixed(data)
	return newLevels(runs, most), rest, err
}
