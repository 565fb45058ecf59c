// Package job makes a plan from a job as people write it: a nested map of settings becomes a pipeline.Plan with every
// default expanded, or an error that lists all that is wrong with it at once.
package job

import (
	"fmt"
	"time"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// Job is a job with its defaults expanded.
type Job struct {
	Plan  pipeline.Plan
	State string        // state directory, absolute; "" if the job names none
	Grace time.Duration // from the first signal to stop until everything is cancelled
}

// Env is what a job is read in.
type Env struct {
	File     string                              // base name of the job's file, "" if there is none; it names the job
	Getwd    func() (string, error)              // what relative paths are relative to
	Real     func(name string) (string, error)   // resolves symbolic links, of the longest part of a path that exists
	Stat     func(name string) (vfs.Info, error) // fs.ErrNotExist for what is not there
	Kinds    []format.Kind                       // formats there are
	Backends []stage.Backend                     // of the destinations there are
}

// Place is where a setting was given: a line of a file, or a flag. The zero Place is unknown.
type Place struct {
	Name string
	Line int    // 0: unknown, or no file
	Text string // of a scalar, as it is written: 007 is another text than the number that YAML takes it for
}

func (p Place) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.Name, p.Line)
	}
	return p.Name
}

// Defaults of a job.
const (
	defaultCheckpoint = 512 << 20 // bytes of source
	defaultGrace      = 8 * time.Second
	defaultWait       = 30 * time.Second
	maxSubtasks       = 1000
)

// exactlyOnce is the one guarantee that a job can ask for by name.
const exactlyOnce = "exactly_once"

// Decode reads a job. where tells the place of a setting by its path, such as "sinks.0.to". What is wrong with the job is
// *Problems, all of it at once; any other error is the machine's.
func Decode(settings map[string]any, where func(path string) Place, env Env) (*Job, error) {
	d := &decoding{env: env, where: where}
	var err error
	if d.cwd, err = env.Getwd(); err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	job := d.job(&section{d: d, values: settings, given: true})
	if err := d.err(); err != nil {
		return nil, err
	}
	return job, nil
}

// decoding is one call of Decode.
type decoding struct {
	env      Env
	where    func(path string) Place
	cwd      string
	problems []Problem
	failed   error // of the machine
}

func (d *decoding) job(top *section) *Job {
	job := &Job{}
	p := &job.Plan
	p.Subtasks = int(top.whole("subtasks", 1, 1, maxSubtasks))
	p.OnPending = pipeline.OnPending(top.choice("on_pending", string(pipeline.PendingResume), string(pipeline.PendingAbort)))
	p.OnEmpty = pipeline.OnEmpty(top.choice("on_empty", string(pipeline.EmptySkip), string(pipeline.EmptyWrite), string(pipeline.EmptyFail)))
	p.ExactlyOnce = d.guarantee(top)
	p.CommitWait = pipeline.Duration(top.duration("commit_wait", defaultWait))
	p.MaxRun = pipeline.Duration(top.duration("max_run", pipeline.DefaultMaxRun))
	p.MaxDowntime = pipeline.Duration(top.duration("max_downtime", pipeline.DefaultMaxDowntime))
	job.Grace = top.duration("grace", defaultGrace)
	if state := top.text("state", ""); state != "" {
		job.State = d.state(state)
	}
	checkpoint := top.section("checkpoint")
	p.Checkpoint.Bytes = checkpoint.size("bytes", defaultCheckpoint, 1)
	p.Checkpoint.Rows = checkpoint.whole("rows", 0, 1, maxWhole)
	checkpoint.close()
	source := d.source(top, p)
	d.sinks(top, p, source)
	d.rejects(top, p)
	d.apart(p)
	p.Name = d.name(top, p)
	top.close()
	return job
}

// guarantee tells whether the job asks for exactly once by name.
func (d *decoding) guarantee(top *section) bool {
	asked := top.text("guarantee", "")
	if asked != "" && asked != exactlyOnce {
		top.problem("guarantee", "is %q, and can only be %s, or left out", asked, exactlyOnce)
	}
	return asked == exactlyOnce
}
