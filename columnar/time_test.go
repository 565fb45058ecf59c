package columnar

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestEveryDayAgreesWithTimePackage(t *testing.T) {
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for days := int32(MinDate); days <= MaxDate; days++ {
		text := day.Format("2006-01-02")
		got, err := AppendDate(nil, days)
		if err != nil || string(got) != text {
			t.Fatalf("day %d is %s, %v, want %s", days, got, err, text)
		}
		if back, err := ParseDate(got); err != nil || back != days {
			t.Fatalf("%s is day %d, %v, want %d", text, back, err, days)
		}
		day = day.AddDate(0, 0, 1)
	}
	if day.Year() != 10000 {
		t.Errorf("the last day is before %v", day)
	}
	for _, days := range []int32{MinDate - 1, MaxDate + 1, -1 << 31, 1<<31 - 1} {
		if got, err := AppendDate(nil, days); err == nil {
			t.Errorf("day %d is written as %s", days, got)
		}
	}
}

func TestParseDateRefuses(t *testing.T) {
	for text, reason := range map[string]string{
		"": "is not a date", "2026-11-3": "is not a date", "2026-11-300": "is not a date", "0000-01-01": "is not a date",
		"2026/11/30": "is not a date", "30.11.2026": "is not a date", "20261130": "is not a date", "2026-1a-30": "is not a date",
		"-026-11-30": "is not a date", "2026-11-30 ": "is not a date", "2026-11-:0": "is not a date",
		"2026-13-01": "no calendar", "2026-00-01": "no calendar", "2026-02-29": "no calendar", "1900-02-29": "no calendar",
		"2026-04-31": "no calendar", "2026-01-00": "no calendar", "2026-01-32": "no calendar",
	} {
		if got, err := ParseDate([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %d, %v, want it refused: %s", text, got, err, reason)
		}
	}
}

func TestParseTimestamp(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-30 01:02:03":           "2026-11-30 01:02:03",
		"2026-11-30T01:02:03":           "2026-11-30 01:02:03",
		"2026-11-30 01:02:03.5":         "2026-11-30 01:02:03.500000",
		"2026-11-30 01:02:03.123456":    "2026-11-30 01:02:03.123456",
		"2026-11-30 01:02:03.123456000": "2026-11-30 01:02:03.123456",
		"2026-11-30 01:02:03.000000":    "2026-11-30 01:02:03",
		"1969-12-31 23:59:59.999999":    "1969-12-31 23:59:59.999999",
		"1970-01-01 00:00:00":           "1970-01-01 00:00:00",
		"0001-01-01 00:00:00":           "0001-01-01 00:00:00",
		"9999-12-31 23:59:59.999999":    "9999-12-31 23:59:59.999999",
	} {
		micros, err := ParseTimestamp([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := AppendTimestamp(nil, micros); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for text, reason := range map[string]string{
		"":                              "is not a timestamp",
		"2026-11-30":                    "no time of day",
		"2026-11-30 01:02":              "is not a timestamp",
		"2026-11-30_01:02:03":           "is not a timestamp",
		"2026-11-30 01:02:0a":           "is not a timestamp",
		"2026-11-30 1:02:03":            "is not a timestamp",
		"2026-11-30 01:02:03.":          "is not a timestamp",
		"2026-11-30 01:02:03,5":         "is not a timestamp",
		"2026-11-30 01:02:03 ":          "is not a timestamp",
		"0000-11-30 01:02:03":           "is not a timestamp",
		"2026-02-30 01:02:03":           "no calendar",
		"2026-11-30 24:00:00":           "no day has",
		"2026-11-30 23:60:00":           "no day has",
		"2026-11-30 23:59:61":           "no day has",
		"2016-12-31 23:59:60":           "second 60",
		"2026-11-30 01:02:03Z":          "time zone",
		"2026-11-30T01:02:03.5z":        "time zone",
		"2026-11-30 01:02:03+01:00":     "time zone",
		"2026-11-30 01:02:03.25-0800":   "time zone",
		"2026-11-30 01:02:03 UTC":       "time zone",
		"2026-11-30 01:02:03 +01":       "time zone",
		"2026-11-30 01:02:03.1234567":   "more than 6 digits",
		"2026-11-30 01:02:03.000000001": "more than 6 digits",
	} {
		if got, err := ParseTimestamp([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %d, %v, want it refused: %s", text, got, err, reason)
		}
	}
	for _, micros := range []int64{MinTimestamp - 1, MaxTimestamp + 1, -1 << 63, 1<<63 - 1} {
		if got, err := AppendTimestamp(nil, micros); err == nil {
			t.Errorf("%d is written as %s", micros, got)
		}
	}
}

func TestTimestampAgreesWithTimePackage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(MinTimestamp, MaxTimestamp).Draw(t, "micros")
		text, err := AppendTimestamp(nil, micros)
		if err != nil {
			t.Fatal(err)
		}
		want, err := time.Parse("2006-01-02 15:04:05", string(text))
		if err != nil || want.UnixMicro() != micros {
			t.Fatalf("%d is written as %s: %v, %v", micros, text, want, err)
		}
		if back, err := ParseTimestamp(text); err != nil || back != micros {
			t.Fatalf("%s came back as %d, %v, want %d", text, back, err, micros)
		}
	})
}

func FuzzParseTimestamp(f *testing.F) {
	f.Add("2026-11-30T01:02:03.123456000")
	f.Fuzz(func(t *testing.T, text string) {
		micros, err := ParseTimestamp([]byte(text))
		if err != nil {
			return
		}
		want, err := time.Parse("2006-01-02 15:04:05", strings.Replace(text, "T", " ", 1))
		if err != nil || want.UnixMicro() != micros {
			t.Fatalf("%q is %d, and by the time package %v, %v", text, micros, want, err)
		}
	})
}
