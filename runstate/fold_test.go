package runstate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/runstate"
)

// Records of a run with two splits and two sinks.

func begun() runstate.Record {
	return runstate.Record{Begun: &runstate.Begun{Journal: runstate.Format, Run: token, Job: "job", Key: "k", Plan: json.RawMessage(`{"a":1}`), PlanDigest: "xxh128:00",
		Splits: []runstate.Split{{Part: "/a", From: 0, To: 100}, {Part: "/b", From: 10, To: 50}, {Part: "/empty", From: 7, To: 7}},
		Source: json.RawMessage(`{}`), Fingerprint: "xxh128:01", Columns: []runstate.Column{}, Guarantee: "exactly_once",
		Sinks: []runstate.SinkID{{To: "/x", Identity: "file:1"}, {To: "/y", Identity: "file:2"}}}}
}

func attempt(n, subtasks int) runstate.Record {
	return runstate.Record{Attempt: &runstate.Attempt{Number: n, Host: "h", Process: 1, ID: "00", Subtasks: subtasks}}
}

func name(sub, ckpt int) string {
	return runstate.Artifact{Run: token, Subtask: sub, Checkpoint: ckpt, Ext: "csv"}.Name()
}

func handle(attempt, sub, ckpt, sink int) runstate.Handle {
	return runstate.Handle{Name: name(sub, ckpt), Sink: sink, Attempt: attempt, Subtask: sub, Checkpoint: ckpt, Place: "/x", Rows: 5, Bytes: 50,
		Digest: "xxh128:02", Backend: "file", Payload: json.RawMessage(`{}`)}
}

func unit(attempt, sub, ckpt int, ranges ...runstate.Range) runstate.Record {
	return runstate.Record{Prepared: &runstate.Unit{Attempt: attempt, Subtask: sub, Checkpoint: ckpt, Rows: 5, Ranges: ranges,
		Handles: []runstate.Handle{handle(attempt, sub, ckpt, 0), handle(attempt, sub, ckpt, 1)}}}
}

func cover(split int, from, to int64, end bool) runstate.Range {
	return runstate.Range{Split: split, From: from, To: to, End: end, Digest: "xxh128:03"}
}

func dropped(sub, ckpt int) runstate.Record {
	return runstate.Record{Dropped: &runstate.Dropped{UnitID: runstate.UnitID{Subtask: sub, Checkpoint: ckpt}, Why: "gone"}}
}

func decided(d runstate.Decision, manifests ...string) runstate.Record {
	return runstate.Record{Decided: &runstate.Decided{Decision: d, Manifests: manifests}}
}

func finished(sink, sub, ckpt int) runstate.Record {
	return runstate.Record{Finished: &runstate.HandleID{Sink: sink, Name: name(sub, ckpt)}}
}

func resolved(sink, sub, ckpt int, as runstate.Verdict) runstate.Record {
	return runstate.Record{Resolved: &runstate.Resolved{HandleID: runstate.HandleID{Sink: sink, Name: name(sub, ckpt)}, As: as, Why: "why"}}
}

func manifest(sink int, outcome runstate.Outcome) runstate.Record {
	text := fmt.Sprintf("%d %s", sink, outcome)
	return runstate.Record{Manifest: &runstate.ManifestRecord{Sink: sink, Outcome: outcome, Bytes: text, Digest: runstate.DigestOf([]byte(text))}}
}

func ended(o runstate.Outcome) runstate.Record {
	return runstate.Record{Ended: &runstate.Ended{Outcome: o}}
}

// Stories that records are added to.
var (
	reading  = []runstate.Record{begun(), attempt(1, 2)}
	prepared = slices.Concat(reading, []runstate.Record{unit(1, 0, 1, cover(0, 0, 100, true)), unit(1, 1, 1, cover(1, 10, 50, true))})
	commit   = slices.Concat(prepared, []runstate.Record{decided(runstate.Commit)})
	aborting = slices.Concat(prepared, []runstate.Record{decided(runstate.Abort)})
	all      = slices.Concat(commit, []runstate.Record{finished(0, 0, 1), finished(1, 0, 1), finished(0, 1, 1), finished(1, 1, 1)})
	done     = slices.Concat(all, []runstate.Record{manifest(0, runstate.Done), manifest(1, runstate.Done), ended(runstate.Done)})
)

// with is a record after a change.
func with(r runstate.Record, change func(r *runstate.Record)) runstate.Record {
	change(&r)
	return r
}

func TestRecordsAccepted(t *testing.T) {
	lostOne := slices.Concat(commit, []runstate.Record{finished(0, 0, 1), finished(1, 0, 1), finished(0, 1, 1), resolved(1, 1, 1, runstate.AsLost)})
	for name, story := range map[string][]runstate.Record{
		"done":                     done,
		"aborted":                  slices.Concat(aborting, []runstate.Record{finished(0, 0, 1), ended(runstate.Aborted)}),
		"aborted, nothing staged":  {begun(), decided(runstate.Abort), ended(runstate.Aborted)},
		"partial":                  slices.Concat(lostOne, []runstate.Record{manifest(0, runstate.Partial), manifest(1, runstate.Partial), ended(runstate.Partial)}),
		"lost, and found done":     slices.Concat(lostOne, []runstate.Record{manifest(0, runstate.Done), manifest(1, runstate.Done), ended(runstate.Done)}),
		"manifest found":           slices.Concat(all, []runstate.Record{manifest(0, runstate.Done), manifest(0, runstate.Partial), manifest(1, runstate.Partial), ended(runstate.Partial)}),
		"manifests fixed":          slices.Concat(prepared, []runstate.Record{decided(runstate.Commit, "a", "b")}),
		"dropped and read again":   slices.Concat(prepared, []runstate.Record{dropped(0, 1), attempt(2, 1), unit(2, 0, 2, cover(0, 0, 100, true)), decided(runstate.Commit)}),
		"in pieces, out of order":  slices.Concat(reading, []runstate.Record{unit(1, 1, 1, cover(0, 40, 100, true)), unit(1, 0, 1, cover(0, 0, 40, false), cover(1, 10, 20, false)), unit(1, 0, 5, cover(1, 20, 50, true)), decided(runstate.Commit)}),
		"a unit that holds no row": slices.Concat(reading, []runstate.Record{with(unit(1, 0, 1, cover(0, 0, 100, true)), func(r *runstate.Record) { r.Prepared.Rows, r.Prepared.Handles = 0, nil })}),
		"an artifact without rows": slices.Concat(reading, []runstate.Record{with(unit(1, 0, 1), func(r *runstate.Record) { r.Prepared.Rows = 0 })}),
	} {
		s := runstate.NewState()
		for i, r := range story {
			if err := s.Apply(r); err != nil {
				t.Errorf("%s: record %d: %v", name, i+1, err)
				break
			}
		}
	}
}

// TestRecordsRefused adds to each story a record that breaks the protocol: it is refused, and changes nothing.
func TestRecordsRefused(t *testing.T) {
	end := cover(0, 0, 100, true)
	prep := func(change func(u *runstate.Unit)) runstate.Record {
		return with(unit(1, 0, 1, end), func(r *runstate.Record) { change(r.Prepared) })
	}
	begin := func(change func(b *runstate.Begun)) runstate.Record {
		return with(begun(), func(r *runstate.Record) { change(r.Begun) })
	}
	tests := map[string]struct {
		story []runstate.Record
		next  runstate.Record
	}{
		"nothing":                        {nil, runstate.Record{}},
		"two things":                     {nil, runstate.Record{Begun: begun().Begun, Ended: ended(runstate.Done).Ended}},
		"not begun":                      {nil, attempt(1, 1)},
		"begun twice":                    {reading, begun()},
		"begun without format":           {nil, begin(func(b *runstate.Begun) { b.Journal = 0 })},
		"begun without token":            {nil, begin(func(b *runstate.Begun) { b.Run = "x" })},
		"begun without sinks":            {nil, begin(func(b *runstate.Begun) { b.Sinks = nil })},
		"a split backwards":              {nil, begin(func(b *runstate.Begun) { b.Splits[0].To = -2 })},
		"a split before the start":       {nil, begin(func(b *runstate.Begun) { b.Splits[0].From = -1 })},
		"attempt 2 first":                {[]runstate.Record{begun()}, attempt(2, 1)},
		"attempt 1 again":                {reading, attempt(1, 1)},
		"an attempt of no subtasks":      {[]runstate.Record{begun()}, attempt(1, 0)},
		"an attempt after ended":         {done, attempt(2, 1)},
		"prepared without an attempt":    {[]runstate.Record{begun()}, unit(1, 0, 1, end)},
		"prepared by an old attempt":     {slices.Concat(reading, []runstate.Record{attempt(2, 2)}), unit(1, 0, 1, end)},
		"prepared by a later attempt":    {reading, unit(2, 0, 1, end)},
		"subtask 2 of 2":                 {reading, unit(1, 2, 1, end)},
		"subtask -1":                     {reading, unit(1, -1, 1, end)},
		"checkpoint 0":                   {reading, unit(1, 0, 0, end)},
		"a pair again":                   {prepared, unit(1, 0, 1)},
		"a dropped pair again":           {slices.Concat(prepared, []runstate.Record{dropped(0, 1)}), unit(1, 0, 1, end)},
		"a lower checkpoint":             {slices.Concat(reading, []runstate.Record{unit(1, 0, 5, cover(0, 0, 40, false))}), unit(1, 0, 4, cover(0, 40, 100, true))},
		"after the decision":             {commit, unit(1, 0, 2)},
		"after the abort":                {aborting, unit(1, 0, 2)},
		"overlap":                        {slices.Concat(reading, []runstate.Record{unit(1, 0, 1, cover(0, 0, 60, false))}), unit(1, 1, 1, cover(0, 59, 100, true))},
		"overlap within":                 {reading, unit(1, 0, 1, cover(0, 0, 60, false), cover(0, 50, 100, true))},
		"the same range":                 {prepared, unit(1, 0, 2, end)},
		"beyond the split":               {reading, unit(1, 0, 1, cover(0, 0, 101, true))},
		"before the split":               {reading, unit(1, 0, 1, cover(1, 9, 50, true))},
		"an empty range":                 {reading, unit(1, 0, 1, cover(0, 5, 5, false))},
		"a range backwards":              {reading, unit(1, 0, 1, cover(0, 50, 5, false))},
		"split 3 of 3":                   {reading, unit(1, 0, 1, cover(3, 0, 5, false))},
		"split -1":                       {reading, unit(1, 0, 1, cover(-1, 0, 5, false))},
		"an end that is none":            {reading, unit(1, 0, 1, cover(0, 0, 50, true))},
		"an end that is not told":        {reading, unit(1, 0, 1, cover(0, 0, 100, false))},
		"rows without handles":           {reading, prep(func(u *runstate.Unit) { u.Handles = nil })},
		"rows without ranges":            {reading, prep(func(u *runstate.Unit) { u.Ranges = nil })},
		"negative rows":                  {reading, prep(func(u *runstate.Unit) { u.Rows = -1 })},
		"a sink is missing":              {reading, prep(func(u *runstate.Unit) { u.Handles = u.Handles[:1] })},
		"a handle twice":                 {reading, prep(func(u *runstate.Unit) { u.Handles[1] = u.Handles[0] })},
		"sink 2 of 2":                    {reading, prep(func(u *runstate.Unit) { u.Handles[1].Sink = 2 })},
		"sink -1":                        {reading, prep(func(u *runstate.Unit) { u.Handles[1].Sink = -1 })},
		"a name of another checkpoint":   {reading, prep(func(u *runstate.Unit) { u.Handles[0].Name = name(0, 2) })},
		"a name of another run":          {reading, prep(func(u *runstate.Unit) { u.Handles[0].Name = strings.Replace(name(0, 1), "z7", "z8", 1) })},
		"a name outside the grammar":     {reading, prep(func(u *runstate.Unit) { u.Handles[0].Name = "data.csv" })},
		"a handle of another attempt":    {reading, prep(func(u *runstate.Unit) { u.Handles[0].Attempt = 2 })},
		"a handle of another subtask":    {reading, prep(func(u *runstate.Unit) { u.Handles[0].Subtask = 1 })},
		"dropped and never kept":         {reading, dropped(0, 1)},
		"dropped twice":                  {slices.Concat(prepared, []runstate.Record{dropped(0, 1)}), dropped(0, 1)},
		"dropped after the decision":     {commit, dropped(0, 1)},
		"a hole at commit":               {slices.Concat(reading, []runstate.Record{unit(1, 0, 1, end)}), decided(runstate.Commit)},
		"a hole after a drop":            {slices.Concat(prepared, []runstate.Record{dropped(0, 1)}), decided(runstate.Commit)},
		"decided twice":                  {commit, decided(runstate.Commit)},
		"aborted after commit":           {commit, decided(runstate.Abort)},
		"committed after abort":          {aborting, decided(runstate.Commit)},
		"decided something else":         {prepared, decided("perhaps")},
		"decided nothing":                {prepared, decided("")},
		"manifests for some sinks":       {prepared, decided(runstate.Commit, "one")},
		"finished before the decision":   {prepared, finished(0, 0, 1)},
		"finished twice":                 {slices.Concat(commit, []runstate.Record{finished(0, 0, 1)}), finished(0, 0, 1)},
		"finished, and no such handle":   {commit, finished(0, 0, 2)},
		"finished, and no such sink":     {commit, finished(2, 0, 1)},
		"finished, and dropped before":   {slices.Concat(prepared, []runstate.Record{dropped(0, 1), decided(runstate.Abort)}), finished(0, 0, 1)},
		"finished after resolved":        {slices.Concat(commit, []runstate.Record{resolved(0, 0, 1, runstate.AsLost)}), finished(0, 0, 1)},
		"resolved after finished":        {slices.Concat(commit, []runstate.Record{finished(0, 0, 1)}), resolved(0, 0, 1, runstate.AsLost)},
		"resolved twice":                 {slices.Concat(commit, []runstate.Record{resolved(0, 0, 1, runstate.AsLost)}), resolved(0, 0, 1, runstate.AsPublished)},
		"resolved before the decision":   {prepared, resolved(0, 0, 1, runstate.AsLost)},
		"resolved of an aborted run":     {aborting, resolved(0, 0, 1, runstate.AsLost)},
		"resolved as something else":     {commit, resolved(0, 0, 1, "perhaps")},
		"a manifest before all finished": {all[:len(all)-1], manifest(0, runstate.Done)},
		"a manifest before the decision": {prepared, manifest(0, runstate.Done)},
		"a manifest of an aborted run":   {aborting, manifest(0, runstate.Done)},
		"a manifest of sink 2 of 2":      {all, manifest(2, runstate.Done)},
		"a manifest with another digest": {all, with(manifest(0, runstate.Done), func(r *runstate.Record) { r.Manifest.Bytes += "x" })},
		"a manifest of no outcome":       {all, manifest(0, "")},
		"a manifest of outcome aborted":  {all, manifest(0, runstate.Aborted)},
		"ended before the decision":      {prepared, ended(runstate.Done)},
		"ended without manifests":        {all, ended(runstate.Done)},
		"ended with one manifest":        {slices.Concat(all, []runstate.Record{manifest(0, runstate.Done)}), ended(runstate.Done)},
		"ended with handles outstanding": {commit, ended(runstate.Done)},
		"ended partial, manifests done":  {done[:len(done)-1], ended(runstate.Partial)},
		"ended aborted after commit":     {done[:len(done)-1], ended(runstate.Aborted)},
		"ended done after abort":         {aborting, ended(runstate.Done)},
		"ended twice":                    {done, ended(runstate.Done)},
		"a record after ended":           {done, finished(0, 0, 1)},
		"ended with something else":      {done[:len(done)-1], ended("perhaps")},
		"resolved after ended":           {done, resolved(0, 0, 1, runstate.AsLost)},
		"decided after ended":            {done, decided(runstate.Commit)},
	}
	for what, test := range tests {
		s, want := replay(t, test.story), replay(t, test.story)
		if err := s.Apply(test.next); err == nil {
			t.Errorf("%s is accepted", what)
		}
		if diff := cmp.Diff(want, s, cmp.AllowUnexported(runstate.State{})); diff != "" {
			t.Errorf("%s has changed the state: %s", what, diff)
		}
	}
}

func replay(t *testing.T, story []runstate.Record) *runstate.State {
	t.Helper()
	s := runstate.NewState()
	for i, r := range story {
		if err := s.Apply(r); err != nil {
			t.Fatalf("record %d: %v", i+1, err)
		}
	}
	return s
}

// TestTiling cuts splits into ranges at random, prepares some of them in some order, and compares what is open with what
// counting positions one by one gives.
func TestTiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := begun()
		b.Begun.Splits = nil
		var cuts []runstate.Range
		for i := range rapid.IntRange(0, 3).Draw(t, "splits") {
			from := int64(rapid.IntRange(0, 20).Draw(t, "from"))
			to := from + int64(rapid.IntRange(0, 30).Draw(t, "length"))
			b.Begun.Splits = append(b.Begun.Splits, runstate.Split{Part: "/p", From: from, To: to})
			for at := from; at < to; {
				next := min(to, at+int64(rapid.IntRange(1, 12).Draw(t, "piece")))
				cuts = append(cuts, cover(i, at, next, next == to))
				at = next
			}
		}
		s := runstate.NewState()
		for _, r := range []runstate.Record{b, attempt(1, 1)} {
			if err := s.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		covered := map[[2]int64]bool{}
		ckpt := 0
		for _, r := range rapid.Permutation(cuts).Draw(t, "order") {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if kind == 0 {
				continue
			}
			ckpt++
			if err := s.Apply(unit(1, 0, ckpt, r)); err != nil {
				t.Fatal(err)
			}
			if kind == 1 {
				if err := s.Apply(dropped(0, ckpt)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			for at := r.From; at < r.To; at++ {
				covered[[2]int64{int64(r.Split), at}] = true
			}
		}
		open := map[[2]int64]bool{}
		for _, r := range s.Open() {
			if sp := s.Begun.Splits[r.Split]; r.End != (r.To == sp.To) || r.From >= r.To {
				t.Fatalf("open range %+v", r)
			}
			for at := r.From; at < r.To; at++ {
				open[[2]int64{int64(r.Split), at}] = true
			}
		}
		positions := 0
		for i, sp := range b.Begun.Splits {
			for at := sp.From; at < sp.To; at++ {
				positions++
				if p := [2]int64{int64(i), at}; covered[p] == open[p] {
					t.Fatalf("position %v is covered: %v, and open: %v", p, covered[p], open[p])
				}
			}
		}
		if (s.Tiled() == nil) != (len(covered) == positions) || (s.Check(decided(runstate.Commit)) == nil) != (len(covered) == positions) {
			t.Fatalf("%d of %d are covered, and: %v", len(covered), positions, s.Tiled())
		}
	})
}
