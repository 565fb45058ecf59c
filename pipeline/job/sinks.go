package job

import (
	"fmt"
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
		for i, x := range v {
			s := d.sectionOf(fmt.Sprintf("sinks.%d", i), x)
			p.Sinks = append(p.Sinks, d.sink(s, p.Source.Options, from))
		}
	default:
		top.problem("sinks", "is %s, and must be a list:\n  sinks:\n    - {to: out/, format: parquet}", kindOf(v))
	}
}

func (d *decoding) sink(s *section, sourceOptions map[string]any, from sourceFormat) pipeline.SinkPlan {
	to, name := s.text("to", ""), s.text("format", "")
	sink := pipeline.SinkPlan{Format: name}
	if s.broken {
		return sink
	}
	if s.values["to"] == nil {
		s.problem("to", "is missing: name a folder, or give --to")
	}
	if name == "" {
		if from.typed {
			s.problem("format", "is required where columns are declared: one of %s", d.writers())
		}
		name = from.name
	}
	made, options := d.format(s, name)
	if name == copied && !from.typed && from.name != "" {
		name, made = from.name, from.made
	}
	switch {
	case name == "" || made == nil:
	case from.typed:
		sink.Format, sink.Options, sink.Ext = name, options, made.Ext()
		d.typedSink(s, name, made)
	default:
		sink.Format, sink.Ext = copied, made.Ext()
		d.copiedSink(s, name, options, sourceOptions, from)
	}
	if to != "" {
		sink.To = d.destination(s.at("to"), to, made)
	}
	s.close()
	return sink
}

// typedSink checks the format of a sink that gets rows of the columns that are declared.
func (d *decoding) typedSink(s *section, name string, made format.Format) {
	if name == copied {
		s.problem("format", "lines takes records unparsed, and columns are declared: name one of %s, or declare no columns", d.writers())
	} else if !isWriter(made) {
		s.problem("format", "%s can be read, and not written; what can be written is %s", name, d.writers())
	}
}

// copiedSink checks the format of a sink that gets the source's records unparsed.
func (d *decoding) copiedSink(s *section, name string, options, sourceOptions map[string]any, from sourceFormat) {
	switch {
	case from.name == "":
	case name != from.name:
		s.problem("format", "%s becomes %s only with columns, and their types are not inferred yet; declare them under source:%s",
			from.name, name, columnsShape)
	case len(options) > 0 && !reflect.DeepEqual(options, sourceOptions):
		s.problem(name, "records are copied as they are, where no columns are declared: to write other %s than is read, declare them under source:%s",
			name, columnsShape)
	}
}

// writers names the formats that can be written.
func (d *decoding) writers() string {
	return d.formatsThat(func(f format.Format) bool { return isWriter(f) && f.Name() != copied })
}
