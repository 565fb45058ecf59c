package columnar

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseType(t *testing.T) {
	for text, want := range map[string]string{
		" INT64 ": "int64", "TimestampTZ": "timestamptz", "decimal(18,2)": "decimal(18,2)", "Decimal( 38 , 38 )": "decimal(38,38)",
		"decimal(5)": "decimal(5,0)", "list<int64>": "list<int64>", "LIST < int64 ! >\r\n": "list<int64!>",
		"list<list<struct<a:list<uuid>>>>": "list<list<struct<a:list<uuid>>>>", "struct<a:int64,b:string!>": "struct<a:int64,b:string!>",
		"struct< a : int64 ,\n\t\"b\" : decimal(5) ! >": "struct<a:int64,b:decimal(5,0)!>",
		`struct<first name:string,"a,b:c":int8>`:        `struct<"first name":string,"a,b:c":int8>`,
		`struct<"say ""x""":json,"":bool>`:              `struct<"say ""x""":json,"":bool>`,
		"struct<größe:float32>":                         "struct<größe:float32>",
	} {
		got, err := ParseType(text)
		if err != nil || got.String() != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, k := range Kinds() {
		if k == Decimal || k.Nested() {
			continue
		}
		if got, err := ParseType(k.String()); err != nil || got.Kind != k || !got.Equal(Type{Kind: k}) {
			t.Errorf("%s is read as %s, %v", k, got, err)
		}
	}
}

func TestParseTypeRefuses(t *testing.T) {
	for text, reason := range map[string]string{
		"":                                "the types are bool, int8",
		"int":                             `unknown type "int": the types are`,
		"int65":                           `unknown type "int65": the types are`,
		"kind(3)":                         `unknown type "kind"`,
		"<int64>":                         `unknown type "<int64>"`,
		"ınt64":                           `unknown type "ınt64"`,
		"string(5)":                       `"(5)" follows it`,
		"int64!":                          `"!" follows it`,
		"int64 int64":                     `"int64" follows it`,
		"list<int64>>":                    `">" follows it`,
		"decimal":                         "decimal(18,2) is 18 digits in all",
		"decimal 18,2":                    "decimal(18,2) is 18 digits in all",
		"decimal(39,0)":                   "1 to 38 digits",
		"decimal(5,6)":                    "1 to 38 digits",
		"decimal(0,0)":                    "1 to 38 digits",
		"decimal(5,-1)":                   "1 to 38 digits",
		"decimal(-5,1)":                   "1 to 38 digits",
		"decimal(5,2":                     "write it as decimal(18,2)",
		"decimal(5,2,1)":                  "write it as decimal(18,2)",
		"decimal(x,2)":                    "write it as decimal(18,2)",
		"decimal()":                       "write it as decimal(18,2)",
		"decimal(5,)":                     "write it as decimal(18,2)",
		"decimal(5-2)":                    "write it as decimal(18,2)",
		"decimal(99999999999999999999,2)": "write it as decimal(18,2)",
		"list":                            "list<int64>",
		"list(int64)":                     "list<int64>",
		"list<>":                          `unknown type ">"`,
		"list<int64":                      "a > is missing: list<int64>",
		"list<int64,int64>":               "a > is missing: list<int64>",
		"list<int65>":                     `unknown type "int65"`,
		"struct":                          "struct<a:int64,b:string>",
		"struct<>":                        "a name is missing: write id:int64",
		"struct<a>":                       `"a>" is no column: write id:int64`,
		"struct<a:int64":                  "a > is missing: struct<a:int64,b:string>",
		"struct<a:int64,>":                "a name is missing",
		"struct<a:int64 b:int64>":         "a > is missing",
		"struct<a:int64,a:string>":        "field a is there twice",
		`struct<"a:int64>`:                `the name that begins with "a:int64> has no closing quote`,
		strings.Repeat("list<", 33) + "bool" + strings.Repeat(">", 33):     "nested more than 32 deep",
		strings.Repeat("struct<a:", 33) + "bool" + strings.Repeat(">", 33): "nested more than 32 deep",
		strings.Repeat("list<", 100_000):                                   "nested more than 32 deep",
	} {
		if got, err := ParseType(text); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%.100q: %s, %v, want it refused: %s", text, got, err, reason)
		}
	}
	deepest := strings.Repeat("list<struct<a:", 16) + "bool" + strings.Repeat(">>", 16)
	if got, err := ParseType(deepest); err != nil || got.String() != deepest {
		t.Errorf("32 deep: %s, %v", got, err)
	}
}

func TestParseColumns(t *testing.T) {
	for text, want := range map[string]string{
		"id:int64!,name:string":                   "id:int64!,name:string",
		" id : int64 ! , amount : decimal(18,2) ": "id:int64!,amount:decimal(18,2)",
		"first name:string":                       `"first name":string`,
		"total (EUR):int8":                        `"total (EUR)":int8`,
		"a:int64,a:int64":                         "a:int64,a:int64", // whoever has the columns of a source says so
		`"a" :bool`:                               "a:bool",
		"\u00a0a:bool":                            "\u00a0a:bool",
	} {
		got, err := ParseColumns(text)
		if err != nil || FormatColumns(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, FormatColumns(got), err, want)
		}
	}
	for text, reason := range map[string]string{
		"":                     "a name is missing: write id:int64,amount:decimal(18,2)!",
		",":                    "a name is missing",
		"id:int64,":            "a name is missing",
		":int64":               "a name is missing",
		"id":                   `"id" is no column: write id:int64`,
		"id,name:string":       `"id" is no column: write id:int64`,
		"id int64,name:string": `"id int64" is no column: write id:int64`,
		"id:":                  "the types are",
		"id:int65,name:string": `unknown type "int65"`,
		"id:int64 name:string": `"name:string" follows the last one: there is a comma between columns`,
		"id:int64!!":           `"!" follows`,
		"id:int64>":            `">" follows`,
		`"id:int64`:            "no closing quote",
		`"id"x:int64`:          `"idx:int64" is no column`,
		`i"d:int64`:            `is no column`,
	} {
		if got, err := ParseColumns(text); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %s, %v, want it refused: %s", text, FormatColumns(got), err, reason)
		}
	}
}

func columnLists() *rapid.Generator[[]Column] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Column {
		return Column{Name: names().Draw(t, "name"), Type: types(3).Draw(t, "type"), Required: rapid.Bool().Draw(t, "required")}
	}), 1, 4)
}

func equalColumns(a, b []Column) bool {
	return Type{Kind: Struct, Fields: a}.Equal(Type{Kind: Struct, Fields: b})
}

func TestColumnsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := columnLists().Draw(t, "columns")
		text := FormatColumns(columns)
		got, err := ParseColumns(text)
		if err != nil || !equalColumns(got, columns) {
			t.Fatalf("%q came back as %q, %v", text, FormatColumns(got), err)
		}
		spaced := " " + strings.ReplaceAll(strings.ReplaceAll(text, "<", "< "), ">", " \t>\n") + "\r\n"
		if strings.Contains(text, `"`) { // where a space may be in a name
			spaced = "\t" + text + "\r\n "
		}
		if got, err := ParseColumns(spaced); err != nil || !equalColumns(got, columns) {
			t.Fatalf("%q came back as %q, %v", spaced, FormatColumns(got), err)
		}
		for _, c := range columns {
			if got, err := ParseType(c.Type.String()); err != nil || !got.Equal(c.Type) {
				t.Fatalf("%q came back as %q, %v", c.Type, got, err)
			}
		}
	})
}

func TestTypesAreEqual(t *testing.T) {
	one := "struct<a:int64,b:list<decimal(5,2)>>"
	for other, want := range map[string]bool{
		one: true, "struct<a:int64,b:list<decimal(5,2)!>>": false, "struct<a:int64!,b:list<decimal(5,2)>>": false,
		"struct<b:list<decimal(5,2)>,a:int64>": false, "struct<a:int64,c:list<decimal(5,2)>>": false, "struct<a:int64>": false,
		"struct<a:int64,b:list<decimal(5,1)>>": false, "struct<a:int64,b:list<decimal(6,2)>>": false, "int64": false,
	} {
		a, errA := ParseType(one)
		b, errB := ParseType(other)
		if errA != nil || errB != nil || a.Equal(b) != want || b.Equal(a) != want {
			t.Errorf("%s equals %s: %v, %v, %v", one, other, a.Equal(b), errA, errB)
		}
	}
	list := Type{Kind: List, Fields: []Column{{Name: "item", Type: Type{Kind: Bool}}}}
	if !list.Equal(ListOf(Type{Kind: Bool})) {
		t.Error("lists differ by the name of their elements")
	}
}

func TestKindsHaveNames(t *testing.T) {
	for i, k := range Kinds() {
		if k != Kind(i+1) || strings.HasPrefix(k.String(), "kind") {
			t.Errorf("kind %d is %s", i, k)
		}
	}
	if got := Kind(0).String() + " " + Kind(200).String(); got != "kind(0) kind(200)" {
		t.Error(got)
	}
}

func TestParseCast(t *testing.T) {
	for text, want := range map[string]Cast{"": CastSafe, "safe": CastSafe, "exact": CastExact, "lossy": CastLossy} {
		if got, err := ParseCast(text); err != nil || got != want || text != "" && got.String() != text {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	if got, err := ParseCast("Exact"); err == nil || !strings.Contains(err.Error(), "safe, exact") {
		t.Errorf("%s, %v", got, err)
	}
	if got := Cast(7).String(); got != "cast(7)" {
		t.Error(got)
	}
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"list<struct<a:decimal(5,2)!,\"b \"\"c\":uuid>!>", "decimal(38)", "struct<a:int64", "list<list<", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := ParseType(text)
		if err != nil {
			return
		}
		if back, err := ParseType(typ.String()); err != nil || !back.Equal(typ) {
			t.Fatalf("%q is %s, and came back as %s, %v", text, typ, back, err)
		}
	})
}

func FuzzParseColumns(f *testing.F) {
	for _, s := range []string{"id:int64!,name:string", " a b : list< int8 > ,\"\":json", "a:struct<b:struct<c:bool>>!", "\u00a0:bool", "id", ","} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		columns, err := ParseColumns(text)
		if err != nil {
			return
		}
		if back, err := ParseColumns(FormatColumns(columns)); err != nil || !equalColumns(back, columns) {
			t.Fatalf("%q is %q, and came back as %q, %v", text, FormatColumns(columns), FormatColumns(back), err)
		}
	})
}
