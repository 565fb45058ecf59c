package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/job"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

const fromSinkFlag = "from-sink"

func addFromSink(cmd *cobra.Command, help string) {
	cmd.Flags().String(fromSinkFlag, "", help)
}

// fromSink gives the destinations that --from-sink names, by an address or by a job's file, and how the state is found. There
// are none where the flag is not given.
func (a *app) fromSink(cmd *cobra.Command) (places []stage.Place, w work, err error) {
	at, err := cmd.Flags().GetString(fromSinkFlag)
	if err != nil || at == "" {
		return nil, w, err
	}
	s, err := readSettings("", cmd.Flags(), homeOptions())
	if err != nil {
		return nil, w, err
	}
	if w, err = a.workOf(s); err != nil {
		return nil, w, err
	}
	w.grace = defaultGrace
	var sinks []pipeline.SinkPlan
	if isJobFile(at) {
		f, err := readSettings(at, cmd.Flags(), []option{stateOption(), graceOption()})
		if err != nil {
			return nil, w, err
		}
		j, err := job.Decode(f.values, f.where, a.jobEnv(f))
		if err != nil {
			return nil, w, err
		}
		sinks = j.Plan.Sinks
		for _, sink := range sinks {
			places = append(places, sink.Place())
		}
		w.home, err = a.stateDir(j.State, f.repeatState(), sinks)
		return places, w, err
	}
	backend, err := a.wiring.Backend(at)
	if err != nil {
		return nil, w, usage("--from-sink: %w", err)
	}
	place := stage.Place{To: at}
	if backend.Expand != nil {
		if place, err = backend.Expand(at, nil, 0); err != nil {
			return nil, w, usage("--from-sink: %w", err)
		}
	}
	w.home, err = a.stateDir(s.viper.GetString("state"), s.repeatState(), nil)
	return []stage.Place{place}, w, err
}

// listFromSink lists what destinations have staged of runs whose state is lost.
func (a *app) listFromSink(cmd *cobra.Command, places []stage.Place, w work) error {
	found, err := a.engine(w.home).FromSink(context.Background(), places)
	if err != nil {
		return err
	}
	return a.tellFound(cmd, found, "nothing is staged there of runs that this state does not know")
}

// abandonFromSink aborts what destinations have staged of one such run.
func (a *app) abandonFromSink(cmd *cobra.Command, places []stage.Place, w work, run string) error {
	found, err := a.engine(w.home).AbandonFromSink(context.Background(), places, runstate.Token(run))
	if err != nil {
		return err
	}
	return a.tellFound(cmd, found, "nothing was staged there of run "+run)
}

func (a *app) tellFound(cmd *cobra.Command, found []pipeline.FoundRun, none string) error {
	if asksJSON(cmd) {
		return a.printJSON(struct {
			Found []pipeline.FoundRun `json:"found"`
		}{found})
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(a.streams.Out, none)
		return err
	}
	t := tabwriter.NewWriter(a.streams.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "RUN\tTO\tARTIFACTS\tPARTS\tBYTES\tSINCE") // Flush tells errors
	for _, r := range found {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%s\n", r.Run, r.To, r.Artifacts, r.Parts, r.Bytes, r.Since.Format(time.RFC3339))
	}
	return t.Flush()
}
