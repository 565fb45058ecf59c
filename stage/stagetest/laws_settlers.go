package stagetest

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

var settlerLaws = []law{
	{name: "settlers publishing at once publish once", check: settlersPublish},
	{name: "settlers aborting at once", check: settlersAbort},
	{name: "settlers that disagree end in one outcome", check: settlersDisagree},
}

// settlers are processes that finish the same handle at the same moment.
const (
	settlers = 4
	rounds   = 12
)

// answer is what one call told one settler.
type answer struct {
	verb  string
	err   error
	state stage.State // of inspect
}

// settle lets each settler make the verbs it is given, in order, all settlers at once.
func (k *kit) settle(sinks []stage.Sink, h runstate.Handle, verbs func(settler int) []string) []answer {
	all := make([][]answer, len(sinks))
	start := make(chan struct{})
	var running sync.WaitGroup
	for i, s := range sinks {
		plan := verbs(i)
		running.Go(func() {
			<-start
			for _, verb := range plan {
				a := answer{verb: verb}
				switch verb {
				case "publish":
					a.err = s.Publish(k.Context(), h)
				case "abort":
					a.err = s.Abort(k.Context(), h)
				case "inspect":
					var e stage.Evidence
					e, a.err = s.Inspect(k.Context(), h)
					a.state = e.State
				}
				all[i] = append(all[i], a)
			}
		})
	}
	close(start)
	running.Wait()
	var answers []answer
	for _, a := range all {
		answers = append(answers, a...)
	}
	return answers
}

func (k *kit) openSettlers() []stage.Sink {
	sinks := make([]stage.Sink, settlers)
	for i := range sinks {
		sinks[i] = k.Open()
	}
	return sinks
}

func settlersPublish(k *kit) {
	sinks := k.openSettlers()
	var published []runstate.Artifact
	for round := range rounds {
		a := artifact(runA, 0, round+1)
		h := k.stage(sinks[0], a, dataOf(a))
		for _, got := range k.settle(sinks, h, func(int) []string { return []string{"inspect", "publish", "inspect"} }) {
			if got.err != nil || got.state == stage.Gone || got.state == stage.Foreign {
				k.Errorf("%s among publishers answers %s, %v", got.verb, got.state, got.err)
			}
		}
		k.is(sinks[0], h, stage.Published)
		published = append(published, a)
	}
	k.sees(seen(published...))
	k.stages(0)
}

func settlersAbort(k *kit) {
	sinks := k.openSettlers()
	for round := range rounds {
		a := artifact(runA, 0, round+1)
		h := k.stage(sinks[0], a, dataOf(a))
		for _, got := range k.settle(sinks, h, func(int) []string { return []string{"inspect", "abort", "inspect"} }) {
			if got.err != nil || got.state == stage.Published || got.state == stage.Foreign {
				k.Errorf("%s among aborters answers %s, %v", got.verb, got.state, got.err)
			}
		}
		k.is(sinks[0], h, stage.Gone)
	}
	k.sees(nil)
	k.stages(0)
}

func settlersDisagree(k *kit) {
	seed := rand.Uint64()
	k.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	sinks := k.openSettlers()
	var published []runstate.Artifact
	for round := range 2 * rounds {
		a := artifact(runA, 0, round+1)
		h := k.stage(sinks[0], a, dataOf(a))
		answers := k.settle(sinks, h, func(int) []string {
			return [][]string{{"publish", "inspect"}, {"abort", "inspect"}, {"inspect", "publish"}, {"inspect", "abort"}}[random.IntN(4)]
		})
		e, err := sinks[0].Inspect(k.Context(), h)
		k.must(err)
		switch e.State {
		case stage.Published:
			published = append(published, a)
		case stage.Gone, stage.Staged: // staged: nobody has drawn a verb that finishes
		default:
			k.Errorf("the outcome is %s: %s", e.State, e.Detail)
		}
		for _, got := range answers {
			k.consistent(got, e.State)
		}
		k.must(k.finish(sinks[0], h))
	}
	k.sees(seen(published...))
	k.stages(0)
}

// consistent checks that an answer is not at odds with how it ended. The nil of a publish is no evidence and is not judged: a
// store may answer one completion with success while another one is under way, which then fails.
func (k *kit) consistent(got answer, outcome stage.State) {
	k.Helper()
	bad := false
	switch got.verb {
	case "publish":
		bad = errors.Is(got.err, stage.ErrForeign)
	case "abort":
		bad = got.err == nil && outcome != stage.Gone ||
			errors.Is(got.err, stage.ErrPublished) && outcome != stage.Published
	case "inspect":
		bad = got.err != nil || got.state == stage.Foreign || got.state == stage.Published && outcome != stage.Published ||
			got.state == stage.Gone && outcome != stage.Gone
	}
	if bad {
		k.Errorf("the outcome is %s, and %s has answered %s, %v", outcome, got.verb, got.state, got.err)
	}
}

// finish aborts what is not published.
func (k *kit) finish(s stage.Sink, h runstate.Handle) error {
	if err := s.Abort(k.Context(), h); err != nil && !errors.Is(err, stage.ErrPublished) {
		return err
	}
	return nil
}
