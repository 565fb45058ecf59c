package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/job"
	"github.com/clinkctl/clinkctl/runstate"
)

func addJSON(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "print one JSON object")
}

func asksJSON(cmd *cobra.Command) bool {
	asks, err := cmd.Flags().GetBool("json")
	return err == nil && asks
}

// printJSON prints one value as JSON. Fields are only ever added.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.streams.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// report is what a command says in JSON.
type report struct {
	Results  []pipeline.Result `json:"results"`
	Code     pipeline.Code     `json:"code"`
	Error    string            `json:"error,omitempty"`
	Problems []string          `json:"problems,omitempty"` // of a job
	Aside    *pipeline.Aside   `json:"aside,omitempty"`
}

// reportError prints an error that is not a run's as JSON.
func (a *app) reportError(err error, code pipeline.Code) {
	r := report{Results: []pipeline.Result{}, Code: code, Error: err.Error()}
	if problems, ok := errors.AsType[*job.Problems](err); ok {
		for _, p := range problems.List {
			r.Problems = append(r.Problems, p.String())
		}
	}
	_ = a.unreported(a.printJSON(r)) // it has told
}

// tell tells results: what became of runs to Out, why and what to do next to Err.
func (a *app) tell(cmd *cobra.Command, results []pipeline.Result, aside *pipeline.Aside) error {
	a.code = pipeline.Worst(a.code, pipeline.WorstOf(results))
	a.tellErrors(results)
	if asksJSON(cmd) {
		if results == nil {
			results = []pipeline.Result{}
		}
		return a.unreported(a.printJSON(report{Results: results, Code: a.code, Aside: aside}))
	}
	var text strings.Builder
	if aside != nil {
		describeAside(&text, aside)
		results = nil // the run is not one any more
	}
	for _, r := range results {
		if r.Error == "" || r.Outcome != "" || r.Handles > 0 {
			describe(&text, r)
		}
	}
	return a.unreported(writeAll(a.streams.Out, text.String()))
}

func writeAll(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// unreported tells that a report could not be written. What the runs have come to stays what the exit code says.
func (a *app) unreported(err error) error {
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		a.log.Error("the report cannot be written", "error", err)
	}
	return nil
}

// tellErrors tells what went wrong, and keeps the command of the worst result for the end.
func (a *app) tellErrors(results []pipeline.Result) {
	worst := pipeline.Done
	for _, r := range results {
		for _, w := range r.Warnings {
			a.log.Warn(w, "job", r.Job, "run", r.Run)
		}
		if r.Error != "" {
			a.sayError(r.Error, r)
		}
		if r.Next != "" && (a.next == "" || pipeline.Worst(worst, r.Code) != worst) {
			a.next, worst = r.Next, r.Code
		}
	}
}

// sayError tells an error: as a person reads it, or as the log has it where the log is for machines.
func (a *app) sayError(text string, r pipeline.Result) {
	if a.machine {
		a.log.Error(text, "job", r.Job, "run", r.Run, "code", int(r.Code))
		return
	}
	if r.Job != "" {
		text = r.Job + ": " + text
	}
	_, _ = fmt.Fprintf(a.err, "clinkctl: %s\n", text) // nowhere else to tell it
}

// sayNext tells the one command to type next, if there is one.
func (a *app) sayNext(next string) {
	switch {
	case next == "":
	case a.machine:
		a.log.Info("next", "command", next)
	default:
		_, _ = fmt.Fprintf(a.err, "next: %s\n", next) // nowhere else to tell it
	}
}

// describe says in a paragraph what became of a run.
func describe(text *strings.Builder, r pipeline.Result) {
	name := r.Job
	if r.Key != "" {
		name += " " + r.Key
	}
	if r.Run == "" { // nothing was begun: the error says all
		return
	}
	rows := plural(r.Rows, "row", "rows") + " in " + plural(int64(r.Handles), "artifact", "artifacts")
	switch {
	case r.Already && r.Outcome == runstate.Done:
		fmt.Fprintf(text, "%s: nothing to do: run %s committed this before (%s)\n", name, r.Run, rows)
	case r.Outcome == runstate.Done:
		fmt.Fprintf(text, "%s: committed by run %s: %s\n", name, r.Run, rows)
	case r.Outcome == runstate.Partial:
		fmt.Fprintf(text, "%s: run %s ended partial: the manifests name what of %s is lost\n", name, r.Run, rows)
	case r.Outcome == runstate.Aborted:
		fmt.Fprintf(text, "%s: run %s was aborted: nothing is published\n", name, r.Run)
	default:
		fmt.Fprintf(text, "%s: run %s is open: %s prepared, %d not finished\n", name, r.Run, rows, r.Pending)
	}
	if r.Outcome == runstate.Aborted {
		return
	}
	for _, to := range r.Sinks {
		fmt.Fprintf(text, "  to %s\n", to)
	}
	if r.Label != "" && r.Outcome == runstate.Done {
		fmt.Fprintf(text, "  guarantee: %s\n", r.Label)
	}
	if r.Rejected > 0 {
		put := "put aside"
		if r.Outcome == "" {
			put = "will be " + put
		}
		fmt.Fprintf(text, "  %s refused, and %s in %s\n", plural(r.Rejected, "record was", "records were"), put, r.Rejects)
	}
}

func describeAside(text *strings.Builder, aside *pipeline.Aside) {
	fmt.Fprintf(text, "run %s was put aside: %s\n", aside.Run, aside.Why)
	if aside.Unseen != "" {
		fmt.Fprintf(text, "  what its destinations show of it is not known, and its key is free only when they show nothing of it: %s\n", aside.Unseen)
	} else if len(aside.Visible) == 0 {
		fmt.Fprintf(text, "  its destinations show nothing of it: its key is free\n")
	}
	for _, v := range aside.Visible {
		for _, name := range v.Names {
			fmt.Fprintf(text, "  still visible: %s/%s\n", strings.TrimSuffix(v.To, "/"), name)
		}
	}
}
