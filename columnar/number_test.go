package columnar

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseInt64(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "+5": 5, "007": 7, "2147483647": 1<<31 - 1, "-2147483648": -1 << 31, "2147483648": 1 << 31,
		"4294967296": 1 << 32, "9007199254740991": 1<<53 - 1, "9007199254740993": 1<<53 + 1,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
		"0000000000000000000000000000009223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseInt64([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for text, reason := range map[string]string{
		"9223372036854775808": "beyond the range", "-9223372036854775809": "beyond the range", "18446744073709551616": "beyond the range",
		"99999999999999999999999": "beyond the range", "1.0": "a point or an exponent", "1e3": "a point or an exponent",
		"99999999999999999999999.5": "a point or an exponent", "99999999999999999999999x": "is not an int64",
		"": "is not an int64", "-": "is not an int64", "+": "is not an int64", "--1": "is not an int64", " 1": "is not an int64",
		"1 ": "is not an int64", "0x1": "is not an int64", "1_0": "is not an int64", "A": "is not an int64", "1\x00": "is not an int64",
	} {
		if got, err := ParseInt64([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %d, %v, want it refused: %s", text, got, err, reason)
		}
	}
}

func TestParseInt64AgreesWithStrconv(t *testing.T) {
	texts := rapid.OneOf(rapid.StringMatching(`[-+]?[0-9]{0,21}[a-z.]?`), rapid.Map(rapid.Int64(), func(v int64) string { return strconv.FormatInt(v, 10) }))
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		want, wantErr := strconv.ParseInt(text, 10, 64)
		got, err := ParseInt64([]byte(text))
		if (err == nil) != (wantErr == nil) || err == nil && got != want {
			t.Fatalf("%q: %d, %v, strconv has %d, %v", text, got, err, want, wantErr)
		}
	})
}

func TestParseFloat64(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "1.5": 1.5, ".5": 0.5, "5.": 5, "-1e3": -1000, "1E+2": 100, "0.1": 0.1, "1e22": 1e22, "1e23": 1e23,
		"9007199254740993": 9007199254740992, "1.7976931348623157e308": math.MaxFloat64, "5e-324": math.SmallestNonzeroFloat64,
		"123456789012345e22": 123456789012345e22, "1e-400": 0, "179769313486231570000000000000000000000e270": math.MaxFloat64,
	} {
		if got, err := ParseFloat64([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := ParseFloat64([]byte("-0")); err != nil || !math.Signbit(got) {
		t.Errorf("-0: %v, %v", got, err)
	}
	for text, reason := range map[string]string{
		"1e309": "beyond the range", "-1e999999999999999999999": "beyond the range", "": "is not a float64", "1,5": "is not a float64",
		"0x1p-2": "is not a float64", "1_0": "is not a float64", "e5": "is not a float64", "1e": "is not a float64", " 1": "is not a float64",
		"infinite value": "is not a float64",
	} {
		if got, err := ParseFloat64([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, %v, want it refused: %s", text, got, err, reason)
		}
	}
}

func TestFloat64AgreesWithStrconv(t *testing.T) {
	texts := rapid.OneOf(rapid.StringMatching(`[-+]?[0-9]{1,17}(\.[0-9]{0,6})?([eE][-+]?[0-9]{1,3})?`),
		rapid.Map(rapid.Float64(), func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }))
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		want, wantErr := strconv.ParseFloat(text, 64)
		got, err := ParseFloat64([]byte(text))
		if (err == nil) != (wantErr == nil) || err == nil && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q: %v, %v, strconv has %v, %v", text, got, err, want, wantErr)
		}
		if err != nil {
			return
		}
		out := AppendFloat64(nil, got)
		back, backErr := ParseFloat64(out)
		if backErr != nil || math.Float64bits(back) != math.Float64bits(got) {
			t.Fatalf("%v written as %s came back as %v, %v", got, out, back, backErr)
		}
	})
}

func TestAppendFloat64(t *testing.T) {
	for want, v := range map[string]float64{"1": 1, "0.1": 0.1, "100000000000000000000": 1e20, "1e+21": 1e21, "1e-07": 1e-7, "0.000001": 1e-6,
		"-0.0": math.Copysign(0, -1), "NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "5e-324": math.SmallestNonzeroFloat64} {
		if got := AppendFloat64(nil, v); string(got) != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

// Some of these are next to half way between two float32s, and would be rounded wrongly by way of a float64.
func TestParseFloat32RoundsOnce(t *testing.T) {
	for text, want := range map[string]float32{
		"0.1": 0.1, "16777217": 16777216, "16777219": 16777220, "3.4028235e38": math.MaxFloat32, "1e-45": math.SmallestNonzeroFloat32,
		"1.000000059604644775390625":     1,                // half way: to even
		"1.0000000596046447753906250001": 1.00000011920929, // the float64 next to it is half way
		"0.50000008940696716308593749":   0.50000006,
		"1e-50":                          0,
	} {
		if got, err := ParseFloat32([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for text, reason := range map[string]string{"3.4028236e38": "is beyond the range of a float32", "1e39": "is beyond", "-1e39": "is beyond",
		"": "is not a float32", "1f": "is not a float32", "0x1p1": "is not a float32", "1_0": "is not a float32", "Infinite": "is not a float32"} {
		if got, err := ParseFloat32([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, %v, want it refused: %s", text, got, err, reason)
		}
	}
}

func TestFloat32AgreesWithStrconv(t *testing.T) {
	texts := rapid.OneOf(rapid.StringMatching(`[-+]?[0-9]{1,17}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,2})?`),
		rapid.Map(rapid.Float32(), func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }),
		rapid.Map(rapid.Uint32Range(0, 0x7f7ffffe), func(bits uint32) string { // half way to the next, and a bit more or less
			a, b := float64(math.Float32frombits(bits)), float64(math.Float32frombits(bits+1))
			return strconv.FormatFloat((a+b)/2, 'f', -1, 64) + []string{"", "0001", "0000000000000000000000001"}[bits%3]
		}))
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		want, wantErr := strconv.ParseFloat(text, 32)
		got, err := ParseFloat32([]byte(text))
		if (err == nil) != (wantErr == nil) || err == nil && math.Float32bits(got) != math.Float32bits(float32(want)) {
			t.Fatalf("%q: %v, %v, strconv has %v, %v", text, got, err, want, wantErr)
		}
		if err == nil {
			checkShortest(t, got)
		}
	})
}

// checkShortest fails unless a float32 is written with no more digits than strconv needs, and comes back bit for bit.
func checkShortest(t interface{ Fatalf(string, ...any) }, v float32) {
	out := AppendFloat32(nil, v)
	back, err := ParseFloat32(out)
	if err != nil || math.Float32bits(back) != math.Float32bits(v) {
		t.Fatalf("%v written as %s came back as %v, %v", v, out, back, err)
	}
	shortest, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(float64(v)), 'e', -1, 32), "e")
	digits, _, _ := strings.Cut(string(out), "e")
	digits = strings.Trim(strings.Replace(digits, ".", "", 1), "-0")
	if want := strings.Trim(strings.Replace(shortest, ".", "", 1), "0"); digits != want {
		t.Fatalf("%v is written as %s, with other digits than %s", v, out, want)
	}
}

func TestEveryFloat32ComesBack(t *testing.T) {
	for bits := uint32(0); bits < 0xffff_0000; bits += 104_729 {
		if v := math.Float32frombits(bits); v == v && !math.IsInf(float64(v), 0) {
			checkShortest(t, v)
		}
	}
	for want, v := range map[string]float32{"0.1": 0.1, "16777216": 1 << 24, "1e+21": 1e21, "1e-45": 1e-45, "NaN": float32(math.NaN()),
		"Infinity": float32(math.Inf(1)), "-Infinity": float32(math.Inf(-1)), "-0.0": float32(math.Copysign(0, -1)), "3.4028235e+38": math.MaxFloat32} {
		if got := AppendFloat32(nil, v); string(got) != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestTextsThatAreNotFinite(t *testing.T) {
	for text, want := range map[string]string{
		"NaN": NaN, "nan": NaN, "NAN": NaN, "+nan": NaN, "-NaN": NaN, "inf": PosInf, "Inf": PosInf, "+INF": PosInf, "infinity": PosInf,
		"Infinity": PosInf, "+iNfInItY": PosInf, "-inf": NegInf, "-Infinity": NegInf,
		"": "", "na": "", "nans": "", "in": "", "infin": "", "infinityy": "", "--inf": "", "+-nan": "", " nan": "", "inf ": "", "-": "", "+": "",
		"\u0130nf": "", "\u0131nf": "", "INF\x00": "", "n\x01n": "", "snan": "", "nan(1)": "", "1.#INF": "", "i.f": "", "NULL": "",
	} {
		got64, err64 := ParseFloat64([]byte(text))
		got32, err32 := ParseFloat32([]byte(text))
		if (err64 == nil) != (want != "") || (err32 == nil) != (want != "") {
			t.Errorf("%q: %v, %v, %v, %v", text, got64, err64, got32, err32)
			continue
		}
		if want != "" && (string(AppendFloat64(nil, got64)) != want || string(AppendFloat32(nil, got32)) != want) {
			t.Errorf("%q: %v and %v, want %s", text, got64, got32, want)
		}
	}
}

func FuzzParseFloat(f *testing.F) {
	for _, s := range []string{"1.5", "-0", "1e-400", "179769313486231570000000000000000000000000e270", "nan", "-Infinity", "0x1p1", "1_0", ".e1", "1.000000059604644775390625"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wantErr := strconv.ParseFloat(text, 64)
		if strings.ContainsAny(text, "xX_") {
			wantErr = strconv.ErrSyntax // as JSON and SQL have it
		}
		if len(text) == 4 && strings.EqualFold(text[1:], "nan") && (text[0] == '+' || text[0] == '-') {
			want, wantErr = math.NaN(), nil
		}
		got, err := ParseFloat64([]byte(text))
		if (err == nil) != (wantErr == nil) || err == nil && got != want && got == got {
			t.Fatalf("%q: %v, %v, strconv has %v, %v", text, got, err, want, wantErr)
		}
		single, err := ParseFloat32([]byte(text))
		if want, _ := strconv.ParseFloat(text, 32); err == nil && float64(single) != want && single == single {
			t.Fatalf("%q is the float32 %v, strconv has %v", text, single, want)
		}
	})
}

func TestParseBool(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "True": true, "FALSE": false, "false": false} {
		if got, err := ParseBool([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "t", "1", "yes", "true ", "ﬀalse", "truE\x00", "folse"} {
		if got, err := ParseBool([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
