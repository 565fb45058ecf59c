package parquet

import (
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// leafOf is one leaf of a file of one row group: its levels and its values.
type leafOf struct {
	rep, def []byte
	values   []byte
}

// readAll reads a file whole, in batches of every size, and from every row on, and gives its columns and its rows. All have to agree.
func readAll(t *testing.T, file []byte) (string, string) {
	t.Helper()
	table := tableOf(t, nil, file)
	schema := &columnar.Schema{Columns: table.Columns()}
	all := total(table)
	rows, _, err := rowsOf(table, schema, 0, all, all+1, false)
	if err != nil {
		t.Fatal(err)
	}
	for from := range all {
		for to := from; to <= all; to++ {
			got, _, err := rowsOf(table, schema, from, to, 1+to%3, false)
			if err != nil || strings.Join(got, "; ") != strings.Join(rows[from:to], "; ") {
				t.Fatalf("rows %d to %d: %q %v, want %q", from, to, got, err, rows[from:to])
			}
		}
	}
	return columnar.FormatColumns(schema.Columns), strings.Join(rows, "; ")
}

// TestShapesOfLists: lists and maps are recognised by the backward-compatibility rules of the format's specification.
func TestShapesOfLists(t *testing.T) {
	list, i32, str := as(deprecated.List), of(pqformat.Int32), of(pqformat.ByteArray)
	one := []leafOf{{[]byte{0, 1, 0, 0, 0}, []byte{2, 2, 0, 1, 2}, int32s(1, 2, 3)}} // [1,2], NULL, [], [3]
	for name, test := range map[string]struct {
		schema  []pqformat.SchemaElement
		leaves  []leafOf
		columns string
		rows    string
	}{
		"three levels": {root(1, el("optional", "l", kids(1), list), el("repeated", "list", kids(1)), el("optional", "element", i32)),
			[]leafOf{{[]byte{0, 1, 0, 0, 0}, []byte{3, 2, 0, 1, 3}, int32s(1, 3)}}, "l:list<int32>", `"[1,null]"; NULL; "[]"; "[3]"`},
		"three levels, logical type": {root(1, el("required", "l", kids(1), logical(&pqformat.ListType{})), el("repeated", "bag", kids(1)), el("optional", "array_element", i32)),
			[]leafOf{{[]byte{0, 1, 0, 0, 0}, []byte{2, 1, 0, 1, 2}, int32s(1, 3)}}, "l:list<int32>!", `"[1,null]"; "[]"; "[null]"; "[3]"`},
		"required element": {root(1, el("optional", "l", kids(1), list), el("repeated", "element", kids(1)), el("required", "str", i32)),
			one, "l:list<int32!>", `"[1,2]"; NULL; "[]"; "[3]"`},
		"two levels": {root(1, el("optional", "l", kids(1), list), el("repeated", "element", i32)),
			one, "l:list<int32!>", `"[1,2]"; NULL; "[]"; "[3]"`},
		"two levels, a struct": {root(1, el("optional", "l", kids(1), list), el("repeated", "element", kids(2)), el("required", "a", i32), el("required", "b", str)),
			[]leafOf{one[0], {one[0].rep, one[0].def, texts("x", "y", "z")}}, "l:list<struct<a:int32!,b:binary!>!>",
			`"[{""a"":1,""b"":""eA==""},{""a"":2,""b"":""eQ==""}]"; NULL; "[]"; "[{""a"":3,""b"":""eg==""}]"`},
		"two levels, array": {root(1, el("optional", "l", kids(1), list), el("repeated", "array", kids(1)), el("required", "a", i32)),
			one, "l:list<struct<a:int32!>!>", `"[{""a"":1},{""a"":2}]"; NULL; "[]"; "[{""a"":3}]"`},
		"two levels, tuple": {root(1, el("optional", "l", kids(1), list), el("repeated", "l_tuple", kids(1)), el("required", "a", i32)),
			one, "l:list<struct<a:int32!>!>", `"[{""a"":1},{""a"":2}]"; NULL; "[]"; "[{""a"":3}]"`},
		"another tuple": {root(1, el("optional", "l", kids(1), list), el("repeated", "m_tuple", kids(1)), el("required", "a", i32)),
			one, "l:list<int32!>", `"[1,2]"; NULL; "[]"; "[3]"`},
		"two levels twice": {root(1, el("optional", "l", kids(1), list), el("repeated", "x", kids(1), list), el("repeated", "y", i32)),
			[]leafOf{{[]byte{0, 2, 1, 0, 0, 0}, []byte{3, 3, 3, 0, 1, 2}, int32s(1, 2, 3)}}, "l:list<list<int32!>!>", `"[[1,2],[3]]"; NULL; "[]"; "[[]]"`},
		"one repeated field": {root(1, el("optional", "l", kids(1), list), el("repeated", "x", kids(1)), el("repeated", "y", i32)),
			[]leafOf{{[]byte{0, 2, 1, 0, 0, 0}, []byte{3, 3, 3, 0, 1, 2}, int32s(1, 2, 3)}}, "l:list<struct<y:list<int32!>!>!>",
			`"[{""y"":[1,2]},{""y"":[3]}]"; NULL; "[]"; "[{""y"":[]}]"`},
		"repeated": {root(1, el("repeated", "l", i32)),
			[]leafOf{{[]byte{0, 1, 0, 0, 0}, []byte{1, 1, 0, 0, 1}, int32s(1, 2, 3)}}, "l:list<int32!>!", `"[1,2]"; "[]"; "[]"; "[3]"`},
		"a repeated group": {root(1, el("repeated", "l", kids(1)), el("optional", "a", i32)),
			[]leafOf{{[]byte{0, 1, 0, 0, 0}, []byte{2, 1, 0, 0, 2}, int32s(1, 3)}}, "l:list<struct<a:int32>!>!", `"[{""a"":1},{""a"":null}]"; "[]"; "[]"; "[{""a"":3}]"`},
		"repeated in a struct": {root(1, el("optional", "s", kids(1)), el("repeated", "l", i32)),
			one, "s:struct<l:list<int32!>!>", `"{""l"":[1,2]}"; NULL; "{""l"":[]}"; "{""l"":[3]}"`},
		"a list that is none": {root(1, el("optional", "l", kids(1), list), el("optional", "a", i32)),
			[]leafOf{{nil, []byte{2, 0, 1, 2}, int32s(1, 3)}}, "l:struct<a:int32>", `"{""a"":1}"; NULL; "{""a"":null}"; "{""a"":3}"`},
		"a map": {root(1, el("optional", "m", kids(1), as(deprecated.Map)), el("repeated", "key_value", kids(2), as(deprecated.MapKeyValue)), el("required", "key", str, as(deprecated.UTF8)), el("optional", "value", i32)),
			[]leafOf{{[]byte{0, 1, 0, 0, 0}, []byte{2, 2, 0, 1, 2}, texts("a", "b", "c")}, {[]byte{0, 1, 0, 0, 0}, []byte{3, 2, 0, 1, 3}, int32s(1, 3)}},
			"m:list<struct<key:string!,value:int32>!>", `"[{""key"":""a"",""value"":1},{""key"":""b"",""value"":null}]"; NULL; "[]"; "[{""key"":""c"",""value"":3}]"`},
		"an old map": {root(1, el("optional", "m", kids(1), as(deprecated.MapKeyValue)), el("repeated", "map", kids(2)), el("required", "k", i32), el("required", "v", i32)),
			[]leafOf{one[0], one[0]}, "m:list<struct<key:int32!,value:int32!>!>", `"[{""key"":1,""value"":1},{""key"":2,""value"":2}]"; NULL; "[]"; "[{""key"":3,""value"":3}]"`},
		"a map without values": {root(1, el("optional", "m", kids(1), logical(&pqformat.MapType{})), el("repeated", "key_value", kids(1)), el("required", "key", i32)),
			one, "m:list<struct<key:int32!>!>", `"[{""key"":1},{""key"":2}]"; NULL; "[]"; "[{""key"":3}]"`},
		"structs": {root(2, el("optional", "s", kids(2)), el("optional", "a", i32), el("required", "t", kids(1)), el("optional", "b", i32), el("required", "c", i32)),
			[]leafOf{{nil, []byte{2, 0, 1, 2}, int32s(1, 3)}, {nil, []byte{1, 0, 2, 2}, int32s(7, 8)}, {nil, nil, int32s(4, 5, 6, 7)}}, "s:struct<a:int32,t:struct<b:int32>!>,c:int32!",
			`"{""a"":1,""t"":{""b"":null}}" "4"; NULL "5"; "{""a"":null,""t"":{""b"":7}}" "6"; "{""a"":3,""t"":{""b"":8}}" "7"`},
	} {
		for _, version := range []int{1, 2} {
			c := crafted{schema: test.schema, groups: []craftedGroup{{rows: 4}}}
			var types []pqformat.Type
			for _, e := range test.schema {
				if e.Type.Valid {
					types = append(types, e.Type.V)
				}
			}
			for i, l := range test.leaves {
				c.groups[0].chunks = append(c.groups[0].chunks, craftedChunk{typ: types[i], pages: l.pages(version)})
			}
			columns, rows := readAll(t, c.file())
			rows = strings.ReplaceAll(rows, `\"`, `""`)
			if columns != test.columns || rows != test.rows {
				t.Errorf("%s, version %d:\n%s %s, want\n%s %s", name, version, columns, rows, test.columns, test.rows)
			}
		}
	}
}

// pages gives the leaf's page or pages: those of version 1 may begin in the middle of a row.
func (l leafOf) pages(version int) []craftedPage {
	entries := max(len(l.def), len(l.values)/4)
	code := func(levels []byte) []byte {
		if levels == nil {
			return nil
		}
		return runs(levels...)
	}
	if version == 2 || len(l.rep) == 0 {
		make := page1
		if version == 2 {
			make = page2
		}
		return []craftedPage{make(entries, pqformat.Plain, code(l.rep), code(l.def), l.values)}
	}
	// The values are of one entry each, as dictionaries have them: a page is cut behind its first entry.
	dict := dictPage(16, l.values[:min(len(l.values), 1<<20)])
	dict.DictionaryPageHeader.V.NumValues = int32(countOf(l))
	var pages []craftedPage
	pages = append(pages, dict)
	next := byte(0)
	most := byte(0)
	for _, d := range l.def {
		most = max(most, d)
	}
	for i := range l.def {
		var indexes []byte
		if l.def[i] == most {
			indexes = append([]byte{8}, runs(next)...)
			next++
		}
		pages = append(pages, page1(1, pqformat.RLEDictionary, runs(l.rep[i]), runs(l.def[i]), indexes))
	}
	return pages
}

// countOf is how many values a leaf has: those of the most levels.
func countOf(l leafOf) (n int) {
	most := byte(0)
	for _, d := range l.def {
		most = max(most, d)
	}
	for _, d := range l.def {
		if d == most {
			n++
		}
	}
	return n
}

// TestTypesOfLeaves: what annotations mean, and what cannot be read.
func TestTypesOfLeaves(t *testing.T) {
	fixed := of(pqformat.FixedLenByteArray)
	for name, test := range map[string]struct {
		e    pqformat.SchemaElement
		want string
	}{
		"INT_8":                   {el("required", "v", of(pqformat.Int32), as(deprecated.Int8)), "int8"},
		"UINT_32":                 {el("required", "v", of(pqformat.Int32), as(deprecated.Uint32)), "uint32"},
		"UINT_64":                 {el("required", "v", of(pqformat.Int64), as(deprecated.Uint64)), "uint64"},
		"INT(8) of 64 bits":       {el("required", "v", of(pqformat.Int64), logical(&pqformat.IntType{BitWidth: 8, IsSigned: true})), ""},
		"INT(24)":                 {el("required", "v", of(pqformat.Int32), logical(&pqformat.IntType{BitWidth: 24})), ""},
		"a unit of tomorrow":      {el("required", "v", of(pqformat.Int64), logical(&pqformat.TimestampType{})), ""},
		"no unit":                 {el("required", "v", of(pqformat.Int32), logical(&pqformat.TimeType{})), ""},
		"DATE":                    {el("required", "v", of(pqformat.Int32), as(deprecated.Date)), "date"},
		"TIME_MILLIS":             {el("required", "v", of(pqformat.Int32), as(deprecated.TimeMillis)), "time"},
		"TIME_MICROS":             {el("required", "v", of(pqformat.Int64), as(deprecated.TimeMicros)), "time"},
		"TIMESTAMP_MILLIS":        {el("required", "v", of(pqformat.Int64), as(deprecated.TimestampMillis)), "timestamptz"},
		"TIMESTAMP_MICROS":        {el("required", "v", of(pqformat.Int64), as(deprecated.TimestampMicros)), "timestamptz"},
		"local, and converted":    {el("required", "v", of(pqformat.Int64), as(deprecated.TimestampMicros), logical(&pqformat.TimestampType{Unit: pqformat.TimeUnit{Value: &pqformat.MicroSeconds{}}})), "timestamp"},
		"DECIMAL":                 {el("required", "v", of(pqformat.Int32), as(deprecated.Decimal), digits(9, 2)), "decimal(9,2)"},
		"DECIMAL without a scale": {el("required", "v", of(pqformat.ByteArray), as(deprecated.Decimal), func(e *pqformat.SchemaElement) { e.Precision.Valid, e.Precision.V = true, 5 }), "decimal(5,0)"},
		"38 digits":               {el("required", "v", fixed, length(17), logical(&pqformat.DecimalType{Precision: 38, Scale: 38})), "decimal(38,38)"},
		"39 digits":               {el("required", "v", fixed, length(17), logical(&pqformat.DecimalType{Precision: 39})), ""},
		"a scale below 0":         {el("required", "v", fixed, length(17), logical(&pqformat.DecimalType{Precision: 3, Scale: -1})), ""},
		"a scale above all":       {el("required", "v", fixed, length(17), logical(&pqformat.DecimalType{Precision: 3, Scale: 4})), ""},
		"UTF8":                    {el("required", "v", of(pqformat.ByteArray), as(deprecated.UTF8)), "string"},
		"ENUM":                    {el("required", "v", of(pqformat.ByteArray), as(deprecated.Enum)), "string"},
		"JSON":                    {el("required", "v", of(pqformat.ByteArray), as(deprecated.Json)), "json"},
		"BSON":                    {el("required", "v", of(pqformat.ByteArray), as(deprecated.Bson)), "binary"},
		"INTERVAL":                {el("required", "v", fixed, length(12), as(deprecated.Interval)), ""},
		"FLOAT16":                 {el("required", "v", fixed, length(2), logical(&pqformat.Float16Type{})), "float32"},
		"FLOAT16 of 3 bytes":      {el("required", "v", fixed, length(3), logical(&pqformat.Float16Type{})), "binary"},
		"UUID":                    {el("required", "v", fixed, length(16), logical(&pqformat.UUIDType{})), "uuid"},
		"GEOMETRY":                {el("required", "v", of(pqformat.ByteArray), logical(&pqformat.GeometryType{})), "binary"},
		"NULL":                    {el("optional", "v", of(pqformat.Int32), logical(&pqformat.NullType{})), "int32"},
		"no length":               {el("required", "v", fixed), ""},
		"no known type":           {el("required", "v", of(99)), ""},
	} {
		c := crafted{schema: root(1, test.e)}
		got := tableOf(t, nil, c.file()).Columns()[0].Type
		if text := got.String(); got.Kind == 0 && test.want != "" || got.Kind != 0 && text != test.want {
			t.Errorf("%s: %s, want %s", name, text, test.want)
		}
	}
}

// TestUnreadable: what cannot be read is named when it is asked for, and can be left out.
func TestUnreadable(t *testing.T) {
	str := of(pqformat.ByteArray)
	schema := root(6, el("required", "a", of(pqformat.Int32)), el("required", "interval", of(pqformat.FixedLenByteArray), length(12), as(deprecated.Interval)),
		el("optional", "variant", kids(2), logical(&pqformat.VariantType{})), el("required", "metadata", str), el("required", "value", str),
		el("optional", "twice", kids(2)), el("required", "x", str), el("required", "x", str), el("optional", "nothing", kids(0)),
		el("optional", "list", kids(1), as(deprecated.List)), el("repeated", "list", kids(1)), el("optional", "element", of(pqformat.FixedLenByteArray), length(20), as(deprecated.Decimal), digits(40, 0)))
	var chunks []craftedChunk
	for _, e := range schema {
		if e.Type.Valid {
			chunks = append(chunks, craftedChunk{typ: e.Type.V, pages: []craftedPage{page1(1, pqformat.Plain, nil, nil, int32s(7))}})
		}
	}
	table := tableOf(t, nil, (&crafted{schema: schema, groups: []craftedGroup{{rows: 1, chunks: chunks}}}).file())
	for name, want := range map[string]string{
		"interval": "column interval: is of a type that cannot be read: FIXED_LEN_BYTE_ARRAY of converted type 21; declare the other columns, to leave it out",
		"variant":  "column variant: is of a type that cannot be read: VARIANT; declare the other columns, to leave it out",
		"twice":    "column twice: has fields of the same name; declare the other columns, to leave it out",
		"nothing":  "column nothing: is of a type that cannot be read: a group without fields; declare the other columns, to leave it out",
		"list":     "column list: is of a type that cannot be read: FIXED_LEN_BYTE_ARRAY of converted type 5; declare the other columns, to leave it out",
	} {
		schema := &columnar.Schema{Columns: []columnar.Column{{Name: name, Type: columnar.Type{Kind: columnar.Binary}}}}
		if _, err := table.NewReader(format.Reading{Schema: schema}, 0, 0); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	rows, _, err := rowsOf(table, &columnar.Schema{Columns: table.Columns()[:1]}, 0, 1, 1, false)
	if err != nil || len(rows) != 1 || rows[0] != `"7"` {
		t.Error(rows, err)
	}
}
