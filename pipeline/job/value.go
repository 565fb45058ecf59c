package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// kindOf says for people what a value is.
func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the text %q", v)
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case time.Time:
		return "a date"
	default:
		return fmt.Sprint(v)
	}
}

// wholeOf reads a whole number; flags and the environment give it as text.
func wholeOf(v any) (int64, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("is %s, and must be a whole number", kindOf(v))
}

var units = []struct {
	name string
	size int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

const sizeForms = "write a whole number of bytes, or one with KiB, MiB, GiB or TiB"

// sizeOf reads a number of bytes: 1048576, 1MiB.
func sizeOf(v any) (int64, error) {
	text, ok := v.(string)
	if !ok {
		n, err := wholeOf(v)
		if err != nil {
			return 0, fmt.Errorf("is %s, and must be a size: %s", kindOf(v), sizeForms)
		}
		return n, nil
	}
	digits := strings.TrimRight(text, "KMGTkmgtiBb ")
	unit := strings.TrimSpace(text[len(digits):])
	scale := int64(1)
	for _, u := range units {
		if unit == u.name {
			scale = u.size
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || unit != "" && scale == 1 {
		return 0, fmt.Errorf("is %q: %s", text, wrongUnit(unit))
	}
	if n > math.MaxInt64/scale {
		return 0, fmt.Errorf("is %q, which is more than there can be", text)
	}
	return n * scale, nil
}

// wrongUnit says what is wrong with a unit, where that is known.
func wrongUnit(unit string) string {
	for _, u := range units {
		if letter := u.name[:1]; unit != u.name && (strings.EqualFold(unit, letter+"B") || strings.EqualFold(unit, letter) || strings.EqualFold(unit, u.name)) {
			return fmt.Sprintf("%s can mean a power of 1000 or of 1024; write %s, which is %d bytes", unit, u.name, u.size)
		}
	}
	return sizeForms
}

// durationOf reads a duration as Go writes it: 30s, 1m30s.
func durationOf(v any) (time.Duration, error) {
	const forms = "write it with its unit: 500ms, 30s, 5m, 1h30m"
	text, ok := v.(string)
	if n, err := wholeOf(v); err == nil && n == 0 {
		return 0, nil
	}
	if !ok {
		return 0, fmt.Errorf("is %s, and must be a duration: %s", kindOf(v), forms)
	}
	n, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("is %q, which is no duration: %s", text, forms)
	}
	if n < 0 {
		return 0, fmt.Errorf("is %s, and cannot be negative", text)
	}
	return n, nil
}
