package format

import "testing"

// TestErrorsShowNamesSafely: a name that a terminal would act on is quoted.
func TestErrorsShowNamesSafely(t *testing.T) {
	for name, want := range map[string]string{"Order No": "column Order No: x", "\x1b[31m": `column "\x1b[31m": x`, "a\nb": `column "a\nb": x`, "größe": "column größe: x"} {
		if got := (&DataError{Offset: Unplaced, Column: name, Reason: "x"}).Error(); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
}
