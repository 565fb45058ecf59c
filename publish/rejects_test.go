package publish_test

import (
	"bytes"
	"testing"

	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
)

// TestRejectsManifest: every manifest counts the records that were refused; the one beside them names their artifacts.
func TestRejectsManifest(t *testing.T) {
	for _, key := range []string{"k", ""} {
		b := newBench(t, key, 3, "a", "b", "bad")
		b.decide()
		b.ok(b.settler().Finish(t.Context()))
		want := []publish.Manifest{{Rows: 30, Nulled: 15, Bytes: 3000}, {Rows: 30, Bytes: 3000}, {Rows: 6, Bytes: 3000, Rejects: true}}
		for i, l := range b.sinks {
			m, err := publish.ReadManifest(l.notes[manifestName])
			b.ok(err)
			if m.Rows != want[i].Rows || m.Rejected != 6 || m.Nulled != want[i].Nulled || m.Bytes != want[i].Bytes || m.Rejects != want[i].Rejects ||
				len(m.Artifacts) != 3 || m.Outcome != runstate.Done {
				t.Errorf("%s: %+v", l.id, m)
			}
			for _, a := range m.Artifacts {
				if a.Rows != m.Rows/3 || a.Nulled != m.Nulled/3 {
					t.Errorf("%s: %+v", l.id, a)
				}
			}
		}
	}
	none := newBench(t, "", 1, "a")
	none.decide()
	none.ok(none.settler().Finish(t.Context()))
	if text := none.sinks[0].notes[manifestName]; bytes.Contains(text, []byte("reject")) || bytes.Contains(text, []byte("nulled")) {
		t.Errorf("%s", text)
	}
}

// TestRejectsLost: artifacts of records that were refused are finished, found missing and resolved as all others are.
func TestRejectsLost(t *testing.T) {
	b := newBench(t, "k", 2, "a", "bad")
	s := b.decide()
	delete(b.sinks[1].staged, nameOf(2))
	if fates := problems(t, s.Finish(t.Context())); len(fates) != 1 || fates[0] != publish.Lost {
		t.Fatal(fates)
	}
	b.ok(s.Resolve(t.Context(), runstate.HandleID{Sink: 1, Name: nameOf(2)}, runstate.AsLost, "gone"))
	b.ok(s.Finish(t.Context()))
	for i, rows := range []int64{20, 2} {
		m, err := publish.ReadManifest(b.sinks[i].notes[manifestName])
		b.ok(err)
		if m.Outcome != runstate.Partial || m.Rows != rows || m.Rejected != 4 || len(m.Lost) != i {
			t.Errorf("%+v", m)
		}
	}
}

// TestRejectsMark: a key is named and kept where the rows are, so that it is found when the records that were refused are cleared away,
// or were never put aside.
func TestRejectsMark(t *testing.T) {
	b := newBench(t, "k", 2, "zebra", "bad")
	ids := b.journal.State().Begun.Sinks
	b.decide()
	if len(b.sinks[0].notes) != 1 || len(b.sinks[1].notes) != 0 {
		t.Fatal("the mark is not where it belongs")
	}
	m, err := publish.FindMark(t.Context(), "k", 0, publish.RowSinks(b.sinksOf(0, 1), ids))
	b.ok(err)
	if m.Run != token || len(m.Manifests) != 2 {
		t.Fatalf("%+v", m)
	}
	b.ok(b.settler().Finish(t.Context()))
	for i, l := range b.sinks {
		if string(l.notes[manifestName]) != m.Manifests[i] {
			t.Errorf("%s\n%s", l.notes[manifestName], m.Manifests[i])
		}
	}
}
