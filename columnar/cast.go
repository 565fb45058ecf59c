package columnar

// Caster makes values of one column out of those of another. It is used by one goroutine at a time.
type Caster struct {
	from, to Column
	path     string                            // of a field in a nested column; "" of the column itself
	values   func(c *Caster, src, dst *Vector) // appends the values of all rows that are not NULL
	kids     []*Caster                         // by the fields of to; nil for one that from lacks
	picks    []int                             // by the fields of to: which of from's it is made of
	copies   bool
	rounded  Refusal  // what CastLossy would not refuse
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
	Advice string  // which cast would take it; "" if none does
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
	r := Refused{Row: c.topRow(row), Path: c.path, Value: value, Reason: reason}
	if reason == c.rounded {
		r.Advice = adviceLossy
	}
	if value == "" && c.from.Type.Kind.Spans() {
		r.Reason = "an empty value " + reason // which shows nothing of itself
	}
	c.job.err = c.job.refuse(r)
	return c.job.err == nil
}

// text gives a value for people.
func (c *Caster) text(i int) string {
	if c.from.Type.Kind.Spans() {
		return string(c.bytes(c.src.Str[i]))
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
