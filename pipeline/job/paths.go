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
	if m := scheme.FindStringSubmatch(name); m != nil {
		d.problem(at, "there is no source for %s://; there are: paths of the local file system", m[1])
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
	if !d.notYet(at, name) {
		return ""
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

// destination gives the place that a sink's `to` names.
func (d *decoding) destination(at, name string, made format.Format) string {
	if name == "-" {
		d.problem(at, "is - (standard output), where nothing can be staged and published once: name a folder")
		return ""
	}
	if !d.notYet(at, name) {
		return ""
	}
	if m := scheme.FindStringSubmatch(name); m != nil {
		if !slices.Contains(d.env.Schemes, m[1]) {
			d.problem(at, "there is no backend for %s://; there are: %s", m[1], d.places())
			return ""
		}
		return name
	}
	to := d.localFolder(at, name)
	d.folder(at, name, to, made)
	return to
}

func (d *decoding) places() string {
	var names []string
	for _, s := range d.env.Schemes {
		if s == "" {
			names = append(names, "paths of the local file system")
		} else {
			names = append(names, s+"://")
		}
	}
	return strings.Join(names, ", ")
}

// folder refuses a `to` that is no folder, or that is written as a single file.
func (d *decoding) folder(at, name, to string, made format.Format) {
	info, err := d.env.Stat(to)
	switch {
	case err == nil && !info.Dir:
		d.problem(at, "%s is a file; name a folder", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		d.fail(err)
	case err != nil && made != nil && !strings.HasSuffix(name, "/") && d.isFileName(name, made):
		d.problem(at, "%s names a single file, which cannot be written yet: name a folder (with a slash at the end if it shall be called so)", name)
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
		if p.Source.Path == "" || scheme.MatchString(s.To) {
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
