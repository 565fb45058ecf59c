package format

import (
	"bytes"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
)

const nines38 = "99999999999999999999999999999999999999"

func guessOf(texts ...string) Guess {
	var g Guess
	for _, text := range texts {
		g.Add([]byte(text))
	}
	return g
}

func TestGuess(t *testing.T) {
	for _, test := range []struct {
		texts string // with spaces between them; _ is a space in one
		want  string
	}{
		{"true", "bool"}, {"TRUE False", "bool"}, {"true t", "string"}, {"true 1", "string"}, {"yes no", "string"},

		{"0 1 -1 42", "int64"}, {"9223372036854775807 -9223372036854775808", "int64"},
		{"9223372036854775808", "decimal(38,0)"}, {"-9223372036854775809 5", "decimal(38,0)"},
		{"2147483648 4294967295 18446744073709551615", "decimal(38,0)"}, {nines38, "decimal(38,0)"}, {nines38 + "9", "string"},
		{"1234567890 9876543210 12345678901234567890", "decimal(38,0)"}, // ids that grow beyond their type
		{"007", "string"}, {"1 01", "string"}, {"00", "string"}, {"-01", "string"}, {"-0", "string"}, {"0 -0", "string"},
		{"+1", "string"}, {"_1", "string"}, {"1_", "string"}, {"1,000", "string"}, {"1'000", "string"}, {"1_000", "string"}, {"0x1f", "string"},
		{"-", "string"}, {"--1", "string"}, {"1-", "string"}, {"١", "string"},
		{"+491701234567", "string"}, {"01701234567", "string"}, {"1701234567 01701234567", "string"}, {"00491701234567", "string"},

		{"0.5", "decimal(18,1)"}, {"1.50 2", "decimal(18,2)"}, {"-0.5", "decimal(18,1)"}, {"1.0 2.00", "decimal(18,2)"},
		{"9007199254740993 0.5", "decimal(38,1)"}, {"9223372036854775807 0.1", "decimal(38,1)"},
		{"12345678901234.5", "decimal(18,1)"}, {"123456789012345.5", "decimal(38,1)"},
		{"123456789012345 0.001", "decimal(38,3)"}, {"123456789012 0.001", "decimal(18,3)"},
		{"0.123456789012345", "decimal(18,15)"}, {"0.1234567890123456", "decimal(38,16)"},
		{"-0." + nines38, "decimal(38,38)"}, {"0 0." + nines38, "decimal(38,38)"}, {"1 0." + nines38, "string"}, {"0." + nines38 + "0", "string"},
		{"99999999999999999999 0.123456789012345678", "decimal(38,18)"}, {"999999999999999999999 0.123456789012345678", "string"},
		{"1e5", "string"}, {"1.5E3", "string"}, {"1 1e5", "string"}, {"NaN", "string"}, {"1.5 NaN", "string"}, {"Infinity", "string"}, {"inf", "string"},
		{".5", "string"}, {"5.", "string"}, {"00.5", "string"}, {"-0.0", "string"}, {"-.5", "string"}, {"+0.5", "string"}, {"1.2.3", "string"},
		{"1,5", "string"}, {"1.5%", "string"}, {"$1.5", "string"}, {"0.5 007", "string"},

		{"2026-11-30", "date"}, {"0001-01-01 9999-12-31 2000-02-29", "date"}, {"0000-01-01", "string"}, {"2026-02-29", "string"},
		{"2026-11-31", "string"}, {"2026-13-01", "string"}, {"01/02/2026", "string"}, {"20260102", "int64"}, {"2026-1-2", "string"},
		{"2026/01/02", "string"}, {"02.01.2026", "string"}, {"2026-01", "string"}, {"10000-01-01", "string"}, {"-2026-01-01", "string"},
		{"2026-11-30_", "string"}, {"2026-11-30 unknown", "string"}, {"2026-11-30 20261130", "string"}, {"2026-W01-1", "string"},

		{"2026-11-30_01:02:03", "timestamp"}, {"2026-11-30T01:02:03 2026-11-30_01:02:03.5", "timestamp"}, {"2026-11-30T01:02:03.123456", "timestamp"},
		{"2026-11-30T01:02:03.1234567", "string"}, {"2026-11-30T01:02:03.1234560", "string"}, {"2026-11-30T01:02:03.123456000", "string"}, {"2026-11-30T01:02:03.", "string"},
		{"2026-11-30T01:02", "string"}, {"2026-11-30T24:00:00", "string"}, {"2016-12-31T23:59:60", "string"}, {"2026-11-30t01:02:03", "string"},
		{"2026-11-30T1:02:03", "string"}, {"2026-11-30__01:02:03", "string"}, {"0000-11-30T01:02:03", "string"}, {"20261130T010203", "string"},
		{"2026-03-29_02:30:00", "timestamp"}, {"2026-02-29T01:02:03", "string"}, {"2026-11-30T01:02:03,5", "string"},

		{"2026-11-30T01:02:03Z", "timestamptz"}, {"2026-11-30_01:02:03+01:00 2026-11-30_01:02:03.25-08", "timestamptz"},
		{"2026-11-30_01:02:03+0100", "string"}, {"2026-11-30_01:02:03_+01:00", "string"}, {"2026-11-30_01:02:03_Z", "string"},
		{"2026-11-30_01:02:03_+0100", "string"}, {"2026-11-30_01:02:03_+1", "string"}, {"2026-11-30_01:02:03z", "string"},
		{"2026-11-30_01:02:03_UTC", "string"}, {"2026-11-30T01:02:03+19:00", "string"}, {"2026-11-30T01:02:03+01:60", "string"},
		{"0001-01-01T00:00:00+01:00", "string"}, {"9999-12-31T23:59:59-01:00", "string"}, {"2026-11-30T01:02:03.1234567Z", "string"},
		{"2016-12-31T23:59:60Z", "string"}, {"2026-11-30Z", "string"},

		{"01:02:03", "time"}, {"00:00:00 23:59:59.999999", "time"}, {"24:00:00", "string"}, {"23:59:60", "string"}, {"01:02", "string"},
		{"1:02:03", "string"}, {"01:02:03.1234567", "string"}, {"01:02:03Z", "string"}, {"25:00:00", "string"}, {"01:02:03.", "string"},

		{"2026-11-30 2026-11-30T01:02:03", "string"}, {"2026-11-30T01:02:03 2026-11-30T01:02:03Z", "string"}, {"2026-11-30 01:02:03", "string"},
		{"1 2026-11-30", "string"}, {"1.5 true", "string"},

		{"018f3a9c-1e00-7000-8000-000000000000", "string"}, {"deadbeef", "string"}, {"aGVsbG8=", "string"}, {"NULL", "string"}, {"null", "string"},
		{strings.Repeat("1", 1000), "string"}, {"\xff", "string"}, {"1\x00", "string"},
	} {
		var texts []string
		for _, text := range strings.Split(test.texts, " ") {
			texts = append(texts, strings.ReplaceAll(text, "_", " "))
		}
		if got := guessOf(texts...).Type().String(); got != test.want {
			t.Errorf("%q: %s, want %s", texts, got, test.want)
		}
	}
	if got := guessOf("").Type().Kind; got != columnar.String {
		t.Errorf("an empty text: %s", got)
	}
	if got := guessOf("", "1").Type().Kind; got != columnar.String {
		t.Errorf("an empty text and a number: %s", got)
	}
	if got := (Guess{}).Type().Kind; got != 0 {
		t.Errorf("no value: %s", got)
	}
}

// texts are values at the edges of what is told apart, and some at random, several of one kind in a column.
func texts() *rapid.Generator[[]string] {
	digits := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20}|[0-9]{1,40})`)
	kinds := []*rapid.Generator[string]{
		rapid.SampledFrom([]string{"true", "FALSE", "True", "t", "0", "1", "-0", "007", "9223372036854775807", "9223372036854775808", nines38, "", " ", "NaN", "1e5"}),
		digits,
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?`),
		rapid.StringMatching(`-?[0-9]{0,3}\.?[0-9]{0,39}([eE][+-]?[0-9]{1,2})?`),
		rapid.StringMatching(`[0-9]{4}-[01][0-9]-[0-3][0-9]`),
		rapid.StringMatching(`[0-9]{4}-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]{1,7})?`),
		rapid.StringMatching(`[0-9]{4}-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,7})?(Z|z| Z|[+-][01][0-9](:?[0-6][05])?)`),
		rapid.StringMatching(`[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]{0,7})?`),
		rapid.String(),
	}
	return rapid.Custom(func(t *rapid.T) []string {
		column := rapid.SliceOfN(rapid.SampledFrom(kinds).Draw(t, "kind"), 0, 8).Draw(t, "values")
		if rapid.IntRange(0, 3).Draw(t, "mixed") == 0 {
			column = append(column, rapid.SliceOfN(rapid.SampledFrom(kinds).Draw(t, "other kind"), 0, 3).Draw(t, "others")...)
		}
		return column
	})
}

// checkHolds fails unless the type inferred from texts holds each of them, and gives it back with the same meaning.
func checkHolds(texts ...string) error {
	of := guessOf(texts...).Type()
	if of.Kind == columnar.String {
		return nil
	}
	var v columnar.Vector
	for i, text := range texts {
		if err := v.Parse(of, []byte(text)); err != nil {
			return fmt.Errorf("%q: inferred %s, and %q %w", texts, of, text, err)
		}
		back, err := v.Append(nil, of, i)
		if err != nil || meaning(of.Kind, string(back)) != meaning(of.Kind, text) {
			return fmt.Errorf("%q: inferred %s, and %q comes back as %q, %v", texts, of, text, back, err)
		}
	}
	return nil
}

// meaning makes texts equal that a Guess does not tell apart. It knows nothing of package columnar's parsers.
func meaning(kind columnar.Kind, text string) string {
	switch kind {
	case columnar.Bool:
		return strings.ToLower(text)
	case columnar.Decimal, columnar.Time:
		return withoutZeros(text)
	case columnar.Timestamp:
		return withoutZeros(strings.Replace(text, "T", " ", 1))
	case columnar.TimestampTZ:
		text = strings.Replace(text, "T", " ", 1)
		for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07"} {
			if instant, err := time.Parse(layout, text); err == nil {
				return instant.UTC().Format(time.RFC3339Nano)
			}
		}
	}
	return text
}

func withoutZeros(text string) string {
	if strings.Contains(text, ".") {
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func TestGuessHoldsWhatItHasSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := checkHolds(texts().Draw(t, "column")...); err != nil {
			t.Fatal(err)
		}
	})
}

func TestGuessDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := texts().Draw(t, "column")
		want := guessOf(column...)
		if got := guessOf(rapid.Permutation(column).Draw(t, "permuted")...); got != want {
			t.Fatalf("%q: %v, and in another order %v", column, want, got)
		}
		cut := rapid.IntRange(0, len(column)).Draw(t, "cut")
		merged := guessOf(column[cut:]...)
		merged.Merge(guessOf(column[:cut]...))
		if merged != want {
			t.Fatalf("%q: %v, and merged of two parts %v", column, want, merged)
		}
		merged.Merge(want)
		if merged != want {
			t.Fatalf("%q: %v, and merged with itself %v", column, want, merged)
		}
	})
}

// rank orders types by what they hold.
func rank(t columnar.Type) int {
	switch t.Kind {
	case columnar.String:
		return 3
	case columnar.Decimal:
		return 2
	}
	return 1
}

func TestGuessMovesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := texts().Filter(func(c []string) bool { return len(c) > 0 }).Draw(t, "column")
		was := guessOf(column[0]).Type()
		for i := range column {
			is := guessOf(column[:i+1]...).Type()
			up := rank(is) > rank(was) || is.Kind == was.Kind && is.Precision >= was.Precision && is.Scale >= was.Scale
			if !up {
				t.Fatalf("%q made %s of %s", column[:i+1], is, was)
			}
			was = is
		}
	})
}

var (
	integer  = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	fraction = regexp.MustCompile(`^-?(0|[1-9][0-9]*)\.[0-9]+$`)
)

// TestGuessAgreesWithReference compares the type of one text with what the standard library makes of it.
func TestGuessAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, text := range texts().Draw(t, "column") {
			if got, want := guessOf(text).Type().Kind, reference(text); got != want {
				t.Fatalf("%q: %s, want %s", text, got, want)
			}
		}
	})
}

func reference(text string) columnar.Kind {
	digits := len(strings.TrimPrefix(strings.Replace(strings.TrimPrefix(text, "-"), ".", "", 1), "0"))
	switch {
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		return columnar.Bool
	case integer.MatchString(text):
		if n, _ := new(big.Int).SetString(text, 10); n.IsInt64() {
			return columnar.Int64
		}
		if digits <= columnar.MaxPrecision {
			return columnar.Decimal
		}
	case fraction.MatchString(text):
		if n, _ := new(big.Rat).SetString(text); digits <= columnar.MaxPrecision && (n.Sign() != 0 || text[0] != '-') {
			return columnar.Decimal
		}
	case len(text) > 10 && strings.Contains(text, ".") && len(regexp.MustCompile(`\.[0-9]*`).FindString(text)) > 7:
		return columnar.String
	}
	text = strings.Replace(text, "T", " ", 1)
	for _, l := range []struct {
		layout string
		form   *regexp.Regexp // what the layout lets pass beyond it
		kind   columnar.Kind
	}{
		{"2006-01-02", regexp.MustCompile(`^.{10}$`), columnar.Date},
		{"15:04:05", regexp.MustCompile(`^..:..:..(\.[0-9]{1,6})?$`), columnar.Time},
		{"2006-01-02 15:04:05", regexp.MustCompile(`^.{10} ..:..:..(\.[0-9]{1,6})?$`), columnar.Timestamp},
		{"2006-01-02 15:04:05Z07:00", regexp.MustCompile(`^.{10} ..:..:..(\.[0-9]{1,6})?(Z|[+-]..:[0-5].)$`), columnar.TimestampTZ},
		{"2006-01-02 15:04:05Z07", regexp.MustCompile(`^.{10} ..:..:..(\.[0-9]{1,6})?(Z|[+-]..)$`), columnar.TimestampTZ},
	} {
		at, err := time.Parse(l.layout, text)
		if err != nil || !l.form.MatchString(text) {
			continue
		}
		if year := at.UTC().Year(); l.kind == columnar.Time || 1 <= year && year <= 9999 && !strings.HasPrefix(text, "0000") {
			if _, offset := at.Zone(); offset <= 18*3600 && offset >= -18*3600 {
				return l.kind
			}
		}
	}
	return columnar.String
}

func FuzzGuess(f *testing.F) {
	for _, seed := range []string{"1\n0.5\n9007199254740993", "true\nFALSE", "2026-11-30\n2026-11-30T01:02:03", "2026-11-30T01:02:03.5+01:00\n2026-11-30 01:02:03Z",
		"01:02:03\n23:59:59.999999", "007", "", "-0\n0", "99999999999999999999\n1.5", "1." + nines38} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var column []string
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			column = append(column, string(line))
			if got, want := guessOf(string(line)).Type().Kind, reference(string(line)); got != want {
				t.Fatalf("%q: %s, want %s", line, got, want)
			}
			if err := checkHolds(string(line)); err != nil {
				t.Fatal(err)
			}
		}
		if err := checkHolds(column...); err != nil {
			t.Fatal(err)
		}
	})
}

func TestGuessAllocatesNothing(t *testing.T) {
	values := [][]byte{[]byte("1"), []byte("9007199254740993"), []byte("2026-11-30 01:02:03.5"), []byte("TRUE"), []byte("abc"), nil}
	if n := testing.AllocsPerRun(100, func() {
		for _, v := range values {
			var g Guess
			g.Add(v)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNamesAreBounded(t *testing.T) {
	var names Names
	kept, size := 0, 0
	for ; names.Add(strings.Repeat("x", kept%1000)); kept++ {
		size += kept % 1000
	}
	if kept < 10_000 || size > 16<<20 {
		t.Errorf("%d names of %d bytes were kept", kept, size)
	}
	if names = (Names{}); names.Add(strings.Repeat("x", 16<<20)) {
		t.Error("a name of 16 MiB was kept")
	}
	if names = (Names{}); !names.Add(strings.Repeat("x", 1<<20)) {
		t.Error("a name of 1 MiB was not kept")
	}
}
