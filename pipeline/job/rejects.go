package job

import (
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
	at := d.destination("rejects_to", to, d.rejectsFormat())
	for i, s := range p.Sinks {
		switch {
		case s.To == "" || at == "":
		case inside(at, s.To):
			d.problem("rejects_to", "is inside %s, where readers of %s would find the records, too: name another folder", sinkPath(i), s.To)
		case inside(s.To, at):
			d.problem("rejects_to", "has %s inside it, where readers of the records would find rows, too: name another folder", sinkPath(i))
		}
	}
	p.Sinks = append(p.Sinks, pipeline.SinkPlan{To: at, Format: pipeline.RejectsFormat, Ext: pipeline.RejectsExt, Rejects: true})
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
