package runstate

import (
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/zeebo/xxh3"
)

// Digest algorithms. A digest is written <algorithm>:<hex>. xxh128 is XXH3 with 128 bits and seed 0, as `xxhsum -H128`
// prints it: at 48 GB/s a core it costs nothing next to the disk. It protects against mistakes and rot, not against
// somebody who forges a file.
const digestXXH128 = "xxh128"

// Hasher computes the digest that new artifacts and ranges get.
type Hasher struct{ h xxh3.Hasher128 }

// NewHasher starts a digest.
func NewHasher() *Hasher { return &Hasher{} }

// Write adds bytes; it never fails.
func (h *Hasher) Write(p []byte) (int, error) { return h.h.Write(p) }

// Digest gives the digest of all bytes so far.
func (h *Hasher) Digest() string {
	sum := h.h.Sum128().Bytes()
	return digestXXH128 + ":" + hex.EncodeToString(sum[:])
}

// DigestOf is the digest of some bytes.
func DigestOf(p []byte) string {
	h := NewHasher()
	_, _ = h.Write(p) // cannot fail
	return h.Digest()
}

// Verifier computes a digest by the algorithm that another digest was made with. Every algorithm ever written is kept.
func Verifier(digest string) (interface {
	Write([]byte) (int, error)
	Digest() string
}, error) {
	algorithm, _, _ := strings.Cut(digest, ":")
	if algorithm == digestXXH128 {
		return NewHasher(), nil
	}
	return nil, fmt.Errorf("digest %q is of an algorithm that this version does not know", digest)
}

var _ hash.Hash = (*xxh3.Hasher128)(nil)
