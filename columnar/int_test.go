package columnar

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// intKinds gives the kinds of integers, and how many bits and which sign they have.
func intKinds() (kinds []Kind, bits []int, signed []bool) {
	for i := range 8 {
		kinds, bits, signed = append(kinds, Int8+Kind(i)), append(bits, 8<<(i%4)), append(signed, i < 4)
	}
	return kinds, bits, signed
}

// intText gives the text of what ParseInt gave.
func intText(v int64, k Kind) string {
	if k == Uint64 {
		return strconv.FormatUint(uint64(v), 10)
	}
	return strconv.FormatInt(v, 10)
}

func TestParseIntAtAllBounds(t *testing.T) {
	kinds, bits, signed := intKinds()
	for i, k := range kinds {
		least, most := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(bits[i]))
		if signed[i] {
			most.Rsh(most, 1)
			least.Neg(most)
		}
		most.Sub(most, big.NewInt(1))
		for _, off := range []int64{-11, -10, -2, -1, 0, 1, 2, 9, 10, 11} {
			for _, bound := range []*big.Int{least, most, new(big.Int)} {
				v := new(big.Int).Add(bound, big.NewInt(off))
				in := v.Cmp(least) >= 0 && v.Cmp(most) <= 0
				for _, text := range []string{v.String(), strings.Replace(v.String(), "-", "-000000000000000000000", 1), strings.ReplaceAll("+"+v.String(), "+-", "-")} {
					got, err := ParseInt([]byte(text), k)
					if in != (err == nil) || in && intText(got, k) != v.String() {
						t.Errorf("%q as %s: %s, %v", text, k, intText(got, k), err)
					}
					if !in && !strings.Contains(err.Error(), "is beyond the range of a") {
						t.Errorf("%q as %s: %v", text, k, err)
					}
				}
			}
		}
	}
}

func TestParseIntAgreesWithStrconv(t *testing.T) {
	kinds, bits, signed := intKinds()
	texts := rapid.OneOf(rapid.StringMatching(`[-+]?[0-9]{0,21}[a-z.]?`), rapid.StringMatching(`[-+]?[0-9]{1,5}`),
		rapid.Map(rapid.Int64(), func(v int64) string { return strconv.FormatInt(v, 10) }))
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		for i, k := range kinds {
			var want string
			var wantErr error
			if signed[i] {
				var v int64
				v, wantErr = strconv.ParseInt(text, 10, bits[i])
				want = strconv.FormatInt(v, 10)
			} else {
				// A sign is no part of the numbers of strconv.ParseUint: a plus changes nothing, and minus has 0 only.
				digits := strings.TrimPrefix(text, "+")
				if minus, ok := strings.CutPrefix(text, "-"); ok && minus != "" && strings.Trim(minus, "0") == "" {
					digits = "0"
				}
				var v uint64
				v, wantErr = strconv.ParseUint(digits, 10, bits[i])
				want = strconv.FormatUint(v, 10)
				if strings.HasPrefix(text, "++") || strings.HasPrefix(text, "+-") {
					wantErr = strconv.ErrSyntax
				}
			}
			got, err := ParseInt([]byte(text), k)
			if (err == nil) != (wantErr == nil) || err == nil && intText(got, k) != want {
				t.Fatalf("%q as %s: %s, %v, strconv has %s, %v", text, k, intText(got, k), err, want, wantErr)
			}
		}
	})
}

func TestParseIntReasons(t *testing.T) {
	for _, test := range []struct {
		text string
		kind Kind
		want string
	}{
		{"-0", Uint8, ""}, {"+0", Int8, ""}, {"+255", Uint8, ""}, {"-1", Uint64, "is beyond the range of a uint64"},
		{"18446744073709551616", Uint64, "is beyond the range of a uint64"}, {"18446744073709551615", Int64, "is beyond the range of an int64"},
		{"256", Uint8, "is beyond the range of a uint8"}, {"1.0", Uint16, "has a point or an exponent: a uint16 is written with digits alone"},
		{"-1e3", Int16, "has a point or an exponent: an int16 is written with digits alone"}, {"x", Int32, "is not an int32"},
		{"-.5", Int8, "has a point or an exponent: an int8 is written with digits alone"}, {"--.5", Int8, "is not an int8"}, {"--5", Int8, "is not an int8"},
		{"", Uint32, "is not a uint32"}, {"-", Int8, "is not an int8"}, {"٣", Int8, "is not an int8"}, {"1,000", Int16, "is not an int16"},
	} {
		_, err := ParseInt([]byte(test.text), test.kind)
		if got := fmt.Sprint(err); test.want == "" && err != nil || test.want != "" && got != test.want {
			t.Errorf("%q as %s: %s, want %s", test.text, test.kind, got, test.want)
		}
	}
}

func FuzzParseInt(f *testing.F) {
	for _, s := range []string{"-128", "255", "+18446744073709551615", "9223372036854775808", "-", "1e3", "00"} {
		f.Add(s, byte(0))
	}
	f.Fuzz(func(t *testing.T, text string, kind byte) {
		k := Int8 + Kind(kind%8)
		v, err := ParseInt([]byte(text), k)
		want, ok := new(big.Int).SetString(text, 10)
		if strings.Contains(text, "_") {
			ok = false
		}
		if ok {
			least, most := bounds(Type{Kind: k})
			ok = want.Cmp(least.big()) >= 0 && want.Cmp(most.big()) <= 0
		}
		if ok != (err == nil) || ok && intText(v, k) != want.String() {
			t.Fatalf("%q as %s is %s, %v, want %s", text, k, intText(v, k), err, want)
		}
	})
}
