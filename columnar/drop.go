package columnar

// run is some rows after another: [from, to).
type run struct {
	from, to int
}

// addRun appends a run that neither begins nor ends before the last one.
func addRun(runs []run, r run) []run {
	switch last := len(runs) - 1; {
	case r.from >= r.to:
		return runs
	case last >= 0 && r.from <= runs[last].to:
		runs[last].to = r.to
		return runs
	}
	return append(runs, r)
}

// Drop takes rows, sorted, out of a batch of some columns. It takes time by the rows of the batch, not by how many are dropped.
func (b *Batch) Drop(columns []Column, rows []int) {
	if len(rows) == 0 {
		return
	}
	gone := make([]run, 0, len(rows))
	for _, row := range rows {
		gone = addRun(gone, run{row, row + 1})
	}
	for i := range b.Columns {
		b.Columns[i].drop(columns[i].Type, gone)
	}
	for _, r := range gone {
		b.Rows -= r.to - r.from
	}
}

// drop takes rows out of a vector of a type.
func (v *Vector) drop(t Type, gone []run) {
	if len(gone) == 0 {
		return
	}
	values := v.valuesOf(gone)
	for _, r := range gone {
		v.Nulls -= r.to - r.from
	}
	for _, r := range values {
		v.Nulls += r.to - r.from
	}
	v.Valid = cut(v.Valid, gone)
	switch t.Kind {
	case Bool:
		v.Bool = cut(v.Bool, values)
	case Float32:
		v.F32 = cut(v.F32, values)
	case Float64:
		v.F64 = cut(v.F64, values)
	case String, Binary, JSON:
		v.Str = cut(v.Str, values)
	case List:
		v.Kids[0].drop(t.Fields[0].Type, v.elementsOf(values))
		v.Len = cut(v.Len, values)
	case Struct:
		for i := range v.Kids {
			v.Kids[i].drop(t.Fields[i].Type, values)
		}
	}
	switch t.Width() {
	case 4:
		v.I32 = cut(v.I32, values)
	case 8:
		v.I64 = cut(v.I64, values)
	case 16:
		v.I128 = cut(v.I128, values)
	}
}

// valuesOf gives the values that rows have, by their place among those that are not NULL.
func (v *Vector) valuesOf(rows []run) []run {
	if v.Nulls == 0 {
		return rows
	}
	values := make([]run, 0, len(rows))
	row, value := 0, 0
	for _, r := range rows {
		value += sum(v.Valid[row:r.from])
		n := sum(v.Valid[r.from:r.to])
		values = addRun(values, run{value, value + n})
		row, value = r.to, value+n
	}
	return values
}

// elementsOf gives the rows of a list's child that lists have.
func (v *Vector) elementsOf(lists []run) []run {
	elements := make([]run, 0, len(lists))
	list, element := 0, 0
	for _, r := range lists {
		element += sum(v.Len[list:r.from])
		n := sum(v.Len[r.from:r.to])
		elements = addRun(elements, run{element, element + n})
		list, element = r.to, element+n
	}
	return elements
}

func sum[V byte | uint32](values []V) (n int) {
	for _, v := range values {
		n += int(v)
	}
	return n
}

// cut takes runs out of a slice, in place.
func cut[V any](s []V, gone []run) []V {
	if len(gone) == 0 {
		return s
	}
	end := gone[0].from
	for i, r := range gone {
		next := len(s)
		if i+1 < len(gone) {
			next = gone[i+1].from
		}
		end += copy(s[end:], s[r.to:next])
	}
	return s[:end]
}
