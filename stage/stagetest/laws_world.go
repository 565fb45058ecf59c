package stagetest

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

var worldLaws = []law{
	{name: "foreign object of the same size", check: func(k *kit) { foreignObject(k, 0) }},
	{name: "foreign object of another size", check: func(k *kit) { foreignObject(k, 1) }},
	{name: "foreign object and no stage", check: foreignWithoutStage},
	{name: "stage deleted is gone", check: stageDeleted},
	{name: "stage deleted after publish is published", check: stageDeletedAfterPublish},
	{name: "published artifact deleted is gone", check: nothingLeft},
	{name: "denied look is unknown", check: deniedLook},
	{name: "another destination is elsewhere", check: elsewhere, needs: func(p Place) bool { return p.Replace != nil }},
	{name: "handle of nobody is refused", check: strangeHandle},
	{name: "same identity on every opening", check: sameIdentity},
}

func foreignObject(k *kit, longer int) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	foreign := bytes.Repeat([]byte("#"), len(dataOf(a))+longer)
	k.Plant(a.Name(), foreign)
	theirs := map[string][]byte{a.Name(): foreign}
	for _, sink := range []stage.Sink{s, k.Open()} {
		k.is(sink, h, stage.Foreign)
		if err := sink.Publish(k.Context(), h); !errors.Is(err, stage.ErrForeign) {
			k.Errorf("publish over a foreign object: %v", err)
		}
		k.is(sink, h, stage.Foreign)
		k.sees(theirs)
		k.stages(1)
	}
	k.must(s.Abort(k.Context(), h))
	k.is(s, h, stage.Foreign)
	k.sees(theirs)
	k.stages(0)
}

func foreignWithoutStage(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	k.Unstage(h)
	k.Plant(a.Name(), []byte("theirs"))
	k.is(s, h, stage.Foreign)
	if err := s.Publish(k.Context(), h); !errors.Is(err, stage.ErrForeign) {
		k.Errorf("publish over a foreign object: %v", err)
	}
	k.must(s.Abort(k.Context(), h))
	k.sees(map[string][]byte{a.Name(): []byte("theirs")})
}

func stageDeleted(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	k.Unstage(h)
	k.is(s, h, stage.Gone)
	if err := s.Publish(k.Context(), h); err == nil || errors.Is(err, stage.ErrForeign) {
		k.Errorf("publish of what is gone: %v", err)
	}
	k.is(s, h, stage.Gone)
	k.must(s.Abort(k.Context(), h))
	k.sees(nil)
}

func stageDeletedAfterPublish(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	k.must(s.Publish(k.Context(), h))
	k.Unstage(h)
	k.is(s, h, stage.Published)
	k.must(k.Open().Publish(k.Context(), h))
	k.sees(seen(a))
}

// nothingLeft is of a handle that neither stage nor destination know.
func nothingLeft(k *kit) {
	s, a, b := k.Open(), artifact(runA, 0, 1), artifact(runA, 0, 2)
	h := k.stage(s, a, dataOf(a))
	k.must(s.Publish(k.Context(), k.stage(s, b, dataOf(b))))
	k.Unstage(h)
	k.is(s, h, stage.Gone)
	k.sees(seen(b))
}

func deniedLook(k *kit) {
	s := k.Open()
	staged, published, gone := artifact(runA, 0, 1), artifact(runA, 0, 2), artifact(runA, 0, 3)
	handles := []runstate.Handle{k.stage(s, staged, dataOf(staged)), k.stage(s, published, dataOf(published)),
		k.stage(s, gone, dataOf(gone))}
	k.must(s.Publish(k.Context(), handles[1]))
	k.Unstage(handles[2])
	k.Deny(true)
	for _, h := range handles {
		if e, err := s.Inspect(k.Context(), h); err == nil {
			k.Errorf("%s is said to be %s by a destination that answers nothing", h.Name, e.State)
		}
		if err := s.Abort(k.Context(), h); err == nil || errors.Is(err, stage.ErrPublished) {
			k.Errorf("abort of %s at a destination that answers nothing: %v", h.Name, err)
		}
	}
	if _, err := s.Note(k.Context(), runstate.ManifestName(runA)); err == nil || errors.Is(err, fs.ErrNotExist) {
		k.Errorf("note of a destination that answers nothing: %v", err)
	}
	k.Deny(false)
	k.is(s, handles[1], stage.Published)
	k.is(s, handles[2], stage.Gone)
	k.sees(seen(published))
}

func elsewhere(k *kit) {
	s, a, b := k.Open(), artifact(runA, 0, 1), artifact(runA, 0, 2)
	staged, published := k.stage(s, a, dataOf(a)), k.stage(s, b, dataOf(b))
	k.must(s.Publish(k.Context(), published))
	restore := k.Replace()
	k.elsewhere(s, staged, published)
	fresh := k.Open() // makes a destination of its own there
	if fresh.Identity() == s.Identity() {
		k.Error("two destinations have one identity")
	}
	k.elsewhere(fresh, staged, published)
	if _, err := s.Note(k.Context(), runstate.ManifestName(runA)); !errors.Is(err, stage.ErrElsewhere) {
		k.Errorf("note of another destination: %v", err)
	}
	if err := s.PutNote(k.Context(), runstate.ManifestName(runA), nil); !errors.Is(err, stage.ErrElsewhere) {
		k.Errorf("note to another destination: %v", err)
	}
	k.sees(nil)
	restore()
	k.is(s, staged, stage.Staged)
	k.must(s.Publish(k.Context(), staged))
	k.is(k.Open(), published, stage.Published)
	k.sees(seen(a, b))
}

// elsewhere checks that a sink knows that it is not the place that the handles speak of.
func (k *kit) elsewhere(s stage.Sink, handles ...runstate.Handle) {
	k.Helper()
	for _, h := range handles {
		if e, err := s.Inspect(k.Context(), h); !errors.Is(err, stage.ErrElsewhere) {
			k.Errorf("inspect at another destination: %s, %v", e.State, err)
		}
		if err := s.Publish(k.Context(), h); !errors.Is(err, stage.ErrElsewhere) {
			k.Errorf("publish at another destination: %v", err)
		}
		if err := s.Abort(k.Context(), h); !errors.Is(err, stage.ErrElsewhere) {
			k.Errorf("abort at another destination: %v", err)
		}
	}
}

func strangeHandle(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	for what, change := range map[string]func(h *runstate.Handle){
		"backend":       func(h *runstate.Handle) { h.Backend = "no such backend" },
		"payload":       func(h *runstate.Handle) { h.Payload = []byte(`{}`) },
		"no payload":    func(h *runstate.Handle) { h.Payload = nil },
		"name":          func(h *runstate.Handle) { h.Name = "orders.csv" },
		"way out":       func(h *runstate.Handle) { h.Name = a.Stem() + ".csv/../../x" },
		"other run":     func(h *runstate.Handle) { h.Name = artifact(runB, 0, 1).Name() },
		"other subtask": func(h *runstate.Handle) { h.Name = artifact(runA, 1, 1).Name() },
	} {
		strange := h
		change(&strange)
		e, err := s.Inspect(k.Context(), strange)
		if err == nil || s.Publish(k.Context(), strange) == nil || s.Abort(k.Context(), strange) == nil {
			k.Errorf("a handle with a strange %s is taken (%s)", what, e.State)
		}
		k.is(s, h, stage.Staged)
		k.sees(nil)
	}
}

func sameIdentity(k *kit) {
	first := k.Open().Identity()
	if again := k.Open().Identity(); first == "" || again != first {
		k.Errorf("the identity is %q, then %q", first, again)
	}
}
