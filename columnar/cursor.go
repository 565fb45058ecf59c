package columnar

// Cursor walks over the rows of a vector in order. Values are dense, so that a row is found only by passing those before it.
type Cursor struct {
	v     *Vector
	t     Type
	row   int // to be passed next
	value int // of the values that are not NULL, to be passed next
	kids  []Cursor
}

// NewCursor makes a cursor that stands before the first row of a vector of a type.
func NewCursor(v *Vector, t Type) *Cursor {
	c := &Cursor{}
	c.Reset(v, t)
	return c
}

// Reset puts the cursor before the first row of a vector of a type, keeping its memory.
func (c *Cursor) Reset(v *Vector, t Type) {
	c.v, c.t, c.row, c.value = v, t, 0, 0
	if !t.Kind.Nested() {
		return
	}
	if len(c.kids) != len(t.Fields) {
		c.kids = make([]Cursor, len(t.Fields))
	}
	for i := range c.kids {
		c.kids[i].Reset(&v.Kids[i], t.Fields[i].Type)
	}
}

// Type is the type of the values.
func (c *Cursor) Type() Type { return c.t }

// Vector is what the cursor walks over.
func (c *Cursor) Vector() *Vector { return c.v }

// Next passes a row, and gives the index of its value among those that are not NULL; false if it is NULL. Of a nested value
// that is not NULL the rows of its children must be passed, by their cursors, before Next is called again.
func (c *Cursor) Next() (value int, ok bool) {
	c.row++
	if c.v.Valid[c.row-1] == 0 {
		return 0, false
	}
	c.value++
	return c.value - 1, true
}

// IsNull tells whether the row to be passed next is NULL.
func (c *Cursor) IsNull() bool { return c.v.Valid[c.row] == 0 }

// Kid is the cursor of a child: the elements of a list (0), or a field of a struct.
func (c *Cursor) Kid(i int) *Cursor { return &c.kids[i] }

// Skip passes a row with all that is in it.
func (c *Cursor) Skip() {
	value, ok := c.Next()
	if !ok || !c.t.Kind.Nested() {
		return
	}
	n := 1
	if c.t.Kind == List {
		n = int(c.v.Len[value])
	}
	for i := range c.kids {
		for range n {
			c.kids[i].Skip()
		}
	}
}
