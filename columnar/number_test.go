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
