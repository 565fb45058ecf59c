package columnar

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func (a Int128) big() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return v.Add(v, new(big.Int).SetUint64(a.Lo))
}

var nines = strings.Repeat("9", 38)

func TestParseDecimal(t *testing.T) {
	for _, test := range []struct {
		text             string
		precision, scale int
		want             string // as AppendDecimal has it, "" if it is refused
		reason           string
	}{
		{"0", 1, 0, "0", ""},
		{"-0", 18, 2, "0.00", ""},
		{"1.5", 18, 2, "1.50", ""},
		{"+1.5", 18, 2, "1.50", ""},
		{"-1.5", 20, 2, "-1.50", ""},
		{".5", 3, 1, "0.5", ""},
		{"5.", 3, 1, "5.0", ""},
		{"007", 1, 0, "7", ""},
		{"0.007", 3, 3, "0.007", ""},
		{"-0.007", 38, 38, "-0.00700000000000000000000000000000000000", ""},
		{"1.50000", 3, 2, "1.50", ""},
		{"1.501", 18, 2, "", "more than 2 digits after the point"},
		{"999.99", 5, 2, "999.99", ""},
		{"1000.00", 5, 2, "", "more than 3 digits before the point"},
		{"1000", 5, 2, "", "more than 3 digits before the point"},
		{"0.1", 5, 0, "", "more than 0 digits after the point"},
		{"1", 2, 2, "", "more than 0 digits before the point"},
		{"1e2", 5, 0, "100", ""},
		{"1.5E+1", 5, 0, "15", ""},
		{"1e-7", 18, 8, "0.00000010", ""},
		{"100e-2", 5, 0, "1", ""},
		{"15e-1", 5, 0, "", "after the point"},
		{"1e400000000000000000000", 38, 0, "", "before the point"},
		{"0e400000000000000000000", 38, 0, "0", ""},
		{"1e-400000000000000000000", 38, 0, "", "after the point"},
		{nines, 38, 0, nines, ""},
		{"-" + nines, 38, 0, "-" + nines, ""},
		{nines[:18], 18, 0, nines[:18], ""},
		{"-" + nines[:16] + ".99", 18, 2, "-" + nines[:16] + ".99", ""},
		{"0." + nines, 38, 38, "0." + nines, ""},
		{nines + "9", 38, 0, "", "more than 38 digits before"},
		{"1" + strings.Repeat("0", 38), 38, 0, "", "more than 38 digits before"},
		{"18446744073709551616", 20, 0, "18446744073709551616", ""},
		{"100000000000000000000.00", 38, 2, "100000000000000000000.00", ""},
		{"", 5, 2, "", "is not a decimal(5,2)"},
		{"-", 5, 2, "", "is not"},
		{".", 5, 2, "", "is not"},
		{"1,5", 5, 2, "", "is not"},
		{"1.5.", 5, 2, "", "is not"},
		{" 1", 5, 2, "", "is not"},
		{"1 ", 5, 2, "", "is not"},
		{"1e", 5, 2, "", "is not"},
		{"1e+", 5, 2, "", "is not"},
		{"--1", 5, 2, "", "is not"},
		{"0x10", 5, 2, "", "is not"},
		{"1_0", 5, 2, "", "is not"},
		{"NaN", 5, 2, "", "is not"},
		{"٣", 5, 2, "", "is not"},
	} {
		wide, err := ParseDecimal([]byte(test.text), test.precision, test.scale)
		check := func(got string, err error) {
			t.Helper()
			var refusal Refusal
			switch {
			case test.want == "" && (!errors.As(err, &refusal) || !strings.Contains(err.Error(), test.reason)):
				t.Errorf("%q as decimal(%d,%d): %s, %v, want it refused: %s", test.text, test.precision, test.scale, got, err, test.reason)
			case test.want != "" && (err != nil || got != test.want):
				t.Errorf("%q as decimal(%d,%d): %s, %v, want %s", test.text, test.precision, test.scale, got, err, test.want)
			}
		}
		check(string(AppendDecimal(nil, wide, test.scale)), err)
		if test.precision <= Narrow {
			narrow, err := ParseNarrow([]byte(test.text), test.precision, test.scale)
			check(string(AppendNarrow(nil, narrow, test.scale)), err)
		}
	}
}

func int128s() *rapid.Generator[Int128] {
	return rapid.Custom(func(t *rapid.T) Int128 {
		bits := rapid.IntRange(0, 127).Draw(t, "bits")
		v := Int128{Hi: rapid.Int64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
		if bits < 64 {
			v = Int128Of(int64(v.Lo) >> bits)
		} else {
			v.Hi >>= bits - 64
		}
		return v
	})
}

func TestInt128AgreesWithBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := int128s().Draw(t, "a"), int128s().Draw(t, "b")
		if got, want := a.Compare(b), a.big().Cmp(b.big()); got != want {
			t.Fatalf("Compare is %d, want %d", got, want)
		}
		if got, want := a.Neg().big(), new(big.Int).Neg(a.big()); got.Cmp(want) != 0 && a.Hi != math.MinInt64 {
			t.Fatalf("Neg is %s, want %s", got, want)
		}
		digits := len(new(big.Int).Abs(a.big()).String())
		if a.big().Sign() == 0 {
			digits = 0
		}
		for p := range MaxPrecision + 1 {
			if got := a.Fits(p); got != (digits <= p) {
				t.Fatalf("%s: Fits(%d) is %v", a.big(), p, got)
			}
		}
		be := a.BigEndian()
		back := new(big.Int).SetBytes(be[:])
		if be[0] >= 0x80 {
			back.Sub(back, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		if back.Cmp(a.big()) != 0 {
			t.Fatalf("BigEndian gives %s, want %s", back, a.big())
		}
	})
}

func TestDecimalTextAgreesWithBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := int128s().Draw(t, "v")
		if got, want := string(AppendDecimal(nil, v, 0)), v.big().String(); got != want {
			t.Fatalf("text is %s, want %s", got, want)
		}
		scale := rapid.IntRange(0, MaxPrecision).Draw(t, "scale")
		text := AppendDecimal(nil, v, scale)
		r, ok := new(big.Rat).SetString(string(text))
		want := new(big.Rat).SetFrac(v.big(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		if !ok || r.Cmp(want) != 0 {
			t.Fatalf("text is %s, want %s", text, want)
		}
		back, err := ParseDecimal(text, MaxPrecision, scale)
		if fits := v.Fits(MaxPrecision); fits != (err == nil) || fits && back != v {
			t.Fatalf("%s came back as %s, %v", text, back.big(), err)
		}
		if narrow := int64(v.Lo); v == Int128Of(narrow) {
			if got := AppendNarrow(nil, narrow, scale); string(got) != string(text) {
				t.Fatalf("narrow text is %s, want %s", got, text)
			}
		}
	})
}

// A number as any program might write it is either refused or kept exactly.
func TestParsedDecimalIsExact(t *testing.T) {
	texts := rapid.StringMatching(`[-+]?[0-9]{0,22}(\.[0-9]{0,8}0{0,9})?([eE][-+]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		precision := rapid.IntRange(1, MaxPrecision).Draw(t, "precision")
		scale := rapid.IntRange(0, precision).Draw(t, "scale")
		want, ok := new(big.Rat).SetString(text)
		v, err := ParseDecimal([]byte(text), precision, scale)
		unscaled := new(big.Rat)
		if ok {
			unscaled.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
			ok = unscaled.IsInt() && len(new(big.Int).Abs(unscaled.Num()).String()) <= precision
		}
		if ok != (err == nil) {
			t.Fatalf("%q: %v", text, err)
		}
		if ok && v.big().Cmp(unscaled.Num()) != 0 {
			t.Fatalf("%q is %s, want %s", text, v.big(), unscaled)
		}
		if precision <= Narrow {
			narrow, narrowErr := ParseNarrow([]byte(text), precision, scale)
			if (narrowErr == nil) != (err == nil) || err == nil && Int128Of(narrow) != v {
				t.Fatalf("%q is narrow %d, %v, wide %s, %v", text, narrow, narrowErr, v.big(), err)
			}
		}
	})
}

func FuzzParseDecimal(f *testing.F) {
	f.Add("-12.50e3", 18, 2)
	f.Add(nines, 38, 0)
	f.Fuzz(func(t *testing.T, text string, precision, scale int) {
		precision = 1 + int(uint(precision)%MaxPrecision)
		scale = int(uint(scale) % uint(precision+1))
		v, err := ParseDecimal([]byte(text), precision, scale)
		if err != nil {
			return
		}
		if !v.Fits(precision) {
			t.Fatalf("%q is %s, beyond %d digits", text, v.big(), precision)
		}
		back, err := ParseDecimal(AppendDecimal(nil, v, scale), precision, scale)
		if err != nil || back != v {
			t.Fatalf("%q is %s, and came back as %s, %v", text, v.big(), back.big(), err)
		}
	})
}
