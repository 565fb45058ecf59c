package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [JOB.yaml|JOB|RUN ...]",
		Short: "Show runs, and the command that goes on from each",
		Long: "status shows runs as their journals have them. It takes no lock and changes nothing: whether a process works on a run\n" +
			"right now is told by the age of its progress only.",
		Example: "  clinkctl status\n  clinkctl status orders --json\n  clinkctl status --watch",
		RunE:    a.runStatus,
	}
	addFlags(cmd.Flags(), statusOptions()...)
	cmd.Flags().Bool("watch", false, "show it again every second, until interrupted")
	cmd.Flags().Bool("all", false, "show all ended runs, and not only the last few of each job")
	addJSON(cmd)
	return cmd
}

func statusOptions() []option { return []option{stateOption(), logFormatOption()} }

// lastEnded is how many ended runs of a job are shown.
const lastEnded = 5

func (a *app) runStatus(cmd *cobra.Command, args []string) error {
	groups, _, err := a.groups(cmd, args, statusOptions())
	if err != nil {
		return err
	}
	watch, err := cmd.Flags().GetBool("watch")
	if err != nil {
		return err
	}
	show := a.showStatus
	if asksJSON(cmd) {
		show = a.showStatusJSON
	}
	all, err := cmd.Flags().GetBool("all")
	if err != nil {
		return err
	}
	if !watch {
		runs, err := a.statuses(groups, all)
		if err != nil {
			return err
		}
		return show(groups[0].work.home, runs)
	}
	return a.watchStatus(func() error {
		runs, err := a.statuses(groups, all)
		if err != nil {
			return err
		}
		return show(groups[0].work.home, runs)
	})
}

// watchStatus shows again and again.
func (a *app) watchStatus(show func() error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	clear := ""
	if canRedraw(a.streams.Out) {
		clear = "\x1b[H\x1b[2J"
	}
	for {
		if _, err := fmt.Fprint(a.streams.Out, clear); err != nil {
			return err
		}
		if err := show(); err != nil {
			return err
		}
		if err := sleep(ctx, time.Second); err != nil {
			return nil // interrupted: that is how it ends
		}
	}
}

// runStatus is what is told of a run.
type runStatus struct {
	Job       string         `json:"job"`
	Run       runstate.Token `json:"run"`
	Key       string         `json:"key,omitempty"`
	Again     int            `json:"again,omitempty"`
	State     string         `json:"state"`
	Rows      int64          `json:"rows"`
	Rejected  int64          `json:"rejected,omitempty"`   // records that were refused, and put aside
	Rejects   string         `json:"rejects_to,omitempty"` // where they are
	Artifacts int            `json:"artifacts"`
	Pending   int            `json:"pending"` // artifacts that are not finished
	Attempts  int            `json:"attempts"`
	Began     time.Time      `json:"began"`
	Age       int64          `json:"age_seconds"`
	Sinks     []string       `json:"sinks,omitempty"`
	Guarantee string         `json:"guarantee,omitempty"`
	Progress  *progressFile  `json:"progress,omitempty"` // of the last process, as of its time
	Error     string         `json:"error,omitempty"`
	Next      string         `json:"next,omitempty"` // command to type
}

// The states of runs.
const (
	stateReading  = "reading"  // not everything is prepared
	statePrepared = "prepared" // everything is, and nothing is decided
	stateDecided  = "decided"  // to commit
	stateAborting = "aborting" // decided to abort
	stateDamaged  = "damaged"
	stateNewer    = "newer" // written by a newer version
	stateUnread   = "unreadable"
)

func (a *app) statuses(groups []group, all bool) ([]runStatus, error) {
	runs := []runStatus{}
	for _, g := range groups {
		e := a.engine(g.work.home)
		jobs, err := e.Jobs()
		if err != nil {
			return nil, err
		}
		found := map[string]bool{}
		for _, job := range jobs {
			entries, err := e.Runs(job)
			if err != nil {
				return nil, err
			}
			shown := a.statusesOf(g, e, job, entries, all, found)
			runs = append(runs, shown...)
		}
		for _, name := range g.names {
			if !found[name] && !g.optional[name] {
				return nil, usage("there is no job or run %q under %s", name, g.work.home.name)
			}
		}
	}
	return runs, nil
}

// statusesOf gives the runs of a job that are asked for: the open ones, and the last of those that have ended.
func (a *app) statusesOf(g group, e *pipeline.Engine, job string, entries []pipeline.Entry, all bool, found map[string]bool) []runStatus {
	found[job] = true
	var runs []runStatus
	ended := 0
	for _, r := range slices.Backward(entries) {
		named := slices.Contains(g.names, string(r.Run))
		found[string(r.Run)] = true
		if len(g.names) > 0 && !named && !slices.Contains(g.names, job) {
			continue
		}
		s := a.statusOf(r, e)
		if s.ended() {
			ended++
		}
		if ended <= lastEnded || all || named || !s.ended() {
			runs = append(runs, s)
		}
	}
	slices.Reverse(runs)
	return runs
}

func (s runStatus) ended() bool {
	return slices.Contains([]string{string(runstate.Done), string(runstate.Partial), string(runstate.Aborted)}, s.State)
}

func (a *app) statusOf(r pipeline.Entry, e *pipeline.Engine) runStatus {
	s := runStatus{Job: r.Job, Run: r.Run, Began: r.Run.Began(), Age: int64(e.Patience.Now().Sub(r.Run.Began()).Seconds())}
	s.Progress = readProgress(e.FS, r.Dir)
	if r.View != nil && r.View.State.Begun != nil {
		s.fill(r.View.State)
	}
	if r.Err != nil {
		s.Error = r.Err.Error()
		s.State, s.Next = stateUnread, "clinkctl resume "+string(r.Run)+e.Flags
		if _, ok := errors.AsType[*runstate.DamageError](r.Err); ok {
			s.State, s.Next = stateDamaged, "clinkctl abandon --damaged "+string(r.Run)+" --because '...'"+e.Flags
		}
		if _, ok := errors.AsType[*runstate.NewerError](r.Err); ok {
			s.State, s.Next = stateNewer, ""
		}
	} else if !s.ended() {
		s.Next = "clinkctl resume " + string(r.Run) + e.Flags
	}
	return s
}

func (s *runStatus) fill(state *runstate.State) {
	b := state.Begun
	s.Key, s.Again, s.Guarantee = b.Key, b.Again, b.Guarantee
	s.Rows, s.Rejected, s.Pending, s.Attempts = state.Rows(), state.Rejected(), len(state.Outstanding()), len(state.Attempts)
	for range state.Kept() {
		s.Artifacts++
	}
	for _, sink := range b.Sinks {
		if sink.Rejects {
			s.Rejects = sink.To
		} else {
			s.Sinks = append(s.Sinks, sink.To)
		}
	}
	switch {
	case state.Ended != nil:
		s.State, s.Pending = string(state.Ended.Outcome), 0
	case state.Decision == runstate.Commit:
		s.State = stateDecided
	case state.Decision == runstate.Abort:
		s.State = stateAborting
	case len(state.Open()) == 0:
		s.State = statePrepared
	default:
		s.State = stateReading
	}
}
