package csv

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// NewSampler makes a sampler. The columns are the names of all headers, in the order in which they come first. In files that have
// none, and are given none, they are the fields of the first record: column1, column2 and so on.
func (f *Format) NewSampler() format.Sampler {
	return &sampler{decoder: decoder{splitter: f.splitter}, format: f, byName: map[string]int{}}
}

// sampler looks at the fields of records. How much it keeps depends on their names, not on how many there are.
type sampler struct {
	decoder // whose layout is that of the file at hand: each field is of a column
	format  *Format
	file    int // number of the file at hand
	columns []guessed
	byName  map[string]int // of columns, by key
	kept    format.Names
	inOrder bool // the file at hand has no names
}

// guessed is a column.
type guessed struct {
	name  string
	file  int // number of the last file that has it
	guess format.Guess
}

// AddHead is as format.Sampler has it. Names that are twice, or empty, are refused: nobody could ask for them.
func (s *sampler) AddHead(head []byte) error {
	h, err := s.format.parseHead(head)
	if err != nil {
		return err
	}
	s.inOrder = h.inOrder
	if h.inOrder {
		return nil
	}
	return s.name(h)
}

// name finds, or makes, the column of each name.
func (s *sampler) name(h header) error {
	const advice = "give the names: csv: {skip: 1, header: [...]}"
	s.file++
	s.layout = layout{names: h.names, fields: s.fields[:0]}
	for i, name := range h.names {
		if name == "" {
			return h.refuse(fmt.Sprint(i+1), "has no name in the header", advice)
		}
		if !utf8.ValidString(name) {
			e := h.refuse("", "the name is not UTF-8", format.AdviceUTF8+"; "+advise("invalid_utf8: replace"))
			e.Field, e.Value = i+1, name
			return e
		}
		c, ok := s.column(name)
		if !ok {
			return format.TooMany(int64(h.from), name)
		}
		if s.columns[c].file == s.file {
			return h.refuse(name, "is twice in the header", "rename one of them in the source, or "+advice)
		}
		s.columns[c].file = s.file
		s.fields = append(s.fields, c)
	}
	s.alone()
	return nil
}

// column gives the number of the column of a name; false if it is new and there is no room for it.
func (s *sampler) column(name string) (int, bool) {
	key := name
	if s.ignoreCase {
		key = folded(name)
	}
	c, ok := s.byName[key]
	if !ok {
		if !s.kept.Add(name) {
			return 0, false
		}
		c = len(s.columns)
		s.byName[key], s.columns = c, append(s.columns, guessed{name: name})
	}
	return c, true
}

// folded is the same for names that strings.EqualFold finds equal, and for no others.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// Sample is as format.Sampler has it. NUL bytes, and what is not UTF-8, it leaves to the decoder.
func (s *sampler) Sample(chunk []byte, at int64) error {
	var first error
	for i := s.skipBlank(chunk, 0); i < len(chunk); i = s.skipBlank(chunk, i) {
		end := s.endIn(chunk, i) // before quotes are taken away
		if err := s.record(chunk, i); err != nil && first == nil {
			err.Offset += at
			err.Start += at
			first = err
		}
		i = end
	}
	return first
}

// record looks at the record that begins at b[start], if a decoder does not refuse it.
func (s *sampler) record(b []byte, start int) *format.DataError {
	if s.noBlank && isBlank(b, start) {
		return refuseBlank(start, s.nameOf(0))
	}
	n, err := s.fieldsOf(b, start)
	if err != nil {
		return err
	}
	if s.inOrder && len(s.columns) == 0 {
		if err := s.number(n, start); err != nil {
			return err
		}
	}
	if s.isRagged(n) {
		return s.ragged(b, start, n, start, recordOver)
	}
	i := start
	for k := range min(n, len(s.fields)) {
		f, next, _ := s.scan(b, i)
		if f.quoted || !s.isNull(b[f.from:f.to]) {
			s.columns[s.fields[k]].guess.Add(s.withPoint(s.text(b, f)))
		}
		i = next
	}
	return nil
}

// fieldsOf counts the fields of the record that begins at b[start].
func (s *sampler) fieldsOf(b []byte, start int) (int, *format.DataError) {
	i := start
	for n := 1; ; n++ {
		f, next, how := s.scan(b, i)
		var err *format.DataError
		switch {
		case how > recordOver:
			err = s.fault(b, f, how, start, next)
		case f.to-f.from > s.maxField:
			err = s.tooLong(b, f, start)
		case how == recordOver:
			return n, nil
		}
		if err != nil {
			err.Column = s.nameOf(n - 1)
			return 0, err
		}
		i = next
	}
}

// number makes columns of the n fields of the first record, which begins at start.
func (s *sampler) number(n, start int) *format.DataError {
	for k := range n {
		name := fmt.Sprint(numbered, k+1)
		c, ok := s.column(name)
		if !ok {
			return format.TooMany(int64(start), name)
		}
		s.names, s.fields = append(s.names, name), append(s.fields, c)
	}
	s.alone()
	return nil
}

// alone sees to blank lines of a file of one field.
func (s *sampler) alone() {
	s.splitter, s.noBlank = s.format.splitter, false
	if len(s.fields) == 1 {
		s.splitter, s.noBlank = s.lone()
	}
}

// withPoint gives a text with the point that a number has where the dialect has a comma. One that has a point is no number.
func (d *dialect) withPoint(text []byte) []byte {
	if !d.comma || len(bytes.Trim(text, "-0123456789,.")) > 0 {
		return text
	}
	if bytes.IndexByte(text, '.') >= 0 {
		return nil
	}
	if i := bytes.IndexByte(text, ','); i >= 0 {
		text[i] = '.'
	}
	return text
}

// Columns is as format.Sampler has it.
func (s *sampler) Columns() []columnar.Column {
	columns := make([]columnar.Column, len(s.columns))
	for i := range s.columns {
		columns[i] = columnar.Column{Name: s.columns[i].name, Type: s.columns[i].guess.Type()}
	}
	return columns
}
