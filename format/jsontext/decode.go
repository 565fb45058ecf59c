package jsontext

import (
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// Decoder reads values into the columns of a batch. It is used by one goroutine at a time.
type Decoder struct {
	Scanner // of the batch's Data

	policy  Policy
	root    members // the columns
	out     *columnar.Batch
	scratch []byte // for text that is not read in place
	seen    []bool // by column: an object has had its key
	objects bool   // there was one
}

// NewDecoder makes a decoder of values of some columns.
func NewDecoder(columns []columnar.Column, p Policy) *Decoder {
	return &Decoder{policy: p, root: newMembers(columns), seen: make([]bool, len(columns))}
}

// Lines puts the decoder at the beginning of out's Data, which are lines: each value is on one, and the last one ends with a line
// feed. Data may move while it is read, and what is read may be changed in place.
func (d *Decoder) Lines(out *columnar.Batch) {
	d.Scanner, d.out = Lines(out.Data), out
}

// Record appends the object at the spot, which has the columns as keys, as a row, but for counting it in the batch's Rows. The
// columns have as many rows as each other, and keep them if there is a fault.
func (d *Decoder) Record() *format.DataError {
	err := d.members(&d.root, d.out.Columns, 1)
	d.objects = d.objects || err == nil
	return err
}

// Absent names the columns that no object so far has had a key of. It is not ok if there was none.
func (d *Decoder) Absent() (names []string, ok bool) {
	for i, seen := range d.seen {
		if !seen {
			names = append(names, d.root.members[i].column.Name)
		}
	}
	return names, d.objects
}

// Value appends the value that is the text out.Data[from:to] to the vector of the column of that number, white space around it
// aside; the vector stays as it is if there is a fault. The text is changed in place. Data may move, or become longer: what comes after the text is copied along.
func (d *Decoder) Value(out *columnar.Batch, column, from, to int) *format.DataError {
	if to == len(out.Data) {
		out.Data = append(out.Data, 0)
	}
	before, after := out.Data, out.Data[to]
	before[to] = 0
	d.Scanner, d.out = Scanner{B: out.Data, At: from, piece: true, end: to}, out
	d.Space()
	err := d.value(&d.root.members[column], &out.Columns[column], 1)
	if d.Space(); err == nil && d.At < to {
		err = d.inColumn(d.Expected("the end of the text"), d.root.members[column].column, false)
		out.Columns[column].Pop(d.root.members[column].column.Type, 1)
	}
	before[to], out.Data[to] = after, after
	return err
}

// member is what it takes to read values of a column, or of a field.
type member struct {
	column *columnar.Column
	fields members // of a struct; of a list, the one of its elements
}

// members are the columns, or the fields of a struct.
type members struct {
	members []member
	index   map[string]int // by name
	guess   int            // the one that the next key is, most likely
}

func newMembers(columns []columnar.Column) members {
	if len(columns) == 0 {
		return members{}
	}
	m := members{index: make(map[string]int, len(columns))}
	for i := range columns {
		c := &columns[i]
		m.members = append(m.members, member{column: c, fields: newMembers(c.Type.Fields)})
		m.index[c.Name] = i
	}
	return m
}

// members appends the object at the spot to the vectors of its members, all of which have the same rows, and keep them if there is
// a fault.
func (d *Decoder) members(m *members, into []columnar.Vector, depth int) fault {
	row := into[0].Rows()
	err := d.each(m, into, row, depth)
	for i := range into {
		if err != nil && into[i].Rows() > row {
			into[i].Pop(m.members[i].column.Type, 1)
		}
	}
	return err
}

func (d *Decoder) each(m *members, into []columnar.Vector, row, depth int) fault {
	start := d.At
	m.guess = 0
	empty, err := d.open(depth, '}')
	for more := !empty; more && err == nil; {
		if err = d.member(m, into, row, depth); err == nil {
			more, err = d.more('}')
		}
	}
	if err != nil {
		return err
	}
	for i := range into {
		if into[i].Rows() > row {
			if m == &d.root {
				d.seen[i] = true
			}
			continue
		}
		if column := m.members[i].column; column.Required || d.policy.Missing == MissingFail {
			return d.missing(start, column)
		}
		into[i].Null()
	}
	return nil
}

func (d *Decoder) missing(start int, column *columnar.Column) fault {
	if column.Required {
		return refuse(start, column, nil, "has no key in this object, and is required", "declare it without !, if NULL will do")
	}
	return refuse(start, column, nil, "has no key in this object", d.policy.advise("", "make it NULL", `missing: "null"`))
}

// member reads a member of an object. One that is in the object already has more than row rows.
func (d *Decoder) member(m *members, into []columnar.Vector, row, depth int) fault {
	d.Space()
	at := d.At
	key, err := d.key()
	if err != nil {
		return err
	}
	i, err := d.find(m, key)
	switch {
	case err != nil:
		return err
	case i < 0 && d.policy.refusesExtra():
		return d.extra(at, key)
	case i < 0:
		return d.Scanner.Value(depth + 1)
	case into[i].Rows() == row:
	case d.policy.Duplicates == DuplicatesFirst:
		return d.Scanner.Value(depth + 1)
	case d.policy.Duplicates == DuplicatesLast:
		into[i].Pop(m.members[i].column.Type, 1)
	default:
		return refuse(at, m.members[i].column, nil, "is twice in this object", d.policy.advise("", "take the last, or the first", "duplicates: last"))
	}
	return d.value(&m.members[i], &into[i], depth+1)
}

// find gives the member of a key, -1 if there is none.
func (d *Decoder) find(m *members, key text) (int, fault) {
	name := d.B[key.from:key.to]
	if m.guess < len(m.members) && string(name) == m.members[m.guess].column.Name && !key.escaped {
		m.guess++
		return m.guess - 1, nil
	}
	name, err := d.keyText(key)
	if err != nil {
		return -1, err
	}
	i, ok := m.index[string(name)]
	if !ok {
		return -1, nil
	}
	m.guess = i + 1
	return i, nil
}

func (d *Decoder) extra(at int, key text) fault {
	name, err := d.keyText(key)
	if err != nil {
		return err
	}
	return &format.DataError{Offset: int64(at), Value: string(name), Reason: "is a key that is not declared",
		Advice: d.policy.advise("declare it", "read over such keys", "extra: ignore")}
}

// keyText gives a key's characters. They are valid until the next key.
func (d *Decoder) keyText(t text) ([]byte, fault) {
	raw := d.B[t.from:t.to]
	if t.ascii && !t.escaped {
		return raw, nil
	}
	if err := d.checkText(t, raw); err != nil {
		return nil, err
	}
	d.scratch, raw = t.characters(d.B, d.scratch)
	return raw, nil
}

// checkText refuses what the policy does not replace.
func (d *Decoder) checkText(t text, raw []byte) fault {
	if !t.ascii && d.policy.InvalidUTF8 != TextReplace && !utf8.Valid(raw) {
		return d.notUTF8(t.from, raw)
	}
	if t.escaped && d.policy.Surrogates != TextReplace {
		if half := firstHalf(raw); half >= 0 {
			return &format.DataError{Offset: int64(t.from + half), Value: string(raw[half : half+6]),
				Reason: "is half of a surrogate pair, and stands for no character", Advice: d.policy.advise("", "make it U+FFFD", "surrogates: replace")}
		}
	}
	return nil
}

func (d *Decoder) notUTF8(at int, raw []byte) fault {
	return &format.DataError{Offset: int64(at + format.NotUTF8(raw)), Value: string(raw), Reason: "is not UTF-8",
		Advice: d.policy.advise(format.AdviceUTF8, "make it U+FFFD", "invalid_utf8: replace")}
}

func refuse(at int, column *columnar.Column, value []byte, reason, advice string) fault {
	return &format.DataError{Offset: int64(at), Column: column.Name, Value: string(value), Reason: reason, Advice: advice}
}
