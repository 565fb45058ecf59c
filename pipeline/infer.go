package pipeline

import (
	"context"
	"slices"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/runstate"
)

// Inferred gives a plan with its columns inferred, if nobody has declared them: from the source, which is found again for them.
// Where the job's last run has inferred others, that is a Failure.
func (e *Engine) Inferred(ctx context.Context, plan Plan, source Source) (Plan, Source, error) {
	if !plan.Infer {
		return plan, source, nil
	}
	columns, err := source.Infer(ctx)
	if err != nil {
		return plan, source, sourceFailure(err)
	}
	plan.Columns = []runstate.Column{}
	for _, c := range columns {
		unseen := c.Type.Kind == 0
		if unseen {
			c.Type.Kind = columnar.String
		}
		plan.Columns = append(plan.Columns, runstate.Column{Name: c.Name, Type: c.Type.String(), Required: c.Required, Unseen: unseen})
	}
	if plan.Columns, err = e.sameInference(plan); err != nil {
		return plan, source, err
	}
	if len(plan.Columns) == 0 && plan.OnEmpty == EmptyWrite {
		return plan, source, failf(Usage, "", "the source shows no columns, and on_empty: write needs them: declare them")
	}
	source, _, err = e.Catalog.Sources().Find(ctx, plan)
	if err != nil {
		return plan, source, sourceFailure(err)
	}
	return plan, source, nil
}

// sameInference refuses columns that differ from those that the job's last run, which was not aborted, has inferred. Only their
// order may be another one: the columns are given in the order of then. A column that showed no value, now or then, has the type
// of the other time; a source that shows no columns, now or then, differs in nothing.
func (e *Engine) sameInference(plan Plan) ([]runstate.Column, error) {
	runs, err := e.Runs(plan.Name)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		b := r.begun()
		if b == nil || r.View.State.Decision == runstate.Abort {
			continue
		}
		then, err := decodePlan(b.Plan)
		if err != nil {
			return nil, err
		}
		if !then.Infer {
			break
		}
		if columns, ok := sameColumns(plan.Columns, then.Columns, r.View.State.Rows()+r.View.State.Rejected() > then.Source.SampleRows); ok {
			return columns, nil
		}
		now, err := plan.ColumnsLine()
		if err != nil {
			return nil, err
		}
		before, err := then.ColumnsLine()
		if err != nil {
			return nil, err
		}
		return nil, failf(Usage, "", "the columns that the source shows are not those of the job's last run %s:\n  now   --columns '%s'\n  then  --columns '%s'\n"+
			"declare the columns that you want, by one of these lines", r.Run, now, before)
	}
	return plan.Columns, nil
}

// sameColumns gives the columns of now in the order of then, if they are the same. beyond says that then there were rows beyond the
// sample: what it did not show was written as it was taken to be.
func sameColumns(now, then []runstate.Column, beyond bool) ([]runstate.Column, bool) {
	switch {
	case len(now) == 0:
		return then, true
	case len(then) == 0:
		return now, true
	case len(now) != len(then):
		return nil, false
	}
	columns := slices.Clone(then)
	for i := range columns {
		at := slices.IndexFunc(now, func(c runstate.Column) bool { return c.Name == columns[i].Name })
		switch {
		case at < 0:
			return nil, false
		case now[at].Unseen, now[at] == columns[i]:
		case columns[i].Unseen && !beyond:
			columns[i] = now[at]
		default:
			return nil, false
		}
	}
	return columns, true
}

// ColumnsLine gives the columns on one line, as --columns has them. What a line cannot say is left out.
func (p Plan) ColumnsLine() (string, error) {
	s, err := p.Schema()
	if err != nil {
		return "", err
	}
	return columnar.FormatColumns(s.Columns), nil
}
