package columnar

// Batch is some rows of a source, column by column: dense typed slices that leave NULLs out, and one validity byte a row.
// A batch of unparsed records has no columns: Data holds the records themselves, each with its line end.
//
// A batch belongs to one goroutine at a time. Whoever fills it reuses its slices: what is kept past the next fill must
// be copied.
type Batch struct {
	Rows    int
	Columns []Vector // as many as the schema has
	Data    []byte   // what the Spans of text columns point into, or the unparsed records
}

// Vector is the values of one column of a batch. Exactly one of its value slices is in use, by the column's type, and it
// holds the values that are not NULL, in order.
type Vector struct {
	Valid []byte // one a row: 1 is a value, 0 is NULL
	Nulls int    // how many of Valid are 0

	Bool []bool
	I64  []int64   // Int64; Decimal of at most Narrow digits, unscaled; Timestamp, microseconds
	I128 []Int128  // Decimal of more than Narrow digits, unscaled
	I32  []int32   // Date, days
	F64  []float64 // Float64
	Str  []Span    // String
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

// Reset empties a batch for a schema of n columns, keeping its memory. Data is left as it is: its filler sets it.
func (b *Batch) Reset(n int) {
	b.Rows = 0
	if cap(b.Columns) < n {
		b.Columns = make([]Vector, n)
	}
	b.Columns = b.Columns[:n]
	for i := range b.Columns {
		b.Columns[i].reset()
	}
}

func (v *Vector) reset() {
	v.Valid, v.Nulls = v.Valid[:0], 0
	v.Bool, v.I64, v.I128, v.I32 = v.Bool[:0], v.I64[:0], v.I128[:0], v.I32[:0]
	v.F64, v.Str = v.F64[:0], v.Str[:0]
}

// Null appends a NULL.
func (v *Vector) Null() {
	v.Valid = append(v.Valid, 0)
	v.Nulls++
}
