package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a job.
type Problem struct {
	Place Place  // where it was written; of something that is missing, where it should be
	Path  string // of the setting: "checkpoint.bytes"
	Text  string // what is wrong, and what is allowed
}

func (p Problem) String() string {
	at := p.Path
	if place := p.Place.String(); place != "" {
		at = strings.TrimSuffix(place+": "+at, ": ")
	}
	return at + ": " + p.Text
}

// Problems is everything that is wrong with a job, in the order of its file.
type Problems struct{ List []Problem }

func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, problem := range p.List {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// problem notes something that is wrong with the setting of a path.
func (d *decoding) problem(path, text string, args ...any) {
	d.problems = append(d.problems, Problem{Place: d.where(path), Path: path, Text: fmt.Sprintf(text, args...)})
}

// fail notes an error of the machine. The first one counts.
func (d *decoding) fail(err error) {
	if d.failed == nil {
		d.failed = err
	}
}

func (d *decoding) err() error {
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Place.Line, b.Place.Line) })
		return &Problems{List: d.problems}
	}
	return d.failed
}
