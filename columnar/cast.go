package columnar

import (
	"fmt"
	"math"
)

// Caster makes values of one column out of those of another. It is used by one goroutine at a time.
type Caster struct {
	from, to Column
	path     string                            // of a field in a nested column; "" of the column itself
	values   func(c *Caster, src, dst *Vector) // appends the values of all rows that are not NULL
	kids     []*Caster                         // by the fields of to; nil for one that from lacks
	picks    []int                             // by the fields of to: which of from's it is made of
	copies   bool
	job      *casting // shared with all kids

	// While a vector is cast:
	parent   *Caster
	src, dst *Vector
	first    int // row of dst that is the first of src
	rows     walk
}

// casting is what all casters of one column share while a vector is cast.
type casting struct {
	data   *[]byte
	refuse func(Refused) error
	err    error
}

// Refused is a value that a Caster refused.
type Refused struct {
	Row    int     // of the vector that is cast, from 0
	Path   string  // of the field that refused it, inside a nested column: "a.element"; "" for the column itself
	Value  string  // its text; "" for a NULL
	Reason Refusal // reads on after the value: "is beyond the range of an int8"
}

// CastError says why values of a type are not cast to another.
type CastError struct {
	Path     string // of the field, inside a nested column: "a.element"; "" for the column itself
	From, To Type
	Reason   string // "an int64 may be beyond the range of an int32"
	Advice   string // which cast would do it; "" if none does
}

func (e *CastError) Error() string {
	s := e.Reason
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// NewCaster makes a caster of values of from to values of to, as to.Cast allows. Fields of nested columns are cast as the
// column is. A cast that is not allowed, or not possible, is a *CastError.
func NewCaster(from, to Column) (*Caster, error) {
	return newCaster(from, to, to.Cast, nil, "")
}

func newCaster(from, to Column, cast Cast, parent *Caster, path string) (*Caster, error) {
	c := &Caster{from: from, to: to, path: path, parent: parent, copies: from.Type.Equal(to.Type) && (from.Required || !to.Required)}
	if parent == nil {
		c.job = &casting{}
	} else {
		c.job = parent.job
	}
	err := c.plan(cast)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Copies tells whether values pass unchanged, so that a vector can be shared instead of being cast.
func (c *Caster) Copies() bool { return c.copies }

// Cast appends all rows of src, a vector of the first column, to dst, one of the second. Spans of both are of data, to which
// text is appended that src does not have. refuse is told of every value that is refused, of one field after another, each in
// the order of rows; if it gives an error, that is Cast's, and dst is of no use. If it gives none the row has some value, or
// NULL, in dst, and is to be dropped.
func (c *Caster) Cast(src, dst *Vector, data *[]byte, refuse func(Refused) error) error {
	*c.job = casting{data: data, refuse: refuse}
	c.cast(src, dst)
	return c.job.err
}

func (c *Caster) cast(src, dst *Vector) {
	c.src, c.dst, c.first, c.rows = src, dst, len(dst.Valid), walk{}
	dst.Valid = append(dst.Valid, src.Valid...)
	dst.Nulls += src.Nulls
	if c.to.Required && src.Nulls > 0 && !c.refuseNulls() {
		return
	}
	c.values(c, src, dst)
}

// refuseNulls tells of the NULLs in a column that is required.
func (c *Caster) refuseNulls() bool {
	for row, valid := range c.src.Valid {
		if valid == 0 && !c.tell(row, "", c.isNull()) {
			return false
		}
	}
	return true
}

func (c *Caster) isNull() Refusal {
	if c.parent != nil {
		return "is NULL, and the field is required"
	}
	return "is NULL, and the column is required"
}

// refuse makes a NULL of the i-th of src's values that are not NULL, and tells of it. It is false if that is the end.
func (c *Caster) refuse(i int, reason Refusal) bool {
	row := c.rows.rowOf(c.src.Valid, i)
	c.dst.Valid[c.first+row] = 0
	c.dst.Nulls++
	return c.tell(row, c.text(i), reason)
}

func (c *Caster) tell(row int, value string, reason Refusal) bool {
	c.job.err = c.job.refuse(Refused{Row: c.topRow(row), Path: c.path, Value: value, Reason: reason})
	return c.job.err == nil
}

// text gives a value for people.
func (c *Caster) text(i int) string {
	if c.from.Type.Kind.Spans() {
		s := c.src.Str[i]
		return string((*c.job.data)[s.Off : uint64(s.Off)+uint64(s.Len)])
	}
	text, err := c.src.Append(nil, c.from.Type, i)
	if err != nil {
		return ""
	}
	return string(text)
}

// topRow gives the row of the whole column that has a row of the caster's field.
func (c *Caster) topRow(row int) int {
	for p := c.parent; p != nil; p = p.parent {
		if p.to.Type.Kind == List {
			row = p.rows.listOf(p.src.Len, row)
		}
		row = p.rows.rowOf(p.src.Valid, row)
	}
	return row
}

// walk finds rows by their values. Going forward costs nothing.
type walk struct {
	row, value     int // a row, and how many values are before it
	list, elements int // a list, and how many elements are before it
}

// rowOf gives the row of the i-th value that is not NULL.
func (w *walk) rowOf(valid []byte, i int) int {
	if i < w.value {
		w.row, w.value = 0, 0
	}
	for valid[w.row] == 0 || w.value < i {
		w.value += int(valid[w.row])
		w.row++
	}
	return w.row
}

// listOf gives the list that has an element.
func (w *walk) listOf(lengths []uint32, element int) int {
	if element < w.elements {
		w.list, w.elements = 0, 0
	}
	for element >= w.elements+int(lengths[w.list]) {
		w.elements += int(lengths[w.list])
		w.list++
	}
	return w.list
}

// plan chooses what casts the values.
func (c *Caster) plan(cast Cast) error {
	from, to := c.from.Type, c.to.Type
	switch {
	case from.Kind == List && to.Kind == List:
		return c.planList(cast)
	case from.Kind == Struct && to.Kind == Struct:
		return c.planStruct(cast)
	case from.Equal(to):
		c.values = copyValues
		return nil
	case isInt(from.Kind) && isInt(to.Kind) && holdsInt(to.Kind, from.Kind):
		c.values = widenInts(from.Kind, to.Kind)
		return nil
	}
	return &CastError{Path: c.path, From: from, To: to, Reason: fmt.Sprintf("%s cannot be cast to %s", from, to)}
}

func (c *Caster) planList(cast Cast) error {
	kid, err := newCaster(c.from.Type.Fields[0], c.to.Type.Fields[0], cast, c, join(c.path, Element))
	c.kids, c.picks, c.values = []*Caster{kid}, []int{0}, castNested
	return err
}

func (c *Caster) planStruct(cast Cast) error {
	c.values = castNested
	for _, field := range c.to.Type.Fields {
		pick := fieldNamed(c.from.Type.Fields, field.Name)
		if pick < 0 {
			return &CastError{Path: join(c.path, field.Name), From: c.from.Type, To: c.to.Type, Reason: "the field is missing"}
		}
		kid, err := newCaster(c.from.Type.Fields[pick], field, cast, c, join(c.path, field.Name))
		if err != nil {
			return err
		}
		c.kids, c.picks = append(c.kids, kid), append(c.picks, pick)
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func fieldNamed(fields []Column, name string) int {
	for i, f := range fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

func castNested(c *Caster, src, dst *Vector) {
	if c.to.Type.Kind == List {
		dst.Len = append(dst.Len, src.Len...)
	}
	for i, kid := range c.kids {
		kid.cast(&src.Kids[c.picks[i]], &dst.Kids[i])
		if c.job.err != nil {
			return
		}
	}
}

func copyValues(c *Caster, src, dst *Vector) {
	switch t := c.to.Type; t.Kind {
	case Bool:
		dst.Bool = append(dst.Bool, src.Bool...)
	case Float32:
		dst.F32 = append(dst.F32, src.F32...)
	case Float64:
		dst.F64 = append(dst.F64, src.F64...)
	case String, Binary, JSON:
		dst.Str = append(dst.Str, src.Str...)
	default:
		dst.I32 = append(dst.I32, src.I32...)
		dst.I64 = append(dst.I64, src.I64...)
		dst.I128 = append(dst.I128, src.I128...)
	}
}

func isInt(k Kind) bool { return Int8 <= k && k <= Uint64 }

// holdsInt tells whether every value of a kind of integers is one of another.
func holdsInt(to, from Kind) bool {
	toLeast, toMost := intRange(to)
	least, most := intRange(from)
	return least <= toLeast && most <= toMost
}

func widenInts(from, to Kind) func(c *Caster, src, dst *Vector) {
	switch {
	case to != Int64 && to != Uint64:
		return func(_ *Caster, src, dst *Vector) { dst.I32 = append(dst.I32, src.I32...) }
	case from == Uint32:
		return func(_ *Caster, src, dst *Vector) {
			for _, v := range src.I32 {
				dst.I64 = append(dst.I64, int64(v)&math.MaxUint32)
			}
		}
	}
	return func(_ *Caster, src, dst *Vector) {
		for _, v := range src.I32 {
			dst.I64 = append(dst.I64, int64(v))
		}
	}
}
