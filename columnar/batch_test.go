package columnar

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// table is a batch and the rows that it is made of, column by column.
type table struct {
	columns []Column
	rows    [][]model
}

func tables() *rapid.Generator[table] {
	return rapid.Custom(func(t *rapid.T) table {
		var tab table
		n := rapid.IntRange(0, 6).Draw(t, "rows")
		for range rapid.IntRange(1, 3).Draw(t, "columns") {
			c := Column{Type: types(3).Draw(t, "type"), Required: rapid.Bool().Draw(t, "required")}
			tab.columns = append(tab.columns, c)
			tab.rows = append(tab.rows, rapid.SliceOfN(models(c), n, n).Draw(t, "values"))
		}
		return tab
	})
}

// batch makes a batch of some of the rows.
func (tab table) batch(keep func(row int) bool) *Batch {
	b := &Batch{}
	b.Reset(tab.columns)
	for row := range tab.rows[0] {
		if !keep(row) {
			continue
		}
		for i, c := range tab.columns {
			addModel(&b.Columns[i], c.Type, &b.Data, tab.rows[i][row])
		}
		b.Rows++
	}
	return b
}

func all(int) bool { return true }

func (tab table) equal(t *rapid.T, got, want *Batch) {
	t.Helper()
	if got.Rows != want.Rows {
		t.Fatalf("%d rows, want %d", got.Rows, want.Rows)
	}
	for i, c := range tab.columns {
		checkVector(t, &got.Columns[i], c.Type)
		a, b := modelsOf(&got.Columns[i], c.Type, got.Data), modelsOf(&want.Columns[i], c.Type, want.Data)
		if !equalModels(a, b) {
			t.Fatalf("%s: got %v, want %v", c.Type, a, b)
		}
	}
}

func TestTruncateEqualsFewerRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := tables().Draw(t, "table")
		for n := range len(tab.rows[0]) + 1 {
			got := tab.batch(all)
			got.Truncate(tab.columns, n)
			tab.equal(t, got, tab.batch(func(row int) bool { return row < n }))
		}
	})
}

// breakOff appends the first part of a value, as a decoder does that finds out half way that it is none.
func breakOff(t *rapid.T, v *Vector, typ Type, data *[]byte) {
	var fields []Column
	switch typ.Kind {
	case List:
		for range rapid.IntRange(0, 2).Draw(t, "elements") {
			addModel(&v.Kids[0], typ.Fields[0].Type, data, models(typ.Fields[0]).Draw(t, "element"))
		}
		fields = typ.Fields
	case Struct:
		whole := rapid.IntRange(0, len(typ.Fields)-1).Draw(t, "fields")
		for i, f := range typ.Fields[:whole] {
			addModel(&v.Kids[i], f.Type, data, models(f).Draw(t, "field"))
		}
		fields = typ.Fields[:whole+1]
	}
	if last := len(fields) - 1; last >= 0 {
		breakOff(t, &v.Kids[last], fields[last].Type, data)
	}
}

func TestTruncateTakesBackARowThatIsNotWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := tables().Draw(t, "table")
		got := tab.batch(all)
		whole := rapid.IntRange(0, len(tab.columns)-1).Draw(t, "whole columns")
		for i, c := range tab.columns[:whole] {
			addModel(&got.Columns[i], c.Type, &got.Data, models(c).Draw(t, "value"))
		}
		breakOff(t, &got.Columns[whole], tab.columns[whole].Type, &got.Data)
		got.Truncate(tab.columns, got.Rows)
		tab.equal(t, got, tab.batch(all))
	})
}

func TestPopTakesBackColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := tables().Draw(t, "table")
		for n := range len(tab.rows[0]) + 1 {
			got := tab.batch(all)
			for i, c := range tab.columns[:rapid.IntRange(0, len(tab.columns)).Draw(t, "columns of a further row")] {
				addModel(&got.Columns[i], c.Type, &got.Data, models(c).Draw(t, "value"))
			}
			got.Pop(tab.columns, n)
			tab.equal(t, got, tab.batch(func(row int) bool { return row < n }))
		}
	})
}

func TestDropEqualsOtherRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := tables().Draw(t, "table")
		var rows []int
		for row := range tab.rows[0] {
			for range rapid.IntRange(0, 2).Draw(t, "dropped") { // a row that two columns refuse may be there twice
				rows = append(rows, row)
			}
		}
		got := tab.batch(all)
		got.Drop(tab.columns, rows)
		tab.equal(t, got, tab.batch(func(row int) bool { return !slices.Contains(rows, row) }))
	})
}

func TestResetEmptiesAndFillsAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := tables().Draw(t, "before").batch(all)
		tab := tables().Draw(t, "table")
		got.Reset(tab.columns)
		got.Data = got.Data[:0]
		for row := range tab.rows[0] {
			for i, c := range tab.columns {
				addModel(&got.Columns[i], c.Type, &got.Data, tab.rows[i][row])
			}
			got.Rows++
		}
		tab.equal(t, got, tab.batch(all))
	})
}

func TestBatchResetKeepsMemory(t *testing.T) {
	list := ListOf(Type{Kind: Struct, Fields: []Column{{Name: "a", Type: Type{Kind: String}}, {Name: "b", Type: Type{Kind: Bool}}}})
	columns := []Column{{Type: Type{Kind: Int64}}, {Type: Type{Kind: Decimal, Precision: 38}}, {Type: list}}
	var b Batch
	fill := func(columns []Column) {
		b.Reset(columns)
		if b.Rows != 0 || len(b.Columns) != len(columns) {
			t.Fatalf("%+v", b)
		}
		for i := range b.Columns {
			v := &b.Columns[i]
			v.Null()
			v.Bool, v.I32, v.I64, v.I128 = append(v.Bool, true), append(v.I32, 1), append(v.I64, 1), append(v.I128, Int128{})
			v.F32, v.F64, v.Str, v.Len = append(v.F32, 1), append(v.F64, 1), append(v.Str, Span{}), append(v.Len, 1)
			for k := range v.Kids {
				v.Kids[k].AddStruct()
				v.Kids[k].Kids[1].Null()
			}
		}
		b.Rows++
	}
	fill(columns)
	for name, n := range map[string]float64{
		"the same columns":   testing.AllocsPerRun(10, func() { fill(columns) }),
		"fewer columns":      testing.AllocsPerRun(10, func() { fill(columns[:1]) }),
		"more columns again": testing.AllocsPerRun(10, func() { fill(columns) }),
	} {
		if n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	wider := append(slices.Clone(columns), columns...)
	first := &b.Columns[0].I64[0]
	fill(wider)
	if first != &b.Columns[0].I64[0] {
		t.Error("the memory of the first columns is given up for more columns")
	}
	if n := testing.AllocsPerRun(10, func() { fill(wider) }); n > 0 {
		t.Errorf("more columns: %v allocations", n)
	}
}

func TestBytesOfSpan(t *testing.T) {
	b := Batch{Data: []byte("xab")}
	if got := b.Bytes(Span{Off: 1, Len: 2}); string(got) != "ab" {
		t.Errorf("%q", got)
	}
}

// A cursor that skips some rows gives the others as one does that skips none.
func TestCursorSkips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Column{Type: types(3).Draw(t, "type")}
		rows := rapid.SliceOfN(models(c), 0, 8).Draw(t, "rows")
		var data []byte
		v := vectorOf(c.Type, &data, rows)
		cursor := NewCursor(&Vector{Kids: make([]Vector, 1)}, ListOf(Type{Kind: Bool})) // of what it has walked over before
		cursor.Reset(&Vector{Kids: make([]Vector, len(c.Type.Fields))}, shallow(c.Type))
		cursor.Reset(v, c.Type)
		for i, want := range rows {
			if cursor.IsNull() != (want == nil) {
				t.Fatalf("row %d is %v, and IsNull is %v", i, want, cursor.IsNull())
			}
			if rapid.Bool().Draw(t, "skip") {
				cursor.Skip()
			} else if got := readModel(cursor, data); !equalModels([]model{got}, []model{want}) {
				t.Fatalf("row %d is %v, want %v", i, got, want)
			}
		}
	})
}

// shallow gives a type of as many fields, none of which has fields.
func shallow(t Type) Type {
	t.Fields = slices.Clone(t.Fields)
	for i := range t.Fields {
		t.Fields[i].Type = Type{Kind: Bool}
	}
	return t
}
