package parquet

import (
	"encoding/binary"
	"errors"
	"math"

	pqformat "github.com/parquet-go/parquet-go/format"
)

// Integers coded by their differences (Encodings.md, "Delta Encoding") are
//
//	header = values-of-a-block miniblocks-of-a-block values first-value
//	block  = least-difference width(1)... packed...
//
// with a width for each miniblock, and that many bits for each of its values: how much its difference is above the least one. The
// numbers in front are ULEB128, the first value and the least difference in zigzag. The last block's miniblocks that have no values
// are not there, their widths are.

var errDelta = errors.New("differences are coded as they cannot be")

// deltas reads such integers.
type deltas struct {
	rest  []byte
	bits  int // of an integer, in which it overflows: 32 or 64
	mini  int // values of a miniblock
	minis int // miniblocks of a block
	left  int // values
	value int64
	first bool // the first value, which is no difference, is to be read next

	least  int64  // difference of the block
	widths []byte // of the block's miniblocks that are to be read next
	packed []byte // the miniblock at hand
	width  int
	bit    int
	inMini int // values left in it
}

func newDeltas(data []byte, bits int) (*deltas, error) {
	d := &deltas{rest: data, bits: bits, first: true}
	block, ok1 := d.uvarint()
	minis, ok2 := d.uvarint()
	count, ok3 := d.uvarint()
	first, ok4 := d.uvarint()
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil, errEnds
	}
	// The specification has blocks of a multiple of 128 values, and miniblocks of one of 32. Some writers use other ones.
	if block == 0 || minis == 0 || block > math.MaxInt32 || minis > block || block%minis != 0 || block/minis%8 != 0 || count > math.MaxInt32 {
		return nil, errDelta
	}
	d.mini, d.minis, d.left, d.value = int(block/minis), int(minis), int(count), zigzag(first)
	return d, nil
}

func (d *deltas) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		return 0, false
	}
	d.rest = d.rest[n:]
	return v, true
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// next gives the next integer. There must be one.
func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, errEnds
	}
	d.left--
	if d.first {
		d.first = false
		return d.overflow(d.value), nil
	}
	if d.inMini == 0 {
		if err := d.nextMini(); err != nil {
			return 0, err
		}
	}
	d.inMini--
	var above uint64
	if d.width > 56 {
		above = bitsAt(d.packed, d.bit, 32) | bitsAt(d.packed, d.bit+32, d.width-32)<<32
	} else {
		above = bitsAt(d.packed, d.bit, d.width)
	}
	d.bit += d.width
	d.value = d.overflow(d.value + d.least + int64(above))
	return d.value, nil
}

func (d *deltas) overflow(v int64) int64 {
	if d.bits == 32 {
		return int64(int32(v))
	}
	return v
}

// nextMini begins a miniblock.
func (d *deltas) nextMini() error {
	if len(d.widths) == 0 {
		least, ok := d.uvarint()
		if !ok || d.minis > len(d.rest) {
			return errEnds
		}
		d.least = zigzag(least)
		d.widths, d.rest = d.rest[:d.minis], d.rest[d.minis:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return errDelta
	}
	// The last miniblock may be cut after its last value.
	most := int64(d.mini) / 8 * int64(d.width)
	if least := (min(int64(d.left)+1, int64(d.mini))*int64(d.width) + 7) / 8; least > int64(len(d.rest)) {
		return errEnds
	}
	size := min(most, int64(len(d.rest)))
	d.packed, d.rest, d.bit, d.inMini = d.rest[:size], d.rest[size:], 0, d.mini
	return nil
}

// skip passes all integers, and gives what follows them.
func (d deltas) skip() ([]byte, error) {
	if d.left > 0 && d.first {
		d.left--
	}
	for d.left > 0 {
		d.left-- // as next does
		if err := d.nextMini(); err != nil {
			return nil, err
		}
		d.left -= min(d.left, d.mini-1)
	}
	return d.rest, nil
}

// deltaValues are INT32 or INT64 coded so.
type deltaValues struct {
	*deltas
}

func newDeltaValues(p physical, data []byte) (coding, error) {
	d, err := newDeltas(data, 8*p.width)
	return deltaValues{d}, err
}

func (d deltaValues) fits(n, _ int) int { return n }

func (d deltaValues) read(v *values, n int) error {
	for range n {
		x, err := d.next()
		if err != nil {
			return err
		}
		if d.bits == 32 {
			v.I32 = append(v.I32, int32(x))
		} else {
			v.I64 = append(v.I64, x)
		}
	}
	return nil
}

// deltaLengths are the lengths of all values, then their bytes.
type deltaLengths struct {
	lengths *deltas
	data    []byte
}

func newDeltaLengths(data []byte) (coding, error) {
	lengths, err := newDeltas(data, 32)
	if err != nil {
		return nil, err
	}
	rest, err := lengths.skip()
	return &deltaLengths{lengths, rest}, err
}

func (d *deltaLengths) fits(n, size int) int {
	if len(d.data) <= size {
		return n
	}
	ahead := *d.lengths
	for i := range n {
		length, err := ahead.next()
		if size -= int(length); err != nil || length < 0 || size < 0 {
			return max(1, i)
		}
	}
	return n
}

// next gives the next value.
func (d *deltaLengths) next() ([]byte, error) {
	n, err := d.lengths.next()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(d.data)) {
		return nil, errEnds
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b, nil
}

func (d *deltaLengths) read(v *values, n int) error {
	for range n {
		b, err := d.next()
		if err != nil {
			return err
		}
		v.add(b)
	}
	return nil
}

// deltaStrings are values of which each begins as the one before does: how many bytes of it, then what follows those.
type deltaStrings struct {
	physical
	prefixes *deltas
	suffixes deltaLengths
	last     []byte
}

func newDeltaStrings(p physical, data []byte) (coding, error) {
	prefixes, err := newDeltas(data, 32)
	if err != nil {
		return nil, err
	}
	rest, err := prefixes.skip()
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLengths(rest)
	if err != nil {
		return nil, err
	}
	return &deltaStrings{physical: p, prefixes: prefixes, suffixes: *suffixes.(*deltaLengths)}, nil
}

func (d *deltaStrings) fits(n, size int) int {
	prefixes, suffixes := *d.prefixes, *d.suffixes.lengths
	for i := range n {
		prefix, err1 := prefixes.next()
		suffix, err2 := suffixes.next()
		if size -= int(prefix + suffix); err1 != nil || err2 != nil || prefix < 0 || suffix < 0 || size < 0 {
			return max(1, i)
		}
	}
	return n
}

func (d *deltaStrings) read(v *values, n int) error {
	for range n {
		prefix, err := d.prefixes.next()
		if err != nil {
			return err
		}
		suffix, err := d.suffixes.next()
		if err != nil {
			return err
		}
		if prefix < 0 || prefix > int64(len(d.last)) {
			return errEnds
		}
		d.last = append(d.last[:prefix], suffix...)
		if len(d.last) > maxPageSize || d.Type == pqformat.FixedLenByteArray && len(d.last) != d.width {
			return errDelta
		}
		v.add(d.last)
	}
	return nil
}
