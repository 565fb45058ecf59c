package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

func (a *app) showStatusJSON(home stateHome, runs []runStatus) error {
	return a.printJSON(struct {
		State string      `json:"state"`
		Runs  []runStatus `json:"runs"`
	}{home.name, runs})
}

// showStatus prints runs as a table.
func (a *app) showStatus(home stateHome, runs []runStatus) error {
	if len(runs) == 0 {
		_, err := fmt.Fprintf(a.streams.Out, "no runs under %s\n", home.name)
		return err
	}
	var text lastError
	table := tabwriter.NewWriter(a.streams.Out, 0, 0, 2, ' ', 0)
	text.print(table, "JOB\tRUN\tKEY\tSTATE\tROWS\tPENDING\tAGE\tNEXT\n")
	for _, r := range runs {
		text.print(table, "%s\t%s\t%s\t%s\t%d%s\t%d\t%s\t%s\n", r.Job, r.Run, r.keyText(), r.stateText(), r.Rows, refusedText(r.Rejected), r.Pending,
			ageText(time.Duration(r.Age)*time.Second), r.Next)
	}
	if text.err != nil {
		return text.err
	}
	return table.Flush()
}

func (s runStatus) keyText() string {
	key := s.Key
	if key == "" {
		key = "-"
	}
	if s.Again > 0 {
		key = fmt.Sprintf("%s (again %d)", key, s.Again)
	}
	return key
}

// fresh is how old progress may be of a process that is alive.
const fresh = 5 * time.Second

// stateText is the state, and how far a process has come that seems to be alive.
func (s runStatus) stateText() string {
	if s.ended() || s.Progress == nil || s.Progress.Left || time.Since(s.Progress.At) > fresh {
		return s.State
	}
	if s.State == stateReading && s.Progress.Total > 0 {
		return fmt.Sprintf("%s %d%%", s.State, min(100, 100*s.Progress.Bytes/s.Progress.Total))
	}
	return s.State + " (live)"
}

// ageText is an age in its two largest units.
func ageText(d time.Duration) string {
	d = max(0, d)
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}

// lastError prints until the first error.
type lastError struct{ err error }

func (l *lastError) print(w io.Writer, text string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintf(w, text, args...)
	}
}
