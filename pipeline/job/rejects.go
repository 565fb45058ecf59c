package job

import (
	"maps"
	"strings"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
)

// rejects reads what becomes of records that are refused. Their place is one more sink, the last one.
func (d *decoding) rejects(top *section, p *pipeline.Plan) {
	what := top.choice("on_bad_row", "fail", "reject")
	to := top.text("rejects_to", "")
	most := top.whole("max_rejects", pipeline.DefaultMaxRejects, 0, maxWhole)
	if what == "fail" {
		said := top.values["on_bad_row"]
		for _, name := range []string{"rejects_to", "max_rejects"} {
			if top.values[name] != nil && (said == nil || said == what) {
				top.problem(name, "is for on_bad_row: reject, and the first bad row ends the run")
			}
		}
		return
	}
	if to == "" {
		if top.values["rejects_to"] == nil {
			top.problem("rejects_to", "is missing: name a folder for the records that are refused")
		}
		return
	}
	p.MaxRejects = most
	place := d.destination(d.optionsOf(top, p, to), "rejects_to", to, d.rejectsFormat(), p.Checkpoint.Bytes)
	at := place.To
	for i, s := range p.Sinks {
		switch {
		case s.To == "" || at == "":
		case inside(at, s.To):
			d.problem("rejects_to", "is inside %s, where readers of %s would find the records, too: name another folder", sinkPath(i), s.To)
		case inside(s.To, at):
			d.problem("rejects_to", "has %s inside it, where readers of the records would find rows, too: name another folder", sinkPath(i))
		}
	}
	p.Sinks = append(p.Sinks, pipeline.SinkPlan{To: at, Reach: place.Reach, Shape: place.Shape, Format: pipeline.RejectsFormat, Ext: pipeline.RejectsExt, Rejects: true})
}

// optionsOf gives a section of the job's top with the options of its first sink that is of the same kind as an address.
func (d *decoding) optionsOf(top *section, p *pipeline.Plan, at string) *section {
	like := *top
	like.values = maps.Clone(top.values)
	for i, s := range p.Sinks {
		m, want := scheme.FindStringSubmatch(s.To), scheme.FindStringSubmatch(at)
		sinks, _ := top.values["sinks"].([]any)
		if m == nil || want == nil || m[1] != want[1] || i >= len(sinks) {
			continue
		}
		if sink, ok := sinks[i].(map[string]any); ok {
			for _, b := range d.env.Backends {
				if b.Scheme == m[1] && sink[b.Name] != nil {
					like.values[b.Name] = sink[b.Name]
				}
			}
		}
		break
	}
	return &like
}

// rejectsFormat is the format that the records are put aside in; nil where there is none such.
func (d *decoding) rejectsFormat() format.Format {
	for _, k := range d.env.Kinds {
		if k.Name != pipeline.RejectsFormat {
			continue
		}
		if f, err := k.New(nil); err == nil {
			return f
		}
	}
	return nil
}

// inside tells whether a place lies in another one.
func inside(place, other string) bool {
	return strings.HasPrefix(place, strings.TrimSuffix(other, "/")+"/")
}
