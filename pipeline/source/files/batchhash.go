package files

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/runstate"
)

// batchHash digests the rows of batches, column by column, so that it does not matter how rows fall into batches.
type batchHash struct {
	columns []vectorHash
}

// vectorHash digests a vector: which rows are NULL, the values, and the bytes of spans.
type vectorHash struct {
	valid, values, text *runstate.Hasher
	kids                []vectorHash
	buf                 []byte
}

func newVectorHash() vectorHash {
	return vectorHash{valid: runstate.NewHasher(), values: runstate.NewHasher(), text: runstate.NewHasher()}
}

// add takes the rows of a batch of some columns.
func (h *batchHash) add(b *columnar.Batch, columns []columnar.Column) {
	for len(h.columns) < len(columns) {
		h.columns = append(h.columns, newVectorHash())
	}
	for i, c := range columns {
		h.columns[i].add(b, &b.Columns[i], c.Type)
	}
}

// take gives the digest of all rows since the last call.
func (h *batchHash) take() string {
	var all []string
	for i := range h.columns {
		all = h.columns[i].digests(all)
	}
	h.columns = nil
	return runstate.DigestOf([]byte(strings.Join(all, " ")))
}

func (h *vectorHash) digests(all []string) []string {
	all = append(all, h.valid.Digest(), h.values.Digest(), h.text.Digest())
	for i := range h.kids {
		all = h.kids[i].digests(all)
	}
	return all
}

func (h *vectorHash) add(b *columnar.Batch, v *columnar.Vector, t columnar.Type) {
	_, _ = h.valid.Write(v.Valid) // hashers do not fail, here and below
	for _, x := range v.Bool {
		n := uint64(0)
		if x {
			n = 1
		}
		h.put(n)
	}
	for _, x := range v.I32 {
		h.put(uint64(x))
	}
	for _, x := range v.I64 {
		h.put(uint64(x))
	}
	for _, x := range v.I128 {
		h.put(uint64(x.Hi))
		h.put(x.Lo)
	}
	for _, x := range v.F32 {
		h.put(uint64(math.Float32bits(x)))
	}
	for _, x := range v.F64 {
		h.put(math.Float64bits(x))
	}
	for _, x := range v.Str {
		h.put(uint64(x.Len))
		_, _ = h.text.Write(b.Bytes(x))
	}
	for _, x := range v.Len {
		h.put(uint64(x))
	}
	_, _ = h.values.Write(h.buf)
	h.buf = h.buf[:0]
	if !t.Kind.Nested() {
		return
	}
	for len(h.kids) < len(t.Fields) {
		h.kids = append(h.kids, newVectorHash())
	}
	for i := range h.kids {
		h.kids[i].add(b, &v.Kids[i], t.Fields[i].Type)
	}
}

func (h *vectorHash) put(n uint64) {
	h.buf = binary.LittleEndian.AppendUint64(h.buf, n)
	if len(h.buf) >= 4096 {
		_, _ = h.values.Write(h.buf)
		h.buf = h.buf[:0]
	}
}
