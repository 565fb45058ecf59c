package main

import (
	"bytes"
	"errors"
	"fmt"
	"path"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

func (a *app) journalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Read the journal of a run",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	show := &cobra.Command{
		Use:     "show RUN",
		Short:   "Print the records of a run's journal, one a line",
		Example: "  clinkctl journal show 20261130t013000z7f3a9c1e --json",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE:    a.runJournalShow,
	}
	show.Flags().Bool("json", false, "print each record as it is in the journal, one JSON object a line")
	check := &cobra.Command{
		Use:     "check RUN",
		Short:   "Check a run's journal: exit 4 if it is damaged",
		Example: "  clinkctl journal check 20261130t013000z7f3a9c1e",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE:    a.runJournalCheck,
	}
	addJSON(check)
	for _, c := range []*cobra.Command{show, check} {
		addFlags(c.Flags(), statusOptions()...)
		cmd.AddCommand(c)
	}
	return cmd
}

// find finds the run that an argument names.
func (a *app) find(cmd *cobra.Command, args []string) (pipeline.Entry, *pipeline.Engine, error) {
	groups, _, err := a.groups(cmd, args, statusOptions())
	if err != nil {
		return pipeline.Entry{}, nil, err
	}
	e := a.engine(groups[0].work.home)
	r, err := e.Find(runstate.Token(args[0]))
	return r, e, err
}

func (a *app) runJournalShow(cmd *cobra.Command, args []string) error {
	r, e, err := a.find(cmd, args)
	if err != nil {
		return err
	}
	if r.View != nil {
		show := a.showRecords
		if asksJSON(cmd) {
			show = a.showLines
		}
		if err := show(r, e); err != nil {
			return err
		}
	}
	return journalFailure(r, e)
}

// journalFailure is the error of a journal that cannot be worked with.
func journalFailure(r pipeline.Entry, e *pipeline.Engine) error {
	if _, ok := errors.AsType[*runstate.DamageError](r.Err); ok {
		return &pipeline.Failure{Code: pipeline.Person, Err: r.Err, Next: fmt.Sprintf("clinkctl abandon --damaged %s --because '...'%s", r.Run, e.Flags)}
	}
	if _, ok := errors.AsType[*runstate.NewerError](r.Err); ok {
		return &pipeline.Failure{Code: pipeline.Person, Err: r.Err}
	}
	return r.Err
}

// showLines prints the records' JSON as it stands in the journal.
func (a *app) showLines(r pipeline.Entry, e *pipeline.Engine) error {
	data, err := vfs.ReadFile(e.FS, path.Join(r.Dir, "journal"))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data[:min(r.View.Size, int64(len(data)))]) {
		_, text, _ := bytes.Cut(line, []byte(" ")) // after the checksum
		if _, err := a.streams.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showRecords(r pipeline.Entry, _ *pipeline.Engine) error {
	for i, record := range r.View.Records {
		_, err := fmt.Fprintf(a.streams.Out, "%8d  %s  %s\n", r.View.Offsets[i], record.At.UTC().Format("2006-01-02T15:04:05.000Z"), recordText(record))
		if err != nil {
			return err
		}
	}
	if r.View.Torn > 0 {
		_, err := fmt.Fprintf(a.streams.Out, "%8d  %s that were never acknowledged\n", r.View.Size, plural(r.View.Torn, "byte", "bytes"))
		return err
	}
	return nil
}

// recordText says a record in a line.
func recordText(r runstate.Record) string {
	switch {
	case r.Begun != nil:
		return fmt.Sprintf("begun     job %s, run %s%s, %s, by clinkctl %s", r.Begun.Job, r.Begun.Run, keyText(r.Begun),
			plural(int64(len(r.Begun.Splits)), "split", "splits"), r.Begun.Made.Clinkctl)
	case r.Attempt != nil:
		return fmt.Sprintf("attempt   %d, process %d on %s, %s", r.Attempt.Number, r.Attempt.Process, r.Attempt.Host,
			plural(int64(r.Attempt.Subtasks), "subtask", "subtasks"))
	case r.Prepared != nil:
		u := r.Prepared
		return fmt.Sprintf("prepared  subtask %d, checkpoint %d of attempt %d: %s, %s, %s", u.Subtask, u.Checkpoint, u.Attempt,
			plural(u.Rows, "row", "rows")+refusedText(u.Rejected), plural(int64(len(u.Ranges)), "range", "ranges"), plural(int64(len(u.Handles)), "handle", "handles"))
	case r.Dropped != nil:
		return fmt.Sprintf("dropped   subtask %d, checkpoint %d: %s", r.Dropped.Subtask, r.Dropped.Checkpoint, r.Dropped.Why)
	case r.Decided != nil:
		return "decided   " + string(r.Decided.Decision) + because(r.Decided.Why)
	case r.Finished != nil:
		return fmt.Sprintf("finished  %s at sink %d", r.Finished.Name, r.Finished.Sink)
	case r.Resolved != nil:
		return fmt.Sprintf("resolved  %s at sink %d as %s%s", r.Resolved.Name, r.Resolved.Sink, r.Resolved.As, because(r.Resolved.Why))
	case r.Manifest != nil:
		return fmt.Sprintf("manifest  of sink %d, %s, %s", r.Manifest.Sink, r.Manifest.Outcome, r.Manifest.Digest)
	case r.Ended != nil:
		return "ended     " + string(r.Ended.Outcome)
	}
	return "unknown"
}

func keyText(b *runstate.Begun) string {
	switch {
	case b.Key != "" && b.Again > 0:
		return fmt.Sprintf(", key %s (again %d)", b.Key, b.Again)
	case b.Key != "":
		return ", key " + b.Key
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func (a *app) runJournalCheck(cmd *cobra.Command, args []string) error {
	r, e, err := a.find(cmd, args)
	if err != nil {
		return err
	}
	if err := journalFailure(r, e); err != nil {
		return err
	}
	v := r.View
	if asksJSON(cmd) {
		return a.printJSON(struct {
			Run     runstate.Token `json:"run"`
			Records int            `json:"records"`
			Bytes   int64          `json:"bytes"`
			Torn    int64          `json:"torn_bytes"`
			Code    pipeline.Code  `json:"code"`
		}{r.Run, len(v.Records), v.Size, v.Torn, pipeline.Done})
	}
	text := fmt.Sprintf("%s: %s, %s, whole", r.Run, plural(int64(len(v.Records)), "record", "records"), plural(v.Size, "byte", "bytes"))
	if v.Torn > 0 {
		text += fmt.Sprintf("; %s after them were never acknowledged, and are cut by whoever goes on", plural(v.Torn, "byte", "bytes"))
	}
	_, err = fmt.Fprintln(a.streams.Out, text)
	return err
}

// refusedText says how many records were refused, if any were.
func refusedText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d refused)", n)
}
