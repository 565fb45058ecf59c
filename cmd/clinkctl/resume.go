package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/job"
)

// jobEnv is what a job is read in.
func (a *app) jobEnv(s *settings) job.Env {
	return job.Env{File: s.file, Getwd: getwd, Real: a.wiring.FS.Real, Stat: a.wiring.FS.Stat, Kinds: a.wiring.Formats, Backends: a.wiring.Backends}
}

func getwd() (string, error) {
	dir, err := os.Getwd()
	return filepath.ToSlash(dir), err
}

// repeatState tells whether a further command would not find the state directory by itself.
func (s *settings) repeatState() bool {
	place, given := s.places["state"]
	return given && place.Name != stateOption().env()
}

// isJobFile tells whether an argument is a job's file, and no name of a job or run.
func isJobFile(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == ".yaml" || ext == ".yml"
}

func (a *app) resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume [JOB.yaml|JOB|RUN ...]",
		Short: "Carry unfinished runs to their end",
		Long: "resume carries runs that died to their end: those of the jobs and runs that are named, or all under the state directory.\n" +
			"Runs that are alive are left alone.",
		Example: "  clinkctl resume\n  clinkctl resume orders.yaml\n  clinkctl resume 20261130t013000z7f3a9c1e --commit-only",
		RunE:    a.runResume,
	}
	addFlags(cmd.Flags(), resumeOptions()...)
	cmd.Flags().Bool("commit-only", false, "read nothing, and leave an undecided run undecided")
	addFromSink(cmd, "only list what this destination (its address, or a job's file) has staged of runs whose state is lost")
	addJSON(cmd)
	return cmd
}

func subtasksOption() option {
	return option{"", "subtasks", "writers of this attempt (default: as the run was begun with)"}
}

func resumeOptions() []option { return append(homeOptions(), subtasksOption()) }

// homeOptions are those of commands that are about runs that exist.
func homeOptions() []option { return append([]option{stateOption(), graceOption()}, workOptions()...) }

// group is some names of jobs and runs under one state directory.
type group struct {
	work     work
	names    []string
	optional map[string]bool // names of jobs that may have no runs: their file was named
}

func (a *app) runResume(cmd *cobra.Command, args []string) error {
	places, w, err := a.fromSink(cmd)
	if err != nil {
		return err
	}
	if len(places) > 0 {
		if len(args) > 0 {
			return usage("--from-sink only lists, and takes no names: `clinkctl abandon --from-sink ... RUN` aborts what is staged of a run")
		}
		return a.listFromSink(cmd, places, w)
	}
	carry := pipeline.Carry{}
	if carry.CommitOnly, err = cmd.Flags().GetBool("commit-only"); err != nil {
		return err
	}
	groups, s, err := a.groups(cmd, args, resumeOptions())
	if err != nil {
		return err
	}
	if text := s.text(subtasksOption()); text != "" {
		if carry.Subtasks, err = strconv.Atoi(text); err != nil || carry.Subtasks < 1 || carry.Subtasks > 1000 {
			return usage("--subtasks is %q, and must be a whole number from 1 to 1000", text)
		}
	}
	var results []pipeline.Result
	for _, g := range groups {
		if err := g.work.home.probe(pipeline.Open); err != nil {
			return err
		}
		results = append(results, a.do(cmd, g.work, func(ctx context.Context, e *pipeline.Engine) []pipeline.Result {
			return a.resumeGroup(ctx, e, g, carry)
		})...)
	}
	return a.tell(cmd, results, nil)
}

// resumeGroup resumes what a group names. Of a job that never ran there is nothing to resume.
func (a *app) resumeGroup(ctx context.Context, e *pipeline.Engine, g group, carry pipeline.Carry) []pipeline.Result {
	jobs, err := e.Jobs()
	if err != nil {
		return e.Resume(ctx, g.names, carry) // which tells it
	}
	names := slices.DeleteFunc(slices.Clone(g.names), func(name string) bool { return g.optional[name] && !slices.Contains(jobs, name) })
	if len(names) == 0 && len(g.names) > 0 {
		a.log.Info("runs to carry on", "runs", 0, "handles", 0)
		return nil
	}
	return e.Resume(ctx, names, carry)
}

// groups sorts arguments by their state directory. Without arguments there is one group of no names.
func (a *app) groups(cmd *cobra.Command, args []string, options []option) ([]group, *settings, error) {
	s, err := readSettings("", cmd.Flags(), options)
	if err != nil {
		return nil, nil, err
	}
	w, err := a.workOf(s)
	if err != nil {
		return nil, nil, err
	}
	if w.grace, err = durationFlag(graceOption(), s.viper.GetString("grace"), defaultGrace); err != nil {
		return nil, nil, err
	}
	var groups []group
	for _, arg := range args {
		at, name := w, arg
		if isJobFile(arg) {
			name, at, err = a.jobOf(cmd, arg, w)
		} else {
			at.home, err = a.stateDir(s.viper.GetString("state"), s.repeatState(), nil)
		}
		if err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.work.home.name == at.home.name })
		if i < 0 {
			groups = append(groups, group{work: at, optional: map[string]bool{}})
			i = len(groups) - 1
		}
		groups[i].names = append(groups[i].names, name)
		groups[i].optional[name] = isJobFile(arg)
	}
	if len(args) == 0 {
		w.home, err = a.stateDir(s.viper.GetString("state"), s.repeatState(), nil)
		groups = []group{{work: w}}
	}
	return groups, s, err
}

// jobOf reads a job's file for its name and state directory.
func (a *app) jobOf(cmd *cobra.Command, file string, w work) (string, work, error) {
	s, err := readSettings(file, cmd.Flags(), []option{stateOption(), graceOption()})
	if err != nil {
		return "", w, err
	}
	j, err := job.Decode(s.values, s.where, a.jobEnv(s))
	if err != nil {
		return "", w, err
	}
	w.grace = j.Grace
	w.home, err = a.stateDir(j.State, s.repeatState(), j.Plan.Sinks)
	return j.Plan.Name, w, err
}
