package file

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// method is how a staged file gets its final name.
type method string

const (
	methodLink   method = "link"
	methodRename method = "rename" // without replacing, where the file system logs it as one transaction
)

// payload is what a handle says to this backend.
type payload struct {
	ID     string `json:"id"`     // of the destination
	Dir    string `json:"dir"`    // of the destination when it was staged, for people: the id counts
	Staged string `json:"staged"` // path below the destination
	Inode  uint64 `json:"inode"`
	MTime  int64  `json:"mtime"` // ns since 1970
	Method method `json:"method"`
}

// promise is a handle that was found to be one of ours.
type promise struct {
	payload
	handle runstate.Handle
	run    runstate.Token
}

// read takes a handle apart. It answers an error unless the paths that it names are ones that this backend gives.
func read(h runstate.Handle) (promise, error) {
	p := promise{handle: h}
	if h.Backend != backendName {
		return p, fmt.Errorf("handle of %s is of backend %q, not %q", h.Name, h.Backend, backendName)
	}
	if err := json.Unmarshal(h.Payload, &p.payload); err != nil {
		return p, fmt.Errorf("handle of %s: %w", h.Name, err)
	}
	a, err := parseName(h.Name)
	if err != nil {
		return p, fmt.Errorf("handle: %w", err)
	}
	p.run = a.Run
	staged, err := parseStaged(path.Base(p.Staged))
	if err != nil || p.Staged != stagedPath(staged) || staged.Stem() != a.Stem() || staged.Attempt != h.Attempt {
		return p, fmt.Errorf("handle of %s: %q is not where it would be staged", h.Name, p.Staged)
	}
	if !isID(p.ID) || (p.Method != methodLink && p.Method != methodRename) {
		return p, fmt.Errorf("handle of %s: id %q or method %q is none of this backend's", h.Name, p.ID, p.Method)
	}
	return p, nil
}

// parseName reads the name of an artifact that is a name in a folder.
func parseName(name string) (runstate.Artifact, error) {
	if strings.ContainsAny(name, "/\x00") {
		return runstate.Artifact{}, fmt.Errorf("%q is not a file name", name)
	}
	return runstate.ParseName(name)
}

// stagedPath is where an artifact is staged, below the destination. It has no extension that a reader of data looks for.
func stagedPath(a runstate.Artifact) string {
	return path.Join(stage.Hidden, string(a.Run), a.Stem()+".a"+strconv.Itoa(a.Attempt))
}

// parseStaged reads the file name of a staged artifact, and nothing that merely looks like one.
func parseStaged(name string) (runstate.Artifact, error) {
	a, err := parseName(name)
	if err != nil {
		return a, err
	}
	a.Attempt, err = strconv.Atoi(strings.TrimPrefix(a.Ext, "a"))
	if err != nil || a.Attempt < 1 || a.Ext != "a"+strconv.Itoa(a.Attempt) {
		return a, fmt.Errorf("%q is not the name of a staged artifact", name)
	}
	a.Ext = ""
	return a, nil
}
