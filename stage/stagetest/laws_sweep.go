package stagetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

var sweepLaws = []law{
	{name: "sweep keeps live handles and other runs", check: sweepKeeps},
	{name: "sweep leaves strangers", check: sweepStrangers, needs: func(p Place) bool { return p.PlantStaged != nil }},
	{name: "sweep touches nothing visible", check: sweepVisible},
	{name: "sweep of nothing", check: sweepNothing},
	{name: "visible lists exactly the run", check: visibleExactly},
	{name: "probe leaves nothing", check: probeLeavesNothing},
}

func sweepKeeps(k *kit) {
	s := k.Open()
	sweeper, ok := s.(stage.Sweeper)
	if !ok {
		return
	}
	live, orphan, other := artifact(runA, 0, 1), artifact(runA, 0, 2), artifact(runB, 0, 1)
	hl, ho, hb := k.stage(s, live, dataOf(live)), k.stage(s, orphan, dataOf(orphan)), k.stage(s, other, dataOf(other))
	for range 2 {
		k.must(sweeper.Sweep(k.Context(), runA, []runstate.Handle{hl}))
		k.is(s, hl, stage.Staged)
		k.is(s, ho, stage.Gone)
		k.is(s, hb, stage.Staged)
	}
	k.must(s.Publish(k.Context(), hl))
	k.must(s.Publish(k.Context(), hb))
	k.must(sweeper.Sweep(k.Context(), runA, nil))
	k.sees(seen(live, other))
	k.stages(0)
}

func sweepStrangers(k *kit) {
	s := k.Open()
	sweeper, ok := s.(stage.Sweeper)
	if !ok {
		return
	}
	a := artifact(runA, 0, 1)
	k.stage(s, a, dataOf(a))
	strangers := []string{
		"notes.txt",
		"sub0-20261130t013000z7f3a9c1e-1.a1",
		"sub0-20261130t013000z7f3a9c1e-000001.csv",
		"sub00-20261130t013000z7f3a9c1e-000001.a1",
		"sub0-20261130t013000z7f3a9c1e-000001.a01",
		"sub0-20261130t013000z7f3a9c1e-000001.a0",
		"sub0-20261130t013000z7f3a9c1e-000001.a+1",
		"sub0-20261130t013000z7f3a9c1e-000001.a1.part",
		artifact(runB, 0, 1).Stem() + ".a1",
	}
	for _, name := range strangers {
		k.PlantStaged(runA, name)
	}
	k.must(sweeper.Sweep(k.Context(), runA, nil))
	left := k.Staged()
	for _, name := range strangers {
		if !slices.ContainsFunc(left, func(l string) bool { return strings.HasSuffix(l, name) }) {
			k.Errorf("%s is swept", name)
		}
	}
	k.stages(len(strangers))
}

func sweepVisible(k *kit) {
	s := k.Open()
	sweeper, ok := s.(stage.Sweeper)
	if !ok {
		return
	}
	a := artifact(runA, 0, 1)
	k.must(s.Publish(k.Context(), k.stage(s, a, dataOf(a))))
	want := seen(a)
	for _, name := range []string{"notes.txt", "sub0.csv", artifact(runA, 0, 2).Stem() + ".a1", "tmp-x"} {
		k.Plant(name, []byte(name))
		want[name] = []byte(name)
	}
	k.must(sweeper.Sweep(k.Context(), runA, nil))
	k.sees(want)
}

func sweepNothing(k *kit) {
	if sweeper, ok := k.Open().(stage.Sweeper); ok {
		k.must(sweeper.Sweep(k.Context(), runA, nil))
		if err := sweeper.Sweep(k.Context(), "../x", nil); err == nil {
			k.Error("a sweep of what is no run")
		}
	}
	k.sees(nil)
	k.stages(0)
}

func visibleExactly(k *kit) {
	s := k.Open()
	lister, ok := s.(stage.Lister)
	if !ok {
		return
	}
	var want []string
	for _, run := range []runstate.Token{runA, runB} {
		for sub := range 3 {
			a := artifact(run, 2-sub, 1)
			k.must(s.Publish(k.Context(), k.stage(s, a, dataOf(a))))
			if run == runA {
				want = append(want, a.Name())
			}
		}
	}
	staged := artifact(runA, 0, 9)
	k.stage(s, staged, dataOf(staged))
	for i, name := range []string{"notes.txt", "sub0-" + string(runA) + "-1.csv", runstate.ManifestName(runA)} {
		k.Plant(name, fmt.Append(nil, i))
	}
	slices.Sort(want)
	got, err := lister.Visible(k.Context(), runA)
	if err != nil || !slices.Equal(got, want) {
		k.Errorf("%q are visible and not %q, %v", got, want, err)
	}
}

func probeLeavesNothing(k *kit) {
	s := k.Open()
	prober, ok := s.(stage.Prober)
	if !ok {
		return
	}
	for range 2 {
		k.must(prober.Probe(k.Context(), runA))
		k.sees(nil)
		k.stages(0)
	}
	a := artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	k.must(s.Publish(k.Context(), h))
	k.is(s, h, stage.Published)
}
