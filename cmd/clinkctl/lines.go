package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clinkctl/clinkctl/pipeline/job"
)

// linesOf gives the place of every key of a job's file, by its path as viper has it: in lower case. "" is the file. What
// is no YAML, has a key twice or is no mapping is *job.Problems.
func linesOf(name string, data []byte) (map[string]job.Place, error) {
	l := &lineReader{file: filepath.Base(name), places: map[string]job.Place{}}
	l.places[""] = job.Place{Name: l.file}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return l.places, nil
	case err != nil:
		l.syntax(err)
		return nil, &job.Problems{List: l.problems}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		l.problem(root.Line, "", "is no mapping (key: value), and a job is one; if it is a source, its pattern must be quoted: --from '*.csv'")
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		l.problem(second.Line, "", "a second document begins here, and a file is one job")
	}
	l.walk("", root)
	if len(l.problems) > 0 {
		return nil, &job.Problems{List: l.problems}
	}
	return l.places, nil
}

type lineReader struct {
	file     string
	places   map[string]job.Place
	problems []job.Problem
}

func (l *lineReader) problem(line int, path, text string, args ...any) {
	l.problems = append(l.problems, job.Problem{Place: job.Place{Name: l.file, Line: line}, Path: path, Text: fmt.Sprintf(text, args...)})
}

// syntax notes an error of the YAML parser, which names the line in its text.
func (l *lineReader) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, after, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, text = n, after
		}
	}
	l.problem(line, "", "is no YAML: %s", text)
}

func (l *lineReader) walk(path string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			l.key(path, n.Content[i], n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			at := path + "." + strconv.Itoa(i)
			l.places[at] = job.Place{Name: l.file, Line: c.Line, Text: written(c)}
			l.walk(at, c)
		}
	}
}

// plainKey is what every key of a job's file looks like.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

func (l *lineReader) key(path string, key, value *yaml.Node) {
	at := strings.TrimPrefix(path+"."+strings.ToLower(key.Value), ".")
	if !plainKey.MatchString(key.Value) { // viper would take some of them apart
		l.problem(key.Line, at, "unknown key")
		return
	}
	if first, ok := l.places[at]; ok && at != "" {
		l.problem(key.Line, at, "is given twice; the first one is in line %d", first.Line)
		return
	}
	l.places[at] = job.Place{Name: l.file, Line: key.Line, Text: written(value)}
	l.walk(at, value)
}

// written gives the text of a scalar.
func written(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}
