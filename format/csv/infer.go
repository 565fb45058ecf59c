package csv

import (
	"bytes"
	"fmt"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// NewSampler makes a sampler. The columns are the names of all headers, in the order in which they come first.
func (f *Format) NewSampler() format.Sampler { return &sampler{format: f, index: map[string]int{}} }

// sampler looks at the fields of records.
type sampler struct {
	format *Format
	names  []string
	index  map[string]int // of names
	seen   []format.Guess
	kept   format.Names
	fields []int // of the file at hand: which name each field has
	number bool  // the file has no names, and its first record is still to come: its fields are numbered
}

// AddHead is as format.Sampler has it. Names that are twice, or empty, are refused: nobody could ask for them.
func (s *sampler) AddHead(head []byte) error {
	h, err := s.format.parseHead(head)
	if err != nil {
		return err
	}
	s.number = h.inOrder && len(s.names) == 0
	if h.inOrder {
		return nil
	}
	s.fields = s.fields[:0]
	for i, name := range h.names {
		if name == "" {
			return h.refuse(fmt.Sprint(i+1), "has no name in the header", "give the names: csv: {skip: 1, header: [...]}, or declare the columns")
		}
		at, err := s.name(h, name)
		if err != nil {
			return err
		}
		for _, other := range s.fields {
			if other == at {
				return h.refuse(name, "is twice in the header", "give the names: csv: {skip: 1, header: [...]}, or declare the columns")
			}
		}
		s.fields = append(s.fields, at)
	}
	return nil
}

// name gives the number of a name.
func (s *sampler) name(h header, name string) (int, error) {
	if i, ok := s.index[name]; ok {
		return i, nil
	}
	for i, other := range s.names {
		if s.format.sameName(name, other) {
			return i, nil
		}
	}
	if !s.kept.Add(name) {
		return 0, format.TooMany(int64(h.from), name)
	}
	s.index[name] = len(s.names)
	s.names, s.seen = append(s.names, name), append(s.seen, format.Guess{})
	return len(s.names) - 1, nil
}

// Sample is as format.Sampler has it. Records that a decoder refuses are refused, unless they are left for it to reject.
func (s *sampler) Sample(chunk []byte, at int64) error {
	var first *format.DataError
	f := s.format
	for i := f.skipBlank(chunk, 0); i < len(chunk); i = f.skipBlank(chunk, i) {
		end := f.endIn(chunk, i)
		if err := s.record(chunk, i); err != nil && first == nil {
			err.Offset += at
			err.Start += at
			first = err
		}
		i = end
	}
	if first != nil {
		return first
	}
	return nil
}

// record looks at the record that begins at b[start].
func (s *sampler) record(b []byte, start int) *format.DataError {
	f := s.format
	i := start
	for k := 0; ; k++ {
		field, next, how := f.scan(b, i)
		if how > recordOver {
			return f.fault(b, field, how, start, next)
		}
		if s.number {
			at, err := s.name(header{}, fmt.Sprintf("column%d", k+1))
			if err != nil {
				return &format.DataError{Offset: int64(start), Start: int64(start), Reason: "has more columns than can be inferred"}
			}
			s.fields = append(s.fields, at)
		}
		if k < len(s.fields) && (field.quoted || !f.isNull(b[field.from:field.to])) {
			s.seen[s.fields[k]].Add(f.sampled(f.text(b, field)))
		}
		if how == recordOver {
			s.number = false
			return s.checkCount(start, k+1)
		}
		i = next
	}
}

// sampled gives a field's text as Guess reads numbers: with a point.
func (d *dialect) sampled(text []byte) []byte {
	if !d.comma || len(bytes.Trim(text, "0123456789-.,")) > 0 {
		return text
	}
	if bytes.IndexByte(text, '.') >= 0 {
		return nil // no number of this dialect, and nothing that is to be taken for one
	}
	if i := bytes.IndexByte(text, ','); i >= 0 {
		text[i] = '.'
	}
	return text
}

// checkCount refuses records that a decoder would.
func (s *sampler) checkCount(start, n int) *format.DataError {
	if n < len(s.fields) && !s.format.shortRows || n > len(s.fields) && !s.format.longRows {
		return &format.DataError{Offset: int64(start), Start: int64(start), Reason: fmt.Sprintf("the record has %s, and the header has %d",
			count(n, "field"), len(s.fields)), Advice: "a field that holds a delimiter or a line end must be quoted"}
	}
	return nil
}

// Columns is as format.Sampler has it.
func (s *sampler) Columns() []columnar.Column {
	var columns []columnar.Column
	for i, name := range s.names {
		columns = append(columns, columnar.Column{Name: name, Type: s.seen[i].Type()})
	}
	return columns
}
