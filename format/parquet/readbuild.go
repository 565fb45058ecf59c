package parquet

import (
	"bytes"

	"github.com/clinkctl/clinkctl/columnar"
)

// Values are put together again as the format's specification has it (Nested Encoding): each entry of a leaf has a repetition level,
// at which of the lists around it the entry begins a new value, 0 being the row, and a definition level, how many of the values
// around it that can be missing are there.

// builder makes the vectors of a column from the first rows of its leaves' queues.
type builder struct {
	leaves []*stream // those that are still to be built
	data   *[]byte
	rows   int
}

// build makes the vector of a node.
func (b *builder) build(n *node, v *columnar.Vector) error {
	l := b.leaves[0]
	entries, count := l.end(b.rows)
	rep, def := l.queue.rep, l.queue.def[:entries]
	if l.most.rep > 0 {
		rep = rep[:entries]
	}
	switch n.typ.Kind {
	case columnar.List:
		n.lists(v, rep, def)
		return b.build(n.kids[0], &v.Kids[0])
	case columnar.Struct:
		n.valid(v, rep, def)
		return b.fields(n, v, rep, def)
	}
	l.queue.values.copyTo(v, b.data, count)
	n.valid(v, rep, def)
	b.leaves = b.leaves[1:]
	return nil
}

// fields makes the vectors of a struct's fields, whose levels have to tell of the same structs.
func (b *builder) fields(n *node, v *columnar.Vector, rep, def []byte) error {
	for i, kid := range n.kids {
		l := b.leaves[0]
		if entries, _ := l.end(b.rows); i > 0 && !n.agree(rep, def, l.queue.rep, l.queue.def[:entries]) {
			return l.damaged(errLevels)
		}
		if err := b.build(kid, &v.Kids[i]); err != nil {
			return err
		}
	}
	return nil
}

// begins tells whether an entry begins an instance of the node, and is not more of the one before.
func (n *node) begins(rep []byte, i int) bool { return len(rep) == 0 || int(rep[i]) <= n.rep }

// agree tells whether the levels of two leaves say the same of the instances of a node that both are in.
func (n *node) agree(rep1, def1, rep2, def2 []byte) bool {
	j := 0
	for i := range def1 {
		if !n.begins(rep1, i) {
			continue
		}
		for j < len(def2) && !n.begins(rep2, j) {
			j++
		}
		if j == len(def2) || min(int(def1[i]), n.def) != min(int(def2[j]), n.def) || len(rep1) > 0 && len(rep2) > 0 && rep1[i] != rep2[j] {
			return false
		}
		j++
	}
	for ; j < len(def2); j++ {
		if n.begins(rep2, j) {
			return false
		}
	}
	return true
}

// valid tells which instances of a node are there.
func (n *node) valid(v *columnar.Vector, rep, def []byte) {
	if n.outer == 0 && len(rep) == 0 {
		n.validFlat(v, def)
		return
	}
	for i, d := range def {
		if !n.begins(rep, i) || int(d) < n.outer {
			continue
		}
		if int(d) >= n.def {
			v.Valid = append(v.Valid, 1)
		} else {
			v.Null()
		}
	}
}

// validFlat is valid for a node that every row has.
func (n *node) validFlat(v *columnar.Vector, def []byte) {
	from := len(v.Valid)
	v.Valid = append(v.Valid, def...)
	valid := v.Valid[from:]
	for i, d := range valid {
		valid[i] = 0
		if int(d) >= n.def {
			valid[i] = 1
		}
	}
	v.Nulls += bytes.Count(valid, []byte{0})
}

// lists tells which lists are there, and how long they are.
func (n *node) lists(v *columnar.Vector, rep, def []byte) {
	open := false
	for i, d := range def {
		r := int(rep[i])
		if r <= n.rep {
			open = int(d) >= n.def
			if int(d) < n.outer {
				continue
			}
			if !open {
				v.Null()
				continue
			}
			v.Valid = append(v.Valid, 1)
			v.Len = append(v.Len, 0)
		}
		if open && r <= n.rep+1 && int(d) > n.def {
			v.Len[len(v.Len)-1]++
		}
	}
}
