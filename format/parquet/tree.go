package parquet

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
)

// How files that others have written are understood. A file's schema is a list of elements, depth first; here it becomes a tree of
// columns, each with the columnar type that holds all its values, and with the levels by which its values are put together again.
// Lists are recognised by the backward-compatibility rules of the format's specification (LogicalTypes.md, "Nested Types").

// element is a node of the file's schema.
type element struct {
	*pqformat.SchemaElement
	kids []*element
	leaf int // number among the leaves, of a leaf
}

// maxNesting is how deep a file's columns can be nested.
const maxNesting = 32

// elements makes a tree of a schema's list. The list's first element is the root.
func elements(list []pqformat.SchemaElement) (*element, error) {
	p := &elementParser{list: list}
	root, err := p.next(0)
	if err != nil {
		return nil, err
	}
	if p.at != len(list) {
		return nil, fmt.Errorf("the schema has %d elements, of which %d are in its tree", len(list), p.at)
	}
	return root, nil
}

type elementParser struct {
	list   []pqformat.SchemaElement
	at     int
	leaves int
}

func (p *elementParser) next(depth int) (*element, error) {
	if p.at >= len(p.list) {
		return nil, fmt.Errorf("the schema ends in the middle")
	}
	if depth > 2*maxNesting+1 {
		return nil, fmt.Errorf("columns are nested more than %d deep", maxNesting)
	}
	e := &element{SchemaElement: &p.list[p.at]}
	p.at++
	if e.Type.Valid {
		e.leaf = p.leaves
		p.leaves++
		return e, nil
	}
	for range e.NumChildren.V {
		kid, err := p.next(depth + 1)
		if err != nil {
			return nil, err
		}
		e.kids = append(e.kids, kid)
	}
	return e, nil
}

// node is a column of the file, or a part of one.
type node struct {
	name     string
	typ      columnar.Type // Kind 0: it cannot be read
	optional bool
	outer    int // definition level at which what it stands in is there
	def      int // at which it is there itself
	rep      int // repetition level of what it stands in
	kids     []*node
	leaf     int        // of the first leaf in it
	convert  conversion // of a leaf
}

func (n *node) column() columnar.Column {
	return columnar.Column{Name: n.name, Type: n.typ, Required: !n.optional}
}

// columns makes the nodes of a file's columns.
func columns(root *element) []*node {
	var nodes []*node
	for _, e := range root.kids {
		nodes = append(nodes, newNode(e, 0, 0))
	}
	return nodes
}

func (e *element) repetition() pqformat.FieldRepetitionType { return e.RepetitionType.V }

// newNode makes the node of an element that stands in something of these levels.
func newNode(e *element, rep, outer int) *node {
	if e.repetition() == pqformat.Repeated { // without a list around it: as many as there are, and none is NULL
		n := &node{name: e.Name, outer: outer, def: outer, rep: rep, leaf: e.firstLeaf()}
		return n.list(present(e, rep+1, outer+1))
	}
	return present(e, rep, outer)
}

// present makes the node of an element that is not repeated, or of one value of one that is.
func present(e *element, rep, outer int) *node {
	n := &node{name: e.Name, outer: outer, def: outer, rep: rep, leaf: e.firstLeaf()}
	if e.repetition() == pqformat.Optional {
		n.optional = true
		n.def++
	}
	switch {
	case e.Type.Valid:
		n.typ, n.convert = readType(e.SchemaElement)
	case e.isList() || e.isMap():
		return n.list(elementOf(e, rep+1, n.def+1))
	default:
		n.typ.Kind = columnar.Struct
		for _, kid := range e.kids {
			n.kids = append(n.kids, newNode(kid, rep, n.def))
		}
		n.nest()
	}
	return n
}

// list makes the node one of a list of something.
func (n *node) list(of *node) *node {
	of.name = columnar.Element
	n.typ.Kind = columnar.List
	n.kids = []*node{of}
	n.nest()
	return n
}

// nest gives the node the type that its children make. It cannot be read if one of them cannot, or if there is none.
func (n *node) nest() {
	seen := map[string]bool{}
	for _, kid := range n.kids {
		if kid.typ.Kind == 0 || seen[kid.name] {
			n.typ = columnar.Type{}
			return
		}
		seen[kid.name] = true
		n.typ.Fields = append(n.typ.Fields, kid.column())
	}
	if len(n.kids) == 0 {
		n.typ = columnar.Type{}
	}
}

func (e *element) firstLeaf() int {
	for !e.Type.Valid && len(e.kids) > 0 {
		e = e.kids[0]
	}
	return e.leaf
}

func (e *element) converted(as deprecated.ConvertedType) bool {
	return e.ConvertedType.Valid && e.ConvertedType.V == as
}

// isList tells whether a group is annotated as a list, and has the one repeated field of such.
func (e *element) isList() bool {
	_, logical := e.LogicalType.Value.(*pqformat.ListType)
	return (logical || e.converted(deprecated.List)) && len(e.kids) == 1 && e.kids[0].repetition() == pqformat.Repeated
}

// isMap tells whether a group is annotated as a map. It is a list of its entries.
func (e *element) isMap() bool {
	_, logical := e.LogicalType.Value.(*pqformat.MapType)
	return (logical || e.converted(deprecated.Map) || e.converted(deprecated.MapKeyValue)) && len(e.kids) == 1 &&
		e.kids[0].repetition() == pqformat.Repeated && len(e.kids[0].kids) == 2
}

// elementOf makes the node of the elements of a list or a map.
func elementOf(e *element, rep, outer int) *node {
	repeated := e.kids[0]
	once := repeated.Type.Valid || len(repeated.kids) != 1 || e.isMap() ||
		repeated.Name == "array" || repeated.Name == e.Name+"_tuple" || repeated.kids[0].repetition() == pqformat.Repeated
	if once {
		return present(repeated, rep, outer)
	}
	return newNode(repeated.kids[0], rep, outer)
}

// unreadable says for people why a column cannot be read.
func unreadable(e *element) string {
	var what []string
	var walk func(e *element)
	walk = func(e *element) {
		if e.Type.Valid {
			if t, _ := readType(e.SchemaElement); t.Kind == 0 {
				text := e.Type.V.String()
				if e.LogicalType.Value != nil {
					text += " " + e.LogicalType.String()
				} else if e.ConvertedType.Valid {
					text += fmt.Sprintf(" of converted type %d", e.ConvertedType.V)
				}
				what = append(what, text)
			}
		}
		for _, kid := range e.kids {
			walk(kid)
		}
	}
	walk(e)
	if len(what) == 0 {
		return "has fields that no type of ours has"
	}
	return "is of a type that cannot be read: " + strings.Join(what, ", ")
}
