package job

import (
	"path"
	"strconv"
	"strings"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

func sinkPath(i int) string { return "sinks." + strconv.Itoa(i) + ".to" }

// hiddenInside tells whether a place lies where another one keeps what is staged.
func hiddenInside(place, other string) bool {
	hidden := strings.TrimSuffix(other, "/") + "/" + stage.Hidden
	return place == hidden || strings.HasPrefix(place, hidden+"/")
}

// namesOf gives the source's pattern, and what it leads to if it is a single name that is a link.
func (d *decoding) namesOf(pattern string) []string {
	names := []string{pattern}
	if !strings.ContainsAny(pattern, wildcards) {
		if real, err := d.env.Real(pattern); err == nil && real != pattern { // what cannot be resolved cannot be read either
			names = append(names, real)
		}
	}
	return names
}

// matches says what of a sink a source's pattern can match, "" for nothing.
func matches(pattern string, s pipeline.SinkPlan, subtasks int) string {
	if match(pattern, s.To) {
		return "the folder"
	}
	elements, at := split(pattern), split(s.To)
	if len(elements) <= len(at) || !matchAll(elements[:len(at)], at) {
		return ""
	}
	rest := elements[len(at):]
	if rest[0] == stage.Hidden {
		return stage.Hidden
	}
	if len(rest) > 1 {
		return ""
	}
	if !strings.ContainsAny(rest[0], wildcards) {
		return ownName(rest[0])
	}
	for _, name := range samples(s.Ext, subtasks) {
		if matchElement(rest[0], name) {
			return "artifacts (such as " + name + ")"
		}
	}
	return ""
}

func ownName(name string) string {
	if _, err := runstate.ParseName(name); err == nil {
		return "the artifact " + name
	}
	if _, err := runstate.ParseManifestName(name); err == nil {
		return "the manifest " + name
	}
	return ""
}

// samples are names of artifacts, enough to tell whether a pattern that anybody would write can match one.
func samples(ext string, subtasks int) []string {
	var names []string
	for _, run := range []runstate.Token{"20261130t013000z7f3a9c1e", "20270201t235959z00000000", "20301011t102030zffffffff"} {
		for _, subtask := range []int{0, 1, 2, 3, subtasks - 1} {
			for _, ckpt := range []int{1, 2, 12, 999999} {
				names = append(names, runstate.Artifact{Run: run, Subtask: subtask, Checkpoint: ckpt, Ext: ext}.Name())
			}
		}
	}
	return names
}

func split(name string) []string { return strings.Split(strings.TrimPrefix(name, "/"), "/") }

// match tells whether a pattern can match a path, as a source lists files.
func match(pattern, name string) bool {
	elements, names := split(pattern), split(name)
	return len(elements) == len(names) && matchAll(elements, names)
}

func matchAll(elements, names []string) bool {
	for i, e := range elements {
		if !matchElement(e, names[i]) {
			return false
		}
	}
	return true
}

// matchElement matches one element. Wildcards match no name that begins with a dot or an underscore.
func matchElement(element, name string) bool {
	if !strings.ContainsAny(element, wildcards) {
		return element == name
	}
	ok, err := path.Match(element, name)
	return err == nil && ok && name != "" && name[0] != '.' && name[0] != '_'
}
