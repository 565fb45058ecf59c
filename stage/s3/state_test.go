package s3_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/s3"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

func (st *store) state(t *testing.T, prefix string) runstate.Objects {
	t.Helper()
	s, err := s3.Backend(st.env(nil)).State(t.Context(), st.at(prefix, map[string]any{"retries": 1}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A state rests on objects that are created once, and seen by whoever looks later.
func TestStateObjects(t *testing.T) {
	stores(t, func(t *testing.T, st *store) {
		s, ctx := st.state(t, "deep/state"), t.Context()
		if names, err := s.List(ctx, ""); err != nil || len(names) > 0 {
			t.Fatal(names, err)
		}
		for _, name := range []string{"job/run/journal-1/000001", "job/run/journal-1/000002", "job/run/beat", "job2/x"} {
			if _, err := s.Get(ctx, name); !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if err := s.Create(ctx, name, []byte(name)); err != nil {
				t.Fatal(err)
			}
			if err := st.state(t, "deep/state").Create(ctx, name, []byte("other")); !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
			if data, err := st.state(t, "deep/state").Get(ctx, name); err != nil || string(data) != name {
				t.Fatalf("%q, %v", data, err)
			}
		}
		for folder, want := range map[string][]string{"": {"job", "job2"}, "job": {"run"}, "job/run": {"beat", "journal-1"},
			"job/run/journal-1": {"000001", "000002"}, "none": nil} {
			if names, err := s.List(ctx, folder); err != nil || !slices.Equal(names, want) {
				t.Errorf("%q lists %q, %v", folder, names, err)
			}
		}
		for _, text := range []string{"1", "2"} {
			if err := s.Replace(ctx, "job/run/beat", []byte(text)); err != nil {
				t.Fatal(err)
			}
			if data, err := s.Get(ctx, "job/run/beat"); err != nil || string(data) != text {
				t.Fatalf("%q, %v", data, err)
			}
		}
	})
}

// Of many that create one object, one does.
func TestStateRace(t *testing.T) {
	stores(t, func(t *testing.T, st *store) {
		for round := range 5 {
			name := fmt.Sprintf("job/keys/k/%06d", round)
			var all sync.WaitGroup
			won := make([]bool, 8)
			for i := range won {
				s := st.state(t, "state")
				all.Go(func() {
					err := s.Create(t.Context(), name, []byte(fmt.Sprint(i)))
					if won[i] = err == nil; err != nil && !errors.Is(err, fs.ErrExist) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			winner := slices.Index(won, true)
			data, err := st.state(t, "state").Get(t.Context(), name)
			if err != nil || winner < 0 || slices.Contains(won[winner+1:], true) || string(data) != fmt.Sprint(winner) {
				t.Fatalf("%v have won, and it is %q, %v", won, data, err)
			}
		}
	})
}

// A put that nobody has answered is unknown; it is not said that the name is taken, and not that it is free (B01).
func TestB01StateUnknown(t *testing.T) {
	st, fake := fakeStore(t)
	s := st.state(t, "state")
	fake.Set(s3test.DropReplyAfter, s3test.On{Verb: s3test.PutObject, Times: 1})
	if err := s.Create(t.Context(), "a", []byte("1")); err == nil || errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	fake.Set(s3test.ConditionalConflict, s3test.On{Verb: s3test.PutObject, Times: 1})
	if err := s.Create(t.Context(), "b", []byte("1")); err == nil || errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	fake.Set(s3test.SlowDown, s3test.On{Verb: s3test.GetObject, Times: 1})
	if _, err := s.Get(t.Context(), "none"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
