package parquet

import (
	"encoding/binary"
	"errors"
	"math"
)

// Levels, indexes of a dictionary and booleans lie in runs (Encodings.md, "Run Length Encoding / Bit-Packing Hybrid"):
//
//	run = (n<<1) value          n times the value, of as many whole bytes as the width needs
//	    | (n<<1|1) packed       n times 8 values of width bits each, the first in the lowest bits
//
// the number in front being a ULEB128. A run can stand for 2^31 values in a few bytes: they are never all made at once.

var (
	errEnds = errors.New("the page ends before its values do")
	errWide = errors.New("a value in a run has more bits than all have")
)

// hybrid reads such runs.
type hybrid struct {
	rest  []byte // what follows the run at hand
	width int    // bits of a value, to 32

	left   int    // values of the run at hand
	value  uint32 // of a run of one value
	packed []byte // of a run of packed ones
	bit    int    // where the next of them begins
}

// next begins the next run that has values.
func (h *hybrid) next() error {
	if h.width == 0 { // all there can be are zeros, and some writers do not say so
		h.left, h.value, h.packed = math.MaxInt, 0, nil
		return nil
	}
	for h.left == 0 {
		head, n := binary.Uvarint(h.rest)
		if n <= 0 {
			return errEnds
		}
		h.rest = h.rest[n:]
		count := head >> 1
		if head&1 == 1 {
			h.pack(count)
			continue
		}
		var value [4]byte
		if n := copy(value[:(h.width+7)/8], h.rest); n < (h.width+7)/8 {
			return errEnds
		}
		h.rest = h.rest[(h.width+7)/8:]
		h.left, h.value, h.packed = int(min(count, math.MaxInt32)), binary.LittleEndian.Uint32(value[:]), nil
		if uint64(h.value)>>h.width != 0 {
			return errWide
		}
	}
	return nil
}

// pack begins a run of groups of 8 packed values. Some writers leave out bytes at the end of the last one that are of no value.
func (h *hybrid) pack(groups uint64) {
	size := len(h.rest)
	if groups < uint64(size) { // else it is cut, whatever the width
		size = min(size, int(groups)*h.width)
	}
	h.packed, h.rest = h.rest[:size], h.rest[size:]
	h.bit, h.left = 0, size*8/h.width
}

// unpacked gives the next of packed values, and passes it.
func (h *hybrid) unpacked() uint32 {
	v := bitsAt(h.packed, h.bit, h.width)
	h.bit += h.width
	return uint32(v)
}

// bitsAt gives the width bits, to 56, that begin at a bit. What is missing at the end is 0.
func bitsAt(b []byte, bit, width int) uint64 {
	from := bit >> 3
	var word uint64
	if from+8 <= len(b) {
		word = binary.LittleEndian.Uint64(b[from:])
	} else {
		var last [8]byte
		copy(last[:], b[min(from, len(b)):])
		word = binary.LittleEndian.Uint64(last[:])
	}
	return word >> (bit & 7) & (1<<width - 1)
}

// unrun fills dst with the next values, which have no more bits than it has room for.
func unrun[T byte | uint32](h *hybrid, dst []T) error {
	for len(dst) > 0 {
		if err := h.next(); err != nil {
			return err
		}
		n := min(h.left, len(dst))
		for i := range dst[:n] {
			if h.packed == nil {
				dst[i] = T(h.value)
			} else {
				dst[i] = T(h.unpacked())
			}
		}
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

func (h *hybrid) indexes(dst []uint32) error { return unrun(h, dst) }

// levels reads the levels of a page.
type levels interface {
	// levels fills dst.
	levels(dst []byte) error
}

func (h *hybrid) levels(dst []byte) error { return unrun(h, dst) }

// packedLevels are levels that are only packed, the first in the highest bits, as very old writers did.
type packedLevels struct {
	packed []byte
	width  int
	bit    int
}

func (p *packedLevels) levels(dst []byte) error {
	if p.bit+p.width*len(dst) > 8*len(p.packed) {
		return errEnds
	}
	for i := range dst {
		v := byte(0)
		for range p.width {
			v = v<<1 | p.packed[p.bit>>3]>>(7-p.bit&7)&1
			p.bit++
		}
		dst[i] = v
	}
	return nil
}

// noLevels are those of a column that needs none.
type noLevels struct{}

func (noLevels) levels(dst []byte) error {
	clear(dst)
	return nil
}
