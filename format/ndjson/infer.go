package ndjson

import (
	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// NewSampler makes a sampler. The columns are the keys of all objects, in the order in which they come first.
func (f Format) NewSampler() format.Sampler { return &sampler{format: f} }

// sampler looks at objects. How much it keeps depends on their keys, not on how many there are.
type sampler struct {
	format  Format
	columns fields
	names   format.Names // of columns
	nested  format.Names // of the keys in their objects
	b       []byte       // the chunk
	scratch []byte
}

// AddHead has nothing to do: a byte order mark means nothing.
func (*sampler) AddHead([]byte) error { return nil }

// Columns is as format.Sampler has it.
func (p *sampler) Columns() []columnar.Column {
	columns := p.columns.columns()
	for i, c := range columns {
		if p.columns.byName[c.Name].kind == 0 {
			columns[i].Type = columnar.Type{}
		}
	}
	return columns
}

// Sample is as format.Sampler has it. Of what the options say, it leaves keys that are twice, and what is no character, to the
// decoder.
func (p *sampler) Sample(chunk []byte, at int64) error {
	p.b = chunk
	return p.format.eachObject(chunk, at, p.record)
}

// record looks at an object, all of which is known to be JSON before anything is made of it.
func (p *sampler) record(s *jsontext.Scanner) fault {
	from := s.At
	if err := s.Value(1); err != nil {
		return err
	}
	s.At = from
	return s.Each(func(e jsontext.Entry) fault {
		g := p.columns.of(e.Key, &p.names)
		if g == nil {
			return format.TooMany(int64(e.From), string(e.Key))
		}
		p.value(e, g, 0)
		return nil
	})
}

// value looks at a value that stands in so many others.
func (p *sampler) value(e jsontext.Entry, g *guess, depth int) {
	if e.Kind == jsontext.Null || !g.see(e.Kind) {
		return
	}
	raw := p.b[e.From:e.To]
	switch e.Kind {
	case jsontext.Number:
		g.text.Add(raw)
	case jsontext.String:
		p.scratch, raw = jsontext.Characters(raw, p.scratch)
		g.text.Add(raw)
	case jsontext.Array, jsontext.Object:
		if depth == maxTypeDepth {
			g.giveUp()
			return
		}
		p.entries(e.From, g, depth+1)
	}
}

// entries looks at what is in an array or an object.
func (p *sampler) entries(from int, g *guess, depth int) {
	s := jsontext.Lines(p.b)
	s.At = from
	_ = s.Each(func(e jsontext.Entry) fault { // it is known to be JSON
		if g.kind == anything {
			return nil
		}
		if of := p.entry(e, g); of != nil {
			p.value(e, of, depth)
		}
		return nil
	})
}

// entry gives the guess of an entry, nil if none is kept.
func (p *sampler) entry(e jsontext.Entry, g *guess) *guess {
	if g.kind == jsontext.Array {
		if g.element == nil {
			g.element = &guess{}
		}
		return g.element
	}
	of := g.fields.of(e.Key, &p.nested)
	if of == nil || len(g.fields.names) > maxFields {
		g.giveUp()
		return nil
	}
	return of
}
