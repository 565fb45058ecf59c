package job

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
)

// copied is the format in which a sink takes records as they are.
const copied = "lines"

// sinks reads the list of that name.
func (d *decoding) sinks(top *section, p *pipeline.Plan, from sourceFormat) {
	switch v := top.value("sinks").(type) {
	case nil:
		top.problem("sinks", "is missing: name the folder to export to with sinks: [{to: ...}], or --to")
	case []any:
		if len(v) == 0 {
			top.problem("sinks", "is empty: name the folder to export to with sinks: [{to: ...}], or --to")
		}
		var wanted []*sink
		for i, x := range v {
			s := d.readSink(d.sectionOf(fmt.Sprintf("sinks.%d", i), x))
			from.typed = from.typed || s.needsColumns(p.Source.Options, from)
			wanted = append(wanted, s)
		}
		for _, s := range wanted {
			p.Sinks = append(p.Sinks, d.sink(s, from, p.Checkpoint.Bytes))
		}
		if from.typed && !from.declared {
			p.Infer = true
		} else {
			p.Source.SampleRows = 0
		}
	default:
		top.problem("sinks", "is %s, and must be a list:\n  sinks:\n    - {to: out/, format: parquet}", kindOf(v))
	}
}

// sink is what a section of a sink says.
type sink struct {
	*section
	to, name string
}

func (d *decoding) readSink(s *section) *sink {
	return &sink{section: s, to: s.text("to", ""), name: s.text("format", "")}
}

// needsColumns tells whether the sink is to be written otherwise than the source's records are, so that they must be read.
func (s *sink) needsColumns(sourceOptions map[string]any, from sourceFormat) bool {
	if s.broken || from.name == "" || s.name == copied {
		return false
	}
	if s.name != "" && s.name != from.name {
		return true
	}
	given, ok := s.values[from.name].(map[string]any)
	return ok && len(dialect(given)) > 0 && !reflect.DeepEqual(dialect(given), dialect(sourceOptions))
}

// dialect gives the options that do not say how a whole file is compressed.
func dialect(options map[string]any) map[string]any {
	d := maps.Clone(options)
	delete(d, "compression")
	return d
}

// sink makes the plan of a destination. largest is the bytes of source in an artifact.
func (d *decoding) sink(s *sink, from sourceFormat, largest int64) pipeline.SinkPlan {
	name := s.name
	plan := pipeline.SinkPlan{Format: name}
	if s.broken {
		return plan
	}
	if s.values["to"] == nil {
		s.problem("to", "is missing: name a folder, or give --to")
	}
	if name == "" {
		if from.declared {
			s.problem("format", "is required where columns are declared: one of %s", d.writers())
		}
		name = from.name
	}
	made, options := d.format(s.section, name)
	if name == copied && !from.typed && from.name != "" {
		name, made = from.name, from.made
	}
	switch {
	case name == "" || made == nil:
	case from.typed:
		plan.Format, plan.Options, plan.Ext = name, options, made.Ext()
		d.typedSink(s.section, name, made, from)
	default:
		plan.Format, plan.Ext = copied, made.Ext()
		if c, ok := options["compression"]; ok {
			plan.Options = map[string]any{"compression": c}
		}
		if t, ok := from.made.(format.Text); ok && s.values[name] == nil { // as the source is, but not compressed as it is
			plan.Ext, _ = format.CutCompression(t.Ext())
		}
	}
	if t, ok := made.(format.Text); ok && t.Compression() == format.Bzip2 && s.values[name] != nil {
		s.problem(name, "compression: bzip2 can be read, and not written: there are gzip and zstd")
	}
	if s.to != "" {
		place := d.destination(s.section, "to", s.to, made, largest)
		plan.To, plan.Reach, plan.Shape = place.To, place.Reach, place.Shape
	}
	s.close()
	return plan
}

// typedSink checks the format of a sink that gets rows of columns.
func (d *decoding) typedSink(s *section, name string, made format.Format, from sourceFormat) {
	switch {
	case name == copied && from.declared:
		s.problem("format", "lines takes records unparsed, and columns are declared: name one of %s, or declare no columns", d.writers())
	case name == copied:
		s.problem("format", "lines takes records unparsed, and another sink or the source needs columns: name one of %s", d.writers())
	case !isWriter(made):
		s.problem("format", "%s can be read, and not written; what can be written is %s", name, d.writers())
	case from.name == copied && !from.declared:
		s.problem("format", "lines have no columns, so that they cannot become %s: name the source's format", name)
	}
}

// writers names the formats that can be written.
func (d *decoding) writers() string {
	return d.formatsThat(func(f format.Format) bool { return isWriter(f) && f.Name() != copied })
}
