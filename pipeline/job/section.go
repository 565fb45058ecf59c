package job

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/format"
)

// maxWhole bounds whole numbers that have no bound of their own.
const maxWhole = math.MaxInt64

// section is one mapping of a job. What is asked for is known; close reports all else.
type section struct {
	d      *decoding
	path   string
	values map[string]any
	given  bool // it is there
	broken bool // it is there, and no mapping
	known  []string
}

// at is the path of a setting in the section.
func (s *section) at(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "." + name
}

func (s *section) problem(name, text string, args ...any) { s.d.problem(s.at(name), text, args...) }

// value gives a setting, nil if it is not given.
func (s *section) value(name string) any {
	if !slices.Contains(s.known, name) {
		s.known = append(s.known, name)
	}
	return s.values[name]
}

// section gives a mapping in the section, an empty one if there is none.
func (s *section) section(name string) *section {
	return s.d.sectionOf(s.at(name), s.value(name))
}

func (d *decoding) sectionOf(path string, value any) *section {
	s := &section{d: d, path: path, given: value != nil}
	if value == nil {
		return s
	}
	m, ok := value.(map[string]any)
	if !ok {
		s.broken = true
		d.problem(path, "is %s, and must be a mapping (key: value)", kindOf(value))
	}
	s.values = m
	return s
}

// text gives a text, or what it is when it is not given.
func (s *section) text(name, absent string) string {
	switch v := s.value(name).(type) {
	case nil:
		return absent
	case string:
		if v == "" {
			s.problem(name, "is empty")
			return absent
		}
		return v
	default:
		if written := s.d.where(s.at(name)).Text; written != "" {
			return written
		}
		s.problem(name, "is %s, and must be a text", kindOf(v))
		return absent
	}
}

// choice gives one of some texts; the first is the one that it is when it is not given.
func (s *section) choice(name string, values ...string) string {
	v := s.text(name, values[0])
	if slices.Contains(values, v) {
		return v
	}
	s.problem(name, "is %q, and can be %s%s", v, strings.Join(values, ", "), didYouMean(v, values))
	return values[0]
}

// whole gives a whole number of at least least and at most most.
func (s *section) whole(name string, absent, least, most int64) int64 {
	v := s.value(name)
	if v == nil {
		return absent
	}
	n, err := wholeOf(v)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("is %d, and must be %s", n, bounds(least, most))
	}
	if err != nil {
		s.problem(name, "%v", err)
		return absent
	}
	return n
}

func bounds(least, most int64) string {
	if most == maxWhole {
		return fmt.Sprintf("at least %d", least)
	}
	return fmt.Sprintf("from %d to %d", least, most)
}

// size gives a number of bytes, of at least least.
func (s *section) size(name string, absent, least int64) int64 {
	v := s.value(name)
	if v == nil {
		return absent
	}
	n, err := sizeOf(v)
	if err == nil && n < least {
		err = fmt.Errorf("is %v, and must be at least %d", v, least)
	}
	if err != nil {
		s.problem(name, "%v", err)
		return absent
	}
	return n
}

// duration gives a duration that is not negative.
func (s *section) duration(name string, absent time.Duration) time.Duration {
	v := s.value(name)
	if v == nil {
		return absent
	}
	n, err := durationOf(v)
	if err != nil {
		s.problem(name, "%v", err)
		return absent
	}
	return n
}

// truth gives a yes or no.
func (s *section) truth(name string) bool {
	switch v := s.value(name).(type) {
	case nil:
		return false
	case bool:
		return v
	default:
		s.problem(name, "is %s, and must be true or false", kindOf(v))
		return false
	}
}

// close reports the settings that nobody has asked for.
func (s *section) close() {
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		if slices.Contains(s.known, name) {
			continue
		}
		instead := didYouMean(name, s.known)
		if instead == "" {
			instead = ": there are " + strings.Join(slices.Sorted(slices.Values(s.known)), ", ")
		}
		s.problem(name, "unknown key%s", instead)
	}
}

func didYouMean(name string, known []string) string {
	near := format.Nearest(name, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near)
}
