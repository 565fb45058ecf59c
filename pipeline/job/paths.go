package job

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/stage"
)

var (
	template = regexp.MustCompile(`\{[a-zA-Z_]+(:[^}]*)?\}`)
	scheme   = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*)://`)
)

// wildcards are the characters that make an element of a path a pattern.
const wildcards = `*?[\`

// notYet refuses by name what paths cannot say yet. It tells whether the path can be used.
func (d *decoding) notYet(at, name string) bool {
	found := template.FindString(name)
	switch {
	case found != "":
		d.problem(at, "has %s, which is not filled in yet: write the name out", found)
	case name == "~" || strings.HasPrefix(name, "~/"):
		d.problem(at, "is %q: ~ is not expanded here; write the home directory out", name)
	case strings.ContainsRune(name, 0):
		d.problem(at, "has a NUL byte")
	case !utf8.ValidString(name):
		d.problem(at, "is %q, which is not UTF-8: the journal could not name it", name)
	default:
		return true
	}
	return false
}

// pattern gives a source's path: absolute, and with the symbolic links of its fixed part resolved. The last element is
// kept as it is: what it names may be another file tomorrow.
func (d *decoding) pattern(at, name string) string {
	if name == "-" {
		d.problem(at, "is - (standard input), which cannot be read yet, as it cannot be read twice: write it to a file first")
		return ""
	}
	if strings.Contains(name, "**") {
		d.problem(at, "** is not known; write one * for each folder between")
		return ""
	}
	if _, err := path.Match(name, ""); err != nil {
		d.problem(at, "is %q, which is no pattern: a [ is not closed, or \\ stands last", name)
		return ""
	}
	if !d.notYet(at, name) || scheme.MatchString(name) {
		return name
	}
	dir, rest := fixedPart(d.absolute(name))
	real, err := d.env.Real(dir)
	if err != nil {
		d.fail(err)
		return ""
	}
	return path.Join(real, rest)
}

// fixedPart cuts a clean pattern before its first element with a wildcard, or else before its last one.
func fixedPart(pattern string) (dir, rest string) {
	dir, rest = path.Split(pattern)
	for strings.ContainsAny(dir, wildcards) {
		var last string
		dir, last = path.Split(strings.TrimSuffix(dir, "/"))
		rest = path.Join(last, rest)
	}
	return path.Clean(dir), rest
}

func (d *decoding) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(d.cwd, name)
}

// localFolder gives an absolute path, with symbolic links resolved.
func (d *decoding) localFolder(at, name string) string {
	if m := scheme.FindStringSubmatch(name); m != nil {
		d.problem(at, "is a %s:// address, and must be a local directory", m[1])
		return ""
	}
	if !d.notYet(at, name) {
		return ""
	}
	real, err := d.env.Real(d.absolute(name))
	if err != nil {
		d.fail(err)
	}
	return real
}

// state gives the place of the state: a local folder, an address, or "sink", which is beside what is exported.
func (d *decoding) state(at string) string {
	m := scheme.FindStringSubmatch(at)
	if at == atSink || m != nil && slices.ContainsFunc(d.env.Backends, func(b stage.Backend) bool { return b.Scheme == m[1] && b.State != nil }) {
		return at
	}
	if m != nil {
		d.problem("state", "no state can be kept at %s://; there are a local directory, sink, and the addresses of destinations that can", m[1])
		return ""
	}
	return d.localFolder("state", at)
}

// atSink is the word for a state that is kept at the first sink.
const atSink = "sink"

// destination gives the place that a sink's `to` names, with the options that a section has under the backend's name. largest
// is the bytes of source in an artifact.
func (d *decoding) destination(s *section, name, at string, made format.Format, largest int64) stage.Place {
	if at == "-" {
		s.problem(name, "is - (standard output), where nothing can be staged and published once: name a folder")
		return stage.Place{}
	}
	backend, ok := d.backend(s, name, at, "backend", func(stage.Backend) bool { return true })
	if !d.notYet(s.at(name), at) || !ok {
		return stage.Place{}
	}
	if backend.Scheme != "" {
		if made != nil && !strings.HasSuffix(at, "/") && d.isFileName(at, made) {
			s.problem(name, singleFile, at)
		}
		return d.expand(s, name, backend, at, largest)
	}
	to := d.localFolder(s.at(name), at)
	d.folder(s.at(name), at, to, made)
	return stage.Place{To: to}
}

// backend finds the backend of an address, among those that can do what is asked for. Options of other backends are refused.
func (d *decoding) backend(s *section, name, at, what string, can func(stage.Backend) bool) (stage.Backend, bool) {
	want := ""
	if m := scheme.FindStringSubmatch(at); m != nil {
		want = m[1]
	}
	i := slices.IndexFunc(d.env.Backends, func(b stage.Backend) bool { return b.Scheme == want && can(b) })
	for _, b := range d.env.Backends {
		if b.Expand == nil {
			continue
		}
		if given := s.section(b.Name); given.given && b.Scheme != want {
			s.problem(b.Name, "are options of %s://, and %s is %s", b.Scheme, name, at)
		}
	}
	if i < 0 {
		s.problem(name, "there is no %s for %s://; there are: %s", what, want, d.places(can))
		return stage.Backend{}, false
	}
	return d.env.Backends[i], true
}

// expand lets a backend check an address and its options.
func (d *decoding) expand(s *section, name string, b stage.Backend, at string, largest int64) stage.Place {
	if b.Expand == nil {
		return stage.Place{To: at}
	}
	given := s.section(b.Name)
	place, err := b.Expand(at, given.values, largest)
	if err != nil {
		d.backendProblems(s.at(name), given, err)
	}
	return place
}

// backendProblems notes each error that a backend has about an option at that option, and the others at the address.
func (d *decoding) backendProblems(at string, options *section, err error) {
	for _, err := range each(err) {
		if strings.Contains(err.Error(), " option ") {
			d.optionProblems(options, err)
		} else {
			d.problem(at, "%v", err)
		}
	}
}

func (d *decoding) places(can func(stage.Backend) bool) string {
	var names []string
	for _, b := range d.env.Backends {
		if !can(b) {
			continue
		}
		if b.Scheme == "" {
			names = append(names, "paths of the local file system")
		} else {
			names = append(names, b.Scheme+"://")
		}
	}
	return strings.Join(names, ", ")
}

const singleFile = "%s names a single file, which cannot be written yet: name a folder (with a slash at the end if it shall be called so)"

// folder refuses a `to` that is no folder, or that is written as a single file.
func (d *decoding) folder(at, name, to string, made format.Format) {
	info, err := d.env.Stat(to)
	switch {
	case err == nil && !info.Dir:
		d.problem(at, "%s is a file; name a folder", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		d.fail(err)
	case err != nil && made != nil && !strings.HasSuffix(name, "/") && d.isFileName(name, made):
		d.problem(at, singleFile, name)
	}
}

// isFileName tells whether a path ends in an extension of a format.
func (d *decoding) isFileName(name string, made format.Format) bool {
	exts := []string{made.Ext()}
	for _, k := range d.env.Kinds {
		if k.Name == made.Name() {
			exts = append(exts, k.Exts...)
		}
	}
	return slices.ContainsFunc(exts, func(ext string) bool {
		return strings.HasSuffix(name, "."+ext) || strings.HasSuffix(name, "."+ext+".gz")
	})
}

// apart refuses a job whose source can match what its sinks hold, or whose sinks are one place.
func (d *decoding) apart(p *pipeline.Plan) {
	for i, s := range p.Sinks {
		at := sinkPath(i)
		if s.Rejects {
			at = "rejects_to"
		}
		if s.To == "" {
			continue
		}
		for j, o := range p.Sinks[:i] {
			if s.To == o.To || hiddenInside(s.To, o.To) || hiddenInside(o.To, s.To) {
				d.problem(at, "is the place of %s, too: %s", sinkPath(j), s.To)
			}
		}
		if p.Source.Path == "" || scheme.FindString(s.To) != scheme.FindString(p.Source.Path) {
			continue
		}
		for _, name := range d.namesOf(p.Source.Path) {
			if what := matches(name, s, p.Subtasks); what != "" {
				d.problem("source.path", "can match %s of %s, which this job writes: keep source and destination apart", what, at)
				break
			}
		}
	}
}
