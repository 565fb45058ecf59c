package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	pqformat "github.com/parquet-go/parquet-go/format"
)

// A column chunk can begin with a dictionary, of which its pages have indexes (Encodings.md, "Dictionary Encoding"). When that becomes
// too large writers go on with values in the pages.

// plainDictionary is what old writers say for RLEDictionary, and in a dictionary for Plain.
const plainDictionary pqformat.Encoding = 2

// maxDictionary is how many values a dictionary can have: it is in memory as a whole. Writers end one at about a MiB.
const maxDictionary = 1 << 24

// dictionary is the distinct values of a column chunk, as they are read. Some may be refused.
type dictionary struct {
	values
	count   int
	longest int // bytes
	refused refusals
}

// readDictionary reads the dictionary of a chunk.
func (s *stream) readDictionary(h *pqformat.PageHeader) error {
	if s.dict == nil {
		s.dict = &dictionary{count: -1}
	}
	d, v := s.dict, &h.DictionaryPageHeader.V
	if d.count >= 0 {
		return errors.New("a column chunk has two dictionaries")
	}
	if v.Encoding != pqformat.Plain && v.Encoding != plainDictionary {
		return fmt.Errorf("a dictionary is not coded by %s", v.Encoding)
	}
	if v.NumValues > maxDictionary {
		return s.refuse(fmt.Sprintf("a dictionary has more than %d values", maxDictionary), "write the file with smaller dictionaries")
	}
	body, err := s.chunk.read(h)
	if err == nil {
		body, err = s.chunk.decompress(body, int(h.UncompressedPageSize))
	}
	if err != nil {
		return err
	}
	plain, err := newCoding(s.node.kind.physical, pqformat.Plain, body)
	if err != nil {
		return err
	}
	d.reset()
	d.refused.list, d.refused.lossy, d.longest = d.refused.list[:0], s.queue.refused.lossy, 0
	if err := s.become(plain, &d.values, int(v.NumValues), &d.refused); err != nil {
		return err
	}
	for _, span := range d.Str {
		d.longest = max(d.longest, int(span.Len))
	}
	d.count = int(v.NumValues)
	return nil
}

func (d *dictionary) pick(v *values, indexes []uint32) {
	v.Bool = pick(v.Bool, d.Bool, indexes)
	v.I32 = pick(v.I32, d.I32, indexes)
	v.I64 = pick(v.I64, d.I64, indexes)
	v.I128 = pick(v.I128, d.I128, indexes)
	v.F32 = pick(v.F32, d.F32, indexes)
	v.F64 = pick(v.F64, d.F64, indexes)
	if len(d.Str) > 0 {
		for _, i := range indexes {
			s := d.Str[i]
			v.add(d.data[s.Off:][:s.Len])
		}
	}
}

// pick appends those of some values that have the indexes, if there are values of the type.
func pick[T any](to, from []T, indexes []uint32) []T {
	if len(from) == 0 {
		return to
	}
	for _, i := range indexes {
		to = append(to, from[i])
	}
	return to
}

// indexValues are places in a dictionary.
type indexValues struct {
	hybrid
	dict    *dictionary
	indexes [256]uint32
}

var errIndex = errors.New("a value is not in the dictionary")

// begin begins a page.
func (x *indexValues) begin(dict *dictionary, data []byte) error {
	x.dict, x.hybrid = dict, hybrid{width: 1}
	if len(data) == 0 { // of a page without values
		return nil
	}
	if data[0] > 32 {
		return fmt.Errorf("indexes have %d bits", data[0])
	}
	x.hybrid = hybrid{rest: data[1:], width: int(data[0])}
	return nil
}

func (x *indexValues) fits(n, size int) int {
	if x.dict.longest <= size/n {
		return n
	}
	return max(1, size/x.dict.longest)
}

// read appends values as the dictionary has them.
func (x *indexValues) read(v *values, n int) error {
	for n > 0 {
		part := x.indexes[:min(n, len(x.indexes))]
		if err := x.hybrid.indexes(part); err != nil {
			return err
		}
		for _, i := range part {
			if int64(i) >= int64(x.dict.count) {
				return errIndex
			}
		}
		x.dict.pick(v, part)
		n -= len(part)
	}
	return nil
}

// readRefused reads values of a dictionary in which some are refused.
func (s *stream) readRefused(n int) error {
	list := s.dict.refused.list
	var one [1]uint32
	for i := range n {
		if err := s.indexes.hybrid.indexes(one[:]); err != nil {
			return err
		}
		if int64(one[0]) >= int64(s.dict.count) {
			return errIndex
		}
		s.dict.pick(&s.queue.values, one[:])
		if at, ok := findRefusal(list, int(one[0])); ok {
			r := list[at]
			s.queue.refused.add(s.queue.count+i, r.text, r.reason, r.advice)
		}
	}
	return nil
}

// findRefusal finds the refusal of a value.
func findRefusal(list []refusal, value int) (int, bool) {
	return slices.BinarySearchFunc(list, value, func(r refusal, value int) int { return cmp.Compare(r.value, value) })
}
