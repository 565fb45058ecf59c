package parquet

import (
	"bytes"

	"github.com/clinkctl/clinkctl/columnar"
)

// entryQueue is entries that were read.
type entryQueue struct {
	rep, def []byte // the levels; rep of a leaf that is repeated
	values   values // of those that are there
	count    int    // of values
	refused  refusals
	begun    int  // rows that have entries here
	whole    bool // the last of them is complete
}

// complete is how many rows of the queue are known to be complete.
func (q *entryQueue) complete() int {
	if q.whole {
		return q.begun
	}
	return max(0, q.begun-1)
}

// end is how many entries of the queue the first rows have, and how many values.
func (s *stream) end(rows int) (entries, values int) {
	q := &s.queue
	entries = len(q.def)
	switch {
	case s.most.rep == 0:
		entries = rows
	case rows < q.begun:
		for entries = 0; ; entries++ {
			if q.rep[entries] == 0 {
				if rows == 0 {
					break
				}
				rows--
			}
		}
	}
	return entries, bytes.Count(q.def[:entries], []byte{byte(s.most.def)})
}

// drop takes the first rows off the queue.
func (s *stream) drop(rows int) {
	entries, count := s.end(rows)
	q := &s.queue
	q.def = cutFront(q.def, entries)
	if s.most.rep > 0 {
		q.rep = cutFront(q.rep, entries)
	}
	q.values.drop(count)
	q.count -= count
	q.begun -= rows
	if q.begun == 0 {
		q.whole = false
	}
	list := q.refused.list
	for len(list) > 0 && list[0].value < count {
		list = list[1:]
	}
	for i := range list {
		list[i].value -= count
	}
	q.refused.list = append(q.refused.list[:0], list...)
}

// drop takes the first n values off.
func (v *values) drop(n int) {
	v.Bool, v.I32, v.I64, v.I128 = cutFront(v.Bool, n), cutFront(v.I32, n), cutFront(v.I64, n), cutFront(v.I128, n)
	v.F32, v.F64 = cutFront(v.F32, n), cutFront(v.F64, n)
	if len(v.Str) == 0 {
		return
	}
	if n == len(v.Str) {
		v.Str, v.data = v.Str[:0], sized(v.data, len(v.data))[:0]
		return
	}
	from := v.Str[n].Off
	v.Str = cutFront(v.Str, n)
	for i := range v.Str {
		v.Str[i].Off -= from
	}
	v.data = cutFront(v.data, int(from))
}

func cutFront[T any](s []T, n int) []T {
	if n == 0 || len(s) == 0 {
		return s
	}
	return s[:copy(s, s[n:])]
}

// copyTo appends the first n values to a vector, and their bytes to data.
func (v *values) copyTo(to *columnar.Vector, data *[]byte, n int) {
	to.Bool, to.I32, to.I64 = appendFirst(to.Bool, v.Bool, n), appendFirst(to.I32, v.I32, n), appendFirst(to.I64, v.I64, n)
	to.I128, to.F32, to.F64 = appendFirst(to.I128, v.I128, n), appendFirst(to.F32, v.F32, n), appendFirst(to.F64, v.F64, n)
	if len(v.Str) == 0 || n == 0 {
		return
	}
	base := uint32(len(*data))
	for _, s := range v.Str[:n] {
		to.Str = append(to.Str, columnar.Span{Off: base + s.Off, Len: s.Len})
	}
	last := v.Str[n-1]
	*data = append(*data, v.data[:int(last.Off)+int(last.Len)]...)
}

func appendFirst[T any](to, from []T, n int) []T {
	if len(from) == 0 {
		return to
	}
	return append(to, from[:n]...)
}
