package job

import (
	"strings"

	"github.com/clinkctl/clinkctl/pipeline"
)

// rejects reads what becomes of records that are refused. Their place is one more sink, the last one.
func (d *decoding) rejects(top *section, p *pipeline.Plan) {
	what := top.choice("on_bad_row", "fail", "reject")
	to := top.text("rejects_to", "")
	most := top.whole("max_rejects", pipeline.DefaultMaxRejects, 0, maxWhole)
	if what == "fail" {
		for _, name := range []string{"rejects_to", "max_rejects"} {
			if top.values[name] != nil {
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
	at := d.destination("rejects_to", to, nil)
	for i, s := range p.Sinks {
		if s.To != "" && at != "" && (at == s.To || strings.HasPrefix(at, strings.TrimSuffix(s.To, "/")+"/")) {
			d.problem("rejects_to", "is %s, or inside it, where readers of %s would find the records, too: name another folder", sinkPath(i), s.To)
		}
	}
	p.Sinks = append(p.Sinks, pipeline.SinkPlan{To: at, Format: pipeline.RejectsFormat, Ext: pipeline.RejectsExt, Rejects: true})
}
