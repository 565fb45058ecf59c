package ndjson

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/format/formattest"
)

// TestAdviceIsTrue: the option that an error names accepts what was refused.
func TestAdviceIsTrue(t *testing.T) {
	for _, file := range []string{
		`{"a":"x","a":"y"}`, `{"a":"\ud83d"}`, "{\"a\":\"\xff\"}", `{"a":"\udc00\ud800"}`, "{\"\xff\":1,\"a\":\"\xff\",\"a\":\"\\ud800\"}",
	} {
		if err := formattest.FollowAdvice(t, yaml.Unmarshal, Kind(), "a:string b:string", file+"\n"); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var body strings.Builder
		for range rapid.IntRange(0, 4).Draw(t, "keys") {
			body.WriteString(rapid.SampledFrom([]string{`,"a":`, `,"b":`, `,"\u0061":`, ",\"\xff\":", `,"\ud800":`}).Draw(t, "key"))
			body.WriteString(rapid.SampledFrom([]string{`"x"`, `"\ud800"`, "\"\xff\"", `null`, `"\ud83d\ude00"`, "\"\xed\xa0\x80\"", `"\ud83d\u0061"`}).Draw(t, "value"))
		}
		if err := formattest.FollowAdvice(t, yaml.Unmarshal, Kind(), "a:string b:string", "{"+strings.TrimPrefix(body.String(), ",")+"}\n"); err != nil {
			t.Fatal(err)
		}
	})
}
