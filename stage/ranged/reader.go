// Package ranged reads files of stores that give ranges of bytes, over connections that may break.
package ranged

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/clinkctl/clinkctl/stage"
)

// Source is one version of a file at a store.
type Source struct {
	Name string // for people
	// Get asks for bytes [from, to), to the end where to is negative. Another version than the one that is read is
	// stage.ErrChanged; a range that begins past the end is ErrPastEnd.
	Get   func(ctx context.Context, from, to int64) (io.ReadCloser, error)
	Tries int // of a read
	Sleep func(ctx context.Context, d time.Duration) error
}

// ErrPastEnd says that a file has no such byte. It is not io.EOF, which a broken connection is, too.
var ErrPastEnd = errors.New("the file has no such byte")

// Reader reads a file from an offset to its end. It is an io.ReaderAt, too, with positions in the whole file: nothing is asked
// for but what is read.
type Reader struct {
	source Source
	ctx    context.Context // of New: readers have none
	offset int64           // of the next byte that Read gives
	body   io.ReadCloser
	atEnd  bool

	blocks blocks
}

var _ io.ReaderAt = (*Reader)(nil)

// New makes a reader. atEnd says that the offset is known to be past the last byte. Nothing is asked for yet.
func New(ctx context.Context, source Source, offset int64, atEnd bool) *Reader {
	return &Reader{source: source, ctx: ctx, offset: offset, atEnd: atEnd}
}

func (o *Reader) connect() error {
	b, err := o.source.Get(o.ctx, o.offset, -1)
	if errors.Is(err, ErrPastEnd) {
		o.atEnd = true
		return nil
	}
	o.body = b
	return err
}

// Read reads on. A connection that breaks is made anew from where it broke, a few times in a row: it is the same version.
func (o *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for try := 1; ; try++ {
		if o.atEnd {
			return 0, io.EOF
		}
		if o.body == nil {
			if err := o.connect(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := o.body.Read(p)
		o.offset += int64(n)
		if n > 0 || err == io.EOF {
			if err != io.EOF {
				err = nil // it comes again
			}
			return n, err
		}
		if err == nil {
			continue
		}
		if err := o.again(try, err); err != nil {
			return 0, err
		}
	}
}

// again makes the connection anew after an error, while tries last.
func (o *Reader) again(try int, cause error) error {
	cause = fmt.Errorf("read %s at %d: %w", o.source.Name, o.offset, cause)
	if err := o.ctx.Err(); err != nil {
		return errors.Join(cause, err)
	}
	if try >= o.source.Tries {
		return cause
	}
	if err := o.source.Sleep(o.ctx, time.Duration(try)*200*time.Millisecond); err != nil {
		return errors.Join(cause, err)
	}
	_ = o.body.Close() // of a connection that is broken
	if err := o.connect(); err != nil {
		o.body = io.NopCloser(failing{err})
		if errors.Is(err, stage.ErrChanged) {
			return err
		}
	}
	return nil
}

// failing is a body that was not got.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func (o *Reader) Close() error {
	if o.body == nil {
		return nil
	}
	return o.body.Close()
}

// Blocks that ReadAt asks for, and keeps: formats read many small pieces that lie near each other.
const (
	blockSize  = 1 << 20 // bytes
	blocksKept = 24
)

// blocks are the blocks that were read last.
type blocks struct {
	mu    sync.Mutex
	data  map[int64][]byte
	order []int64 // by last use
}

// ReadAt reads at a position of the whole file.
func (o *Reader) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		at := off + int64(n)
		block, err := o.block(at / blockSize)
		if err != nil {
			return n, err
		}
		in := at % blockSize
		if in >= int64(len(block)) {
			return n, io.EOF
		}
		n += copy(p[n:], block[in:])
	}
	return n, nil
}

// block gives a block, a shorter one at the end of the file.
func (o *Reader) block(i int64) ([]byte, error) {
	o.blocks.mu.Lock()
	defer o.blocks.mu.Unlock()
	if data, ok := o.blocks.data[i]; ok {
		o.blocks.use(i)
		return data, nil
	}
	data, err := o.fetch(i*blockSize, (i+1)*blockSize)
	if err != nil {
		return nil, err
	}
	if o.blocks.data == nil {
		o.blocks.data = map[int64][]byte{}
	}
	o.blocks.data[i] = data
	o.blocks.use(i)
	if len(o.blocks.order) > blocksKept {
		delete(o.blocks.data, o.blocks.order[0])
		o.blocks.order = o.blocks.order[1:]
	}
	return data, nil
}

// use makes a block the one that was used last.
func (b *blocks) use(i int64) {
	b.order = append(slices.DeleteFunc(b.order, func(j int64) bool { return j == i }), i)
}

func (o *Reader) fetch(from, to int64) (data []byte, err error) {
	for try := 1; ; try++ {
		if data, err = o.fetchOnce(from, to); err == nil || errors.Is(err, stage.ErrChanged) || try >= o.source.Tries || o.ctx.Err() != nil {
			return data, err
		}
		if err := o.source.Sleep(o.ctx, time.Duration(try)*200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (o *Reader) fetchOnce(from, to int64) (data []byte, err error) {
	b, err := o.source.Get(o.ctx, from, to)
	if errors.Is(err, ErrPastEnd) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return io.ReadAll(b)
}
