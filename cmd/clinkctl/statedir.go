package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/clinkctl/clinkctl/pipeline"
)

// stateHome is the state directory, and what a command that is told to the user must repeat to find it again.
type stateHome struct {
	dir   string // absolute, without symbolic links
	flags string
}

// stateDir finds the state directory: given is what flag, environment or file say.
func (a *app) stateDir(given string, repeat bool) (stateHome, error) {
	dir := given
	if dir == "" {
		repeat = false
		dir = defaultState()
	}
	if dir == "" {
		return stateHome{}, usage("there is no place for the state directory: give --state, CLINKCTL_STATE, `state:` in the job's file, " +
			"STATE_DIRECTORY (systemd), XDG_STATE_HOME or HOME")
	}
	if strings.Contains(dir, "://") {
		return stateHome{}, usage("state: %s is an address, and must be a local directory", dir)
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
	h := stateHome{dir: real}
	if repeat {
		h.flags = " --state " + quote(real)
	}
	return h, nil
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
