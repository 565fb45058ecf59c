package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/job"
)

// Streams are where a command writes: results to Out, all else to Err.
type Streams struct{ Out, Err io.Writer }

// app is one call of the program.
type app struct {
	wiring  Wiring
	streams Streams
	err     *terminal // streams.Err, shared with a bar
	log     *slog.Logger
	machine bool          // the log is for machines
	code    pipeline.Code // of the results that were told
	next    string        // command that is told last
}

// Main runs one command and gives its exit code.
func Main(args []string, w Wiring, s Streams) int {
	signal.Ignore(syscall.SIGPIPE) // whoever reads a report may stop reading: that is told by EPIPE, and quiet
	a := &app{wiring: w, streams: s, err: &terminal{out: s.Err}}
	a.log = slog.New(slog.NewTextHandler(a.err, nil))
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err != nil {
		a.fail(cmd, err)
	}
	a.sayNext(a.next)
	return int(a.code)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "clinkctl",
		Short: "Batch exactly-once export",
		Long: "clinkctl reads a source, stages what it read durably but invisibly at the destination, and then publishes all of it,\n" +
			"each row exactly once. A crash at any instant loses no row and repeats none: `clinkctl resume` finishes.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.streams.Out)
	root.SetErr(a.streams.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.runCommand(), a.planCommand(), a.resumeCommand(), a.statusCommand(), a.abandonCommand(),
		a.resolveCommand(), a.journalCommand(), a.versionCommand())
	return root
}

// unknownCommand refuses what no command is called.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if near := format.Nearest(args[0], names); near != "" {
		return usage("there is no command %q; did you mean %s?", args[0], near)
	}
	return usage("there is no command %q; there are: %s", args[0], strings.Join(names, ", "))
}

// usageError is a command line that cannot be followed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(text string, args ...any) error { return usageError{fmt.Errorf(text, args...)} }

// usageArgs makes an argument check of cobra's a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage("%w: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// flagError makes cobra's errors about flags usage errors, and names the flag that may have been meant.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usage("%w", err)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := format.Nearest(name, known); near != "" {
		return usage("%w; did you mean --%s?", err, near)
	}
	return usage("%w", err)
}

// fail tells an error that is not a run's, and takes its code.
func (a *app) fail(cmd *cobra.Command, err error) {
	if errors.Is(err, syscall.EPIPE) {
		return // the reader of a report has seen enough
	}
	code := codeOf(err)
	a.code = pipeline.Worst(a.code, code)
	if f, ok := errors.AsType[*pipeline.Failure](err); ok && f.Next != "" {
		a.next = f.Next
	}
	if asks, flagErr := cmd.Flags().GetBool("json"); flagErr == nil && asks {
		a.reportError(err, a.code)
	}
	if problems, ok := errors.AsType[*job.Problems](err); ok && !a.machine {
		_, _ = fmt.Fprintln(a.err, problems) // nowhere else to tell it
		return
	}
	a.sayError(err.Error(), pipeline.Result{Code: code})
}

// codeOf is the exit code of an error. What comes from cobra itself is about the command line.
func codeOf(err error) pipeline.Code {
	if f, ok := errors.AsType[*pipeline.Failure](err); ok {
		return f.Code
	}
	if _, ok := errors.AsType[*job.Problems](err); ok {
		return pipeline.Usage
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return pipeline.Usage
	}
	return pipeline.World
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown" // it is only told to people
	}
	return name
}
