package s3

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

// object is an object that is being read.
type object struct {
	store       *store
	ctx         context.Context // of Open: readers have none
	at, version string
	offset      int64 // of the next byte that Read gives
	body        io.ReadCloser
	atEnd       bool

	blocks blocks
}

var _ io.ReaderAt = (*object)(nil)

func (o *object) connect() error {
	b, err := o.store.get(o.ctx, o.at, o.version, o.offset, -1)
	if errors.Is(err, errPastEnd) {
		o.atEnd = true
		return nil
	}
	o.body = b
	return err
}

// Read reads on. A connection that breaks is made anew from where it broke, a few times in a row: it is the same version.
func (o *object) Read(p []byte) (int, error) {
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
func (o *object) again(try int, cause error) error {
	cause = fmt.Errorf("read %s at %d: %w", o.at, o.offset, cause)
	if err := o.ctx.Err(); err != nil {
		return errors.Join(cause, err)
	}
	if try >= o.store.client.retries {
		return cause
	}
	if err := o.store.env.Sleep(o.ctx, time.Duration(try)*200*time.Millisecond); err != nil {
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

func (o *object) Close() error {
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

// ReadAt reads at a position of the whole object.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
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

// block gives a block, a shorter one at the end of the object.
func (o *object) block(i int64) ([]byte, error) {
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

func (o *object) fetch(from, to int64) (data []byte, err error) {
	for try := 1; ; try++ {
		if data, err = o.fetchOnce(from, to); err == nil || errors.Is(err, stage.ErrChanged) || try >= o.store.client.retries || o.ctx.Err() != nil {
			return data, err
		}
		if err := o.store.env.Sleep(o.ctx, time.Duration(try)*200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (o *object) fetchOnce(from, to int64) (data []byte, err error) {
	b, err := o.store.get(o.ctx, o.at, o.version, from, to)
	if errors.Is(err, errPastEnd) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return io.ReadAll(b)
}
