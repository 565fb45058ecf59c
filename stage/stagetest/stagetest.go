// Package stagetest holds the laws that every backend passes, each a subtest with a name; a backend of memory that passes
// them; and a wrapper that makes any backend misbehave on purpose.
//
// A backend runs the laws in its own folder:
//
//	func TestLaws(t *testing.T) {
//		stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place { ... })
//	}
package stagetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Place is one destination, with what the laws do to it behind the backend's back. Its functions fail the test where they
// cannot do what they say; they are called from the test's own goroutine.
type Place struct {
	// Open opens the destination as one more process does, making it if it is absent.
	Open func() stage.Sink
	// Create begins an artifact of bytes at a sink. Nil is stage.Bytes of the sink itself.
	Create func(s stage.Sink, a runstate.Artifact) (stage.ByteWriter, error)
	// Visible is what a reader sees that goes by the backend's documented way: names and bytes.
	Visible func() map[string][]byte
	// Staged names whatever is there and not for readers, but for what belongs to the destination itself.
	Staged func() []string
	// Plant puts something that is not ours under a visible name.
	Plant func(name string, data []byte)
	// Unstage removes what is staged of a handle, if it is there.
	Unstage func(h runstate.Handle)
	// Deny makes the destination answer no look, until it is called with false.
	Deny func(deny bool)
	// Hold makes the next Publish wait in the middle: entered is closed when it does, release lets it go on.
	Hold func() (entered <-chan struct{}, release func())
	// Replace puts another, empty destination under the address, as an unmounted volume does; restore takes that back.
	// Nil where the address is the destination's identity.
	Replace func() (restore func())
	// PlantStaged puts a stranger with a name of its own among what is staged of a run; Staged then names it too, by a
	// name that ends in this one. Nil where nothing can stand there.
	PlantStaged func(run runstate.Token, name string)
}

// Laws runs every law against fresh destinations that open makes. The name is for the last part of the address; laws give
// odd ones.
func Laws(t *testing.T, open func(t *testing.T, name string) Place) {
	for _, laws := range [][]law{publishLaws, abortLaws, worldLaws, sweepLaws, noteLaws, settlerLaws, closeLaws} {
		for _, l := range laws {
			t.Run(l.name, func(t *testing.T) {
				place := open(t, "to")
				if l.needs != nil && !l.needs(place) {
					return
				}
				l.check(&kit{T: t, Place: place})
			})
		}
	}
	for _, name := range []string{"with blank", "größe ☃", "100%25", "a\nb", `quote"back\slash`, "-dash", "a:b#c?d&e=f"} {
		t.Run(fmt.Sprintf("handle survives place %q", name), func(t *testing.T) {
			handleSurvives(&kit{T: t, Place: open(t, name)})
		})
	}
}

// law is something that is true of every backend.
type law struct {
	name  string
	check func(k *kit)
	needs func(p Place) bool // nil: nothing that a place may lack
}

// Two runs, and data of one artifact that differs from that of any other.
const (
	runA = runstate.Token("20261130t013000z7f3a9c1e")
	runB = runstate.Token("20261130t013000z00000001")
)

func artifact(run runstate.Token, subtask, ckpt int) runstate.Artifact {
	return runstate.Artifact{Run: run, Attempt: 1, Sink: 1, Subtask: subtask, Checkpoint: ckpt, Ext: "csv"}
}

func dataOf(a runstate.Artifact) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%s of attempt %d\n", a.Name(), a.Attempt), 100)
}

// kit is a law's test with its place.
type kit struct {
	*testing.T
	Place
}

// must stops the law at an error.
func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *kit) create(s stage.Sink, a runstate.Artifact) stage.ByteWriter {
	k.Helper()
	create := k.Place.Create
	if create == nil {
		create = func(s stage.Sink, a runstate.Artifact) (stage.ByteWriter, error) {
			return s.(stage.Bytes).Create(k.Context(), a)
		}
	}
	w, err := create(s, a)
	k.must(err)
	return w
}

// stage prepares an artifact, and gives its handle as the journal would give it back.
func (k *kit) stage(s stage.Sink, a runstate.Artifact, data []byte) runstate.Handle {
	k.Helper()
	w := k.create(s, a)
	if n, err := w.Write(data); err != nil || n != len(data) {
		k.Fatalf("write: %d of %d, %v", n, len(data), err)
	}
	h, err := w.Prepare(k.Context(), 100, runstate.DigestOf(data))
	k.must(err)
	return k.journaled(h)
}

func (k *kit) journaled(h runstate.Handle) runstate.Handle {
	k.Helper()
	line, err := json.Marshal(h)
	k.must(err)
	var back runstate.Handle
	k.must(json.Unmarshal(line, &back))
	return back
}

// is checks the state of an artifact.
func (k *kit) is(s stage.Sink, h runstate.Handle, want stage.State) {
	k.Helper()
	e, err := s.Inspect(k.Context(), h)
	if err != nil || e.State != want {
		k.Fatalf("%s is %s (%s) and not %s, %v", h.Name, e.State, e.Detail, want, err)
	}
	if e.Detail == "" {
		k.Errorf("nothing is said about %s being %s", h.Name, e.State)
	}
}

// sees checks what readers see: these artifacts with these bytes, nothing else.
func (k *kit) sees(want map[string][]byte) {
	k.Helper()
	got := k.Visible()
	if !maps.EqualFunc(got, want, bytes.Equal) {
		k.Fatalf("readers see %v and not %v, or other bytes", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// stages checks that nothing is staged but so many things.
func (k *kit) stages(want int) {
	k.Helper()
	if got := k.Staged(); len(got) != want {
		k.Fatalf("%d things are staged and not %d: %q", len(got), want, got)
	}
}

// seen is the map of some artifacts as they should be seen.
func seen(artifacts ...runstate.Artifact) map[string][]byte {
	m := map[string][]byte{}
	for _, a := range artifacts {
		m[a.Name()] = dataOf(a)
	}
	return m
}
