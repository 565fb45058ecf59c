package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"
)

// Pages that the library does not decode right, by https://github.com/apache/parquet-format/blob/master/Encodings.md. It takes runs
// of booleans that are coded RLE for other ones, and reads deltas of 32-bit integers wrong where they take more than 32 bits, as
// some writers make them.

// pageRef is a page of a column chunk.
type pageRef struct {
	at     int64 // where its body begins
	header pqformat.PageHeader
	own    bool // it is decoded here
}

// isOwn tells whether a page of a physical type is decoded here.
func isOwn(t pqformat.Type, h *pqformat.PageHeader) bool {
	coding := pqformat.Plain
	switch h.Type {
	case pqformat.DataPage:
		coding = h.DataPageHeader.V.Encoding
	case pqformat.DataPageV2:
		coding = h.DataPageHeaderV2.V.Encoding
	}
	return t == pqformat.Boolean && coding == pqformat.RLE ||
		(t == pqformat.Int32 || t == pqformat.Int64) && coding == pqformat.DeltaBinaryPacked
}

// maxPageValues is how many values a page that is decoded here can have: a run of any length takes a few bytes.
const maxPageValues = 1 << 26

// ownPage is such a page: its levels, and the values that are there.
type ownPage struct {
	rep, def []byte // nil where all are the greatest, which is 0
	ints     []int64
	boolean  bool
	narrow   bool // INT32

	at, value int
	n         int
	maxDef    int
}

var errShortPage = errors.New("a page ends in the middle")

// decodeOwn reads a page.
func (t *tableFile) decodeOwn(p *pageRef, m *pqformat.ColumnMetaData, n *node) (*ownPage, error) {
	body := make([]byte, p.header.CompressedPageSize)
	if err := readAt(t.r, body, p.at); err != nil {
		return nil, err
	}
	if sum := uint32(p.header.CRC); sum != 0 && crc32.ChecksumIEEE(body) != sum {
		return nil, fmt.Errorf("the checksum of the page at byte %d is another one", p.at)
	}
	o := &ownPage{boolean: m.Type == pqformat.Boolean, narrow: m.Type == pqformat.Int32, maxDef: n.def}
	var values []byte
	var err error
	if p.header.Type == pqformat.DataPageV2 {
		values, err = o.levelsV2(p, m, n, body)
	} else {
		values, err = o.levelsV1(p, m, n, body)
	}
	if err != nil {
		return nil, err
	}
	present := o.n
	if o.def != nil {
		present = 0
		for _, d := range o.def {
			if int(d) == n.def {
				present++
			}
		}
	}
	if o.boolean {
		return o, o.booleans(values, present)
	}
	o.ints, err = deltas(values, present, o.narrow)
	return o, err
}

func decompress(m *pqformat.ColumnMetaData, data []byte, size int32) ([]byte, error) {
	if m.Codec == pqformat.Uncompressed {
		return data, nil
	}
	out, err := parquet.LookupCompressionCodec(m.Codec).Decode(make([]byte, 0, size), data)
	if err == nil && len(out) != int(size) {
		err = fmt.Errorf("a page has %d bytes, and its header says %d", len(out), size)
	}
	return out, err
}

func (o *ownPage) count(n int32) error {
	if n < 0 || n > maxPageValues {
		return refuseFile(fmt.Sprintf("a page has %d values", n), "write the file with smaller pages")
	}
	o.n = int(n)
	return nil
}

// levelsV1 reads the levels of a page of version 1, and gives its values.
func (o *ownPage) levelsV1(p *pageRef, m *pqformat.ColumnMetaData, n *node, body []byte) ([]byte, error) {
	h := &p.header.DataPageHeader.V
	if err := o.count(h.NumValues); err != nil {
		return nil, err
	}
	data, err := decompress(m, body, p.header.UncompressedPageSize)
	if err != nil {
		return nil, err
	}
	level := func(most int, coding pqformat.Encoding) ([]byte, error) {
		if most == 0 {
			return nil, nil
		}
		if coding != pqformat.RLE {
			return nil, fmt.Errorf("levels are coded %s, which is not read", coding)
		}
		part, rest, err := prefixed(data)
		if err != nil {
			return nil, err
		}
		data = rest
		return hybrid(part, bits.Len(uint(most)), o.n)
	}
	if o.rep, err = level(n.rep, h.RepetitionLevelEncoding); err != nil {
		return nil, err
	}
	o.def, err = level(n.def, h.DefinitionLevelEncoding)
	return data, err
}

// levelsV2 is levelsV1 for version 2.
func (o *ownPage) levelsV2(p *pageRef, m *pqformat.ColumnMetaData, n *node, body []byte) ([]byte, error) {
	h := &p.header.DataPageHeaderV2.V
	if err := o.count(h.NumValues); err != nil {
		return nil, err
	}
	rep, def := int(h.RepetitionLevelsByteLength), int(h.DefinitionLevelsByteLength)
	if rep < 0 || def < 0 || rep+def > len(body) {
		return nil, errShortPage
	}
	var err error
	if n.rep > 0 {
		if o.rep, err = hybrid(body[:rep], bits.Len(uint(n.rep)), o.n); err != nil {
			return nil, err
		}
	}
	if n.def > 0 {
		if o.def, err = hybrid(body[rep:rep+def], bits.Len(uint(n.def)), o.n); err != nil {
			return nil, err
		}
	}
	values := body[rep+def:]
	if h.IsCompressed.Valid && !h.IsCompressed.V || len(values) == 0 {
		return values, nil
	}
	return decompress(m, values, p.header.UncompressedPageSize-int32(rep+def))
}

// prefixed cuts a part off whose length, 4 bytes, stands before it.
func prefixed(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errShortPage
	}
	n := uint64(binary.LittleEndian.Uint32(data))
	if n > uint64(len(data)-4) {
		return nil, nil, errShortPage
	}
	return data[4 : 4+n], data[4+n:], nil
}

func (o *ownPage) booleans(data []byte, n int) error {
	if n == 0 {
		return nil
	}
	part, _, err := prefixed(data)
	if err != nil {
		return err
	}
	values, err := hybrid(part, 1, n)
	for _, v := range values {
		o.ints = append(o.ints, int64(v))
	}
	return err
}

// hybrid reads n values of up to 8 bits that are coded as runs and bit-packed groups.
func hybrid(data []byte, width, n int) ([]byte, error) {
	values := make([]byte, 0, n)
	for len(values) < n {
		head, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errShortPage
		}
		data = data[size:]
		if head&1 == 0 {
			if len(data) == 0 {
				return nil, errShortPage
			}
			for range min(head>>1, uint64(n-len(values))) {
				values = append(values, data[0])
			}
			data = data[1:]
			continue
		}
		groups := head >> 1
		if groups > uint64(len(data)) || groups*uint64(width) > uint64(len(data)) {
			if uint64(len(data)) < uint64((n-len(values)+7)/8*width) { // the last group may be cut behind the last value
				return nil, errShortPage
			}
			groups = uint64(len(data)) / uint64(width)
		}
		packed := data[:groups*uint64(width)]
		for i := 0; i < int(groups)*8 && len(values) < n; i++ {
			values = append(values, byte(packedAt(packed, i*width, width)))
		}
		data = data[len(packed):]
	}
	return values, nil
}

// packedAt reads width bits, up to 64, from a bit on.
func packedAt(data []byte, bit, width int) uint64 {
	v := uint64(0)
	for done := 0; done < width; {
		in := (bit + done) & 7
		take := min(8-in, width-done)
		b := uint64(data[(bit+done)>>3]>>in) & (1<<take - 1)
		v |= b << done
		done += take
	}
	return v
}

// deltas reads n integers that are coded DELTA_BINARY_PACKED. Those of 32 bits keep the low bits, whatever the deltas have.
func deltas(data []byte, n int, narrow bool) ([]int64, error) {
	if n == 0 {
		return nil, nil
	}
	bad := false
	varint := func() uint64 {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			bad = true
			return 0
		}
		data = data[size:]
		return v
	}
	zigzag := func() int64 { v := varint(); return int64(v>>1) ^ -int64(v&1) }
	block, parts, total := varint(), varint(), varint()
	value := zigzag()
	if bad || block == 0 || block%128 != 0 || block > 1<<20 || parts == 0 || block%parts != 0 || (block/parts)%32 != 0 || total < uint64(n) {
		return nil, errors.New("the header of deltas is damaged")
	}
	perPart := int(block / parts)
	values := make([]int64, 0, n)
	add := func() {
		if narrow {
			value = int64(int32(value))
		}
		values = append(values, value)
	}
	add()
	for len(values) < n {
		least := zigzag()
		if bad || uint64(len(data)) < parts {
			return nil, errShortPage
		}
		widths := data[:parts]
		data = data[parts:]
		for _, width := range widths {
			if len(values) == n {
				break
			}
			size := int(width) * perPart / 8
			if width > 64 {
				return nil, fmt.Errorf("deltas of %d bits", width)
			}
			need := min(size, (int(width)*min(perPart, n-len(values))+7)/8) // the last part may be cut behind the last value
			if len(data) < need {
				return nil, errShortPage
			}
			for i := 0; i < perPart && len(values) < n; i++ {
				value += least + int64(packedAt(data, i*int(width), int(width)))
				add()
			}
			data = data[min(size, len(data)):]
		}
	}
	return values, nil
}

// read fills buf with the next entries, and tells how many; 0 at the page's end.
func (o *ownPage) read(buf []parquet.Value, column int) int {
	n := 0
	for ; n < len(buf) && o.at < o.n; n++ {
		rep, def := 0, 0
		if o.rep != nil {
			rep = int(o.rep[o.at])
		}
		if o.def != nil {
			def = int(o.def[o.at])
		}
		o.at++
		if def != o.maxDef {
			buf[n] = parquet.NullValue().Level(rep, def, column)
			continue
		}
		x := o.ints[o.value]
		o.value++
		switch {
		case o.boolean:
			buf[n] = parquet.BooleanValue(x != 0).Level(rep, def, column)
		case o.narrow:
			buf[n] = parquet.Int32Value(int32(x)).Level(rep, def, column)
		default:
			buf[n] = parquet.Int64Value(x).Level(rep, def, column)
		}
	}
	return n
}
