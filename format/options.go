package format

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Options reads a format's options strictly: what is asked for is known, all else that was given is an error, and all
// errors come at once from Err.
type Options struct {
	format string
	given  map[string]any
	known  []string
	errs   []error
}

// ReadOptions begins to read the options given to the format of that name. nil is none.
func ReadOptions(format string, given map[string]any) *Options {
	return &Options{format: format, given: given}
}

// given shows a value that was given. That of no type is what YAML takes null, NULL and ~ for.
func given(v any) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}

func (o *Options) know(name string) {
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
	}
}

// String gives the value of a text option, or what it is when it is not given.
func (o *Options) String(name, absent string) string {
	o.know(name)
	v, ok := o.given[name]
	if !ok {
		return absent
	}
	s, ok := v.(string)
	if !ok {
		o.Refuse(name, fmt.Sprintf("is %s, and must be a text: write it in quotes", given(v)))
		return absent
	}
	return s
}

// Choice is String for an option that has one of a few values; the first is the one that it has when it is not given.
func (o *Options) Choice(name string, values ...string) string {
	s := o.String(name, values[0])
	if slices.Contains(values, s) {
		return s
	}
	o.Refuse(name, fmt.Sprintf("is %q, and can be %s%s", s, strings.Join(values, ", "), didYouMean(Nearest(s, values))))
	return values[0]
}

// Bool gives a yes or no, false when it is not given. Flags say it as text.
func (o *Options) Bool(name string) bool {
	o.know(name)
	switch v := o.given[name].(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		if v == "true" || v == "false" {
			return v == "true"
		}
	}
	o.Refuse(name, fmt.Sprintf("is %s, and must be true or false", given(o.given[name])))
	return false
}

// Whole gives a whole number from least to most, or what it is when it is not given.
func (o *Options) Whole(name string, absent, least, most int64) int64 {
	return o.number(name, absent, least, most, "a whole number", func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
}

// Size is Whole for a number of bytes: 1048576, 1MiB.
func (o *Options) Size(name string, absent, least, most int64) int64 {
	return o.number(name, absent, least, most, "a number of bytes, or one with KiB, MiB or GiB", parseSize)
}

func (o *Options) number(name string, absent, least, most int64, what string, parse func(string) (int64, error)) int64 {
	o.know(name)
	v, ok := o.given[name]
	if !ok {
		return absent
	}
	n, err := parse(fmt.Sprint(v))
	switch {
	case err != nil:
		o.Refuse(name, fmt.Sprintf("is %v, and must be %s", v, what))
	case n < least || n > most:
		o.Refuse(name, fmt.Sprintf("is %v, and must be from %d to %d", v, least, most))
	default:
		return n
	}
	return absent
}

func parseSize(s string) (int64, error) {
	shift := 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			s, shift = strings.TrimSpace(rest), 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil && n > math.MaxInt64>>shift {
		err = strconv.ErrRange
	}
	return n << shift, err
}

// Texts gives the texts of an option that is a text or a list of them, nil when it is not given.
func (o *Options) Texts(name string) []string {
	o.know(name)
	v, ok := o.given[name]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var texts []string
	for _, x := range list {
		s, ok := x.(string)
		if !ok {
			o.Refuse(name, fmt.Sprintf("has %s, and must be a text or a list of texts: write it in quotes", given(x)))
			return nil
		}
		texts = append(texts, s)
	}
	return texts
}

// Given tells whether an option is given, and of what Go type it is there.
func (o *Options) Given(name string) (any, bool) {
	o.know(name)
	v, ok := o.given[name]
	return v, ok
}

// Refuse adds an error about one option.
func (o *Options) Refuse(name, reason string) {
	o.errs = append(o.errs, fmt.Errorf("%s option %s %s", o.format, name, reason))
}

// Err gives everything that is wrong, the options that nobody asked for included. It is called once, last.
func (o *Options) Err() error {
	var unknown []string
	for name := range o.given {
		if !slices.Contains(o.known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		o.Refuse(name, "is unknown"+o.instead(name))
	}
	return errors.Join(o.errs...)
}

func (o *Options) instead(name string) string {
	if len(o.known) == 0 {
		return fmt.Sprintf(": %s has no options", o.format)
	}
	if near := Nearest(name, o.known); near != "" {
		return didYouMean(near)
	}
	return ": there are " + strings.Join(o.known, ", ")
}

func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near)
}

// Nearest gives the known name that a mistyped one most likely stands for, "" if none is close.
func Nearest(name string, known []string) string {
	best, distance := "", len(name)/2+1
	for _, k := range known {
		if d := edits(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two texts, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
