package main

import (
	"context"
	"os"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/job"
)

// runOptions are those of `run` and `plan`.
func runOptions() []option {
	return append(append(jobOptions(), keyOption(), againOption()), workOptions()...)
}

func (a *app) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [JOB.yaml]",
		Short: "Export what a job says, exactly once",
		Long: "run exports what a job says. Runs of the job that died before are carried to their end first. A key that has been\n" +
			"committed is done: running it again does nothing and says so.",
		Example: "  clinkctl run orders.yaml --key 2026-11-30\n" +
			"  clinkctl run --from 'orders-*.csv' --to out/ --key 2026-11-30",
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: a.runRun,
	}
	addRunFlags(cmd)
	cmd.Flags().Bool("dry-run", false, "plan only, and write nothing anywhere")
	return cmd
}

func addRunFlags(cmd *cobra.Command) {
	addFlags(cmd.Flags(), runOptions()...)
	cmd.Flags().StringArray("set", nil, "any key of the job's file by its path, such as sinks.1.format=csv")
	addJSON(cmd)
}

// order is what `run` and `plan` are asked for.
type order struct {
	job   *job.Job
	key   string
	again int
	work  work
}

func (a *app) runRun(cmd *cobra.Command, args []string) error {
	if dry, err := cmd.Flags().GetBool("dry-run"); err != nil || dry {
		return a.runPlan(cmd, args)
	}
	o, err := a.order(cmd, args)
	if err != nil {
		return err
	}
	results := a.do(cmd, o.work, func(ctx context.Context, e *pipeline.Engine) []pipeline.Result {
		return e.Run(ctx, o.job.Plan, o.key, o.again)
	})
	return a.tell(cmd, results, nil)
}

// order reads the command line, the environment and the job's file.
func (a *app) order(cmd *cobra.Command, args []string) (o order, err error) {
	file := ""
	if len(args) > 0 {
		file = args[0]
	}
	s, err := readSettings(file, cmd.Flags(), runOptions())
	if err != nil {
		return o, err
	}
	if o.work, err = a.workOf(s); err != nil {
		return o, err
	}
	for _, w := range unknownVariables(os.Environ(), runOptions()) {
		a.log.Warn(w)
	}
	if o.job, err = job.Decode(s.values, s.where, a.jobEnv(s)); err != nil {
		return o, err
	}
	if o.key, err = keyOf(cmd, s); err != nil {
		return o, err
	}
	if o.again, err = againOf(s); err != nil {
		return o, err
	}
	o.work.grace = o.job.Grace
	if o.work.home, err = a.stateDir(o.job.State, s.repeatState(), o.job.Plan.Sinks); err != nil {
		return o, err
	}
	return o, o.work.home.probe(pipeline.World)
}

func keyOf(cmd *cobra.Command, s *settings) (string, error) {
	key := s.text(keyOption())
	if key == "" && cmd.Flags().Changed("key") {
		return "", usage("--key is empty: is a variable not set? Leave --key out to have none")
	}
	if len(key) > 1024 || !utf8.ValidString(key) {
		return "", usage("--key must be UTF-8 text of at most 1024 bytes")
	}
	for _, r := range key {
		if unicode.IsControl(r) {
			return "", usage("--key %q has a control character", key)
		}
	}
	return key, nil
}

func againOf(s *settings) (int, error) {
	text := s.text(againOption())
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usage("--again is %q, and must be a whole number: 1 is the first further export of a key", text)
	}
	return n, nil
}
