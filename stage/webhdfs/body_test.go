package webhdfs

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// TestBody sends what is written in pieces of many sizes, by WriteTo and by Read.
func TestBody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, bodyBuffer - 1, bodyBuffer, bodyBuffer + 1, bodyBuffers * bodyBuffer, 3*bodyBuffers*bodyBuffer + 7} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(random.Uint32())
		}
		for name, send := range map[string]func(b *body) ([]byte, error){
			"WriteTo": func(b *body) ([]byte, error) {
				var got bytes.Buffer
				_, err := b.WriteTo(&got)
				return got.Bytes(), err
			},
			"Read": func(b *body) ([]byte, error) { return io.ReadAll(iotest.HalfReader(struct{ io.Reader }{b})) },
		} {
			b := newBody()
			written := make(chan error, 1)
			go func() {
				for p := want; len(p) > 0; {
					n := min(1+random.IntN(3*bodyBuffer), len(p))
					if _, err := b.Write(p[:n]); err != nil {
						written <- err
						return
					}
					p = p[n:]
				}
				b.Finish()
				written <- nil
			}()
			got, err := send(b)
			if err := errors.Join(err, <-written); err != nil || !bytes.Equal(got, want) || !b.whole.Load() {
				t.Errorf("%s of %d bytes: %d bytes, %v", name, size, len(got), err)
			}
		}
	}
}

// TestBodyWaits takes one buffer before anybody sends, and as many as there are after that.
func TestBodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBody()
		written := 0
		go func() {
			for {
				if _, err := b.Write(make([]byte, bodyBuffer)); err != nil {
					return
				}
				written++
			}
		}()
		synctest.Wait()
		if written != 1 {
			t.Errorf("%d buffers are written before anybody sends", written)
		}
		if n, err := b.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		synctest.Wait()
		if written != bodyBuffers {
			t.Errorf("%d buffers are written ahead", written)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the writer ends
		if _, err := b.WriteTo(io.Discard); !errors.Is(err, errBodyEnded) || b.whole.Load() {
			t.Errorf("after the end: %v", err)
		}
	})
}
