package ndjson

import (
	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// copying checks that lines are objects.
type copying struct{}

func (copying) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(nil)
	out.Data = chunk
	s, err := scan(chunk)
	if err != nil {
		return err
	}
	for s.skipBlank() {
		start := s.at
		if err := s.object(); err != nil {
			return placed(err, start, at)
		}
		out.Rows++
	}
	return nil
}

// skipBlank passes blank lines, and the white space at the beginning of one that is not. It tells whether there is one.
func (s *scanner) skipBlank() bool {
	for s.at < len(s.b) && isSpace(s.b[s.at]) {
		s.at++
	}
	return s.at < len(s.b)
}

// object passes a record.
func (s *scanner) object() fault {
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.members(1); err != nil {
		return err
	}
	return s.lineEnd()
}

func placed(err fault, start int, at int64) error {
	err.Offset += at
	err.Start = int64(start) + at
	return err
}

// decoder reads objects into columns.
type decoder struct {
	columns []columnar.Column
	index   map[string]int // of columns, by name
	guess   int            // the column that the next key is, most likely
}

func (d *decoder) Decode(chunk []byte, at int64, out *columnar.Batch) error {
	out.Reset(d.columns)
	out.Data = chunk
	s, err := scan(chunk)
	if err != nil {
		return err
	}
	for s.skipBlank() {
		start := s.at
		if err := d.record(s, out); err != nil {
			return placed(err, start, at)
		}
		out.Rows++
	}
	return nil
}

// record reads a line. While it does, a column has a value of this record if it has more than out.Rows.
func (d *decoder) record(s *scanner, out *columnar.Batch) fault {
	start := s.at
	if err := s.begin(); err != nil {
		return err
	}
	if s.space() == '}' {
		s.at++
	} else if err := d.members(s, out); err != nil {
		return err
	}
	for c := range d.columns {
		if v := &out.Columns[c]; len(v.Valid) == out.Rows {
			if d.columns[c].Required {
				return refuse(start, &d.columns[c], nil, "has no key in this object, and the column is required", "")
			}
			v.Null()
		}
	}
	return s.lineEnd()
}

func (d *decoder) members(s *scanner, out *columnar.Batch) fault {
	d.guess = 0
	for {
		s.space()
		keyAt := s.at
		key, err := s.key()
		if err != nil {
			return err
		}
		c, err := d.column(s, key)
		if err != nil {
			return err
		}
		if c < 0 {
			err = s.value(2)
		} else if len(out.Columns[c].Valid) > out.Rows {
			err = refuse(keyAt, &d.columns[c], nil, "is twice in this object", "")
		} else {
			err = d.value(s, &d.columns[c], &out.Columns[c])
		}
		if err != nil {
			return err
		}
		if more, err := s.more('}'); err != nil || !more {
			return err
		}
	}
}

// column gives the column of a key, -1 if there is none.
func (d *decoder) column(s *scanner, key text) (int, fault) {
	name := s.b[key.from:key.to]
	if d.guess < len(d.columns) && string(name) == d.columns[d.guess].Name && !key.escaped {
		d.guess++
		return d.guess - 1, nil
	}
	name, err := s.unescape(key)
	if err != nil {
		return -1, err
	}
	c, ok := d.index[string(name)]
	if !ok {
		return -1, nil
	}
	d.guess = c + 1
	return c, nil
}

// value appends the value at the spot to its column.
func (d *decoder) value(s *scanner, column *columnar.Column, v *columnar.Vector) fault {
	from := s.at
	var err fault
	switch c := s.b[s.at]; c {
	case 'n':
		if err = s.literal("null"); err == nil && column.Required {
			return refuse(from, column, nil, "is null, and the column is required", "")
		}
		if err == nil {
			v.Null()
		}
	case '"':
		err = d.text(s, column, v)
	case 't', 'f':
		if column.Type.Kind != columnar.Bool {
			return wrongKind(s, column)
		}
		word := "true"
		if c == 'f' {
			word = "false"
		}
		if err = s.literal(word); err == nil {
			return parse(from, column, v, []byte(word))
		}
	case '{', '[':
		return wrongKind(s, column)
	default:
		err = d.number(s, column, v)
	}
	if err != nil && err.Column == "" {
		err.Column = column.Name
	}
	return err
}

func (d *decoder) number(s *scanner, column *columnar.Column, v *columnar.Vector) fault {
	switch column.Type.Kind {
	case columnar.Int64, columnar.Float64, columnar.Decimal:
		from := s.at
		number, err := s.number()
		if err != nil {
			return err
		}
		return parse(from, column, v, number)
	}
	return wrongKind(s, column)
}

func (d *decoder) text(s *scanner, column *columnar.Column, v *columnar.Vector) fault {
	switch column.Type.Kind {
	case columnar.String, columnar.Date, columnar.Timestamp, columnar.Decimal:
	default:
		return wrongKind(s, column)
	}
	t, err := s.text()
	if err != nil {
		return err
	}
	value, err := s.unescape(t)
	if err != nil {
		return err
	}
	if column.Type.Kind == columnar.String {
		v.AddSpan(columnar.Span{Off: uint32(t.from), Len: uint32(len(value))})
		return nil
	}
	return parse(t.from, column, v, value)
}

func parse(at int, column *columnar.Column, v *columnar.Vector, value []byte) fault {
	if err := v.Parse(column.Type, value); err != nil {
		reason := err.Error()
		if len(value) == 0 {
			reason = "an empty string " + reason
		}
		return refuse(at, column, value, reason, "mend the source, or declare another type")
	}
	return nil
}

// kinds names what a column's values must be.
var kinds = [...]string{columnar.Bool: "true or false", columnar.Int64: "a number", columnar.Float64: "a number",
	columnar.Decimal: "a number, or a string of digits", columnar.Date: "a string", columnar.Timestamp: "a string", columnar.String: "a string"}

// wrongKind makes the error of a value that is JSON, and not of a kind that the column takes.
func wrongKind(s *scanner, column *columnar.Column) fault {
	from := s.at
	if err := s.value(2); err != nil {
		err.Column = column.Name
		return err
	}
	return refuse(from, column, s.b[from:s.at], "is not what a column of type "+column.Type.String()+" takes: "+kinds[column.Type.Kind], "mend the source, or declare another type")
}

func refuse(at int, column *columnar.Column, value []byte, reason, advice string) fault {
	return &format.DataError{Offset: int64(at), Column: column.Name, Value: string(value), Reason: reason, Advice: advice}
}
