package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"
)

// A file is
//
//	"PAR1" column-chunk... page-index... footer length(4, little-endian) "PAR1"
//
// and its footer a FileMetaData, in Thrift's compact protocol.

const magic = "PAR1"

// tailSize is how many bytes follow the footer.
const tailSize = 4 + len(magic)

// maxFooter is the most bytes of a footer that is read.
const maxFooter = 100 << 20

var errFooter = errors.New("the footer is damaged")

// readFooter reads the footer of a file of size bytes, and tells where it begins. It takes memory in proportion to the footer,
// which is bounded, whatever that claims to hold.
func readFooter(r io.ReaderAt, size int64) (m *pqformat.FileMetaData, at int64, err error) {
	if size < int64(len(magic)+tailSize) {
		return nil, 0, fmt.Errorf("a file of %d bytes is no parquet file", size)
	}
	var head [len(magic)]byte
	var tail [tailSize]byte
	if err := readAt(r, head[:], 0); err != nil {
		return nil, 0, err
	}
	if err := readAt(r, tail[:], size-int64(tailSize)); err != nil {
		return nil, 0, err
	}
	if string(head[:]) != magic || string(tail[4:]) != magic {
		return nil, 0, fmt.Errorf("the file begins with %q and ends with %q, and not with %q", head[:], tail[4:], magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	at = size - int64(tailSize) - length
	if at < int64(len(magic)) {
		return nil, 0, fmt.Errorf("a footer of %d bytes does not fit a file of %d", length, size)
	}
	if length > maxFooter {
		return nil, 0, fmt.Errorf("a footer of %d bytes is larger than %d", length, maxFooter)
	}
	data := make([]byte, length)
	if err := readAt(r, data, at); err != nil {
		return nil, 0, err
	}
	if !sound(data) {
		return nil, 0, errFooter
	}
	m = &pqformat.FileMetaData{}
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data, m); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errFooter, err)
	}
	return m, at, nil
}

// readAt reads all of b at an offset.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("read %d bytes at byte %d: %w", len(b), at, err)
	}
	return nil
}

// sound tells whether bytes begin with a footer in the compact protocol whose every list, map and string is there in full. The
// library makes room for as many elements as a list claims to have.
func sound(data []byte) bool {
	p := passer{rest: data}
	p.structure(0, footerLists)
	return !p.bad
}

// lists are the lists of a struct, by their fields, whose elements take much room.
type lists map[int64]listOf

type listOf struct {
	least uint64 // bytes that an element has, on average
	lists lists  // of an element
}

// footerLists are the schema's elements, the row groups, and their column chunks, which are 50 times as large as bytes that are none.
var footerLists = lists{2: {least: 6}, 4: {least: 6, lists: lists{1: {least: 10}}}}

// passer passes over values of the compact protocol.
type passer struct {
	rest []byte
	bad  bool
}

// maxThriftDepth is deeper than any struct of the format.
const maxThriftDepth = 32

// The types of values, of fields and elements.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftI8
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

func (p *passer) skip(n uint64) {
	if n > uint64(len(p.rest)) {
		p.rest, p.bad = nil, true
		return
	}
	p.rest = p.rest[n:]
}

func (p *passer) byte() byte {
	if len(p.rest) == 0 {
		p.bad = true
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

func (p *passer) varint() uint64 {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 {
		p.rest, p.bad = nil, true
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

func (p *passer) structure(depth int, known lists) {
	for field := int64(0); !p.bad; {
		b := p.byte()
		if b == thriftStop {
			return
		}
		field += int64(b >> 4)
		if b>>4 == 0 { // the field's number follows, and is not told by its distance to the one before
			field = zigzag(p.varint())
		}
		if t := b & 0xf; t != thriftTrue && t != thriftFalse { // which are their values
			p.value(t, depth, known[field])
		}
	}
}

func (p *passer) value(t byte, depth int, of listOf) {
	if depth == maxThriftDepth {
		p.bad = true
	}
	if p.bad {
		return
	}
	switch t {
	case thriftTrue, thriftFalse, thriftI8:
		p.skip(1)
	case thriftI16, thriftI32, thriftI64:
		p.varint()
	case thriftDouble:
		p.skip(8)
	case thriftBinary:
		p.skip(p.varint())
	case thriftList, thriftSet:
		b := p.byte()
		n := uint64(b >> 4)
		if n == 0xf {
			n = p.varint()
		}
		p.elements(n, depth, of, b&0xf)
	case thriftMap:
		if n := p.varint(); n > 0 {
			b := p.byte()
			p.elements(n, depth, listOf{}, b>>4, b&0xf)
		}
	case thriftStruct:
		p.structure(depth+1, of.lists)
	default:
		p.bad = true
	}
}

// elements passes n elements, each of values of some types.
func (p *passer) elements(n uint64, depth int, of listOf, types ...byte) {
	whole := uint64(len(p.rest))
	if n > whole { // an element has a byte at least
		p.bad = true
	}
	for range n {
		for _, t := range types {
			if p.value(t, depth+1, of); p.bad {
				return
			}
		}
	}
	if whole-uint64(len(p.rest)) < n*of.least {
		p.bad = true
	}
}
