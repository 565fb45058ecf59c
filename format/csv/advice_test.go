package csv

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

// TestAdviceIsTrue: the option that an error names accepts what was refused.
func TestAdviceIsTrue(t *testing.T) {
	for _, file := range []string{
		"a,b\n1,\"x\"y\"\n", "a,b\n1,\"x\"\"y\"z\n", "a,b\n1,x\"y\n", "a,b\n1,\"x\"y\n2,\"z\"\n", "a,b\n1,\"x\"y,\"z\"\n", "a,b\n1,\"xy\n2,z\n",
		"a,b\n1\n", "a,b\n1,2,3\n", "a,b\n1,x\x00\n", "a,b\n1,x\xff\n", "a\n1\n", "A,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "\x00a\x00,\x00b\x00\n", "a|b\n",
	} {
		if err := formattest.FollowAdvice(t, yaml.Unmarshal, Kind(), "a:string b:string", file); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringOfN(rapid.SampledFrom([]rune("aab,,,\"\"\"\n\n\r\x00 ")), 0, 40, -1).Draw(t, "body")
		err := formattest.FollowAdvice(t, yaml.Unmarshal, Kind(), "a:string b:string", "a,b\n"+strings.ReplaceAll(body, "b", "\xff"))
		if err != nil && !strings.Contains(err.Error(), "carriage return") {
			t.Fatalf("%q: %v", body, err)
		}
	})
}

// TestErrorsNameFields: an error of a record that does not end, or is copied, names the field by its number.
func TestErrorsNameFields(t *testing.T) {
	f := mustNew(t, nil)
	e := f.Unfinished([]byte("1,2,\"x\n3"), true)
	if e == nil || !strings.Contains(e.Error(), "at byte 4: field 3: ") {
		t.Error(e)
	}
	d, err := f.NewDecoder(format.Reading{Head: nil})
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	if err := d.Decode([]byte("1,a\"b\n"), 0, &b); err == nil || !strings.Contains(err.Error(), "at byte 3: field 2: ") {
		t.Error(err)
	}
}
