package job

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/stage"
)

// sourceFormat is what sinks have to know of the source.
type sourceFormat struct {
	name     string
	made     format.Format // nil if it is not known
	declared bool          // columns are
	typed    bool          // records are read into columns, declared or not
}

// source reads the section of that name.
func (d *decoding) source(top *section, p *pipeline.Plan) sourceFormat {
	s := top.section("source")
	at := s.text("path", "")
	name := s.text("format", "")
	p.Source.SplitBytes = s.size("split_bytes", 0, 1)
	p.Columns = d.columns(s)
	sample := s.whole("sample_rows", pipeline.DefaultSampleRows, 1, maxWhole)
	declared := s.values["columns"] != nil
	from := sourceFormat{name: name, declared: declared, typed: declared}
	if s.broken {
		return from
	}
	switch {
	case !s.given:
		top.problem("source", "is missing: name the files to export with source.path, or --from")
	case s.values["path"] == nil:
		s.problem("path", "is missing: name the files to export, or give --from")
	case at != "":
		p.Source.Path = d.pattern(s.at("path"), at)
		p.Source.Reach = d.store(s, at)
	}
	if from.name == "" && p.Source.Path != "" {
		from.name = d.formatOf(s, at)
	}
	from.made, p.Source.Options = d.format(s, from.name)
	p.Source.Format = from.name
	if from.made != nil && !isRead(from.made) {
		s.problem("format", "%s can be written, and not read; what can be read is %s", from.name, d.formatsThat(isRead))
		from.made = nil
	}
	if from.declared && from.name == copied {
		s.problem("columns", "are declared, and lines have none: name the source's format, one of %s", d.formatsThat(isTyped))
	} else if declared {
		d.projection(s.at("columns"), p, from)
	}
	if parsed, ok := from.made.(format.Parsed); ok && parsed.Parsed() {
		from.typed = true
	}
	if _, ok := from.made.(format.Table); ok || s.values["sample_rows"] != nil && from.name != copied {
		from.typed = true
	}
	p.Source.SampleRows = sample
	s.close()
	return from
}

// store checks the options of the store that a source is read from, and gives them.
func (d *decoding) store(s *section, at string) map[string]any {
	backend, ok := d.backend(s, "path", at, "source", func(b stage.Backend) bool { return b.Store != nil })
	if !ok || backend.Scheme == "" {
		return nil
	}
	dir, _ := path.Split(at)
	for strings.ContainsAny(dir, wildcards) {
		dir, _ = path.Split(strings.TrimSuffix(dir, "/"))
	}
	place := d.expand(s, "path", backend, dir, 0)
	if len(place.Shape) > 0 {
		s.problem(backend.Name, "has %s, which is for what is written", strings.Join(slices.Sorted(maps.Keys(place.Shape)), ", "))
	}
	return place.Reach
}

func isText(f format.Format) bool { _, ok := f.(format.Text); return ok }

// isTyped tells whether a format can be read into columns.
func isTyped(f format.Format) bool { return isRead(f) && f.Name() != copied }

func isRead(f format.Format) bool {
	_, ok := f.(format.Table)
	return ok || isText(f)
}

func isWriter(f format.Format) bool { _, ok := f.(format.Writer); return ok }

// formatsThat names the formats that can do something.
func (d *decoding) formatsThat(can func(format.Format) bool) string {
	var names []string
	for _, k := range d.env.Kinds {
		if f, err := k.New(nil); err == nil && can(f) {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ", ")
}

// formatOf gives the format that a file name's extension stands for.
func (d *decoding) formatOf(s *section, name string) string {
	plain, compression := format.CutCompression(name)
	ext := strings.TrimPrefix(path.Ext(plain), ".")
	if ext == "" && compression != format.Uncompressed {
		ext = strings.TrimPrefix(path.Ext(name), ".")
	}
	for _, k := range d.env.Kinds {
		if slices.Contains(k.Exts, strings.ToLower(ext)) {
			return k.Name
		}
	}
	reason := "the path has no extension that tells"
	if ext != "" {
		reason = fmt.Sprintf("the extension .%s does not tell", ext)
	}
	s.problem("format", "is missing, and %s: it is one of %s", reason, d.formatsThat(isRead))
	return ""
}

// format makes the format of a name with the options that stand beside it, and gives the options, too. nil is no format:
// it is not known, or its options are refused.
func (d *decoding) format(s *section, name string) (format.Format, map[string]any) {
	var made format.Format
	var options map[string]any
	known := false
	for _, k := range d.env.Kinds {
		given := s.section(k.Name)
		if k.Name != name {
			if given.given && name != "" {
				s.problem(k.Name, "are options of %s, and the format is %s", k.Name, name)
			}
			continue
		}
		known = true
		if given.broken {
			continue
		}
		f, err := k.New(given.values)
		if err != nil {
			d.optionProblems(given, err)
			continue
		}
		made, options = f, maps.Clone(given.values)
	}
	if !known && name != "" {
		names := d.kindNames()
		s.problem("format", "is %q, and can be %s%s", name, strings.Join(names, ", "), didYouMean(name, names))
	}
	return made, options
}

func (d *decoding) kindNames() []string {
	var names []string
	for _, k := range d.env.Kinds {
		names = append(names, k.Name)
	}
	return names
}

// each gives the errors that were joined to one.
func each(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, each(e)...)
	}
	return all
}

// optionProblems notes each error that a format has about its options at the option that it names.
func (d *decoding) optionProblems(options *section, err error) {
	for _, err := range each(err) {
		at := options.path
		for name := range options.values {
			if strings.Contains(err.Error(), " option "+name+" ") {
				at = options.at(name)
			}
		}
		d.problem(at, "%v", err)
	}
}
