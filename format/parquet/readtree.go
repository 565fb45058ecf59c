package parquet

import (
	"errors"
	"fmt"
	"slices"
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
	parent *element // nil of the root
	kids   []*element
	leaf   int // number among the leaves, of a leaf
}

// isAt tells whether an element stands at a path, of the names below the root.
func (e *element) isAt(path []string) bool {
	for ; e.parent != nil; e = e.parent {
		last := len(path) - 1
		if last < 0 || path[last] != e.Name {
			return false
		}
		path = path[:last]
	}
	return len(path) == 0
}

// maxNesting is how deep a file's columns can be nested. A list is two elements deep.
const maxNesting = 32

// elements makes a tree of a schema's list, and gives its leaves. The list's first element is the root.
func elements(list []pqformat.SchemaElement) (root *element, leaves []*element, err error) {
	p := &elementParser{list: list}
	if root, err = p.next(nil, 0); err != nil {
		return nil, nil, err
	}
	if p.at != len(list) {
		return nil, nil, fmt.Errorf("the schema has %d elements, of which %d are in its tree", len(list), p.at)
	}
	if root.Type.Valid {
		return nil, nil, errors.New("the schema is a column, and no group of such")
	}
	return root, p.leaves, nil
}

type elementParser struct {
	list   []pqformat.SchemaElement
	at     int
	leaves []*element
}

func (p *elementParser) next(parent *element, depth int) (*element, error) {
	if p.at >= len(p.list) {
		return nil, errors.New("the schema ends in the middle")
	}
	if depth > 2*maxNesting+1 {
		return nil, fmt.Errorf("columns are nested more than %d deep", maxNesting)
	}
	e := &element{SchemaElement: &p.list[p.at], parent: parent}
	p.at++
	if r := e.repetition(); r < pqformat.Required || r > pqformat.Repeated {
		return nil, fmt.Errorf("column %s is repeated in a way that is not known: %d", e.Name, r)
	}
	if e.Type.Valid {
		e.leaf = len(p.leaves)
		p.leaves = append(p.leaves, e)
		return e, nil
	}
	for range e.NumChildren.V {
		kid, err := p.next(e, depth+1)
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
	place    *place
	typ      columnar.Type
	optional bool
	outer    int // definition level at which what it stands in is there
	def      int // at which it is there itself
	rep      int // repetition level of what it stands in
	repeated []byte
	kids     []*node
	leaf     int      // of the first leaf in it
	kind     leafKind // of a leaf
}

// levelsOf are the levels of what a node stands in.
type levelsOf struct {
	rep, def int
	// repeated has for each repetition level but 0 the definition level at which there is a value of that repetition.
	repeated []byte
	place    *place
}

func (l levelsOf) in(name string) levelsOf {
	l.place = &place{l.place, name}
	return l
}

// place is where a node is, from its column on. It is put together for people only: a long name can have many others in it.
type place struct {
	in   *place
	name string
}

func (p *place) String() string {
	if p.in == nil {
		return p.name
	}
	return p.in.String() + "." + p.name
}

// again gives the levels of a value of something repeated.
func (l levelsOf) again() levelsOf {
	l.rep++
	l.def++
	l.repeated = append(slices.Clip(l.repeated), byte(l.def))
	return l
}

func (n *node) column() columnar.Column {
	return columnar.Column{Name: n.name, Type: n.typ, Required: !n.optional}
}

// columns makes the nodes of a file's columns.
func columns(root *element) []*node {
	var nodes []*node
	for _, e := range root.kids {
		nodes = append(nodes, newNode(e, levelsOf{}.in(e.Name)))
	}
	return nodes
}

func (e *element) repetition() pqformat.FieldRepetitionType { return e.RepetitionType.V }

// newNode makes the node of an element.
func newNode(e *element, in levelsOf) *node {
	if e.repetition() == pqformat.Repeated { // without a list around it: as many as there are, and none is NULL
		n := e.node(in)
		return n.list(present(e, in.again().in(columnar.Element)))
	}
	return present(e, in)
}

func (e *element) node(in levelsOf) *node {
	return &node{name: e.Name, place: in.place, outer: in.def, def: in.def, rep: in.rep, repeated: in.repeated, leaf: e.firstLeaf()}
}

// present makes the node of an element that is not repeated, or of one value of one that is.
func present(e *element, in levelsOf) *node {
	n := e.node(in)
	if e.repetition() == pqformat.Optional {
		n.optional = true
		n.def++
		in.def++
	}
	_, variant := e.LogicalType.Value.(*pqformat.VariantType)
	switch {
	case e.Type.Valid:
		n.kind = readType(e.SchemaElement)
		n.typ = n.kind.typ
	case variant: // its bytes alone would say nothing
	case e.isList():
		return n.list(elementOf(e, in.again().in(columnar.Element)))
	case e.isMap():
		of := e.kids[0].fields(in.again().in(columnar.Element))
		for i, name := range []string{"key", "value"}[:len(of.kids)] { // whatever they are called
			of.kids[i].name = name
		}
		return n.list(of.nest(columnar.Struct))
	default:
		n.kids = e.fields(in).kids
		return n.nest(columnar.Struct)
	}
	return n
}

// fields makes the node of a group that is there, but for its type.
func (e *element) fields(in levelsOf) *node {
	n := e.node(in)
	for _, kid := range e.kids {
		n.kids = append(n.kids, newNode(kid, in.in(kid.Name)))
	}
	return n
}

// list makes the node one of a list of something.
func (n *node) list(of *node) *node {
	of.name = columnar.Element
	n.kids = []*node{of}
	return n.nest(columnar.List)
}

// nest gives the node the type that its children make. It cannot be read if one of them cannot, or if there is none.
func (n *node) nest(kind columnar.Kind) *node {
	n.typ = columnar.Type{}
	t := columnar.Type{Kind: kind}
	seen := map[string]bool{}
	for _, kid := range n.kids {
		if kid.typ.Kind == 0 || seen[kid.name] {
			return n
		}
		seen[kid.name] = true
		t.Fields = append(t.Fields, kid.column())
	}
	if len(n.kids) > 0 {
		n.typ = t
	}
	return n
}

// as gives the node as a type wants it read: text as the bytes that it is, JSON as any text, and bytes that are not annotated as text as
// such, where old writers wrote text so.
func (n *node) as(t columnar.Type, r reading) *node {
	want, is := t.Kind, n.typ.Kind
	other := *n
	switch {
	case len(n.kids) == 0 && is == columnar.Binary && (want == columnar.String || want == columnar.JSON), is == columnar.JSON && want == columnar.String:
		other.kind = n.kind.text(columnar.String)
		other.typ = other.kind.typ
	case len(n.kids) == 0 && (is == columnar.String || is == columnar.JSON) && want == columnar.Binary:
		other.kind = leafKind{physical: n.kind.physical, typ: columnar.Type{Kind: columnar.Binary}}
		other.typ = other.kind.typ
	case is == want && want.Nested():
		other.kids = slices.Clone(n.kids)
		for i, kid := range n.kids {
			at := slices.IndexFunc(t.Fields, func(f columnar.Column) bool { return want == columnar.List || r.sameName(f.Name, kid.name) })
			if at >= 0 {
				other.kids[i] = kid.as(t.Fields[at].Type, r)
				if want == columnar.Struct {
					other.kids[i].name = t.Fields[at].Name
				}
			}
		}
		other.nest(is)
	}
	return &other
}

// lacks gives the path of a field that a type has, and the node has not; "" if there is none.
func (n *node) lacks(t columnar.Type, path string) string {
	if n.typ.Kind != t.Kind || !t.Kind.Nested() {
		return ""
	}
	for _, f := range t.Fields {
		at := slices.IndexFunc(n.kids, func(kid *node) bool { return t.Kind == columnar.List || kid.name == f.Name })
		if at < 0 {
			return path + f.Name
		}
		below := path + f.Name + "."
		if t.Kind == columnar.List {
			below = path
		}
		if lacks := n.kids[at].lacks(f.Type, below); lacks != "" {
			return lacks
		}
	}
	return ""
}

func (e *element) firstLeaf() int {
	for !e.Type.Valid && len(e.kids) > 0 {
		e = e.kids[0]
	}
	return e.leaf
}

// isList tells whether a group is annotated as a list, and has the one repeated field of such.
func (e *element) isList() bool {
	_, logical := e.LogicalType.Value.(*pqformat.ListType)
	return (logical || converted(e.SchemaElement, deprecated.List)) && len(e.kids) == 1 && e.kids[0].repetition() == pqformat.Repeated
}

// isMap tells whether a group is annotated as a map. It is a list of its entries, which may have no values.
func (e *element) isMap() bool {
	_, logical := e.LogicalType.Value.(*pqformat.MapType)
	if !logical && !converted(e.SchemaElement, deprecated.Map) && !converted(e.SchemaElement, deprecated.MapKeyValue) {
		return false
	}
	if len(e.kids) != 1 || e.kids[0].repetition() != pqformat.Repeated {
		return false
	}
	n := len(e.kids[0].kids)
	return n == 1 || n == 2
}

// elementOf makes the node of the elements of a list.
func elementOf(e *element, in levelsOf) *node {
	repeated := e.kids[0]
	if repeated.Type.Valid || len(repeated.kids) != 1 || repeated.Name == "array" || repeated.Name == e.Name+"_tuple" ||
		repeated.kids[0].repetition() == pqformat.Repeated {
		return present(repeated, in)
	}
	return newNode(repeated.kids[0], in)
}

// unreadable says for people why a column cannot be read.
func unreadable(e *element) string {
	if e.Type.Valid {
		if readType(e.SchemaElement).typ.Kind != 0 {
			return ""
		}
		text := e.Type.V.String()
		if e.LogicalType.Value != nil {
			text += " " + e.LogicalType.String()
		} else if e.ConvertedType.Valid {
			text += fmt.Sprintf(" of converted type %d", e.ConvertedType.V)
		}
		return text
	}
	if _, ok := e.LogicalType.Value.(*pqformat.VariantType); ok {
		return "VARIANT"
	}
	if len(e.kids) == 0 {
		return "a group without fields"
	}
	var what []string
	for _, kid := range e.kids {
		if text := unreadable(kid); text != "" && !slices.Contains(what, text) {
			what = append(what, text)
		}
	}
	return strings.Join(what, ", ")
}
