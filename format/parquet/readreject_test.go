package parquet

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go/deprecated"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

func int64s(values ...int64) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// int96 gives nanoseconds of a day and a day.
func int96(nanos int64, day int32) []byte { return append(int64s(nanos), int32s(day)...) }

// TestRefusedValues: values that no type holds are refused one by one, wherever they are, and the rows around them are read. Of each
// column the values are in order: one that is right, those that are not, and one that is right.
func TestRefusedValues(t *testing.T) {
	nanos := pqformat.TimeUnit{Value: &pqformat.NanoSeconds{}}
	millis := pqformat.TimeUnit{Value: &pqformat.MilliSeconds{}}
	i32, i64, str := of(pqformat.Int32), of(pqformat.Int64), of(pqformat.ByteArray)
	for name, test := range map[string]struct {
		e       pqformat.SchemaElement
		values  []byte
		count   int
		lossy   bool
		rows    string
		refused []string
	}{
		"an int8":  {el("required", "v", i32, as(deprecated.Int8)), int32s(-128, -129, 128, 127), 4, false, `"-128"; "127"`, []string{`"-129" is beyond the range of int8, as which the file has it; mend the source`, `"128" is beyond the range of int8`}},
		"a uint16": {el("required", "v", i32, as(deprecated.Uint16)), int32s(0, -1, 65536, 65535), 4, false, `"0"; "65535"`, []string{`"-1" is beyond the range of uint16`, `"65536" is`}},
		"timestamps": {el("required", "v", i64, logical(&pqformat.TimestampType{IsAdjustedToUTC: true, Unit: nanos})), int64s(-1000, -1001, 1_000_000_001, 2000), 4, false,
			`"1969-12-31 23:59:59.999999Z"; "1970-01-01 00:00:00.000002Z"`, []string{`"1969-12-31 23:59:59.999998999Z" has nanoseconds, which no type can hold; cast: lossy cuts them off`, `"1970-01-01 00:00:01.000000001Z" has nanoseconds`}},
		"timestamps that are cut": {el("required", "v", i64, logical(&pqformat.TimestampType{Unit: nanos})), int64s(-1000, -1001, 1_000_000_001, 2000), 4, true,
			`"1969-12-31 23:59:59.999999"; "1969-12-31 23:59:59.999998"; "1970-01-01 00:00:01"; "1970-01-01 00:00:00.000002"`, nil},
		"timestamps far away": {el("required", "v", i64, logical(&pqformat.TimestampType{Unit: millis})), int64s(253402300799999, 253402300800000, 1<<62, -62135596800001, -62135596800000), 5, true,
			`"9999-12-31 23:59:59.999000"; "0001-01-01 00:00:00"`, []string{`"253402300800000" is outside the years 0001 to 9999; mend the source`, `"4611686018427387904" is beyond the range of a timestamp`, `"-62135596800001" is outside`}},
		"times": {el("required", "v", i64, logical(&pqformat.TimeType{Unit: nanos})), int64s(0, 1, -1000, 86_400_000_000_000, 86_399_999_999_000), 5, false,
			`"00:00:00"; "23:59:59.999999"`, []string{`"00:00:00.000000001" has nanoseconds`, `"-1000" is no time of a day`, `"86400000000000" is no time`}},
		"times of milliseconds": {el("required", "v", i32, as(deprecated.TimeMillis)), int32s(0, -1, 86_400_000, 86_399_999), 4, false, `"00:00:00"; "23:59:59.999000"`, []string{`"-1" is no time of a day`, `"86400000" is no time`}},
		"dates":                 {el("required", "v", i32, as(deprecated.Date)), int32s(columnar.MinDate, columnar.MinDate-1, columnar.MaxDate+1, columnar.MaxDate), 4, false, `"0001-01-01"; "9999-12-31"`, []string{`"-719163" is outside the years 0001 to 9999`, `"2932897" is`}},
		"INT96": {el("required", "v", of(pqformat.Int96)), slices.Concat(int96(0, 2440588), int96(1, 2440588), int96(0, -5), int96(86_399_999_999_000, 2440589)), 4, false,
			`"1970-01-01 00:00:00"; "1970-01-02 23:59:59.999999"`, []string{`"1970-01-01 00:00:00.000000001" has nanoseconds`, `"day -2440593" is outside the years`}},
		"decimals of 32 bits": {el("required", "v", i32, as(deprecated.Decimal), digits(3, 1)), int32s(999, 1000, -1000, -999), 4, false, `"99.9"; "-99.9"`,
			[]string{`"100.0" has more than 3 digits, which is all that the file says it has; mend the source`, `"-100.0" has more`}},
		"decimals of 64 bits": {el("required", "v", i64, as(deprecated.Decimal), digits(20, 0)), int64s(1, -1), 2, false, `"1"; "-1"`, nil},
		"decimals of bytes": {el("required", "v", str, as(deprecated.Decimal), digits(38, 0)), texts("\x01", "", strings.Repeat("\xff", 16)+"\x80", "\x01"+strings.Repeat("\x00", 16), "\xfe"+strings.Repeat("\x00", 16), strings.Repeat("\xff", 17), "\x7f"+strings.Repeat("\xff", 15), strings.Repeat("\x00", 20)+"\x80"), 8, false,
			`"1"; "-128"; "-1"; "128"`, []string{`is a decimal without bytes`, `is a decimal that is too large for any type; mend the source`, `is a decimal that is too large for any type`, `"170141183460469231731687303715884105727" has more than 38 digits`}},
		"JSON": {el("required", "v", str, as(deprecated.Json)), texts("1", "{", "\"\xff\"", "", "2"), 5, false, `"1"; "2"`,
			[]string{`"{" is not the text of one JSON value; the type string holds any text`, `"\"\xff\"" is not the text`, `is not the text`}},
		"text": {el("required", "v", str, as(deprecated.UTF8)), texts("é", "\xff", "a\xc3", ""), 4, false, `"é"; ""`, []string{`"\xff" is not UTF-8, which text must be; the type binary holds any bytes`, `"a\xc3" is not UTF-8`}},
	} {
		t.Run(name, func(t *testing.T) {
			var indexes []byte
			reps, defs := make([]byte, test.count), make([]byte, test.count)
			for i := range test.count {
				indexes = append(indexes, byte(i))
				defs[i] = 1
			}
			coded := append([]byte{8}, runs(indexes...)...)
			list := test.e
			list.RepetitionType.V = pqformat.Repeated
			optional := test.e
			optional.RepetitionType.V = pqformat.Optional
			for what, file := range map[string]*crafted{
				"plain":        oneColumn(int64(test.count), test.e, 0, page1(test.count, pqformat.Plain, nil, nil, test.values)),
				"a dictionary": oneColumn(int64(test.count), test.e, 0, dictPage(test.count, test.values), page2(test.count, pqformat.RLEDictionary, nil, nil, coded)),
				"optional":     oneColumn(int64(test.count), optional, 0, page1(test.count, pqformat.Plain, nil, runs(defs...), test.values)),
				"a list":       oneColumn(int64(test.count), list, 0, dictPage(test.count, test.values), page1(test.count, pqformat.RLEDictionary, runs(reps...), runs(defs...), coded)),
			} {
				table := tableOf(t, nil, file.file())
				schema := &columnar.Schema{Columns: table.Columns()}
				path := "column v: "
				rows := test.rows
				if what == "a list" {
					path = "column v.element: "
				}
				if test.lossy {
					schema.Columns[0].Cast = columnar.CastLossy
				}
				for _, most := range []int64{1, 2, 100} {
					got, refused, err := rowsOf(table, schema, 0, int64(test.count), most, true)
					if what == "a list" {
						for i := range got {
							got[i] = strings.NewReplacer(`"[\"`, `"`, `\"]"`, `"`, `"[`, `"`, `]"`, `"`).Replace(got[i])
						}
					}
					if err != nil || strings.Join(got, "; ") != rows || len(refused) != len(test.refused) {
						t.Fatalf("%s: %s %q %v, want %s", what, got, refused, err, rows)
					}
					for i, x := range refused {
						if want := path + test.refused[i]; !strings.HasPrefix(x, want) {
							t.Errorf("%s: %s, want %s", what, x, want)
						}
					}
				}
				if _, _, err := rowsOf(table, schema, 0, int64(test.count), 100, false); len(test.refused) > 0 {
					e, ok := errors.AsType[*format.DataError](err)
					if !ok || e.Row != 2 {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		})
	}
}

// TestJSONAsText: what is said to be JSON and is not can be read as text, and as bytes.
func TestJSONAsText(t *testing.T) {
	json := el("required", "v", of(pqformat.ByteArray), logical(&pqformat.JsonType{}))
	table := tableOf(t, nil, oneColumn(2, json, 0, page1(2, pqformat.Plain, nil, nil, texts("{", "[]"))).file())
	for columns, want := range map[string]string{"v:string": `"{"; "[]"`, "v:binary": `"ew=="; "W10="`} {
		rows, _, err := rowsOf(table, formattest.ParseSchema(columns), 0, 2, 9, false)
		if err != nil || strings.Join(rows, "; ") != want {
			t.Errorf("%s: %q %v, want %s", columns, rows, err, want)
		}
	}
}

// TestRefusedRows: the first refusal of a row is told, of whatever kind, and the row is left out of all columns.
func TestRefusedRows(t *testing.T) {
	schema := formattest.ParseSchema("a:int32 b:string c:list<struct<x:int64>> d:binary")
	file := encode(t, newFormat(t, nil), schema, formattest.Of(schema,
		[]string{"1", "x", `[{"x":1},{"x":2}]`, "QQ=="},
		[]string{"1000", "y", `[{"x":1},{"x":300}]`, "QQ=="},
		[]string{"3", "z", `[]`, "/w=="},
		[]string{"NULL", "NULL", `[{"x":-129}]`, "/w=="},
		[]string{"5", "w", `NULL`, "Qg=="}))
	declared := formattest.ParseSchema("d:string c:list<struct<x:int8>> a:int8! b:string")
	for i := range declared.Columns {
		declared.Columns[i].Cast = columnar.CastExact
	}
	table := tableOf(t, nil, file)
	want := []string{`"A" "[{\"x\":1},{\"x\":2}]" "1" "x"`, `"B" NULL "5" "w"`}
	for _, most := range []int64{1, 3, 9} {
		rows, refused, err := rowsOf(table, declared, 0, 5, most, true)
		if err != nil || !slices.Equal(rows, want) {
			t.Error(cmp.Diff(rows, want), err)
		}
		for i, text := range []string{`column c.element.x: "300" is beyond the range of an int8`, `column d: "\xff" is not UTF-8`, `column d: "\xff" is not UTF-8`} {
			if i >= len(refused) || !strings.HasPrefix(refused[i], text) {
				t.Errorf("%q, want %s", refused, text)
			}
		}
	}
	stop := errors.New("enough")
	r, err := table.NewReader(format.Reading{Schema: declared, Reject: func(format.Rejected) error { return stop }}, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(5, &columnar.Batch{}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestRefusedRowsHaveText: a row that is refused is told as an object of the columns that are read, refused values as texts.
func TestRefusedRowsHaveText(t *testing.T) {
	file := &crafted{schema: root(3, el("required", "id", of(pqformat.Int32)), el("optional", "d", of(pqformat.Int32), as(deprecated.Date)), el("required", "s", kids(2)),
		el("required", "X", of(pqformat.Int32)), el("required", "y", of(pqformat.ByteArray), as(deprecated.UTF8)))}
	chunk := func(p craftedPage, of pqformat.Type) craftedChunk {
		return craftedChunk{typ: of, pages: []craftedPage{p}}
	}
	file.groups = []craftedGroup{{rows: 3, chunks: []craftedChunk{chunk(page1(3, pqformat.Plain, nil, nil, int32s(1, 300, 3)), pqformat.Int32),
		chunk(page1(3, pqformat.Plain, nil, runs(0, 1, 1), int32s(0, columnar.MaxDate+1)), pqformat.Int32),
		chunk(page1(3, pqformat.Plain, nil, nil, int32s(7, 8, 9)), pqformat.Int32), chunk(page1(3, pqformat.Plain, nil, nil, texts("a", "b", "\"c")), pqformat.ByteArray)}}}
	table := tableOf(t, map[string]any{"case": "ignore"}, file.file())
	schema := formattest.ParseSchema("id:int8 s:struct<x:int32,y:string> d:date")
	schema.Columns[0].Cast = columnar.CastExact
	var got []string
	r, err := table.NewReader(format.Reading{Schema: schema, Reject: func(x format.Rejected) error {
		got = append(got, string(x.Raw))
		return nil
	}}, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	if _, err := r.Next(10, &b); err != nil || b.Rows != 1 {
		t.Fatal(b.Rows, err)
	}
	want := []string{`{"id":"300","s":{"x":8,"y":"b"},"d":"1970-01-01"}`, `{"id":3,"s":{"x":9,"y":"\"c"},"d":"2932897"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFieldsThatAreLacking: a field of a struct is missed as a column is.
func TestFieldsThatAreLacking(t *testing.T) {
	file := &crafted{schema: root(1, el("required", "s", kids(1)), el("required", "x", of(pqformat.Int32)))}
	file.groups = []craftedGroup{{rows: 1, chunks: []craftedChunk{{typ: pqformat.Int32, pages: []craftedPage{page1(1, pqformat.Plain, nil, nil, int32s(7))}}}}}
	for _, test := range []struct{ missing, schema, want string }{
		{"fail", "s:struct<x:int32,z:int8>", `column s: has no field z in the file; or accept it: parquet: {missing: "null"}`},
		{"null", "s:struct<x:int32,z:int8>", ""},
		{"fail", "s:struct<x:int32>", ""},
	} {
		_, err := tableOf(t, map[string]any{"missing": test.missing}, file.file()).NewReader(format.Reading{Schema: formattest.ParseSchema(test.schema)}, 0, 1)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
