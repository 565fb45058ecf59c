package stagetest

import (
	"errors"

	"github.com/clinkctl/clinkctl/stage"
)

var abortLaws = []law{
	{name: "abort leaves nothing", check: abortLeavesNothing},
	{name: "abort twice is once", check: abortTwice},
	{name: "abort then publish publishes nothing", check: abortThenPublish},
	{name: "abort of a published artifact changes nothing", check: abortPublished},
	{name: "lost reply of abort", check: abortLostReply},
}

func abortLeavesNothing(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	k.must(s.Abort(k.Context(), h))
	k.is(s, h, stage.Gone)
	k.sees(nil)
	k.stages(0)
}

func abortTwice(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	for _, sink := range []stage.Sink{s, s, k.Open()} {
		k.must(sink.Abort(k.Context(), h))
		k.is(sink, h, stage.Gone)
	}
	k.sees(nil)
}

func abortThenPublish(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	k.must(s.Abort(k.Context(), h))
	for _, sink := range []stage.Sink{s, k.Open()} {
		if err := sink.Publish(k.Context(), h); err == nil {
			k.Error("what was aborted is published without an error")
		}
		k.is(sink, h, stage.Gone)
		k.sees(nil)
	}
}

func abortPublished(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	k.must(s.Publish(k.Context(), h))
	for _, sink := range []stage.Sink{s, s, k.Open()} {
		if err := sink.Abort(k.Context(), h); !errors.Is(err, stage.ErrPublished) {
			k.Errorf("abort of a published artifact: %v", err)
		}
		k.is(sink, h, stage.Published)
		k.sees(seen(a))
	}
	k.must(s.Publish(k.Context(), h))
	k.sees(seen(a))
}

func abortLostReply(k *kit) {
	faults, err := ParseFaults("abort@1=lost-reply")
	k.must(err)
	s, a := faults.Sink(k.Open(), ""), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	if err := s.Abort(k.Context(), h); err == nil {
		k.Fatal("the reply was not lost")
	}
	k.is(s, h, stage.Gone)
	k.must(s.Abort(k.Context(), h))
	k.sees(nil)
}
