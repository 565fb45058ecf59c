// Package publish decides runs and finishes them: the gate, the key mark, the commit of every artifact, the manifests. It
// is written once, for every backend, and `run` and `resume` have no other way to publish anything.
package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Patience says how long and how often sinks that do not answer are asked again.
type Patience struct {
	Wait  time.Duration // how long an artifact's state may stay unknown, after the first look; 0 is one try
	First time.Duration // pause after the first try; it doubles, up to Most, and a random half of it is left out
	Most  time.Duration

	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Random func() float64 // in [0, 1)
}

// Wide is a Sink that is far away: several artifacts are looked at and finished at once.
type Wide interface {
	Wide() int // how many at once
}

// Late is a Sink where a write of a process that is dead may still land for a while. Until that long after the first look
// an artifact that nothing shows is unknown, not gone.
type Late interface {
	Late() time.Duration
}

// Fate is what became of an artifact that was to be published and is not proved to be.
type Fate string

// The fates.
const (
	Lost     Fate = "LOST"     // stage and destination answer, and neither has it
	Conflict Fate = "CONFLICT" // something that is not ours stands under its name
	Unknown  Fate = "UNKNOWN"  // no answer proves anything
)

// Problem is an artifact that is not finished.
type Problem struct {
	Handle runstate.Handle
	Fate   Fate
	Err    error
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s: %s in %s (%d rows, %d bytes): %v", p.Fate, p.Handle.Name, p.Handle.Place, p.Handle.Rows, p.Handle.Bytes, p.Err)
}

func (p Problem) Unwrap() error { return p.Err }

// committer commits artifacts at one sink.
type committer struct {
	sink     stage.Sink
	patience Patience
	log      *slog.Logger
}

// commit publishes an artifact and returns nil only with evidence that it is published, whole, once and durable.
// Otherwise it returns a Problem, or the context's error with nothing started.
func (c committer) commit(ctx context.Context, h runstate.Handle) error {
	start := c.patience.Now()
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		problem := c.try(ctx, h)
		if problem == nil {
			return nil
		}
		if problem.Fate == Conflict || !c.again(ctx, problem, start, try) {
			return *problem
		}
	}
}

// try is publish, inspect. Publish itself looks before it acts: an artifact that is published already is made as durable there
// as if this process had published it.
func (c committer) try(ctx context.Context, h runstate.Handle) *Problem {
	published := c.sink.Publish(ctx, h)
	after, err := c.sink.Inspect(ctx, h)
	if p := verdict(h, after, errors.Join(err, ifErr(err, published))); p != nil {
		return p
	}
	switch {
	case published != nil:
		return &Problem{h, Unknown, published}
	case after.State != stage.Published:
		return &Problem{h, Unknown, fmt.Errorf("publishing was answered well, and it is still %s: %s", after.State, after.Detail)}
	}
	return nil
}

// ifErr adds a publishing error to a look that failed too.
func ifErr(look, published error) error {
	if look == nil {
		return nil
	}
	return published
}

func verdict(h runstate.Handle, e stage.Evidence, err error) *Problem {
	switch {
	case err != nil:
		return &Problem{h, Unknown, err}
	case e.State == stage.Gone:
		return &Problem{h, Lost, errors.New(e.Detail)}
	case e.State == stage.Foreign:
		return &Problem{h, Conflict, fmt.Errorf("%s; move away what is not ours, and resume", e.Detail)}
	}
	return nil
}

// again tells whether a problem is worth another try, after the pause before it.
func (c committer) again(ctx context.Context, p *Problem, start time.Time, try int) bool {
	wait := c.patience.Wait
	if p.Fate == Lost {
		wait = 0
		if late, ok := c.sink.(Late); ok {
			wait = late.Late()
		}
	}
	if c.patience.Now().Sub(start) >= wait {
		return false
	}
	c.log.Warn("asking again", "artifact", p.Handle.Name, "fate", p.Fate, "error", p.Err)
	return c.patience.pause(ctx, try) == nil
}

// pause waits before the next try, with jitter.
func (p Patience) pause(ctx context.Context, try int) error {
	d := p.First
	for range try {
		if d = 2 * d; d >= p.Most {
			d = p.Most
			break
		}
	}
	return p.Sleep(ctx, d/2+time.Duration(float64(d/2)*p.Random()))
}

// look inspects an artifact until there is an answer, and until one that says Gone has stood as long as it must.
func (c committer) look(ctx context.Context, h runstate.Handle) (stage.Evidence, error) {
	start := c.patience.Now()
	for try := 0; ; try++ {
		e, err := c.sink.Inspect(ctx, h)
		if err == nil && e.State != stage.Gone {
			return e, nil
		}
		p := verdict(h, e, err)
		if err := ctx.Err(); err != nil {
			return e, err
		}
		if !c.again(ctx, p, start, try) {
			return e, err
		}
	}
}
