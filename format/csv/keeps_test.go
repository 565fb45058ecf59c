package csv

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// TestInferredKeeps: of a column that was inferred from some values, further values come back as they are written, but for zeros at the
// end of a fraction, or are refused.
func TestInferredKeeps(t *testing.T) {
	texts := []string{"0", "12", "007", "-0", "+5", "1e3", "12.5", "0.50", ".5", "5.", "-0.0", "00.1", "99999999999999999999", "2026-11-30", "10:00:00", "10:00",
		"2026-11-30 10:00:00", "2026-11-30T10:00:00", "2026-11-30 10:00", "2026-11-30 10:00:00Z", "2026-11-30 10:00:00+01:00", "2026-11-30 10:00:00+0100", "true", "TRUE", "t", "1", "x"}
	refused, f := 0, mustNew(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SampledFrom(texts)
		sample, next := one.Draw(t, "sample"), one.Draw(t, "next")
		s := f.NewSampler()
		if err := s.AddHead([]byte("a,b\n")); err != nil {
			t.Fatal(err)
		}
		if err := s.Sample([]byte(sample+",x\n"), 4); err != nil {
			t.Fatal(err)
		}
		schema := &columnar.Schema{Columns: formattest.Seen(s.Columns()), Closed: true}
		b, err := formattest.Decode(f, schema, []byte("a,b\n"+next+",x\n"))
		if err != nil {
			refused++
			if e, ok := err.(*format.DataError); !ok || e.Value != next || e.Column != "a" {
				t.Fatal(err)
			}
			return
		}
		got := strings.Trim(formattest.Rows(schema, b)[0][0], `"`)
		if schema.Columns[0].Type.Kind == columnar.Decimal {
			got, next = shortest(got), shortest(next)
		}
		same := got == next || schema.Columns[0].Type.Kind == columnar.TimestampTZ && sameInstant(got, next) || strings.EqualFold(got, next) || got == strings.Replace(next, "T", " ", 1)
		if !same {
			t.Fatalf("%s after %s, as %s, is %s", next, sample, schema.Columns[0].Type, got)
		}
	})
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func sameInstant(a, b string) bool {
	x, errX := columnar.ParseTimestampTZ([]byte(a))
	y, errY := columnar.ParseTimestampTZ([]byte(b))
	return errX == nil && errY == nil && x == y
}

// shortest gives a decimal without zeros at the end of its fraction.
func shortest(number string) string {
	if !strings.Contains(number, ".") {
		return number
	}
	return strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
}
