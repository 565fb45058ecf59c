package ndjson

import (
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// TestInferredKeeps: in a column that was inferred, a value that inference would have taken for another type is refused.
func TestInferredKeeps(t *testing.T) {
	for _, test := range []struct{ schema, value, want string }{
		{"a:int64", "-0", "leading zeros, a plus sign, -0 or an exponent would be lost"},
		{"a:int64", `"7"`, "is a string"},
		{"a:int64", "-7", ""},
		{"a:decimal(18,2)", "1e1", "leading zeros, a plus sign, -0 or an exponent would be lost"},
		{"a:decimal(18,2)", "-0.0", "would be lost"},
		{"a:decimal(18,2)", `"1.5"`, "is a string"},
		{"a:decimal(18,2)", "-1.5", ""},
		{"a:timestamp", `"2026-11-30 10:00"`, "is not a timestamp"},
		{"a:list<int64>", "[1,-0]", "would be lost"},
		{"a:string", `"007"`, ""},
	} {
		schema := formattest.ParseSchema(test.schema)
		for _, schema.Closed = range []bool{false, true} {
			f, err := New(nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = formattest.Decode(f, schema, []byte(`{"a":`+test.value+"}\n"))
			switch {
			case test.want == "" || !schema.Closed && !strings.HasPrefix(test.want, "is not"):
				if err != nil {
					t.Errorf("%+v: %v", test, err)
				}
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("%+v: %v", test, err)
			}
		}
	}
}

// TestCopiesAreJSON: a record that is copied is JSON, and so UTF-8.
func TestCopiesAreJSON(t *testing.T) {
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.NewDecoder(format.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	if err := d.Decode([]byte("{\"a\":\"ö\"}\n{\"a\":\"\xff\"}\n"), 0, &b); err == nil || !strings.Contains(err.Error(), "at byte 17: the record is not UTF-8") {
		t.Error(err)
	}
}

// TestNoNullInARequiredColumn: nonfinite: null makes no column null that is required.
func TestNoNullInARequiredColumn(t *testing.T) {
	f, err := New(map[string]any{"nonfinite": "null"})
	if err != nil {
		t.Fatal(err)
	}
	schema := formattest.ParseSchema("a:float64!")
	if _, err := formattest.Encode(f, format.Target{Schema: schema}, formattest.Of(schema, []string{"NaN"})); err == nil || !strings.Contains(err.Error(), "column a: is not finite, and the column is required") {
		t.Error(err)
	}
}
