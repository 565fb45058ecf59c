package main

import (
	"slices"
	"testing"
)

// ladder is a model to test the engine: from 0 upwards by one, or by two by a fault. 7 can only be left by a fault.
type ladder struct{ top, bad int }

func (l ladder) Init() int { return 0 }

func (l ladder) Next(state int, edges []Edge[int]) []Edge[int] {
	if state < l.top && state != 7 {
		edges = append(edges, Edge[int]{To: state + 1, Label: say("one up from %d", uint8(state))})
	}
	if state+2 <= l.top {
		edges = append(edges, Edge[int]{To: state + 2, Label: say("two up from %d", uint8(state)), Fault: true})
	}
	return edges
}

func (l ladder) Broken(state int) []string {
	if state == l.bad {
		return []string{"bad"}
	}
	return nil
}

func (l ladder) Out(state int) bool { return state == l.top }
func (l ladder) Show(int) string    { return "here" }

func TestTraceIsShortest(t *testing.T) {
	result := Explore[int](ladder{top: 6, bad: 5}, Bounds{States: 100})
	if len(result.Findings) != 1 || result.Findings[0].Steps() != 3 {
		t.Fatalf("got %+v", result.Findings)
	}
	if last := result.Findings[0].Trace[3]; last != "=> here" {
		t.Errorf("last line %q", last)
	}
}

func TestFaultIsNoWayOut(t *testing.T) {
	result := Explore[int](ladder{top: 9, bad: -1}, Bounds{States: 100})
	if result.States != 10 || !result.Has(Stuck) {
		t.Fatalf("got %+v", result)
	}
	if got := result.Findings[0].Count; got != 8 {
		t.Errorf("%d stuck states, want 0 to 7", got)
	}
	if result := Explore[int](ladder{top: 6, bad: -1}, Bounds{States: 100}); len(result.Findings) != 0 {
		t.Errorf("without the trap: %+v", result.Findings)
	}
}

func TestBounds(t *testing.T) {
	if result := Explore[int](ladder{top: 90, bad: -1}, Bounds{States: 10}); !result.Truncated || result.Has(Stuck) {
		t.Errorf("state bound: %+v", result)
	}
	if result := Explore[int](ladder{top: 90, bad: 2}, Bounds{States: 100, Until: "bad"}); result.States > 10 {
		t.Errorf("went on to %d states after what it was to look for", result.States)
	}
}

func TestStateSet(t *testing.T) {
	set := newStateSet[int]()
	for range 2 {
		for n := range 3 * chunkSize {
			if i, _ := set.add(&n); int(i) != n || *set.at(i) != n {
				t.Fatalf("state %d has number %d", n, i)
			}
		}
	}
	if set.count != 3*chunkSize {
		t.Errorf("%d states", set.count)
	}
}

// TestEntry states what power loss may leave of a directory entry, in the words of POSIX: synced entries stay, others
// are either way.
func TestEntry(t *testing.T) {
	created := absent.create()
	removed := standing.remove()
	for _, c := range []struct {
		name               string
		entry              entry
		seen, open, synced bool
	}{
		{"absent", absent, false, false, false},
		{"standing", standing, true, false, true},
		{"created", created, true, true, false},
		{"created and synced", created.sync(), true, false, true},
		{"removed", removed, false, true, false},
		{"removed and synced", removed.sync(), false, false, false},
		{"created, then removed", created.remove(), false, true, false},
	} {
		got := []bool{c.entry.isPresent(), c.entry.isOpen(), c.entry.isDurable()}
		if !slices.Equal(got, []bool{c.seen, c.open, c.synced}) {
			t.Errorf("%s: seen, open, durable are %v", c.name, got)
		}
	}
}
