package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/clinkctl/clinkctl/runstate"
)

// Code is a process's exit code. The table is promised to scripts.
type Code int

// The exit codes; DESIGN section 7.
const (
	Done    Code = 0  // committed with its manifest, or the key was committed before
	World   Code = 1  // failed by the world before a run began; nothing pending, nothing visible
	Open    Code = 3  // a run is begun and not ended
	Person  Code = 4  // lost, conflict, damaged journal, changed source
	Held    Code = 5  // another process holds the run
	Usage   Code = 64 // refused before anything was read
	BadData Code = 65 // the data was refused; the run is aborted
)

// severity is the order in which, of several codes, the worst is told.
var severity = []Code{Done, Held, World, BadData, Usage, Open, Person}

// Worst is the worse of two codes.
func Worst(a, b Code) Code {
	if slices.Index(severity, a) > slices.Index(severity, b) {
		return a
	}
	return b
}

// Failure is an error with its exit code, and the command to type next.
type Failure struct {
	Code Code
	Err  error
	Next string // "" where the message says it all
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

func fail(code Code, next string, err error) *Failure {
	return &Failure{Code: code, Err: err, Next: next}
}

func failf(code Code, next, text string, args ...any) *Failure {
	return fail(code, next, fmt.Errorf(text, args...))
}

// CodeOf is the exit code of an error; World for one that has none.
func CodeOf(err error) Code {
	if err == nil {
		return Done
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Code
	}
	return World
}

// Result is what became of one run.
type Result struct {
	Run      runstate.Token   `json:"run,omitempty"`
	Job      string           `json:"job"`
	Key      string           `json:"key,omitempty"`
	Code     Code             `json:"code"`
	Outcome  runstate.Outcome `json:"outcome,omitempty"` // "" while the run is open
	Already  bool             `json:"already,omitempty"` // it was committed before this command
	Rows     int64            `json:"rows"`
	Rejected int64            `json:"rejected,omitempty"`   // records that were refused, and put aside
	Rejects  string           `json:"rejects_to,omitempty"` // where they are
	Handles  int              `json:"artifacts"`            // in all sinks
	Pending  int              `json:"pending"`              // handles that are not finished
	Sinks    []string         `json:"sinks,omitempty"`
	Label    string           `json:"guarantee,omitempty"`
	Error    string           `json:"error,omitempty"`
	Next     string           `json:"next,omitempty"` // command to type
	Warnings []string         `json:"warnings,omitempty"`
}

// fill says in a result what a run's state is.
func (r *Result) fill(s *runstate.State) {
	b := s.Begun
	r.Run, r.Job, r.Key, r.Label = b.Run, b.Job, b.Key, b.Guarantee
	r.Rows, r.Pending, r.Handles, r.Sinks = s.Rows(), len(s.Outstanding()), 0, nil
	for range s.Kept() {
		r.Handles++
	}
	for _, sink := range b.Sinks {
		if sink.Rejects {
			r.Rejects = sink.To
			continue
		}
		r.Sinks = append(r.Sinks, sink.To)
	}
	r.Rejected = s.Rejected()
	if n := s.Nulled(); n > 0 && s.Decision != runstate.Abort {
		r.Warnings = append(r.Warnings, count(n, "value that is not finite was", "values that are not finite were")+" written as null, as the option nonfinite asks")
	}
	if s.Ended != nil {
		r.Outcome, r.Pending = s.Ended.Outcome, 0
	}
}

// failed says in a result what went wrong.
func (r *Result) failed(err error) {
	r.Code = Worst(r.Code, CodeOf(err))
	r.Error = err.Error()
	if f, ok := errors.AsType[*Failure](err); ok {
		r.Next = f.Next
	}
}

// WorstOf is the worst code of some results.
func WorstOf(results []Result) Code {
	worst := Done
	for _, r := range results {
		worst = Worst(worst, r.Code)
	}
	return worst
}
