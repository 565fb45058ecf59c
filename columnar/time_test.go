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

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"00:00:00": "00:00:00", "23:59:59.999999": "23:59:59.999999", "01:02:03.5": "01:02:03.500000", "01:02:03.000001": "01:02:03.000001",
		"01:02:03.1234560000": "01:02:03.123456", "12:00:00.000000": "12:00:00",
	} {
		micros, err := ParseTime([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := AppendTime(nil, micros); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for text, reason := range map[string]string{
		"": "is not a time: hh:mm:ss", "01:02": "is not a time", "1:02:03": "is not a time", "01:02:0": "is not a time", "010203": "is not a time",
		"01-02-03": "is not a time", "01:02:03.": "is not a time", "01:02:03,5": "is not a time", "01:02:03 ": "is not a time", "01:02:03Z": "is not a time",
		"01:02:03+01": "is not a time", "0a:02:03": "is not a time", "2026-11-30 01:02:03": "is not a time", "01:02:03 PM": "is not a time",
		"-1:02:03": "is not a time", "24:00:00": "no day has", "23:60:00": "no day has", "23:59:61": "no day has", "23:59:60": "second 60",
		"01:02:03.1234567": "more than 6 digits",
	} {
		if got, err := ParseTime([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %d, %v, want it refused: %s", text, got, err, reason)
		}
	}
	for _, micros := range []int64{-1, microsPerDay, -1 << 63, 1<<63 - 1} {
		if got, err := AppendTime(nil, micros); err == nil {
			t.Errorf("%d is written as %s", micros, got)
		}
	}
}

func TestTimeAgreesWithTimePackage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, microsPerDay-1).Draw(t, "micros")
		text, err := AppendTime(nil, micros)
		if err != nil {
			t.Fatal(err)
		}
		want, err := time.Parse("2006-01-02 15:04:05", "1970-01-01 "+string(text))
		if err != nil || want.UnixMicro() != micros {
			t.Fatalf("%d is written as %s: %v, %v", micros, text, want, err)
		}
		if back, err := ParseTime(text); err != nil || back != micros {
			t.Fatalf("%s came back as %d, %v, want %d", text, back, err, micros)
		}
	})
}

func TestParseTimestampTZ(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-30 01:02:03Z":                "2026-11-30 01:02:03Z",
		"2026-11-30T01:02:03z":                "2026-11-30 01:02:03Z",
		"2026-11-30 01:02:03 Z":               "2026-11-30 01:02:03Z",
		"2026-11-30 01:02:03+00":              "2026-11-30 01:02:03Z",
		"2026-11-30 01:02:03-00:00":           "2026-11-30 01:02:03Z",
		"2026-11-30 01:02:03+01":              "2026-11-30 00:02:03Z",
		"2026-11-30 01:02:03+0130":            "2026-11-29 23:32:03Z",
		"2026-11-30 01:02:03 +01:30":          "2026-11-29 23:32:03Z",
		"2026-11-30 01:02:03.5-08:00":         "2026-11-30 09:02:03.500000Z",
		"2026-11-30 01:02:03.123456000+05:45": "2026-11-29 19:17:03.123456Z",
		"1850-01-01 00:00:00+00:53:28":        "1849-12-31 23:06:32Z",
		"1850-01-01 00:00:00-00:53:28":        "1850-01-01 00:53:28Z",
		"2026-11-30 01:02:03+18:00":           "2026-11-29 07:02:03Z",
		"2026-11-30 01:02:03-18":              "2026-11-30 19:02:03Z",
		"0001-01-01 00:00:00-18:00":           "0001-01-01 18:00:00Z",
		"0001-01-01 01:00:00+01:00":           "0001-01-01 00:00:00Z",
		"9999-12-31 23:59:59.999999Z":         "9999-12-31 23:59:59.999999Z",
		"9999-12-31 05:59:59.999999-18:00":    "9999-12-31 23:59:59.999999Z",
		"2026-03-29 02:30:00+01:00":           "2026-03-29 01:30:00Z", // an hour that Berlin does not have
		"1970-01-01 00:59:59.999999+01":       "1969-12-31 23:59:59.999999Z",
	} {
		micros, err := ParseTimestampTZ([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := AppendTimestampTZ(nil, micros); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for text, reason := range map[string]string{
		"":                                  "is not a timestamp",
		"2026-11-30":                        "no time of day",
		"2026-11-30 01:02:03":               "no time zone",
		"2026-11-30 01:02:03.5":             "no time zone",
		"2026-11-30 01:02:03 ":              "neither Z nor +hh:mm",
		"2026-11-30 01:02:03ZZ":             "neither Z nor +hh:mm",
		"2026-11-30 01:02:03  Z":            "neither Z nor +hh:mm",
		"2026-11-30 01:02:03 UTC":           "neither Z nor +hh:mm",
		"2026-11-30 01:02:03 Europe/Berlin": "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+1":             "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+1:00":          "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+01:0":          "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+01:":           "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+01:60":         "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+01:00:60":      "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+01:00:0":       "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+01-00":         "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+0a:00":         "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+18:01":         "neither Z nor +hh:mm",
		"2026-11-30 01:02:03-18:00:01":      "neither Z nor +hh:mm",
		"2026-11-30 01:02:03+99":            "neither Z nor +hh:mm",
		"2026-11-30 01:02:03 01:00":         "neither Z nor +hh:mm",
		"2026-11-30 24:00:00Z":              "no day has",
		"2016-12-31 23:59:60Z":              "second 60",
		"2026-02-30 01:02:03Z":              "no calendar",
		"2026-11-30 01:02:03.1234567Z":      "more than 6 digits",
		"0000-12-31 23:00:00-01:00":         "is not a timestamp",
		"0001-01-01 00:59:59.999999+01:00":  "outside the years",
		"9999-12-31 23:00:00-01:00":         "outside the years",
	} {
		if got, err := ParseTimestampTZ([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %d, %v, want it refused: %s", text, got, err, reason)
		}
	}
	for _, micros := range []int64{MinTimestamp - 1, MaxTimestamp + 1, -1 << 63, 1<<63 - 1} {
		if got, err := AppendTimestampTZ(nil, micros); err == nil {
			t.Errorf("%d is written as %s", micros, got)
		}
	}
}

func TestTimestampTZAgreesWithTimePackage(t *testing.T) {
	layouts := []string{"2006-01-02 15:04:05.999999Z07", "2006-01-02T15:04:05.999999Z0700", "2006-01-02 15:04:05.000000Z07:00", "2006-01-02 15:04:05.999999 -07:00"}
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(MinTimestamp, MaxTimestamp).Draw(t, "micros")
		layout := rapid.SampledFrom(layouts).Draw(t, "layout")
		offset := 60 * rapid.IntRange(-18*60, 18*60).Draw(t, "minutes")
		if layout == layouts[0] {
			offset -= offset % 3600
		}
		local := time.UnixMicro(micros).In(time.FixedZone("", offset))
		if local.Year() < 1 || local.Year() > 9999 {
			return // which no text has
		}
		got, err := ParseTimestampTZ([]byte(local.Format(layout)))
		if err != nil || got != micros {
			t.Fatalf("%s is %d, %v, want %d", local.Format(layout), got, err, micros)
		}
		text, err := AppendTimestampTZ(nil, micros)
		if want := time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05"); err != nil || !strings.HasPrefix(string(text), want) {
			t.Fatalf("%d is written as %s, %v, want %s", micros, text, err, want)
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

func FuzzParseTimestampTZ(f *testing.F) {
	for _, s := range []string{"2026-11-30T01:02:03.123456000Z", "0001-01-01 00:00:00 +01:00", "9999-12-31 23:59:59-0100", "1850-01-01 00:00:00+00:53:28", "2026-11-30 01:02:03 "} {
		f.Add(s)
	}
	layouts := []string{"2006-01-02 15:04:05Z07", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07:00:00"}
	f.Fuzz(func(t *testing.T, text string) {
		micros, err := ParseTimestampTZ([]byte(text))
		if err != nil {
			return
		}
		plain := strings.Replace(text, "T", " ", 1)
		if last := strings.LastIndexByte(plain, ' '); last > 10 {
			plain = plain[:last] + plain[last+1:]
		}
		plain = strings.Replace(plain, "z", "Z", 1)
		for _, layout := range layouts {
			if want, err := time.Parse(layout, plain); err == nil {
				if want.UnixMicro() != micros {
					t.Fatalf("%q is %d, and by the time package %v", text, micros, want)
				}
				return
			}
		}
		t.Fatalf("%q is %d, and the time package does not know it", text, micros)
	})
}

func FuzzParseTime(f *testing.F) {
	f.Add("01:02:03.123456000")
	f.Fuzz(func(t *testing.T, text string) {
		micros, err := ParseTime([]byte(text))
		if err != nil {
			return
		}
		want, err := time.Parse("2006-01-02 15:04:05", "1970-01-01 "+text)
		if err != nil || want.UnixMicro() != micros {
			t.Fatalf("%q is %d, and by the time package %v, %v", text, micros, want, err)
		}
	})
}

func FuzzParseDate(f *testing.F) {
	f.Add("2024-02-29")
	f.Fuzz(func(t *testing.T, text string) {
		days, err := ParseDate([]byte(text))
		want, wantErr := time.Parse("2006-01-02", text)
		if (err == nil) != (wantErr == nil && want.Year() > 0) {
			t.Fatalf("%q is %d, %v, and by the time package %v, %v", text, days, err, want, wantErr)
		}
		if err == nil && want.Unix() != int64(days)*86400 {
			t.Fatalf("%q is %d, and by the time package %v", text, days, want)
		}
	})
}
