package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

func (a *app) abandonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "abandon RUN",
		Short: "Abort an undecided run, or put aside a damaged one",
		Long: "abandon aborts a run that is not decided: what it staged is thrown away, and its key is free.\n" +
			"With --damaged, a run whose journal cannot be read, or is older than its destination, is put aside: what the destinations\n" +
			"show of it is listed, and nothing is unpublished.\n" +
			"With --from-sink, what a destination has staged of a run whose state is lost is aborted: that the run is dead is your word.",
		Example: "  clinkctl abandon 20261130t013000z7f3a9c1e\n" +
			"  clinkctl abandon --damaged 20261130t013000z7f3a9c1e --because 'the disk lost a page'",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: a.runAbandon,
	}
	addFlags(cmd.Flags(), homeOptions()...)
	cmd.Flags().Bool("damaged", false, "put aside a run whose journal cannot be trusted")
	cmd.Flags().String("because", "", "the reason, for those who read the journal")
	addFromSink(cmd, "abort what this destination (its address, or a job's file) has staged of a run whose state is lost")
	addJSON(cmd)
	return cmd
}

func (a *app) runAbandon(cmd *cobra.Command, args []string) error {
	if places, w, err := a.fromSink(cmd); err != nil || len(places) > 0 {
		if err != nil {
			return err
		}
		return a.abandonFromSink(cmd, places, w, args[0])
	}
	damaged, err := cmd.Flags().GetBool("damaged")
	if err != nil {
		return err
	}
	why, err := cmd.Flags().GetString("because")
	if err != nil {
		return err
	}
	if damaged && why == "" {
		return usage("say why with --because")
	}
	if why == "" {
		why = "abandoned by hand"
	}
	groups, _, err := a.groups(cmd, args, homeOptions())
	if err != nil {
		return err
	}
	if err := groups[0].work.home.probe(pipeline.Open); err != nil {
		return err
	}
	var aside *pipeline.Aside
	results := a.do(cmd, groups[0].work, func(ctx context.Context, e *pipeline.Engine) []pipeline.Result {
		run := runstate.Token(args[0])
		if !damaged {
			return []pipeline.Result{e.Abandon(ctx, run, why)}
		}
		var r pipeline.Result
		r, aside = e.AbandonDamaged(ctx, run, why)
		return []pipeline.Result{r}
	})
	return a.tell(cmd, results, aside)
}
