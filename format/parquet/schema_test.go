package parquet

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

const everyType = "z:bool! a:int64 c,d:float64 e:decimal(9,2) f:decimal(18,2) g:decimal(38,2)! h.i:date j:timestamp k:string b:bool " +
	"i8:int8 i16:int16 i32:int32 u8:uint8 u16:uint16 u32:uint32 u64:uint64 f32:float32 t:time tz:timestamptz bin:binary id:uuid js:json " +
	"l:list<int64>! ll:list<list<string!>!> s:struct<q:int8!,a:struct<b:uuid>> ls:list<struct<x:time,y:list<json>>!>"

func TestSchemaOfTheFile(t *testing.T) {
	schema := formattest.ParseSchema(everyType)
	file, err := formattest.Encode(newFormat(t, nil), format.Target{Schema: schema, Meta: [][2]string{{"zeta", "1"}, {"alpha", "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, file)
	want := `message clinkctl {
	required boolean z;
	optional int64 a (INT(64,true));
	optional double c,d;
	optional int32 e (DECIMAL(9,2));
	optional int64 f (DECIMAL(18,2));
	required fixed_len_byte_array(16) g (DECIMAL(38,2));
	optional int32 h.i (DATE);
	optional int64 j (TIMESTAMP(isAdjustedToUTC=false,unit=MICROS));
	optional binary k (STRING);
	optional boolean b;
	optional int32 i8 (INT(8,true));
	optional int32 i16 (INT(16,true));
	optional int32 i32 (INT(32,true));
	optional int32 u8 (INT(8,false));
	optional int32 u16 (INT(16,false));
	optional int32 u32 (INT(32,false));
	optional int64 u64 (INT(64,false));
	optional float f32;
	optional int64 t (TIME(isAdjustedToUTC=false,unit=MICROS));
	optional int64 tz (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS));
	optional binary bin;
	optional fixed_len_byte_array(16) id (UUID);
	optional binary js (JSON);
	required group l (LIST) {
		repeated group list {
			optional int64 element (INT(64,true));
		}
	}
	optional group ll (LIST) {
		repeated group list {
			required group element (LIST) {
				repeated group list {
					required binary element (STRING);
				}
			}
		}
	}
	optional group s {
		required int32 q (INT(8,true));
		optional group a {
			optional fixed_len_byte_array(16) b (UUID);
		}
	}
	optional group ls (LIST) {
		repeated group list {
			required group element {
				optional int64 x (TIME(isAdjustedToUTC=false,unit=MICROS));
				optional group y (LIST) {
					repeated group list {
						optional binary element (JSON);
					}
				}
			}
		}
	}
}`
	if diff := cmp.Diff(want, f.Schema().String()); diff != "" {
		t.Error(diff)
	}
	m := f.Metadata()
	if m.CreatedBy != "clinkctl version 1" {
		t.Errorf("created by %q", m.CreatedBy)
	}
	for key, want := range map[string]string{"zeta": "1", "alpha": "2"} {
		if got, ok := f.Lookup(key); !ok || got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if bytes.Index(file, []byte("zeta")) > bytes.Index(file, []byte("alpha")) {
		t.Error("the metadata has another order")
	}
}

// A reader that knows converted types only takes a timestamp or a time for one of UTC: there is none, unless compat asks for it.
// Then there is no logical type that such readers do not know.
func TestConvertedTypes(t *testing.T) {
	schema := formattest.ParseSchema(everyType)
	const utf8, list, decimal, date, timeMicros, timestampMicros, uint8, uint16, uint32, uint64, int8, int16, json = 0, 3, 5, 6, 8, 10, 11, 12, 13, 14, 15, 16, 19
	converted := map[string]int{"e": decimal, "f": decimal, "g": decimal, "h.i": date, "k": utf8, "i8": int8, "i16": int16, "u8": uint8, "u16": uint16,
		"u32": uint32, "u64": uint64, "tz": timestampMicros, "js": json, "l": list, "ll": list, "ls": list}
	for _, compat := range []bool{false, true} {
		if compat {
			converted["j"], converted["t"] = timestampMicros, timeMicros
		}
		file := encode(t, newFormat(t, map[string]any{"compat": compat}), schema)
		for _, e := range open(t, file).Metadata().Schema {
			if _, column := indexOf(schema, e.Name); !column {
				continue
			}
			want, some := converted[e.Name]
			if e.ConvertedType.Valid != some || some && int(e.ConvertedType.V) != want {
				t.Errorf("compat %v: column %s has converted type %v", compat, e.Name, e.ConvertedType)
			}
			if logical := e.LogicalType.String(); compat && logical == "UUID" {
				t.Errorf("column %s is %s, for readers that do not know it", e.Name, logical)
			}
		}
	}
}

func indexOf(schema *columnar.Schema, name string) (int, bool) {
	for i, c := range schema.Columns {
		if c.Name == name {
			return i, true
		}
	}
	return 0, false
}

func TestPagesOfOldReaders(t *testing.T) {
	schema := formattest.ParseSchema("a:int64 b:string")
	for compat, want := range map[bool]string{true: "DATA_PAGE PLAIN", false: "DATA_PAGE_V2 DELTA_BINARY_PACKED"} {
		file := encode(t, newFormat(t, map[string]any{"compat": compat}), schema, formattest.Of(schema, []string{"1", "x"}))
		s := open(t, file).Metadata().RowGroups[0].Columns[0].MetaData.EncodingStats[0]
		if got := s.PageType.String() + " " + s.Encoding.String(); got != want {
			t.Errorf("compat %v: %s", compat, got)
		}
	}
}

func TestMapping(t *testing.T) {
	for name, want := range map[string][2]string{
		"bool":                         {"BOOLEAN", ""},
		"int8":                         {"INT32", "INT(8,true)"},
		"uint64":                       {"INT64", "INT(64,false)"},
		"float32":                      {"FLOAT", ""},
		"float64":                      {"DOUBLE", ""},
		"decimal(9,2)":                 {"INT32", "DECIMAL(9,2)"},
		"decimal(18,2)":                {"INT64", "DECIMAL(18,2)"},
		"decimal(19,2)":                {"FIXED_LEN_BYTE_ARRAY(16)", "DECIMAL(19,2)"},
		"timestamptz":                  {"INT64", "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)"},
		"binary":                       {"BYTE_ARRAY", ""},
		"uuid":                         {"FIXED_LEN_BYTE_ARRAY(16)", "UUID"},
		"list<int64>":                  {"group { repeated group list { optional INT64 element (INT(64,true)) } }", "LIST"},
		"struct<a:date!,b:list<bool>>": {"group { required INT32 a (DATE); optional group b (LIST) { repeated group list { optional BOOLEAN element } } }", ""},
	} {
		typ, err := columnar.ParseType(name)
		if err != nil {
			t.Fatal(err)
		}
		physical, logical := Mapping(typ)
		if got := [2]string{physical, logical}; got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
