// Package options reads the options of a backend's destinations: what a job has under the backend's name.
package options

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/format"
)

// Option is an option of settings S: what it is called, where it belongs, and how it is read.
type Option[S any] struct {
	Name  string
	Shape bool                    // it changes what is written, and not only how it gets there
	Read  func(s *S, v any) error // its error goes on from "option NAME"
}

// Read reads what is given into settings, all that is wrong with it at once. Errors begin with the backend's name.
func Read[S any](backend string, all []Option[S], given map[string]any, into *S) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(all, func(o Option[S]) bool { return o.Name == name })
		if i < 0 {
			errs = append(errs, unknown(backend, name, all))
			continue
		}
		if err := all[i].Read(into, given[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s option %s %w", backend, name, err))
		}
	}
	return errors.Join(errs...)
}

func unknown[S any](backend, name string, all []Option[S]) error {
	var names []string
	for _, o := range all {
		names = append(names, o.Name)
	}
	if near := format.Nearest(name, names); near != "" {
		return fmt.Errorf("%s option %s is not known; did you mean %s?", backend, name, near)
	}
	return fmt.Errorf("%s option %s is not known: there are %s", backend, name, strings.Join(names, ", "))
}

// Split parts options into those that say how a destination is reached and those that shape what is written.
func Split[S any](all []Option[S], given map[string]any) (reach, shape map[string]any) {
	reach, shape = map[string]any{}, map[string]any{}
	for _, o := range all {
		v, ok := given[o.Name]
		switch {
		case ok && o.Shape:
			shape[o.Name] = v
		case ok:
			reach[o.Name] = v
		}
	}
	return reach, shape
}

// Join is the opposite of Split.
func Join(reach, shape map[string]any) map[string]any {
	all := maps.Clone(reach)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, shape)
	return all
}

// Text reads a text that is not empty. check, which may be nil, has the last word on it.
func Text[S any](to func(s *S) *string, check func(string) error) func(*S, any) error {
	return func(s *S, v any) error {
		t, ok := v.(string)
		if n, isInt := v.(int); isInt {
			t, ok = strconv.Itoa(n), true
		}
		if !ok || t == "" {
			return fmt.Errorf("is %v, and must be a text", v)
		}
		*to(s) = t
		if check == nil {
			return nil
		}
		return check(t)
	}
}

// OneOf is a check of Text.
func OneOf(values ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(values, v) {
			return nil
		}
		return fmt.Errorf("is %q, and can be %s", v, strings.Join(values, ", "))
	}
}

// Whole reads a whole number within limits.
func Whole[S any](to func(s *S) *int, least, most int) func(*S, any) error {
	return func(s *S, v any) error {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %v, and must be a whole number from %d to %d", v, least, most)
		}
		*to(s) = n
		return nil
	}
}

// Duration reads a duration above zero.
func Duration[S any](to func(s *S) *time.Duration) func(*S, any) error {
	return func(s *S, v any) error {
		d, err := time.ParseDuration(fmt.Sprint(v))
		if err != nil || d <= 0 {
			return fmt.Errorf("is %v, and must be a duration with its unit: 30s, 5m, 168h", v)
		}
		*to(s) = d
		return nil
	}
}

// Truth reads true or false.
func Truth[S any](to func(s *S) *bool) func(*S, any) error {
	return func(s *S, v any) error {
		b, err := strconv.ParseBool(fmt.Sprint(v))
		if err != nil {
			return fmt.Errorf("is %v, and must be true or false", v)
		}
		*to(s) = b
		return nil
	}
}

// Pairs reads names with their values. They are a list of texts: the names of a mapping lose their capitals on the way here.
func Pairs[S any](to func(s *S) *map[string]string, example string) func(*S, any) error {
	return func(s *S, v any) error {
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("is %v, and must be a list of name=value: %s", v, example)
		}
		out := map[string]string{}
		for _, x := range list {
			name, value, ok := strings.Cut(fmt.Sprint(x), "=")
			if _, isText := x.(string); !isText || !ok || name == "" {
				return fmt.Errorf("has %v, and must be a list of name=value: %s", x, example)
			}
			if _, twice := out[name]; twice {
				return fmt.Errorf("has %s twice", name)
			}
			out[name] = value
		}
		*to(s) = out
		return nil
	}
}

// Texts reads a list of texts. check, which may be nil, looks at each.
func Texts[S any](to func(s *S) *[]string, check func(string) error) func(*S, any) error {
	return func(s *S, v any) error {
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return fmt.Errorf("is %v, and must be a list: [one, another]", v)
		}
		var out []string
		for _, x := range list {
			t, ok := x.(string)
			if !ok || t == "" {
				return fmt.Errorf("has %v, which is no text", x)
			}
			if check != nil {
				if err := check(t); err != nil {
					return err
				}
			}
			out = append(out, t)
		}
		*to(s) = out
		return nil
	}
}

// units are those of sizes.
var units = map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// ErrNoSize says that a text is no size.
var ErrNoSize = errors.New("it is no size")

// ParseSize reads a size of at most most bytes, in KiB, MiB, GiB or plain bytes.
func ParseSize(v any, most int64) (int64, error) {
	t, unit := fmt.Sprint(v), int64(1)
	for suffix, u := range units {
		if n, ok := strings.CutSuffix(t, suffix); ok {
			t, unit = strings.TrimSpace(n), u
		}
	}
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil || n <= 0 || n > most/unit {
		return 0, ErrNoSize
	}
	return n * unit, nil
}

// CheckURL refuses what is no address of a server, and secrets in one: it is journaled.
func CheckURL(v string) error {
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("is no address of a server: write https://host:port")
	case u.User != nil:
		return errors.New("has a user or password in it, and would be journaled: give a proxy's in HTTPS_PROXY")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("has a query or fragment: write https://host:port")
	}
	return nil
}

// CheckReference refuses a secret that is written out: it would be journaled.
func CheckReference(v string) error {
	if strings.HasPrefix(v, "env:") || strings.HasPrefix(v, "file:/") {
		return nil
	}
	return errors.New("must say where the secret is, env:NAME or file:/path: one that is written out would be journaled")
}

// Secret reads a secret from where a reference says that it is.
func Secret(reference string) ([]byte, error) {
	if name, ok := strings.CutPrefix(reference, "env:"); ok {
		if v := os.Getenv(name); v != "" {
			return []byte(v), nil
		}
		return nil, fmt.Errorf("the variable %s is not set", name)
	}
	data, err := os.ReadFile(strings.TrimPrefix(reference, "file:"))
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = errors.New("the file is empty")
	}
	return data, err
}
