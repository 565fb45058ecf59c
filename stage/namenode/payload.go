package namenode

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// payload is what a handle says to this backend.
type payload struct {
	ID       string   `json:"id"`       // of the destination
	Dir      string   `json:"dir"`      // of the destination when it was staged, for people: the id counts
	Staged   string   `json:"staged"`   // path below the destination
	File     int64    `json:"fileId"`   // the file's number
	Block    int64    `json:"block"`    // size of its blocks, in bytes
	Checksum Checksum `json:"checksum"` // of its bytes; zero where none was compared
}

// promise is a handle that was found to be one of ours.
type promise struct {
	payload
	handle runstate.Handle
}

// read takes a handle apart. It answers an error unless what it names is what this sink gives.
func (s *Sink) read(h runstate.Handle) (promise, error) {
	p, err := s.parse(h)
	if err == nil && p.ID != s.id {
		err = fmt.Errorf("%w: %s has the id %s, and %s was staged at %s", stage.ErrElsewhere, s.At, s.id, h.Name, p.ID)
	}
	return p, err
}

func (s *Sink) parse(h runstate.Handle) (promise, error) {
	p := promise{handle: h}
	if h.Backend != s.Backend {
		return p, fmt.Errorf("handle of %s is of backend %q, not %q", h.Name, h.Backend, s.Backend)
	}
	if err := json.Unmarshal(h.Payload, &p.payload); err != nil {
		return p, fmt.Errorf("handle of %s: %w", h.Name, err)
	}
	a, err := parseName(h.Name)
	if err != nil {
		return p, fmt.Errorf("handle: %w", err)
	}
	folder := path.Dir(p.Staged)
	staged, err := parseFolder(path.Base(folder))
	if err != nil || p.Staged != path.Join(runFolder(a.Run), path.Base(folder), stagedFile) || staged.Stem() != a.Stem() || staged.Attempt != h.Attempt {
		return p, fmt.Errorf("handle of %s: %q is not where it would be staged", h.Name, p.Staged)
	}
	if !isID(p.ID) || p.File <= 0 || p.Block <= 0 {
		return p, fmt.Errorf("handle of %s: its id or fileId is none of this backend's", h.Name)
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

const (
	stagedFile  = "file"
	folderBytes = 8 // random, of a folder's name
)

// runFolder is where the artifacts of a run are staged, below the destination.
func runFolder(run runstate.Token) string { return path.Join(stage.Hidden, string(run)) }

// folderName is the name of a new folder for an artifact.
func (s *Sink) folderName(a runstate.Artifact) (string, error) {
	random, err := s.random(folderBytes)
	return a.Stem() + ".a" + strconv.Itoa(a.Attempt) + "-" + random, err
}

// parseFolder reads the name of an artifact's folder, and nothing that merely looks like one.
func parseFolder(name string) (runstate.Artifact, error) {
	a, err := parseName(name)
	if err != nil {
		return a, err
	}
	attempt, random, _ := strings.Cut(strings.TrimPrefix(a.Ext, "a"), "-")
	a.Attempt, err = strconv.Atoi(attempt)
	bits, hexErr := hex.DecodeString(random)
	if err != nil || hexErr != nil || len(bits) != folderBytes || a.Attempt < 1 || a.Ext != "a"+strconv.Itoa(a.Attempt)+"-"+random {
		return a, fmt.Errorf("%q is not the name of a staged artifact", name)
	}
	a.Ext = ""
	return a, nil
}
