package stagetest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

var noteLaws = []law{
	{name: "notes are put once and read back", check: noteOnce},
	{name: "notes of two puts at once", check: noteRace},
	{name: "notes are no artifacts", check: noteNames},
	{name: "lost reply of a note", check: noteLostReply},
}

// noteNames of the two places where notes are.
func someNotes() []string {
	return []string{runstate.ManifestName(runA), stage.MarkNote("0123456789abcdef"), "_SUCCESS"}
}

func noteOnce(k *kit) {
	for i, name := range someNotes() {
		s, data := k.Open(), bytes.Repeat(fmt.Appendf(nil, "note %d\n", i), i*10_000)
		if _, err := s.Note(k.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			k.Errorf("note %s before it was put: %v", name, err)
		}
		k.must(s.PutNote(k.Context(), name, data))
		for _, sink := range []stage.Sink{s, k.Open()} {
			if err := sink.PutNote(k.Context(), name, []byte("another")); !errors.Is(err, fs.ErrExist) {
				k.Errorf("note %s, put again: %v", name, err)
			}
			if got, err := sink.Note(k.Context(), name); err != nil || !bytes.Equal(got, data) {
				k.Errorf("note %s: %q, %v", name, got, err)
			}
		}
	}
	k.Plant("theirs.json", []byte("theirs"))
	if err := k.Open().PutNote(k.Context(), "theirs.json", []byte("ours")); !errors.Is(err, fs.ErrExist) {
		k.Errorf("note over a foreign object: %v", err)
	}
	if got := k.Visible()["theirs.json"]; string(got) != "theirs" {
		k.Errorf("a foreign object is %q now", got)
	}
}

func noteRace(k *kit) {
	const writers = 8
	for round, name := range []string{stage.MarkNote("a"), runstate.ManifestName(runA), stage.MarkNote("b")} {
		errs := make([]error, writers)
		var all sync.WaitGroup
		for i := range writers {
			s := k.Open()
			all.Go(func() { errs[i] = s.PutNote(k.Context(), name, noteOf(round, i)) })
		}
		all.Wait()
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner < 0:
				winner = i
			case err == nil:
				k.Errorf("note %s: both %d and %d are said to have won", name, winner, i)
			case !errors.Is(err, fs.ErrExist):
				k.Errorf("note %s: %v", name, err)
			}
		}
		got, err := k.Open().Note(k.Context(), name)
		if winner < 0 || err != nil || !bytes.Equal(got, noteOf(round, winner)) {
			k.Errorf("note %s: %d has won, and it is %.20q, %v", name, winner, got, err)
		}
	}
	k.stages(0)
}

func noteOf(round, writer int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "round %d writer %d\n", round, writer), 2000)
}

func noteNames(k *kit) {
	s := k.Open()
	for _, name := range someNotes() {
		k.must(s.PutNote(k.Context(), name, []byte("{}")))
	}
	if lister, ok := s.(stage.Lister); ok {
		if names, err := lister.Visible(k.Context(), runA); err != nil || len(names) > 0 {
			k.Errorf("notes are listed as artifacts: %q, %v", names, err)
		}
	}
	if sweeper, ok := s.(stage.Sweeper); ok {
		k.must(sweeper.Sweep(k.Context(), runA, nil))
	}
	for _, name := range someNotes() {
		if _, err := s.Note(k.Context(), name); err != nil {
			k.Error(err)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x", stage.Hidden, stage.Hidden + "/../x", artifact(runA, 0, 1).Name()} {
		if err := s.PutNote(k.Context(), name, nil); err == nil || errors.Is(err, fs.ErrExist) {
			k.Errorf("a note named %q: %v", name, err)
		}
	}
}

func noteLostReply(k *kit) {
	faults, err := ParseFaults("put-note@1=lost-reply")
	k.must(err)
	s, name := faults.Sink(k.Open(), ""), stage.MarkNote("a")
	if err := s.PutNote(k.Context(), name, []byte("x")); err == nil {
		k.Fatal("the reply was not lost")
	}
	if err := s.PutNote(k.Context(), name, []byte("y")); !errors.Is(err, fs.ErrExist) {
		k.Error(err)
	}
	if got, err := s.Note(k.Context(), name); err != nil || string(got) != "x" {
		k.Errorf("%q, %v", got, err)
	}
}
