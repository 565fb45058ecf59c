package columnar

// Batch is some rows of a source, column by column: dense typed slices that leave NULLs out, and one validity byte a row.
// A batch of unparsed records has no columns: Data holds the records themselves, each with its line end.
//
// A batch belongs to one goroutine at a time. Whoever fills it reuses its slices: what is kept past the next fill must
// be copied.
type Batch struct {
	Rows    int
	Columns []Vector // as many as the schema has
	Data    []byte   // what the Spans of columns point into, or the unparsed records
}

// Vector is the values of one column of a batch. Exactly one of its value slices is in use, by the column's type, and it
// holds the values that are not NULL, in order.
//
// The values of a list are their lengths, in Len; its one child has as many rows as they sum up to. A struct has no values of
// its own: each of its children has a row for every struct that is not NULL.
type Vector struct {
	Valid []byte // one a row: 1 is a value, 0 is NULL
	Nulls int    // how many of Valid are 0

	Bool []bool
	I32  []int32   // Int8, Int16, Int32, Uint8, Uint16; Uint32, as its bits; Date, days
	I64  []int64   // Int64; Uint64, as its bits; Decimal of at most Narrow digits, unscaled; Time, Timestamp, TimestampTZ, microseconds
	I128 []Int128  // Decimal of more than Narrow digits, unscaled; UUID, as its bits, the first byte the most significant
	F32  []float32 // Float32
	F64  []float64 // Float64
	Str  []Span    // String, Binary, JSON
	Len  []uint32  // List
	Kids []Vector  // the child of a List, the children of a Struct
}

// Span is a piece of a batch's Data: bytes [Off, Off+Len).
type Span struct {
	Off, Len uint32
}

// Bytes gives the bytes that a span stands for.
func (b *Batch) Bytes(s Span) []byte { return b.Data[s.Off : uint64(s.Off)+uint64(s.Len)] }

// Int128 is a signed 128-bit integer in two's complement.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Reset empties a batch for the columns of a schema, keeping its memory. Data is left as it is: its filler sets it.
func (b *Batch) Reset(columns []Column) {
	b.Rows = 0
	b.Columns = resetAll(b.Columns, columns)
}

func resetAll(vectors []Vector, columns []Column) []Vector {
	if cap(vectors) < len(columns) {
		vectors = append(make([]Vector, 0, len(columns)), vectors[:cap(vectors)]...)
	}
	vectors = vectors[:len(columns)]
	for i := range vectors {
		vectors[i].Reset(columns[i].Type)
	}
	return vectors
}

// Reset empties a vector for values of a type, keeping its memory.
func (v *Vector) Reset(t Type) {
	v.Valid, v.Nulls = v.Valid[:0], 0
	v.Bool, v.I32, v.I64, v.I128 = v.Bool[:0], v.I32[:0], v.I64[:0], v.I128[:0]
	v.F32, v.F64, v.Str, v.Len = v.F32[:0], v.F64[:0], v.Str[:0], v.Len[:0]
	if t.Kind.Nested() {
		v.Kids = resetAll(v.Kids, t.Fields)
	}
}

// Rows is how many rows the vector has.
func (v *Vector) Rows() int { return len(v.Valid) }

// Null appends a NULL.
func (v *Vector) Null() {
	v.Valid = append(v.Valid, 0)
	v.Nulls++
}

// AddSpan appends a string, a binary or a JSON value: a piece of the batch's Data.
func (v *Vector) AddSpan(s Span) {
	v.Str = append(v.Str, s)
	v.Valid = append(v.Valid, 1)
}

// AddList appends a list of the last n rows of its child.
func (v *Vector) AddList(n int) {
	v.Len = append(v.Len, uint32(n))
	v.Valid = append(v.Valid, 1)
}

// AddStruct appends a struct of the last row of each of its children.
func (v *Vector) AddStruct() { v.Valid = append(v.Valid, 1) }

// Truncate takes rows off a vector of a type until it has at most n, and off its children what belongs to no row. It is how a
// row that is refused half way is taken back.
func (v *Vector) Truncate(t Type, n int) {
	for len(v.Valid) > n {
		last := len(v.Valid) - 1
		valid := v.Valid[last] != 0
		v.Valid = v.Valid[:last]
		if valid {
			v.dropValue(t)
		} else {
			v.Nulls--
		}
	}
	for i := range v.Kids {
		if t.Kind.Nested() {
			v.Kids[i].Truncate(t.Fields[i].Type, v.kidRows(t))
		}
	}
}

// Pop takes the last n rows off a vector of a type, of which every row is whole. Unlike Truncate it takes no time by what remains.
func (v *Vector) Pop(t Type, n int) {
	kids := 0 // rows to be taken off each child
	for range n {
		last := len(v.Valid) - 1
		valid := v.Valid[last] != 0
		v.Valid = v.Valid[:last]
		switch {
		case !valid:
			v.Nulls--
			continue
		case t.Kind == List:
			kids += int(v.Len[len(v.Len)-1])
		case t.Kind == Struct:
			kids++
		}
		v.dropValue(t)
	}
	if t.Kind.Nested() {
		for i := range v.Kids {
			v.Kids[i].Pop(t.Fields[i].Type, kids)
		}
	}
}

// kidRows is how many rows each child of a vector of a nested type has.
func (v *Vector) kidRows(t Type) int {
	if t.Kind == Struct {
		return len(v.Valid) - v.Nulls
	}
	rows := 0
	for _, n := range v.Len {
		rows += int(n)
	}
	return rows
}

// dropValue takes the last value off.
func (v *Vector) dropValue(t Type) {
	switch t.Kind {
	case Bool:
		v.Bool = v.Bool[:len(v.Bool)-1]
	case Float32:
		v.F32 = v.F32[:len(v.F32)-1]
	case Float64:
		v.F64 = v.F64[:len(v.F64)-1]
	case String, Binary, JSON:
		v.Str = v.Str[:len(v.Str)-1]
	case List:
		v.Len = v.Len[:len(v.Len)-1]
	}
	switch t.Width() {
	case 4:
		v.I32 = v.I32[:len(v.I32)-1]
	case 8:
		v.I64 = v.I64[:len(v.I64)-1]
	case 16:
		v.I128 = v.I128[:len(v.I128)-1]
	}
}

// Width is how many bytes a value of the type has in I32 (4), I64 (8) or I128 (16); 0 for types whose values are elsewhere.
func (t Type) Width() int {
	switch t.Kind {
	case Int8, Int16, Int32, Uint8, Uint16, Uint32, Date:
		return 4
	case Int64, Uint64, Time, Timestamp, TimestampTZ:
		return 8
	case UUID:
		return 16
	case Decimal:
		if t.Precision > Narrow {
			return 16
		}
		return 8
	}
	return 0
}

// Truncate takes rows off a batch of some columns until it has n; columns of a row that is not complete are cut, too.
func (b *Batch) Truncate(columns []Column, n int) {
	for i := range b.Columns {
		b.Columns[i].Truncate(columns[i].Type, n)
	}
	b.Rows = min(b.Rows, n)
}

// Pop takes rows off a batch of some columns until each has at most n. Every value is whole, but not every column of the last row
// need be there. Unlike Truncate it takes no time by what remains.
func (b *Batch) Pop(columns []Column, n int) {
	for i := range b.Columns {
		v := &b.Columns[i]
		v.Pop(columns[i].Type, max(0, v.Rows()-n))
	}
	b.Rows = min(b.Rows, n)
}
