package webhdfs

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// A body has so many buffers of so many bytes, and is sent one buffer after another: while one is sent the next ones are filled.
const (
	bodyBuffers = 4
	bodyBuffer  = 256 << 10
)

// body is the body of a request that is written while it is sent. Beyond its first buffer it takes nothing before somebody begins to
// send: an upload that no server has taken is not far yet, and can be begun again.
type body struct {
	full  chan []byte // to be sent, in order; closed at the end
	free  chan []byte
	begun chan struct{} // closed when it is asked for bytes
	ended chan struct{} // closed when nobody asks for bytes any more

	begin, end sync.Once
	whole      atomic.Bool // all was taken
	filling    []byte      // by the writer
	sending    []byte      // what Read has not given yet
}

func newBody() *body {
	b := &body{full: make(chan []byte, bodyBuffers), free: make(chan []byte, bodyBuffers), begun: make(chan struct{}), ended: make(chan struct{})}
	for range bodyBuffers {
		b.free <- nil // made when it is needed: most uploads are small
	}
	return b
}

var errBodyEnded = errors.New("the request has ended before its body")

// Write takes bytes. Its error is that nobody sends them any more.
func (b *body) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(b.filling) == cap(b.filling) {
			if err := b.next(len(p)); err != nil {
				return 0, err
			}
		}
		k := min(len(p), cap(b.filling)-len(b.filling))
		b.filling, p = append(b.filling, p[:k]...), p[k:]
	}
	return n, nil
}

// next hands the buffer on that is full, and takes one for so many bytes or more.
func (b *body) next(n int) error {
	if len(b.filling) > 0 {
		b.full <- b.filling // has room for all there are
		b.filling = nil
		select {
		case <-b.begun:
		case <-b.ended:
			return errBodyEnded
		}
	}
	select {
	case free := <-b.free:
		if cap(free) < min(n, bodyBuffer) {
			free = make([]byte, 0, bodyBuffer)
		}
		b.filling = free[:0]
		return nil
	case <-b.ended:
		return errBodyEnded
	}
}

// Finish ends the body after what was written.
func (b *body) Finish() {
	if len(b.filling) > 0 {
		b.full <- b.filling
	}
	close(b.full)
}

// Close ends the body for whoever writes. It is called by whoever sends, or gives up.
func (b *body) Close() error {
	b.end.Do(func() { close(b.ended) })
	return nil
}

// take gives the next buffer; io.EOF at the end.
func (b *body) take() ([]byte, error) {
	b.begin.Do(func() { close(b.begun) })
	select {
	case <-b.ended:
		return nil, errBodyEnded
	default:
	}
	select {
	case next, more := <-b.full:
		if !more {
			b.whole.Store(true)
			return nil, io.EOF
		}
		return next, nil
	case <-b.ended:
		return nil, errBodyEnded
	}
}

// WriteTo is how net/http sends: a buffer at once, which is a chunk of the request.
func (b *body) WriteTo(w io.Writer) (sent int64, err error) {
	for {
		next, err := b.take()
		if err == io.EOF {
			return sent, nil
		}
		if err != nil {
			return sent, err
		}
		n, err := w.Write(next)
		sent += int64(n)
		if err != nil {
			return sent, err
		}
		b.free <- next
	}
}

// Read is for those who do not send by WriteTo.
func (b *body) Read(p []byte) (int, error) {
	if len(b.sending) == 0 {
		next, err := b.take()
		if err != nil {
			return 0, err
		}
		b.sending = next
	}
	n := copy(p, b.sending)
	if b.sending = b.sending[n:]; len(b.sending) == 0 {
		b.free <- nil
	}
	return n, nil
}
