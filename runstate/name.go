package runstate

import (
	"fmt"
	"strconv"
	"strings"
)

// Artifact says which artifact of a run something is: what is staged, and later published under Name.
type Artifact struct {
	Run        Token
	Attempt    int    // that stages it, from 1; not part of the name
	Sink       int    // index in the plan; not part of the name
	Subtask    int    // from 0
	Checkpoint int    // from 1, counted per subtask over all attempts
	Ext        string // extension without dot, may be empty
}

// Stem is the name without extension: sub<N>-<run>-<ckpt>, ckpt of at least six digits.
func (a Artifact) Stem() string {
	return fmt.Sprintf("sub%d-%s-%06d", a.Subtask, a.Run, a.Checkpoint)
}

// Name is the name under which the artifact is published.
func (a Artifact) Name() string {
	if a.Ext == "" {
		return a.Stem()
	}
	return a.Stem() + "." + a.Ext
}

// ParseName reads the name of an artifact. What is outside the grammar is not ours, and must be left alone: numbers have
// no sign and no leading zero (but the padding of a checkpoint), subtasks and checkpoints fit 31 bits, a token is a token.
func ParseName(name string) (Artifact, error) {
	stem, ext, _ := strings.Cut(name, ".")
	parts := strings.Split(stem, "-")
	bad := fmt.Errorf("%q is not the name of an artifact (sub0-<run>-000001.ext)", name)
	if len(parts) != 3 || !strings.HasPrefix(parts[0], "sub") || strings.HasSuffix(name, ".") {
		return Artifact{}, bad
	}
	token, err := ParseToken(parts[1])
	if err != nil {
		return Artifact{}, bad
	}
	subtask, ok := parseNumber(parts[0][len("sub"):], 1)
	if !ok {
		return Artifact{}, bad
	}
	ckpt, ok := parseNumber(parts[2], 6)
	if !ok || ckpt == 0 {
		return Artifact{}, bad
	}
	return Artifact{Run: token, Subtask: subtask, Checkpoint: ckpt, Ext: ext}, nil
}

// parseNumber reads a decimal that is padded with zeros to width digits, and no further.
func parseNumber(s string, width int) (int, bool) {
	if len(s) < width || (len(s) > width && s[0] == '0') {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil && s[0] != '+'
}

// manifestPrefix begins the name of every manifest.
const manifestPrefix = "_manifest-"

// ManifestName is the name of the manifest that a run leaves at each of its sinks.
func ManifestName(run Token) string { return manifestPrefix + string(run) + ".json" }

// ParseManifestName reads the name of a manifest.
func ParseManifestName(name string) (Token, error) {
	s, ok1 := strings.CutPrefix(name, manifestPrefix)
	s, ok2 := strings.CutSuffix(s, ".json")
	if !ok1 || !ok2 {
		return "", fmt.Errorf("%q is not the name of a manifest", name)
	}
	return ParseToken(s)
}
