package pipeline

import (
	"cmp"
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
		plan.Columns = append(plan.Columns, runstate.Column{Name: c.Name, Type: c.Type.String(), Required: c.Required})
	}
	if len(columns) == 0 && plan.OnEmpty == EmptyWrite {
		return plan, source, failf(Usage, "", "the source shows no columns, and on_empty: write needs them: declare them")
	}
	if plan.Columns, err = e.sameInference(plan); err != nil {
		return plan, source, err
	}
	source, _, err = e.Catalog.Sources().Find(ctx, plan)
	if err != nil {
		return plan, source, sourceFailure(err)
	}
	return plan, source, nil
}

// sameInference refuses columns that differ from those that the job's last run, which was not aborted, has inferred. Only their
// order may be another one: the columns are given in the order of then.
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
		if slices.Equal(byName(then.Columns), byName(plan.Columns)) {
			return then.Columns, nil
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

func byName(columns []runstate.Column) []runstate.Column {
	return slices.SortedFunc(slices.Values(columns), func(a, b runstate.Column) int { return cmp.Compare(a.Name, b.Name) })
}

// ColumnsLine gives the columns on one line, as --columns has them. What a line cannot say is left out.
func (p Plan) ColumnsLine() (string, error) {
	s, err := p.Schema()
	if err != nil {
		return "", err
	}
	return columnar.FormatColumns(s.Columns), nil
}
