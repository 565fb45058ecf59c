package stagetest

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

var closeLaws = []law{
	{name: "nothing after close", check: nothingAfterClose},
	{name: "close waits", check: closeWaits},
	{name: "cancelled context starts no modification", check: cancelled},
}

// calls makes every call that a sink has, by name, with its error.
func (k *kit) calls(ctx context.Context, s stage.Sink, h runstate.Handle) map[string]error {
	errs := map[string]error{
		"publish":  s.Publish(ctx, h),
		"abort":    s.Abort(ctx, h),
		"put note": s.PutNote(ctx, runstate.ManifestName(runA), nil),
	}
	_, errs["inspect"] = s.Inspect(ctx, h)
	_, errs["note"] = s.Note(ctx, runstate.ManifestName(runA))
	if b, ok := s.(stage.Bytes); ok && k.Place.Create == nil {
		_, errs["create"] = b.Create(ctx, artifact(runA, 5, 5))
	}
	if l, ok := s.(stage.Lister); ok {
		_, errs["visible"] = l.Visible(ctx, runA)
	}
	if w, ok := s.(stage.Sweeper); ok {
		errs["sweep"] = w.Sweep(ctx, runA, nil)
	}
	if p, ok := s.(stage.Prober); ok {
		errs["probe"] = p.Probe(ctx, runA)
	}
	return errs
}

func nothingAfterClose(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	w := k.create(s, artifact(runA, 0, 2))
	k.must(s.Close())
	before := k.Staged()
	for what, err := range k.calls(k.Context(), s, h) {
		if err == nil {
			k.Errorf("%s after close has no error", what)
		}
	}
	if _, err := w.Prepare(k.Context(), 0, runstate.DigestOf(nil)); err == nil {
		k.Error("prepare after close has no error")
	}
	k.sees(nil)
	if after := k.Staged(); !slices.Equal(before, after) {
		k.Errorf("%q were staged, %q are after close", before, after)
	}
	k.is(k.Open(), h, stage.Staged)
}

func closeWaits(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	entered, release := k.Hold()
	published, closed := make(chan error, 1), make(chan error, 1)
	go func() { published <- s.Publish(k.Context(), h) }()
	<-entered
	go func() { closed <- s.Close() }()
	for range 1000 { // gives a Close that does not wait every occasion to show it
		runtime.Gosched()
		if len(closed) > 0 {
			break
		}
	}
	if len(closed) > 0 {
		k.Error("close has overtaken a publish")
	}
	release()
	k.must(<-published)
	k.must(<-closed)
	k.sees(seen(a))
	if err := s.Publish(k.Context(), h); err == nil {
		k.Error("publish after close has no error")
	}
}

func cancelled(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	w := k.create(s, artifact(runA, 0, 2))
	ctx, cancel := context.WithCancel(k.Context())
	cancel()
	before := k.Staged()
	for what, err := range k.calls(ctx, s, h) {
		if !errors.Is(err, context.Canceled) {
			k.Errorf("%s with a cancelled context: %v", what, err)
		}
	}
	if _, err := w.Prepare(ctx, 0, runstate.DigestOf(nil)); !errors.Is(err, context.Canceled) {
		k.Errorf("prepare with a cancelled context: %v", err)
	}
	k.sees(nil)
	if after := k.Staged(); !slices.Equal(before, after) {
		k.Errorf("%q were staged, %q are after calls with a cancelled context", before, after)
	}
	k.is(s, h, stage.Staged)
}
