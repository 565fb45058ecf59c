package stagetest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

func TestMemoryLaws(t *testing.T) {
	Laws(t, func(t *testing.T, name string) Place { return memoryPlace(t, NewWorld(), "mem://"+name) })
}

func TestKeptMemoryLaws(t *testing.T) {
	Laws(t, func(t *testing.T, name string) Place { return memoryPlace(t, OpenWorld(t.TempDir()), "mem://"+name) })
}

// A world that is kept is the same for whoever opens it again.
func TestWorldIsKept(t *testing.T) {
	dir := t.TempDir()
	k := &kit{T: t, Place: memoryPlace(t, OpenWorld(dir), "mem://a")}
	a := artifact(runA, 0, 1)
	h := k.stage(k.Open(), a, dataOf(a))
	again := &kit{T: t, Place: memoryPlace(t, OpenWorld(dir), "mem://a")}
	again.must(again.Open().Publish(t.Context(), h))
	k.sees(seen(a))
}

func memoryPlace(t *testing.T, w *World, to string) Place {
	change := func(f func(places map[string]*place)) {
		t.Helper()
		err := w.do(context.Background(), func(places map[string]*place) error { f(places); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	return Place{
		Open: func() stage.Sink {
			s, err := w.Backend().Open(t.Context(), stage.Place{To: to}, true)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Visible: func() map[string][]byte {
			objects, err := w.Objects(to)
			if err != nil {
				t.Fatal(err)
			}
			return objects
		},
		Staged: func() (names []string) {
			change(func(places map[string]*place) { names = slices.Sorted(maps.Keys(places[to].Staged)) })
			return names
		},
		Plant: func(name string, data []byte) {
			change(func(places map[string]*place) { places[to].Objects[name] = data })
		},
		Unstage: func(h runstate.Handle) {
			a, err := runstate.ParseName(h.Name)
			if err != nil {
				t.Fatal(err)
			}
			a.Attempt = h.Attempt
			change(func(places map[string]*place) { delete(places[to].Staged, memoryKey(a)) })
		},
		PlantStaged: func(run runstate.Token, name string) {
			change(func(places map[string]*place) { places[to].Staged[string(run)+"/"+name] = nil })
		},
		Deny: w.Deny,
		Hold: w.Hold,
		Replace: func() func() {
			change(func(places map[string]*place) {
				places["away"] = places[to]
				places[to] = newPlace("")
			})
			// The first to open the place makes it one of its own, with an id.
			change(func(places map[string]*place) { places[to].ID = freshID(places) })
			return func() { change(func(places map[string]*place) { places[to] = places["away"] }) }
		},
	}
}
