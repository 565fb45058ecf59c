package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/clinkctl/clinkctl/pipeline/job"
)

// delimiter joins the elements of viper's keys: users' names have dots.
const delimiter = "::"

// settings are what flags, environment and file say, in this order of precedence.
type settings struct {
	values map[string]any
	places map[string]job.Place // of what is given, by path
	file   string               // base name of the job's file, "" without one
	viper  *viper.Viper
}

// readSettings reads them. name is the job's file, "" for none.
func readSettings(name string, flags *pflag.FlagSet, options []option) (*settings, error) {
	s := &settings{viper: viper.NewWithOptions(viper.KeyDelimiter(delimiter)), places: map[string]job.Place{}}
	if name != "" {
		if err := s.readFile(name); err != nil {
			return nil, err
		}
	}
	for _, o := range options {
		if err := s.bind(o, flags); err != nil {
			return nil, err
		}
	}
	s.values = nullKeys(s.viper.AllSettings()).(map[string]any)
	for _, o := range options {
		if o.path == "" {
			delete(s.values, o.key())
		} else if v, ok := s.values[o.key()]; ok && o.listed() {
			delete(s.values, o.key())
			_ = s.set(o.path, v) // it fails where the file has no list, which the job's decoder tells with its line
		}
	}
	return s, s.readSets(flags)
}

func (s *settings) readFile(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read the job's file: %w", err)
	}
	s.file = filepath.Base(name)
	if s.places, err = linesOf(name, data); err != nil {
		return err
	}
	s.viper.SetConfigType("yaml")
	if err := s.viper.ReadConfig(bytes.NewReader(data)); err != nil {
		return usage("%s: %w", name, err)
	}
	return nil
}

// bind lays a setting's flag and variable over the file.
func (s *settings) bind(o option, flags *pflag.FlagSet) error {
	if err := s.viper.BindEnv(o.key(), o.env()); err != nil {
		return err
	}
	if os.Getenv(o.env()) != "" {
		s.place(o, o.env())
	}
	f := flags.Lookup(o.name())
	if f == nil || !f.Changed {
		return nil
	}
	s.place(o, "--"+o.name())
	return s.viper.BindPFlag(o.key(), f)
}

// place notes where a setting of a job was given.
func (s *settings) place(o option, name string) {
	if o.path != "" {
		s.forget(o.path)
		s.places[o.path] = job.Place{Name: name}
	}
}

// nullKeys gives the key "" in mappings, which is YAML's null, the name of the option that is called so.
func nullKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if null, ok := v[""]; ok {
			delete(v, "")
			v["null"] = null
		}
		for _, x := range v {
			nullKeys(x)
		}
	case []any:
		for _, x := range v {
			nullKeys(x)
		}
	}
	return v
}

// readSets lays what --set says over everything.
func (s *settings) readSets(flags *pflag.FlagSet) error {
	if flags.Lookup("set") == nil {
		return nil
	}
	sets, err := flags.GetStringArray("set")
	if err != nil {
		return err
	}
	given := map[string]bool{}
	for _, set := range sets {
		path, text, ok := strings.Cut(set, "=")
		if !ok || path == "" {
			return usage("--set %s: write it as key.path=value", set)
		}
		if given[strings.ToLower(path)] {
			return usage("--set %s: it is given twice", set)
		}
		given[strings.ToLower(path)] = true
		value, node := scalar(text)
		if err := s.set(path, value); err != nil {
			return usage("--set %s: %w", set, err)
		}
		s.placeSet(path, text, node)
	}
	return nil
}

// placeSet notes where a setting and what is in it were given. What a file says at its place is gone.
func (s *settings) placeSet(path, text string, node *yaml.Node) {
	at, place := strings.ToLower(path), job.Place{Name: "--set " + path}
	s.forget(at)
	l := &lineReader{places: map[string]job.Place{}}
	if node != nil {
		l.walk(at, node)
	} else {
		place.Text = text
	}
	s.places[at] = place
	for p, inner := range l.places {
		s.places[p] = job.Place{Name: place.Name, Text: inner.Text}
	}
}

// forget drops the places of what is below a path.
func (s *settings) forget(path string) {
	maps.DeleteFunc(s.places, func(p string, _ job.Place) bool { return strings.HasPrefix(p, path+".") })
}

// scalar reads a value as YAML does, if the whole of it is a plain or quoted scalar, or a list or mapping in brackets; of those it gives
// the node, too. Anything else is a text: | and # too.
func scalar(text string) (any, *yaml.Node) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		return text, nil
	}
	n, quoted := doc.Content[0], yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle
	collection := n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle != 0
	if !collection && (n.Kind != yaml.ScalarNode || n.Style&quoted == 0 && (n.Style != 0 || n.Value != text)) {
		return text, nil
	}
	var v any
	if err := n.Decode(&v); err != nil || v == nil {
		return text, nil
	}
	if collection {
		return v, n
	}
	return v, nil
}

// set puts a value at a path; the next element of a list may be added.
func (s *settings) set(path string, value any) error {
	if s.values == nil {
		s.values = map[string]any{}
	}
	_, err := put(s.values, strings.Split(strings.ToLower(path), "."), value)
	return err
}

// put gives a tree with a value at a path.
func put(tree any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	if tree == nil {
		tree = map[string]any{}
		if _, err := strconv.Atoi(path[0]); err == nil {
			tree = []any{}
		}
	}
	switch t := tree.(type) {
	case map[string]any:
		v, err := put(t[path[0]], path[1:], value)
		t[path[0]] = v
		return t, err
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i > len(t) {
			return t, fmt.Errorf("%q is no element of a list of %d", path[0], len(t))
		}
		if i == len(t) {
			t = append(t, nil)
		}
		t[i], err = put(t[i], path[1:], value)
		return t, err
	}
	return tree, fmt.Errorf("%v has no %s", tree, path[0])
}

// where gives the place of a setting, or of the nearest one around it.
func (s *settings) where(path string) job.Place {
	exact := path
	for {
		if place, ok := s.places[path]; ok {
			if path != exact {
				place.Text = "" // of something else
			}
			return place
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return s.places[""]
		}
		path = path[:i]
	}
}

// text is a setting that no file says.
func (s *settings) text(o option) string { return s.viper.GetString(o.key()) }
