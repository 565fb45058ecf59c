package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate/objects"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// stateHome is where the runs are kept, and what a command that is told to the user must repeat to find it again.
type stateHome struct {
	name  string // for people: the directory, or the address
	dir   string // in the file system; absolute, without symbolic links
	fsys  vfs.FS
	flags string
}

// atSink is the state of a job beside what it exports.
const atSink = "sink"

// stateDir finds the state: given is what flag, environment or file say, sinks are the job's, where a job is known.
func (a *app) stateDir(given string, repeat bool, sinks []pipeline.SinkPlan) (stateHome, error) {
	if given == atSink || strings.Contains(given, "://") {
		return a.stateStore(given, sinks)
	}
	dir := given
	if dir == "" {
		repeat = false
		dir = defaultState()
	}
	if dir == "" {
		return stateHome{}, usage("there is no place for the state directory: give --state, CLINKCTL_STATE, `state:` in the job's file, " +
			"STATE_DIRECTORY (systemd), XDG_STATE_HOME or HOME")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return stateHome{}, err
	}
	real, err := a.wiring.FS.Real(filepath.ToSlash(abs))
	if err != nil {
		return stateHome{}, err
	}
	if info, err := a.wiring.FS.Stat(real); err == nil && !info.Dir {
		return stateHome{}, &pipeline.Failure{Code: pipeline.Usage, Err: usage("state: %s is a file, and must be a directory", real)}
	}
	h := stateHome{name: real, dir: real, fsys: a.wiring.FS}
	if repeat {
		h.flags = " --state " + quote(real)
	}
	return h, nil
}

// probe tries whether a state that is kept in a store of objects is one that keeps processes apart. Whoever only reads does without.
// silent is the code for a state that does not answer: of runs that it may have nothing is known.
func (h stateHome) probe(silent pipeline.Code) error {
	store, ok := h.fsys.(*objects.FS)
	if !ok {
		return nil
	}
	err := store.Probe(".probe")
	if errors.Is(err, objects.ErrRefused) {
		return &pipeline.Failure{Code: pipeline.Usage, Err: fmt.Errorf("state %s: %w", h.name, err)}
	}
	if err != nil {
		return &pipeline.Failure{Code: silent, Err: fmt.Errorf("state %s: %w", h.name, err)}
	}
	return nil
}

// stateStore opens a state that is kept in a store of objects.
func (a *app) stateStore(given string, sinks []pipeline.SinkPlan) (stateHome, error) {
	at, err := a.statePlace(given, sinks)
	if err != nil {
		return stateHome{}, err
	}
	backend, err := a.wiring.Backend(at.To)
	if err != nil || backend.State == nil {
		return stateHome{}, usage("state: no state can be kept at %s; there are a local directory%s", at.To, a.wiring.stateSchemes())
	}
	store, err := backend.State(context.Background(), at)
	if err != nil {
		return stateHome{}, fmt.Errorf("open the state at %s: %w", at.To, err)
	}
	fsys := objects.New(store, objects.Env{Random: a.wiring.Random, Period: a.wiring.Beat, Now: time.Now, Sleep: sleep, Watch: func(run string, most time.Duration) {
		a.log.Info("another process had this run: its beat is watched", "run", run, "at most", most)
	}})
	return stateHome{name: at.To, dir: "/", fsys: fsys, flags: " --state " + quote(at.To)}, nil
}

// statePlace gives the address of a state and the options that it is reached with: those of the job's first sink that is of
// the same kind.
func (a *app) statePlace(given string, sinks []pipeline.SinkPlan) (stage.Place, error) {
	if given == atSink {
		if len(sinks) == 0 {
			return stage.Place{}, usage("state: sink is a job's: name its file, or the state's address (s3://...)")
		}
		return stage.Place{To: sinks[0].To + "/" + stage.Hidden + "/state", Reach: sinks[0].Reach}, nil
	}
	backend, err := a.wiring.Backend(given)
	if err != nil || backend.State == nil {
		return stage.Place{}, usage("state: no state can be kept at %s; there are a local directory%s", given, a.wiring.stateSchemes())
	}
	var reach map[string]any
	for _, s := range sinks {
		if strings.HasPrefix(s.To, backend.Scheme+"://") {
			reach = s.Reach
			break
		}
	}
	if backend.Expand == nil {
		return stage.Place{To: given, Reach: reach}, nil
	}
	at, err := backend.Expand(given, reach, 0)
	if err != nil {
		return at, usage("state: %w", err)
	}
	return at, nil
}

// defaultState is the state directory where nobody has named one, "" if there is none. Only absolute paths count, as the
// XDG specification has it.
func defaultState() string {
	first, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	if path.IsAbs(first) {
		return first
	}
	if xdg := os.Getenv("XDG_STATE_HOME"); path.IsAbs(xdg) {
		return path.Join(xdg, "clinkctl")
	}
	if home := os.Getenv("HOME"); path.IsAbs(home) {
		return path.Join(home, ".local", "state", "clinkctl")
	}
	return ""
}

// quote gives a text as a shell reads it back.
func quote(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
