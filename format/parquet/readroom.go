package parquet

import "fmt"

// What a leaf holds is bounded: a page, a dictionary, and the values of a batch. A file of a few MiB can have many leaves, each with a
// page of a GiB of zeros. So what all leaves hold together is bounded too.

// maxHeld is how many bytes all leaves of a reader hold at most, but for a page and a dictionary.
const maxHeld = 8 << 30

// room is what the leaves of a reader hold together.
type room struct {
	held, most int64 // bytes
}

// hold tells how much the stream holds now, and refuses what is too much for all.
func (s *stream) hold() error {
	held := s.chunk.held() + s.queue.held() + s.raw.held()
	if s.dict != nil {
		held += s.dict.held() + s.dict.refused.held()
	}
	s.room.held += held - s.held
	s.held = held
	if s.room.held > s.room.most {
		return s.refuse(fmt.Sprintf("the pages and dictionaries of all columns together have more than %d MiB", s.room.most>>20),
			"write the file with smaller ones, or leave columns out")
	}
	return nil
}

func (c *chunkReader) held() int64 {
	return int64(cap(c.window) + cap(c.body) + cap(c.raw) + cap(c.levels))
}

func (q *entryQueue) held() int64 {
	return int64(cap(q.rep)+cap(q.def)) + q.values.held() + q.refused.held()
}

func (v *values) held() int64 {
	return int64(cap(v.Bool) + 4*(cap(v.I32)+cap(v.F32)) + 8*(cap(v.I64)+cap(v.F64)+cap(v.Str)) + 16*cap(v.I128) + cap(v.data))
}

// refusalBytes is about how large a refusal is, with its text.
const refusalBytes = 96

func (r *refusals) held() int64 { return refusalBytes * int64(cap(r.list)) }
