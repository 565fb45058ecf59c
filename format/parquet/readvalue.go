package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
)

// values are values of one leaf, dense. Spans are pieces of data. Values of a fixed length, INT96 among them, are spans.
type values struct {
	columnar.Vector
	data []byte
}

func (v *values) reset() {
	v.Vector.Reset(columnar.Type{})
	v.data = v.data[:0]
}

// add appends bytes.
func (v *values) add(b []byte) {
	v.Str = append(v.Str, columnar.Span{Off: uint32(len(v.data)), Len: uint32(len(b))})
	v.data = append(v.data, b...)
}

// physical is how values lie in a file.
type physical struct {
	pqformat.Type
	width int // bytes of a value; 0 where that differs
}

// coding reads the values of a page in order.
type coding interface {
	// read appends n values. There may be fewer left: errEnds.
	read(v *values, n int) error
	// fits tells how many of the next n values have at most size bytes, and 1 if none has.
	fits(n, size int) int
}

// errCoding is an error of values that are coded in a way that theirs cannot be.
func errCoding(p physical, e pqformat.Encoding) error {
	return fmt.Errorf("values of %s are not coded by %s", p.Type, e)
}

// newCoding begins to read values. The data of a page is not changed.
func newCoding(p physical, e pqformat.Encoding, data []byte) (coding, error) {
	if len(data) == 0 { // all entries of the page are NULL, and some writers leave out what else stands in front of values
		return &plainBits{}, nil
	}
	switch e {
	case pqformat.Plain:
		switch p.Type {
		case pqformat.Boolean:
			return &plainBits{data: data}, nil
		case pqformat.ByteArray:
			return &plainBytes{data: data}, nil
		}
		return &plainValues{physical: p, data: data}, nil
	case pqformat.RLE:
		if p.Type == pqformat.Boolean {
			return newRunBits(data)
		}
	case pqformat.ByteStreamSplit:
		if p.width > 0 {
			return newSplitValues(p, data)
		}
	case pqformat.DeltaBinaryPacked:
		if p.Type == pqformat.Int32 || p.Type == pqformat.Int64 {
			return newDeltaValues(p, data)
		}
	case pqformat.DeltaLengthByteArray:
		if p.Type == pqformat.ByteArray {
			return newDeltaLengths(data)
		}
	case pqformat.DeltaByteArray:
		if p.Type == pqformat.ByteArray || p.Type == pqformat.FixedLenByteArray {
			return newDeltaStrings(p, data)
		}
	}
	return nil, errCoding(p, e)
}

// plainValues are values of the same width, one after another.
type plainValues struct {
	physical
	data []byte
}

func (p *plainValues) fits(n, size int) int { return max(1, min(n, size/p.width)) }

func (p *plainValues) read(v *values, n int) error {
	if n > len(p.data)/p.width {
		return errEnds
	}
	p.append(v, p.data[:n*p.width])
	p.data = p.data[n*p.width:]
	return nil
}

// append appends the values that bytes are.
func (p *plainValues) append(v *values, b []byte) {
	switch p.Type {
	case pqformat.Int32:
		for ; len(b) >= 4; b = b[4:] {
			v.I32 = append(v.I32, int32(binary.LittleEndian.Uint32(b)))
		}
	case pqformat.Int64:
		for ; len(b) >= 8; b = b[8:] {
			v.I64 = append(v.I64, int64(binary.LittleEndian.Uint64(b)))
		}
	case pqformat.Float:
		for ; len(b) >= 4; b = b[4:] {
			v.F32 = append(v.F32, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	case pqformat.Double:
		for ; len(b) >= 8; b = b[8:] {
			v.F64 = append(v.F64, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	default:
		for ; len(b) >= p.width; b = b[p.width:] {
			v.add(b[:p.width])
		}
	}
}

// splitValues are the first bytes of all values of the page, then the second ones, and so on.
type splitValues struct {
	plainValues
	data  []byte
	count int // of values in the page
	at    int
	whole []byte // bytes of some values, together again
}

func newSplitValues(p physical, data []byte) (coding, error) {
	if len(data)%p.width != 0 {
		return nil, errEnds
	}
	return &splitValues{plainValues: plainValues{physical: p}, data: data, count: len(data) / p.width}, nil
}

func (s *splitValues) read(v *values, n int) error {
	if n > s.count-s.at {
		return errEnds
	}
	s.whole = slices.Grow(s.whole[:0], n*s.width)[:n*s.width]
	for b := range s.width {
		part := s.data[b*s.count+s.at:][:n]
		for i, x := range part {
			s.whole[i*s.width+b] = x
		}
	}
	s.at += n
	s.append(v, s.whole)
	return nil
}

// plainBytes are values behind their lengths.
type plainBytes struct {
	data []byte
}

// length gives the length of the value that begins at a place.
func (p *plainBytes) length(at int) (int, error) {
	if len(p.data)-at < 4 {
		return 0, errEnds
	}
	n := binary.LittleEndian.Uint32(p.data[at:])
	if int64(n) > int64(len(p.data)-at-4) {
		return 0, errEnds
	}
	return int(n), nil
}

func (p *plainBytes) fits(n, size int) int {
	if len(p.data)-4*n <= size {
		return n
	}
	at := 0
	for i := range n {
		length, err := p.length(at)
		if size -= length; err != nil || size < 0 {
			return max(1, i)
		}
		at += 4 + length
	}
	return n
}

func (p *plainBytes) read(v *values, n int) error {
	for range n {
		length, err := p.length(0)
		if err != nil {
			return err
		}
		v.add(p.data[4 : 4+length])
		p.data = p.data[4+length:]
	}
	return nil
}

// plainBits are booleans, the first in the lowest bit.
type plainBits struct {
	data []byte
	bit  int
}

func (p *plainBits) fits(n, _ int) int { return n }

func (p *plainBits) read(v *values, n int) error {
	if n > 8*len(p.data)-p.bit {
		return errEnds
	}
	for range n {
		v.Bool = append(v.Bool, p.data[p.bit>>3]>>(p.bit&7)&1 == 1)
		p.bit++
	}
	return nil
}

// runBits are booleans in runs.
type runBits struct {
	hybrid
	bits [256]byte
}

func newRunBits(data []byte) (coding, error) {
	runs, _, err := prefixed(data)
	if err != nil {
		return nil, err
	}
	return &runBits{hybrid: hybrid{rest: runs, width: 1}}, nil
}

// prefixed gives the bytes that stand behind their length, and what follows them.
func prefixed(data []byte) (b, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errEnds
	}
	n := int64(binary.LittleEndian.Uint32(data))
	if n > int64(len(data)-4) {
		return nil, nil, errEnds
	}
	return data[4 : 4+n], data[4+n:], nil
}

func (r *runBits) fits(n, _ int) int { return n }

func (r *runBits) read(v *values, n int) error {
	for n > 0 {
		part := r.bits[:min(n, len(r.bits))]
		if err := r.levels(part); err != nil {
			return err
		}
		for _, bit := range part {
			v.Bool = append(v.Bool, bit == 1)
		}
		n -= len(part)
	}
	return nil
}
