package stage

import (
	"io"
	"sync"
)

// Locked lets several goroutines read from a reader, such as one of random bytes.
func Locked(from io.Reader) io.Reader { return &locked{from: from} }

type locked struct {
	mu   sync.Mutex
	from io.Reader
}

func (r *locked) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from.Read(p)
}
