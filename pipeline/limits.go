package pipeline

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/stage"
)

// Defaults of how long a run may take and lie still.
const (
	DefaultMaxRun      = 6 * time.Hour
	DefaultMaxDowntime = 12 * time.Hour
)

// recovery is how long a run that is carried on may take to its end, once all is staged.
const recovery = time.Hour

// checkLimits refuses a destination that keeps what is staged for a shorter time than a run and an outage may take: the
// promise would be void, and nobody told. It gives the time by which the run must have ended, zero if there is none.
func (n *newRun) checkLimits(ctx context.Context) (deadline time.Time, err error) {
	p, now := n.want.plan, n.engine.Patience.Now()
	for i, sink := range n.sinks {
		limited, ok := sink.(stage.Limited)
		if !ok {
			continue
		}
		limits, err := limited.Limits(ctx)
		if err != nil {
			return deadline, destinationFailure(p.Sinks[i].To, err)
		}
		if err := p.fits(limits, p.Sinks[i].To); err != nil {
			return deadline, err
		}
		if until := now.Add(limits.Hold); limits.Hold > 0 && (deadline.IsZero() || until.Before(deadline)) {
			deadline = until
		}
		if !limits.Access.IsZero() && limits.Access.Before(now.Add(time.Duration(p.MaxRun))) {
			n.engine.Log.Warn("the credentials end before the run may have, and are not renewed: what is not done by then is done by resume, with new ones",
				"destination", p.Sinks[i].To, "end", limits.Access.UTC().Format(time.RFC3339), "max_run", time.Duration(p.MaxRun))
		}
	}
	return deadline, nil
}

// fits compares the time that a destination keeps what is staged with what a run may need.
func (p Plan) fits(l stage.Limits, to string) error {
	need := time.Duration(p.MaxRun+p.MaxDowntime) + recovery
	if l.Hold == 0 || l.Hold > need {
		return nil
	}
	return failf(Usage, "", "destination %s keeps what is staged for %s (%s), and a run may need %s: %s of work (max_run), %s until it is carried on after a failure (max_downtime) and %s to finish. Let it be kept longer, or set max_run and max_downtime lower",
		to, l.Hold, l.HoldBy, need, time.Duration(p.MaxRun), time.Duration(p.MaxDowntime), recovery)
}

// Guarantee is the label of a run of a plan, with a key or without. Its error is a refusal: the plan asks by name for what a
// destination cannot give.
func (e *Engine) Guarantee(p Plan, key string) (string, error) {
	text := LabelUnkeyed
	if key != "" {
		text = LabelKeyed
	}
	var barring []string
	for _, s := range p.Sinks {
		b, err := e.Catalog.Backend(s.To)
		if err != nil {
			return "", err
		}
		if b.Barring != "" && p.ExactlyOnce {
			return "", failf(Usage, "", "destination %s gives %s barring %s, and the job asks for guarantee: %s, without any bar: write to the same place by %s", s.To, LabelKeyed, b.Barring, LabelKeyed, b.Instead)
		}
		if b.Barring != "" && !slices.Contains(barring, b.Barring) {
			barring = append(barring, b.Barring)
		}
	}
	if len(barring) > 0 {
		text += " barring " + strings.Join(barring, " and ")
	}
	return text, nil
}

// until adds to a label the time by which the run must have ended, unless that is zero.
func until(label string, deadline time.Time) string {
	if deadline.IsZero() {
		return label
	}
	return label + " until " + deadline.UTC().Format(time.RFC3339)
}
