package columnar

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func typeOf(t interface{ Fatal(...any) }, text string) Type {
	typ, err := ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// leastCasts says for each kind to which others it is cast, and by which cast at least: s is safe, x is exact, . is not at
// all. Decimals are decimal(18,2).
const leastCasts = `
               bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 dec date time ts tstz str bin uuid json
  bool          s   .  .   .   .   .  .   .   .   .   .   .   .    .    .  .    s   .   .    .
  int8          .   s  s   s   s   x  x   x   x   s   s   s   .    .    .  .    s   .   .    .
  int16         .   x  s   s   s   x  x   x   x   s   s   s   .    .    .  .    s   .   .    .
  int32         .   x  x   s   s   x  x   x   x   x   s   s   .    .    .  .    s   .   .    .
  int64         .   x  x   x   s   x  x   x   x   x   x   x   .    .    .  .    s   .   .    .
  uint8         .   x  s   s   s   s  s   s   s   s   s   s   .    .    .  .    s   .   .    .
  uint16        .   x  x   s   s   x  s   s   s   s   s   s   .    .    .  .    s   .   .    .
  uint32        .   x  x   x   s   x  x   s   s   x   s   s   .    .    .  .    s   .   .    .
  uint64        .   x  x   x   x   x  x   x   s   x   x   x   .    .    .  .    s   .   .    .
  float32       .   x  x   x   x   x  x   x   x   s   s   x   .    .    .  .    s   .   .    .
  float64       .   x  x   x   x   x  x   x   x   x   s   x   .    .    .  .    s   .   .    .
  decimal(18,2) .   x  x   x   x   x  x   x   x   x   x   s   .    .    .  .    s   .   .    .
  date          .   .  .   .   .   .  .   .   .   .   .   .   s    .    s  x    s   .   .    .
  time          .   .  .   .   .   .  .   .   .   .   .   .   .    s    .  .    s   .   .    .
  timestamp     .   .  .   .   .   .  .   .   .   .   .   .   x    .    s  x    s   .   .    .
  timestamptz   .   .  .   .   .   .  .   .   .   .   .   .   x    .    x  s    s   .   .    .
  string        x   x  x   x   x   x  x   x   x   x   x   x   x    x    x  x    s   s   x    x
  binary        .   .  .   .   .   .  .   .   .   .   .   .   .    .    .  .    x   s   x    .
  uuid          .   .  .   .   .   .  .   .   .   .   .   .   .    .    .  .    s   s   s    .
  json          .   .  .   .   .   .  .   .   .   .   .   .   .    .    .  .    s   .   .    s
`

// casterOf makes a caster of columns that are not required.
func casterOf(from, to Type, cast Cast) (*Caster, error) {
	return NewCaster(Column{Type: from}, Column{Type: to, Cast: cast})
}

func TestWhichCastEachPairOfTypesNeeds(t *testing.T) {
	var kinds []Type
	lines := strings.Split(strings.TrimSpace(leastCasts), "\n")[1:]
	for _, line := range lines {
		kinds = append(kinds, typeOf(t, strings.Fields(line)[0]))
	}
	for i, line := range lines {
		for k, want := range strings.Fields(line)[1:] {
			from, to := kinds[i], kinds[k]
			got := "."
			for cast, sign := range []string{CastSafe: "s", CastExact: "x", CastLossy: "l"} {
				_, err := casterOf(from, to, Cast(cast))
				if err == nil {
					got = sign
					break
				}
				checkCastError(t, err, from, to, want)
			}
			if got != want {
				t.Errorf("%s to %s is %s, want %s", from, to, got, want)
			}
		}
	}
	if len(kinds) != len(Kinds())-2 {
		t.Errorf("%d kinds", len(kinds))
	}
}

// checkCastError fails unless an error names both types, and a cast that does it, if one does.
func checkCastError(t *testing.T, err error, from, to Type, least string) {
	t.Helper()
	e, ok := errors.AsType[*CastError](err)
	if !ok || !e.From.Equal(from) || !e.To.Equal(to) {
		t.Fatalf("%s to %s: %v", from, to, err)
	}
	text := err.Error()
	if !strings.Contains(text, from.Kind.String()) || !strings.Contains(text, to.Kind.String()) || strings.Contains(text, "cast: exact") != (least == "x") {
		t.Errorf("%s to %s: %v", from, to, err)
	}
}

func TestCastErrors(t *testing.T) {
	for _, test := range []struct {
		from, to string
		cast     Cast
		want     string // "" if it is allowed
	}{
		{"int64", "int32", CastSafe, "int64 has values that int32 has not; cast: exact refuses those, where the column is declared"},
		{"decimal(19,2)", "decimal(18,2)", CastSafe, "decimal(19,2) has values that decimal(18,2) has not; cast: exact"},
		{"decimal(18,0)", "int64", CastSafe, ""},
		{"decimal(19,0)", "int64", CastSafe, "decimal(19,0) has values that int64 has not"},
		{"decimal(2,0)", "uint8", CastSafe, "decimal(2,0) has values"},
		{"decimal(15,0)", "float64", CastSafe, ""},
		{"decimal(15,1)", "float64", CastSafe, "decimal(15,1) has values"},
		{"uint64", "decimal(20,0)", CastSafe, ""},
		{"uint64", "decimal(19,0)", CastSafe, "uint64 has values"},
		{"binary", "string", CastSafe, "binary has values that string has not; cast: exact refuses those"},
		{"timestamp", "timestamptz", CastSafe, "timestamp has no time zone, which timestamptz needs; cast: exact takes the zone to be UTC"},
		{"timestamptz", "timestamp", CastSafe, "timestamptz has a time zone, which timestamp cannot hold; cast: exact takes"},
		{"date", "timestamptz", CastSafe, "date has no time zone, which timestamptz needs; cast: exact"},
		{"date", "int32", CastLossy, "date cannot be cast to int32"},
		{"list<int8>", "list<int16>", CastSafe, ""},
		{"list<int8>", "list<uint8>", CastSafe, "element: int8 has values that uint8 has not; cast: exact"},
		{"list<int8>", "int8", CastLossy, "list<int8> cannot be cast to int8"},
		{"list<int8>", "string", CastLossy, "list<int8> cannot be cast to string"},
		{"int8", "list<int8>", CastLossy, "int8 cannot be cast to list<int8>"},
		{"list<int8>", "struct<a:int8>", CastLossy, "list<int8> cannot be cast to struct<a:int8>"},
		{"struct<a:int8,b:bool>", "struct<b:bool,a:int64>", CastSafe, ""},
		{"struct<a:int8>", "struct<a:int8,b:bool>", CastSafe, ""},
		{"struct<a:int8>", "struct<a:int8,b:bool!>", CastLossy, "field b is required, and struct<a:int8> has none; without ! it becomes NULL"},
		{"struct<a:int8,b:bool>", "struct<a:int8>", CastExact, "struct<a:int8> has no field b; cast: lossy leaves it out"},
		{"struct<a:int8,b:bool>", "struct<a:int8>", CastLossy, ""},
		{"struct<a:list<struct<b:date>>>", "struct<a:list<struct<b:time>>>", CastExact, "a.element.b: date cannot be cast to time"},
		{"list<int8>", "list<int8!>", CastSafe, ""}, // which refuses NULLs as it goes
	} {
		_, err := casterOf(typeOf(t, test.from), typeOf(t, test.to), test.cast)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s to %s, %s: %v, want %s", test.from, test.to, test.cast, err, test.want)
		}
	}
}

// castModels casts a vector of values, and gives the values that come out, and what was refused.
func castModels(t interface{ Fatalf(string, ...any) }, c *Caster, from, to Column, rows []model) (got []model, refused []Refused) {
	var data []byte
	src := vectorOf(from.Type, &data, rows)
	dst := &Vector{}
	dst.Reset(to.Type)
	for range 2 { // the second time behind the rows of the first
		refused = refused[:0]
		if err := c.Cast(src, dst, &data, func(r Refused) error { refused = append(refused, r); return nil }); err != nil {
			t.Fatalf("%v", err)
		}
	}
	checkVector(t, dst, to.Type)
	all := modelsOf(dst, to.Type, data)
	if len(all) != 2*len(rows) || !equalModels(all[:len(rows)], all[len(rows):]) {
		t.Fatalf("cast twice: %v", all)
	}
	return all[len(rows):], refused
}

func TestCastsOfOneValue(t *testing.T) {
	for _, test := range []struct {
		from, to string
		cast     Cast
		value    string // as models have it: strings in quotes, the bits of floats
		want     string // "" if it is refused
		reason   string
	}{
		{"bool", "string", CastSafe, "true", `"true"`, ""},
		{"uint64", "string", CastSafe, "18446744073709551615", `"18446744073709551615"`, ""},
		{"decimal(5,2)", "string", CastSafe, "-1.5", `"-1.50"`, ""},
		{"float64", "string", CastSafe, bits64("NaN"), `"NaN"`, ""},
		{"float64", "string", CastSafe, bits64("-Inf"), `"-Infinity"`, ""},
		{"float64", "string", CastSafe, bits64("-0"), `"-0.0"`, ""},
		{"float32", "string", CastSafe, "3dcccccd", `"0.1"`, ""},
		{"time", "string", CastSafe, "23:59:59.5", `"23:59:59.500000"`, ""},
		{"timestamptz", "string", CastSafe, "2026-11-30 01:00:00+01:00", `"2026-11-30 00:00:00Z"`, ""},
		{"uuid", "string", CastSafe, "00112233-4455-6677-8899-AABBCCDDEEFF", `"00112233-4455-6677-8899-aabbccddeeff"`, ""},
		{"uuid", "binary", CastSafe, "00112233-4455-6677-8899-aabbccddeeff", strconv.Quote("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"), ""},
		{"binary", "uuid", CastExact, `"0123456789abcdef"`, "30313233-3435-3637-3839-616263646566", ""},
		{"binary", "uuid", CastExact, `"0123456789abcde"`, "", "16 bytes"},
		{"binary", "uuid", CastExact, `"0123456789abcdefg"`, "", "16 bytes"},
		{"json", "string", CastSafe, `"{\"a\": 1}"`, `"{\"a\": 1}"`, ""},
		{"string", "json", CastExact, `" [1, 2]"`, `" [1, 2]"`, ""},
		{"string", "json", CastExact, `"[1, 2"`, "", "is not the text of one JSON value"},
		{"string", "json", CastExact, `""`, "", "is not the text of one JSON value"},
		{"string", "json", CastExact, `"1 2"`, "", "is not the text of one JSON value"},
		{"binary", "string", CastExact, `"é"`, `"é"`, ""},
		{"binary", "string", CastExact, `"a\xff"`, "", "is not UTF-8"},
		{"date", "timestamp", CastSafe, "0001-01-01", "0001-01-01 00:00:00", ""},
		{"date", "timestamptz", CastExact, "9999-12-31", "9999-12-31 00:00:00Z", ""},
		{"timestamp", "date", CastExact, "1969-12-31 00:00:00", "1969-12-31", ""},
		{"timestamp", "date", CastExact, "1969-12-31 23:59:59.999999", "", "has a time of day"},
		{"timestamp", "date", CastLossy, "1969-12-31 23:59:59.999999", "1969-12-31", ""},
		{"timestamptz", "date", CastLossy, "1970-01-01 00:59:59+01", "1969-12-31", ""},
		{"timestamp", "timestamptz", CastExact, "2026-11-30 01:02:03", "2026-11-30 01:02:03Z", ""},
		{"timestamptz", "timestamp", CastExact, "2026-11-30 01:02:03+01:00", "2026-11-30 00:02:03", ""},
		{"string", "bool", CastExact, `"TRUE"`, "true", ""},
		{"string", "bool", CastExact, `"1"`, "", "is not a bool"},
		{"string", "int8", CastExact, `"-128"`, "-128", ""},
		{"string", "int8", CastExact, `"128"`, "", "is beyond the range of an int8"},
		{"string", "int8", CastLossy, `"128"`, "", "is beyond the range of an int8"},
		{"string", "int8", CastExact, `"1.0"`, "", "has a point or an exponent"},
		{"string", "int8", CastLossy, `"1.5"`, "2", ""},
		{"string", "int8", CastLossy, `"-2.5"`, "-2", ""},
		{"string", "int8", CastLossy, `"127.5"`, "", "is beyond the range of an int8"},
		{"string", "uint64", CastLossy, `"18446744073709551615.49"`, "18446744073709551615", ""},
		{"string", "int8", CastLossy, `"x"`, "", "is not an int8"},
		{"string", "int8", CastLossy, `""`, "", "an empty value is not an int8"},
		{"string", "decimal(3,2)", CastExact, `"1.005"`, "", "more than 2 digits after the point"},
		{"string", "decimal(3,2)", CastLossy, `"1.005"`, "1.00", ""},
		{"string", "decimal(3,2)", CastLossy, `"1.015"`, "1.02", ""},
		{"string", "decimal(3,2)", CastLossy, `"9.995"`, "", "more than 1 digits before the point"},
		{"string", "decimal(3,2)", CastLossy, `"1.0050001"`, "1.01", ""},
		{"string", "decimal(5,1)", CastLossy, `"12.345e1"`, "123.4", ""},
		{"string", "int8", CastLossy, `".6"`, "1", ""},
		{"string", "int8", CastLossy, `".06"`, "0", ""},
		{"string", "int8", CastLossy, `"6e-2"`, "0", ""},
		{"string", "decimal(3,2)", CastLossy, `"x"`, "", "is not a decimal(3,2)"},
		{"string", "decimal(3,2)", CastLossy, `"1e-999999999999999999999"`, "0.00", ""},
		{"string", "float32", CastExact, `"0.1"`, "3dcccccd", ""},
		{"string", "float64", CastExact, `"NaN"`, bits64("NaN"), ""},
		{"string", "float64", CastLossy, `"1e999"`, "", "is beyond the range of a float64"},
		{"string", "date", CastExact, `"2026-02-29"`, "", "no calendar"},
		{"string", "time", CastExact, `"01:02:03.1234567"`, "", "more than 6 digits"},
		{"string", "time", CastLossy, `"01:02:03.1234567"`, "01:02:03.123456", ""},
		{"string", "timestamp", CastLossy, `"2026-11-30 01:02:03.999999999"`, "2026-11-30 01:02:03.999999", ""},
		{"string", "timestamptz", CastLossy, `"2026-11-30T01:02:03.123456789+01:00"`, "2026-11-30 00:02:03.123456Z", ""},
		{"string", "timestamp", CastLossy, `"2026-11-30 01:02:03.1234567x"`, "", "has a time zone"},
		{"string", "uuid", CastExact, `"00112233-4455-6677-8899-AABBCCDDEEFF"`, "00112233-4455-6677-8899-aabbccddeeff", ""},
		{"float64", "int32", CastLossy, bits64("NaN"), "", "is not an int32"},
		{"float64", "int64", CastLossy, bits64("9223372036854775808"), "", "is beyond the range of an int64"},
		{"float64", "int64", CastExact, bits64("-9223372036854775808"), "-9223372036854775808", ""},
		{"float64", "uint64", CastExact, bits64("18446744073709549568"), "18446744073709549568", ""},
		{"float64", "uint64", CastLossy, bits64("-0.5"), "0", ""},
		{"float64", "uint8", CastLossy, bits64("-0.6"), "", "is beyond the range of a uint8"},
		{"float64", "int8", CastExact, bits64("-0"), "0", ""},
		{"float64", "int8", CastExact, bits64("1.5"), "", "has a fraction, which an int8 cannot hold"},
		{"float64", "decimal(4,2)", CastLossy, bits64("NaN"), "", "is not a decimal(4,2)"},
		{"float64", "decimal(4,2)", CastLossy, bits64("Inf"), "", "more than 2 digits before the point"},
		{"float64", "decimal(4,2)", CastExact, bits64("19.99"), "19.99", ""},
		{"float64", "decimal(4,2)", CastExact, bits64("0.125"), "", "more than 2 digits after the point"},
		{"float64", "decimal(4,2)", CastLossy, bits64("0.125"), "0.12", ""},
		{"float64", "decimal(38,0)", CastExact, bits64("1152921504606846976"), "1152921504606846976", ""},
		{"float64", "decimal(38,0)", CastExact, bits64("72057594037927952"), "72057594037927952", ""}, // in text 7.205759403792795e+16
		{"float32", "decimal(38,0)", CastExact, "4d000001", "134217744", ""},                          // in text 1.3421774e+08
		{"float32", "decimal(3,1)", CastExact, "3dcccccd", "0.1", ""},
		{"decimal(20,0)", "float64", CastExact, "9007199254740993", "", "has more digits than a float64 can hold"},
		{"decimal(4,2)", "float64", CastExact, "19.99", bits64("19.99"), ""},
		{"int64", "float64", CastExact, "9007199254740993", "", "has more digits than a float64 can hold"},
		{"int64", "float64", CastLossy, "9007199254740993", bits64("9007199254740992"), ""},
		// These are just above half way between two float32s, and half way as float64s.
		{"int64", "float32", CastLossy, "4611686293305294849", "5e800001", ""},
		{"int64", "float32", CastLossy, "-4611686293305294849", "de800001", ""},
		{"uint64", "float32", CastLossy, "9223372586610589697", "5f000001", ""},
		{"decimal(38,2)", "float32", CastLossy, "4611686293305294848.01", "5e800001", ""},
		{"float64", "float32", CastExact, bits64("NaN"), "7fc00000", ""},
		{"float64", "float32", CastLossy, bits64("1e39"), "", "is beyond the range of a float32"},
		{"float64", "float32", CastExact, bits64("Inf"), "7f800000", ""},
		{"decimal(3,2)", "decimal(2,1)", CastLossy, "9.95", "", "more than 1 digits before the point"},
		{"decimal(3,2)", "decimal(2,1)", CastLossy, "9.85", "9.8", ""},
		{"decimal(38,0)", "decimal(38,1)", CastLossy, "34028236692093846346337460743176821146", "", "more than 37 digits before the point"}, // 2^128/10
		{"decimal(38,38)", "decimal(38,0)", CastLossy, "0." + nines, "1", ""},
	} {
		from, to := Column{Type: typeOf(t, test.from)}, Column{Type: typeOf(t, test.to), Cast: test.cast}
		c, err := NewCaster(from, to)
		if err != nil {
			t.Fatal(err)
		}
		got, refused := castModels(t, c, from, to, []model{nil, test.value, nil})
		if test.want != "" && (len(refused) > 0 || got[1] != test.want) || test.want == "" && (got[1] != nil || len(refused) != 1 ||
			refused[0].Row != 1 || !strings.Contains(refused[0].Reason.Error(), test.reason)) {
			t.Errorf("%s to %s, %s: %s is %v, %+v, want %s%s", test.from, test.to, test.cast, test.value, got[1], refused, test.want, test.reason)
		}
	}
}

func bits64(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	must(err)
	return floatModel(Float64, v)
}

// A value that CastExact refuses is advised to be cast lossily if, and only if, that takes it.
func TestAdviceIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := scalars().Draw(t, "from"), scalars().Draw(t, "to")
		exact, err := casterOf(from, to, CastExact)
		if err != nil {
			return
		}
		lossy, err := casterOf(from, to, CastLossy)
		if err != nil {
			t.Fatal(err)
		}
		v := models(Column{Type: from, Required: true}).Draw(t, "value")
		if from.Kind == String && rapid.Bool().Draw(t, "as a number") {
			v = strconv.Quote(rapid.StringMatching(`-?[0-9]{0,20}(\.[0-9]{0,8})?(e-?[0-9])?|2026-11-30 01:02:03\.[0-9]{1,9}Z?|01:02:03\.[0-9]{7}`).Draw(t, "text"))
		}
		exactValue, refused := castModels(t, exact, Column{Type: from}, Column{Type: to}, []model{v})
		lossyValue, still := castModels(t, lossy, Column{Type: from}, Column{Type: to}, []model{v})
		switch {
		case len(refused) == 0 && !equalModels(exactValue, lossyValue):
			t.Fatalf("%s to %s: %v is %v, and lossily %v", from, to, v, exactValue, lossyValue)
		case len(still) > 0 && still[0].Advice != "":
			t.Fatalf("%s to %s: %v: %+v", from, to, v, still)
		case len(refused) > 0 && len(still) == 0 && !strings.Contains(refused[0].Advice, "cast: lossy"):
			t.Fatalf("%s to %s: %v: %+v, and lossily it is %v", from, to, v, refused, lossyValue)
		}
	})
}

// Whatever is cast safely comes back by the exact cast, of every type that has a text or a number.
func TestSafeCastsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := Column{Type: types(2).Draw(t, "from")}, Column{}
		to.Type = wider(t, from.Type)
		safe, err := NewCaster(from, to)
		if err != nil {
			t.Fatalf("%s to %s: %v", from.Type, to.Type, err)
		}
		back, err := casterOf(to.Type, from.Type, CastExact)
		if err != nil {
			t.Fatalf("%s to %s: %v", to.Type, from.Type, err)
		}
		rows := rapid.SliceOfN(models(from), 0, 6).Draw(t, "rows")
		got, refused := castModels(t, safe, from, to, rows)
		if len(refused) > 0 {
			t.Fatalf("%s to %s: %v: %+v", from.Type, to.Type, rows, refused)
		}
		again, refused := castModels(t, back, to, from, got)
		if len(refused) > 0 || !equalModels(again, rows) {
			t.Fatalf("%s to %s: %v is %v, and came back as %v, %+v", from.Type, to.Type, rows, got, again, refused)
		}
	})
}

// wider gives a type that every value of a type is safely cast to.
func wider(t *rapid.T, from Type) Type {
	if from.Kind.Nested() {
		to := Type{Kind: from.Kind}
		for _, f := range from.Fields {
			to.Fields = append(to.Fields, Column{Name: f.Name, Type: wider(t, f.Type), Required: f.Required && rapid.Bool().Draw(t, "required")})
		}
		if from.Kind == Struct {
			slices.Reverse(to.Fields)
		}
		return to
	}
	var all []Type
	for _, k := range Kinds()[:JSON] {
		to := decimalOf(t, Type{Kind: k})
		if _, err := casterOf(from, to, CastSafe); err == nil {
			all = append(all, to)
		}
	}
	return rapid.SampledFrom(append(all, from)).Draw(t, "to")
}

func TestNestedCasts(t *testing.T) {
	for _, test := range []struct {
		from, to string
		cast     Cast
		rows     []model
		want     []model
		refused  string
	}{
		{"list<int32>", "list<int8>", CastExact,
			[]model{nil, []model{"1", "300", nil, "2"}, []model{}, []model{"-129"}, []model{"4", "500", "600"}},
			[]model{nil, []model{"1", nil, nil, "2"}, []model{}, []model{nil}, []model{"4", nil, nil}},
			"1 element 300; 3 element -129; 4 element 500; 4 element 600; "},
		{"list<int32>", "list<int32!>", CastSafe,
			[]model{nil, []model{"1", nil}, []model{}, []model{nil, "2"}},
			[]model{nil, []model{"1", nil}, []model{}, []model{nil, "2"}},
			"1 element ; 3 element ; "},
		{"struct<a:int32,b:string,c:bool>", "struct<d:date,b:int8,a:int8>", CastLossy,
			[]model{nil, []model{"1", `"x"`, "true"}, []model{"300", nil, nil}, nil, []model{"400", `"2"`, nil}},
			[]model{nil, []model{nil, nil, "1"}, []model{nil, nil, nil}, nil, []model{nil, "2", nil}},
			"1 b x; 2 a 300; 4 a 400; "},
		{"list<struct<a:int32,b:int32>>", "list<struct<a:int8,b:int8>>", CastExact,
			[]model{[]model{[]model{"1", "300"}}, nil, []model{[]model{"1", "2"}, []model{"400", "2"}}},
			[]model{[]model{[]model{"1", nil}}, nil, []model{[]model{"1", "2"}, []model{nil, "2"}}},
			"2 element.a 400; 0 element.b 300; "},
		{"list<struct<a:list<int32>>>", "list<struct<a:list<int8>>>", CastExact,
			[]model{nil, []model{nil, []model{nil}}, []model{[]model{[]model{"1", "300"}}, nil, []model{[]model{"400"}}}, []model{}, []model{[]model{[]model{}}, []model{[]model{nil, "500"}}}},
			[]model{nil, []model{nil, []model{nil}}, []model{[]model{[]model{"1", nil}}, nil, []model{[]model{nil}}}, []model{}, []model{[]model{[]model{}}, []model{[]model{nil, nil}}}},
			"2 element.a.element 300; 2 element.a.element 400; 4 element.a.element 500; "},
	} {
		from, to := Column{Type: typeOf(t, test.from)}, Column{Type: typeOf(t, test.to), Cast: test.cast}
		c, err := NewCaster(from, to)
		if err != nil {
			t.Fatal(err)
		}
		got, refused := castModels(t, c, from, to, test.rows)
		text := ""
		for _, r := range refused {
			text += fmt.Sprintf("%d %s %s; ", r.Row, r.Path, r.Value)
		}
		if text != test.refused || !equalModels(got, test.want) {
			t.Errorf("%s to %s: %v, refused %s, want %v, refused %s", test.from, test.to, got, text, test.want, test.refused)
		}
	}
}

// Rows that are refused, and no others, are those that have a value which is refused by itself.
func TestRefusedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := Column{Type: types(3).Draw(t, "from")}
		to := Column{Type: narrower(from.Type), Cast: CastExact, Required: rapid.Bool().Draw(t, "required")}
		c, err := NewCaster(from, to)
		if err != nil {
			t.Fatal(err)
		}
		rows := rapid.SliceOfN(models(from), 0, 6).Draw(t, "rows")
		_, refused := castModels(t, c, from, to, rows)
		var got, want []int
		for _, r := range refused {
			got = append(got, r.Row)
		}
		for i, row := range rows {
			if refuses(from, to, row) {
				want = append(want, i)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Fatalf("%s to %s: %v: refused %v, want %v", from.Type, to.Type, rows, got, want)
		}
	})
}

// narrower makes int8s of wide integers, and requires every second field.
func narrower(from Type) Type {
	if from.Kind == Int64 || from.Kind == Uint32 {
		return Type{Kind: Int8}
	}
	from.Fields = slices.Clone(from.Fields)
	for i, f := range from.Fields {
		from.Fields[i] = Column{Name: f.Name, Type: narrower(f.Type), Required: f.Required || len(f.Name)%2 == 1}
	}
	return from
}

func refuses(from, to Column, m model) bool {
	if m == nil {
		return to.Required
	}
	list, ok := m.([]model)
	switch {
	case !ok:
		n, err := strconv.ParseInt(fmt.Sprint(m), 10, 64)
		return !from.Type.Equal(to.Type) && (err != nil || n != int64(int8(n)))
	case from.Type.Kind == List:
		return slices.ContainsFunc(list, func(m model) bool { return refuses(from.Type.Fields[0], to.Type.Fields[0], m) })
	}
	for i, m := range list {
		if refuses(from.Type.Fields[i], to.Type.Fields[i], m) {
			return true
		}
	}
	return false
}

func TestCopies(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"c:int64", "c:int64", true}, {"c:int64!", "c:int64", true}, {"c:int64", "c:int64!", false}, {"c:int8", "c:int16", false},
		{"c:list<int8>", "c:list<int8>", true}, {"c:list<int8>", "c:list<int8!>", false}, {"c:struct<a:bool,b:bool>", "c:struct<b:bool,a:bool>", false},
	} {
		from, err := ParseColumns(test.from)
		to, toErr := ParseColumns(test.to)
		if err != nil || toErr != nil {
			t.Fatal(err, toErr)
		}
		c, err := NewCaster(from[0], to[0])
		if err != nil || c.Copies() != test.want {
			t.Errorf("%s to %s: %v, want %v", test.from, test.to, c.Copies(), test.want)
		}
	}
}

// The first error that refuse gives ends the cast.
func TestCastStopsAtAnError(t *testing.T) {
	for from, to := range map[string]string{
		"string": "int8", "binary": "string", "float64": "int8", "int64": "int8", "list<int64>": "list<int8>", "struct<a:int64,b:int64>": "struct<a:int8,b:int8>",
		"timestamp": "date", "decimal(5,1)": "float32", "list<int16>": "list<int16!>",
	} {
		bad := map[string]model{"string": `"x"`, "binary": `"\xff"`, "float64": bits64("0.1"), "int64": "999", "list<int64>": []model{"999"},
			"struct<a:int64,b:int64>": []model{"999", "999"}, "timestamp": "2026-11-30 01:02:03", "decimal(5,1)": "0.1", "list<int16>": []model{nil}}[from]
		a, b := typeOf(t, from), typeOf(t, to)
		if to == "float32" {
			a, bad = typeOf(t, "decimal(10,1)"), "16777217.1"
		}
		c, err := casterOf(a, b, CastExact)
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		dst := &Vector{}
		dst.Reset(b)
		calls, want := 0, errors.New("enough")
		err = c.Cast(vectorOf(a, &data, []model{bad, bad, bad}), dst, &data, func(Refused) error {
			if calls++; calls == 2 {
				return want
			}
			return nil
		})
		if err != want || calls != 2 {
			t.Errorf("%s to %s: %v after %d calls", from, to, err, calls)
		}
	}
}

func TestValuesBeyondTheirOwnTypeAreRefused(t *testing.T) {
	for _, test := range []struct {
		from, to string
		cast     Cast
		src      Vector
	}{
		{"date", "timestamp", CastSafe, Vector{I32: []int32{MaxDate + 1}}},
		{"date", "timestamp", CastSafe, Vector{I32: []int32{-1 << 31}}},
		{"date", "string", CastSafe, Vector{I32: []int32{MinDate - 1}}},
		{"time", "string", CastSafe, Vector{I64: []int64{-1}}},
		{"timestamp", "string", CastSafe, Vector{I64: []int64{MaxTimestamp + 1}}},
		{"decimal(2,0)", "decimal(3,0)", CastSafe, Vector{I64: []int64{1 << 62}}},
		{"decimal(20,0)", "decimal(38,18)", CastSafe, Vector{I128: []Int128{{Hi: -1 << 63}}}},
		{"decimal(20,0)", "float32", CastExact, Vector{I128: []Int128{{Hi: -1 << 63}}}},
	} {
		c, err := casterOf(typeOf(t, test.from), typeOf(t, test.to), test.cast)
		if err != nil {
			t.Fatal(err)
		}
		test.src.Valid = []byte{1}
		refused := 0
		var dst Vector
		err = c.Cast(&test.src, &dst, new([]byte), func(Refused) error { refused++; return nil })
		if err != nil || refused != 1 || dst.Nulls != 1 || dst.Rows() != 1 {
			t.Errorf("%s to %s: %+v, %v", test.from, test.to, dst, err)
		}
	}
}

func TestSpansEndWhereOffsetsDo(t *testing.T) {
	for to, want := range map[int]bool{5: true, 1<<32 - 1: true, 1 << 32: false} {
		if s, ok := spanOf(5, to); ok != want || ok && s != (Span{Off: 5, Len: uint32(to - 5)}) {
			t.Errorf("[5, %d): %v, %v", to, s, ok)
		}
	}
}

func TestCastsAllocateNothing(t *testing.T) {
	for _, test := range [][3]any{
		{"int32", "int64", "7"}, {"int64", "string", "-12345"}, {"int64", "decimal(38,10)", "-12345"}, {"decimal(38,10)", "decimal(38,2)", "123456789012345678901234.5"},
		{"decimal(38,4)", "float64", "123456789012345678901234567890.1234"}, {"float64", "decimal(38,4)", bits64("1e30")}, {"float64", "decimal(18,4)", bits64("0.33333333")},
		{"float64", "int32", bits64("1.5")}, {"string", "timestamp", `"2026-11-30 01:02:03.123456789"`}, {"string", "float64", strconv.Quote("0." + nines)},
		{"string", "decimal(5,2)", `"1.23456"`}, {"timestamp", "date", "2026-11-30 01:02:03"}, {"uuid", "string", "00112233-4455-6677-8899-aabbccddeeff"},
		{"list<struct<a:int32,b:date>>", "list<struct<b:timestamp,a:string>>", []model{[]model{"1", "2026-11-30"}, nil, []model{nil, nil}}},
	} {
		from, to := typeOf(t, test[0].(string)), typeOf(t, test[1].(string))
		c, err := casterOf(from, to, CastLossy)
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		src := vectorOf(from, &data, []model{test[2], nil, test[2], test[2]})
		text := len(data)
		var dst Vector
		refuse := func(r Refused) error { t.Errorf("%s to %s: %+v", from, to, r); return nil }
		if n := testing.AllocsPerRun(10, func() {
			dst.Reset(to)
			data = data[:text]
			if err := c.Cast(src, &dst, &data, refuse); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%s to %s: %v allocations", from, to, n)
		}
	}
}
