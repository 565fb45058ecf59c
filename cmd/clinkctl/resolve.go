package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

func (a *app) resolveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve RUN ARTIFACT",
		Short: "Say what became of an artifact that no look can prove",
		Long: "resolve takes a person's word about an artifact of a decided run that is lost, in conflict or unknown, and carries the\n" +
			"run on. --as lost aborts the artifact first, so that it cannot appear later. The manifest and the guarantee say so.",
		Example: "  clinkctl resolve 20261130t013000z7f3a9c1e sub0-20261130t013000z7f3a9c1e-000002.csv --as lost --because 'deleted by hand'",
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE:    a.runResolve,
	}
	addFlags(cmd.Flags(), homeOptions()...)
	cmd.Flags().String("as", "", "published or lost")
	cmd.Flags().String("because", "", "the reason, for those who read the journal and the manifest")
	cmd.Flags().String("sink", "", "destination, where several have an artifact of that name")
	addJSON(cmd)
	return cmd
}

func (a *app) runResolve(cmd *cobra.Command, args []string) error {
	word := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
	verdict := runstate.Verdict(word("as"))
	if verdict != runstate.AsPublished && verdict != runstate.AsLost {
		return badChoice(option{flag: "as"}, string(verdict), string(runstate.AsPublished), string(runstate.AsLost))
	}
	if word("because") == "" {
		return usage("say why with --because")
	}
	groups, _, err := a.groups(cmd, args[:1], homeOptions())
	if err != nil {
		return err
	}
	if err := groups[0].work.home.probe(pipeline.Open); err != nil {
		return err
	}
	results := a.do(cmd, groups[0].work, func(ctx context.Context, e *pipeline.Engine) []pipeline.Result {
		return []pipeline.Result{e.Resolve(ctx, runstate.Token(args[0]), args[1], word("sink"), verdict, word("because"))}
	})
	return a.tell(cmd, results, nil)
}
