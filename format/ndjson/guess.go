package ndjson

import (
	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

const (
	// maxFields is how many keys the objects of a struct have together at most: with more, they are a map.
	maxFields = 200
	// maxTypeDepth is how many lists and structs a value can stand in; what is deeper is json.
	maxTypeDepth = 32
	// anything is the kind of values of more than one kind, or of which more was seen than is kept. It stays so.
	anything jsontext.Kind = 255
)

// guess is what the values of a key, or the elements of arrays, say of their type. null says nothing.
type guess struct {
	kind    jsontext.Kind // 0: none but null was seen
	text    format.Guess  // of numbers or strings
	element *guess        // of arrays, if one has an element
	fields  fields        // of objects
}

// fields are the keys that objects have, in the order in which they come first.
type fields struct {
	names  []string
	byName map[string]*guess
}

// see notes the kind of a value, and tells whether more of it matters.
func (g *guess) see(k jsontext.Kind) bool {
	if g.kind == 0 {
		g.kind = k
	}
	if g.kind != k {
		g.giveUp()
	}
	return g.kind != anything
}

func (g *guess) giveUp() { *g = guess{kind: anything} }

// of gives the guess of a key, nil if it is new and there is no room for it.
func (f *fields) of(key []byte, names *format.Names) *guess {
	if g := f.byName[string(key)]; g != nil {
		return g
	}
	name := string(key)
	if !names.Add(name) {
		return nil
	}
	if f.byName == nil {
		f.byName = map[string]*guess{}
	}
	g := &guess{}
	f.names, f.byName[name] = append(f.names, name), g
	return g
}

// columns gives the keys with their types. None is required.
func (f *fields) columns() []columnar.Column {
	columns := make([]columnar.Column, len(f.names))
	for i, name := range f.names {
		columns[i] = columnar.Column{Name: name, Type: f.byName[name].typ()}
	}
	return columns
}

// typ gives the type that holds all values seen; JSON, if no other does.
func (g *guess) typ() columnar.Type {
	switch g.kind {
	case 0:
		return columnar.Type{Kind: columnar.String}
	case jsontext.Bool:
		return columnar.Type{Kind: columnar.Bool}
	case jsontext.Number:
		if t := g.text.Type(); t.Kind != columnar.String {
			return t
		}
	case jsontext.String:
		return stringType(g.text.Type())
	case jsontext.Array:
		if g.element != nil {
			return columnar.ListOf(g.element.typ())
		}
	case jsontext.Object:
		if len(g.fields.names) > 0 {
			return columnar.Type{Kind: columnar.Struct, Fields: g.fields.columns()}
		}
	}
	return columnar.Type{Kind: columnar.JSON}
}

// stringType gives the type of JSON strings whose characters are of a type: a number or a bool in quotes is meant as a text.
func stringType(t columnar.Type) columnar.Type {
	switch t.Kind {
	case columnar.Date, columnar.Time, columnar.Timestamp, columnar.TimestampTZ:
		return t
	}
	return columnar.Type{Kind: columnar.String}
}
