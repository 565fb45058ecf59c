package s3

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// buffers are the parts' buffers, all of one size. A free one is used again; at most as many exist as are in use at once:
// one that is filled and one that is kept for each writer, and one for each part that may be on its way.
type buffers struct {
	size int64
	mu   sync.Mutex
	free [][]byte
}

func (b *buffers) get() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.free); n > 0 {
		buf := b.free[n-1]
		b.free = b.free[:n-1]
		return buf
	}
	return make([]byte, 0, b.size)
}

// put gives a buffer back. It gives nil, for whoever had it.
func (b *buffers) put(buf []byte) []byte {
	if buf != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.free = append(b.free, buf[:0])
	}
	return nil
}

// headBytes are kept of a file's begin: formats have their magic there.
const headBytes = 16

// tail is what a writer keeps of the parts that it has sent: the first bytes, and the last part, for reading back.
type tail struct {
	mu   sync.Mutex
	head []byte
	last *kept
}

// kept is a part's buffer that has two users: whoever sends it, and the tail. The last of them gives it back.
type kept struct {
	data  []byte
	users int
}

// keep makes a part the last one that was sent.
func (t *tail) keep(data []byte, b *buffers) *kept {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.head == nil {
		t.head = append([]byte{}, data[:min(headBytes, len(data))]...)
	}
	old := t.last
	t.last = &kept{data: data, users: 2}
	t.leave(old, b)
	return t.last
}

// leave ends one use of a part. The tail's lock is held.
func (t *tail) leave(k *kept, b *buffers) {
	if k == nil {
		return
	}
	if k.users--; k.users == 0 {
		b.put(k.data)
	}
}

// sent ends the use of whoever has sent a part.
func (t *tail) sent(k *kept, b *buffers) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave(k, b)
}

// drop ends the tail's own use.
func (t *tail) drop(b *buffers) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave(t.last, b)
	t.last = nil
}

// readBack reads what is kept of a file.
type readBack struct {
	tail *tail
	last []byte // not sent yet
	size int64
}

func (r *readBack) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > r.size {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && off+int64(n) < r.size {
		piece, at := r.piece(off + int64(n))
		if piece == nil {
			return n, fmt.Errorf("byte %d is at the store: %w", off+int64(n), errors.ErrUnsupported)
		}
		n += copy(p[n:], piece[at:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// piece gives what is kept and has the byte at an offset, and where in it.
func (r *readBack) piece(off int64) ([]byte, int64) {
	begin := r.size - int64(len(r.last))
	if off >= begin {
		return r.last, off - begin
	}
	if r.tail.last != nil {
		sent := r.tail.last.data
		if begin -= int64(len(sent)); off >= begin {
			return sent, off - begin
		}
	}
	if off < int64(len(r.tail.head)) {
		return r.tail.head, off
	}
	return nil, 0
}
