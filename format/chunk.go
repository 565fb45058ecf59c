package format

import (
	"fmt"
	"io"
	"math"
)

const (
	// BlockSize is how many bytes a chunk has, about, unless a Chunker is told otherwise.
	BlockSize = 1 << 20
	// MaxRecord is how many bytes a record can have.
	MaxRecord = 256 << 20
	// Slack is how many bytes of capacity a chunk has at least beyond its length.
	Slack = 64
)

// Limit bounds a chunk. 0 is no bound.
type Limit struct {
	Bytes int64 // the chunk ends no later than the first record end at or after so many source bytes
	Rows  int64 // the chunk holds at most so many records
}

// Chunk is some whole records of a file.
type Chunk struct {
	Data   []byte // ends with a record's end
	At     int64  // offset in the file of Data's first byte
	Source int64  // how many of the file's bytes the chunk stands for: one less than Data has if a last line end was added
	Rows   int64  // how many records; counted only where the limit bounds them
}

// Unfinished is a Splitter that can tell what is wrong with a record that has not ended.
type Unfinished interface {
	// Unfinished looks at b, which begins a record and does not have its end, and says what is wrong with it: nil if more
	// bytes may make it right. whole says that there are none. The error's offsets are in b.
	Unfinished(b []byte, whole bool) *DataError
}

// Chunker cuts a file into chunks of whole records. Where it cuts depends on the bytes, the block size and the limits
// alone, never on how reads fall. It is used by one goroutine at a time.
type Chunker struct {
	// At is the offset in the file of the next chunk. It is set before the first Next, if the reader does not stand at the
	// file's beginning, and moves with each.
	At int64

	r       io.Reader
	split   Splitter
	size    int
	carry   []byte // what was read beyond the last chunk
	spare   []byte // the memory under carry, from its beginning
	eof     bool   // carry is all there is
	added   bool   // a line end was added that the file lacks
	drained bool   // the reader has nothing more
	err     error
}

// NewChunker makes a Chunker of blocks of about size bytes (0: BlockSize). r stands at the beginning of a record.
func NewChunker(r io.Reader, s Splitter, size int) *Chunker {
	if size <= 0 {
		size = BlockSize
	}
	return &Chunker{r: r, split: s, size: size}
}

// Next gives the next chunk, in buf's memory if it is large enough: the caller passes a buffer that it no longer needs,
// or nil. It has as many records as fit a block, or one that is larger. At the end it gives io.EOF. A record that does not
// end, or is larger than MaxRecord, is a *DataError. An error is given again by every further call.
func (c *Chunker) Next(buf []byte, limit Limit) (Chunk, error) {
	if c.err != nil {
		return Chunk{}, c.err
	}
	chunk, err := c.next(buf, limit)
	if err != nil {
		c.err = err
		return Chunk{}, err
	}
	c.At += chunk.Source
	return chunk, nil
}

func (c *Chunker) next(buf []byte, limit Limit) (Chunk, error) {
	if end, rows := c.cut(c.carry, limit, 0); end > 0 {
		buf = append(withCapacity(buf[:0], end+Slack), c.carry[:end]...)
		c.carry = c.carry[end:]
		return c.chunk(buf, rows), nil
	}
	buf = append(withCapacity(buf[:0], max(c.size, len(c.carry))+1+Slack+1), c.carry...)
	c.carry = c.spare[:0]
	seen := 0 // no record ends where the chunk could, in so many bytes
	for want := max(c.size, len(buf)); ; want = min(2*want, MaxRecord+c.size) {
		var err error
		if buf, err = c.fill(buf, want); err != nil {
			return Chunk{}, err
		}
		if len(buf) == 0 {
			return Chunk{}, io.EOF
		}
		if end, rows := c.cut(buf, limit, seen); end > 0 {
			c.keep(buf[end:])
			return c.chunk(buf[:end], rows), nil
		}
		if len(buf) >= c.size || c.eof {
			skip := c.split.Last(buf)
			if err := c.unfinished(buf[skip:], c.At+int64(skip)); err != nil {
				return c.before(buf, skip, limit, err)
			}
			seen = len(buf)
		}
	}
}

// cut tells where a chunk ends that begins with b, and how many records it has if the limit bounds them; 0 if b does not
// reach far enough to tell. Of what is remaining, a chunk is the first block of whole records, or its first record; it
// is shorter if a limit says so. In b[:seen] no record ends where a
// chunk could.
func (c *Chunker) cut(b []byte, limit Limit, seen int) (end int, rows int64) {
	all := c.eof
	if limit.Rows > 0 {
		most := int(min(limit.Rows, math.MaxInt32))
		e, n := c.split.Rows(b, most)
		rows = int64(n)
		if n == most {
			b, all = b[:e], true
		}
	}
	end = c.cutBytes(b, limit.Bytes, all, seen)
	if limit.Rows > 0 && 0 < end && end < len(b) {
		_, n := c.split.Rows(b[:end], math.MaxInt32)
		rows = int64(n)
	}
	return end, rows
}

// cutBytes is cut for a limit of bytes. all says that nothing follows b.
func (c *Chunker) cutBytes(b []byte, limit int64, all bool, seen int) int {
	if 0 < limit && limit <= int64(c.size) {
		if end := c.split.After(b, max(int(limit), seen+1)); end > 0 {
			return end
		}
		if !all {
			return 0
		}
	}
	if len(b) < c.size {
		if !all {
			return 0
		}
		return c.split.Last(b)
	}
	if end := c.split.Last(b[:c.size]); end > 0 {
		return end
	}
	return c.split.After(b, max(c.size, seen+1))
}

// fill reads until buf has more than want bytes, or to the end. An end beyond want is not taken notice of yet, even if the
// reader has told: what is done must not depend on when it tells.
func (c *Chunker) fill(buf []byte, want int) ([]byte, error) {
	buf = withCapacity(buf, want+1+Slack+1)
	for len(buf) <= want && !c.drained {
		n, err := c.r.Read(buf[len(buf) : want+1])
		buf = buf[:len(buf)+n]
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read at byte %d: %w", c.At+int64(len(buf)), err)
		}
		c.drained = err == io.EOF
	}
	if len(buf) <= want && !c.eof {
		c.eof = true
		if len(buf) > 0 && buf[len(buf)-1] != '\n' {
			buf = append(buf, '\n')
			c.added = true
		}
	}
	return buf, nil
}

// before gives the whole records before one that does not end, and keeps that for the next call; its error if there are
// none.
func (c *Chunker) before(buf []byte, end int, limit Limit, err error) (Chunk, error) {
	if end == 0 {
		return Chunk{}, err
	}
	c.keep(buf[end:])
	rows := 0
	if limit.Rows > 0 {
		_, rows = c.split.Rows(buf[:end], math.MaxInt32)
	}
	return c.chunk(buf[:end], int64(rows)), nil
}

// unfinished gives the reason why no more is read for the record that begins with b, at offset start: nil if there is none.
func (c *Chunker) unfinished(b []byte, start int64) error {
	if u, ok := c.split.(Unfinished); ok {
		known := b
		if c.added && len(b) > 0 {
			known = b[:len(b)-1]
		}
		if e := u.Unfinished(known, c.eof); e != nil {
			e.Offset += start
			e.Start += start
			return e
		}
	}
	switch {
	case c.eof:
		return &DataError{Offset: start, Start: start, Reason: "the record that begins here does not end"}
	case len(b) >= MaxRecord:
		return &DataError{Offset: start, Start: start, Reason: fmt.Sprintf("the record that begins here is larger than %d MiB", MaxRecord>>20),
			Advice: "look for a missing line end or an unmatched quote"}
	}
	return nil
}

// keep stores what was read beyond a chunk.
func (c *Chunker) keep(rest []byte) {
	c.spare = append(c.spare[:0], rest...)
	c.carry = c.spare
}

func (c *Chunker) chunk(data []byte, rows int64) Chunk {
	chunk := Chunk{Data: data, At: c.At, Source: int64(len(data)), Rows: rows}
	if c.eof && c.added && len(c.carry) == 0 {
		chunk.Source--
	}
	return chunk
}

// withCapacity gives buf with room for n bytes in all.
func withCapacity(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf
	}
	return append(make([]byte, 0, n), buf...)
}
