package formattest

import (
	"errors"
	"regexp"

	"github.com/clinkctl/clinkctl/format"
)

// FollowAdvice reads a file of text, with the option that each error names, until it is accepted, or no option is named: then it
// gives the error. unmarshal is of YAML. It fails if an option leaves the same error at the same place.
func FollowAdvice(t interface {
	Helper()
	Fatalf(string, ...any)
}, unmarshal func([]byte, any) error, kind format.Kind, schema, file string) error {
	t.Helper()
	advised := regexp.MustCompile(kind.Name + `: (\{[^}]*\})`)
	options := map[string]any{}
	var last *format.DataError
	for range 12 {
		f, err := kind.New(options)
		if err != nil {
			t.Fatalf("%q: %v: %v", file, options, err)
		}
		_, err = Decode(f.(format.Text), ParseSchema(schema), []byte(file))
		if err == nil {
			return nil
		}
		e, ok := errors.AsType[*format.DataError](err)
		if !ok {
			t.Fatalf("%q: %v", file, err)
		}
		if last != nil && last.Reason == e.Reason && last.Offset == e.Offset {
			t.Fatalf("%q is refused with %v, too: %v", file, options, e)
		}
		last = e
		option := advised.FindStringSubmatch(e.Advice)
		if option == nil {
			return err
		}
		if err := unmarshal([]byte(option[1]), &options); err != nil {
			t.Fatalf("%s: %v", e.Advice, err)
		}
	}
	t.Fatalf("%q is never accepted: %v", file, last)
	return last
}
