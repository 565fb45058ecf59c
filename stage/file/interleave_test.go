package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
)

// others are what another process may do to a handle between two operations of ours.
var others = map[string]func(t *testing.T, fsys vfs.FS, h runstate.Handle) (published, aborted bool){
	"publish": func(t *testing.T, fsys vfs.FS, h runstate.Handle) (published, aborted bool) {
		return openMem(t, fsys, 99).Publish(t.Context(), h) == nil, false
	},
	"abort": func(t *testing.T, fsys vfs.FS, h runstate.Handle) (published, aborted bool) {
		return false, openMem(t, fsys, 99).Abort(t.Context(), h) == nil
	},
	"publish, and die after the link": func(t *testing.T, fsys vfs.FS, h runstate.Handle) (published, aborted bool) {
		_ = fsys.Link(path.Join(memTo, stagedOf(h)), path.Join(memTo, h.Name)) // too late is as good
		return false, false
	},
	"sweep": func(t *testing.T, fsys vfs.FS, h runstate.Handle) (published, aborted bool) {
		other := runstate.Token("20261130t013000z00000002")
		s := openMem(t, fsys, 99)
		if err := s.(stage.Sweeper).Sweep(t.Context(), other, nil); err != nil {
			t.Fatal(err)
		}
		return false, false
	},
}

func stagedOf(h runstate.Handle) string {
	a, err := runstate.ParseName(h.Name)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s/%s/%s.a%d", stage.Hidden, a.Run, a.Stem(), h.Attempt)
}

func openMem(t *testing.T, fsys vfs.FS, seed uint64) stage.Sink {
	t.Helper()
	s, err := file.Backend(fsys, random(seed)).Open(t.Context(), stage.Place{To: memTo}, true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Before every operation of a verb, looks included, another process does all of one thing.
func TestOthersBetweenAnyTwoOperations(t *testing.T) {
	for name, other := range others {
		for _, verb := range []string{"inspect", "publish", "abort"} {
			t.Run(verb+" while another does "+name, func(t *testing.T) {
				k := 1
				for between(t, verb, other, k) {
					k++
				}
				if k < 5 {
					t.Errorf("%d operations", k)
				}
			})
		}
	}
}

func between(t *testing.T, verb string, other func(*testing.T, vfs.FS, runstate.Handle) (bool, bool), k int) (fired bool) {
	mem := vfs.NewMem(1)
	mem.Outside()
	if err := mem.Mkdir("/data"); err != nil {
		t.Fatal(err)
	}
	s := openMem(t, mem, 1)
	h := stageBytes(t, s, runstate.Artifact{Run: runA, Attempt: 1, Checkpoint: 1, Ext: "csv"}, wholeData)
	published, aborted := false, false
	outside, n := mem.Outside(), 0
	mem.OnOp(func(vfs.Op) vfs.Fault {
		if n++; n == k {
			fired = true
			published, aborted = other(t, outside, h)
		}
		return vfs.Fault{}
	})
	var state stage.State
	var err error
	switch verb {
	case "inspect":
		var e stage.Evidence
		e, err = s.Inspect(t.Context(), h)
		state = e.State
		if err != nil {
			t.Errorf("operation %d: inspect: %v", k, err)
		}
	case "publish":
		err = s.Publish(t.Context(), h)
		published = published || err == nil
	case "abort":
		err = s.Abort(t.Context(), h)
		aborted = aborted || err == nil
	}
	mem.OnOp(nil)
	e, inspectErr := s.Inspect(t.Context(), h)
	if inspectErr != nil {
		t.Fatal(inspectErr)
	}
	bytesThere := visible(t, mem.Outside(), memTo)[h.Name]
	switch {
	case published && aborted,
		published && e.State != stage.Published,
		aborted && e.State != stage.Gone,
		errors.Is(err, stage.ErrPublished) && e.State != stage.Published,
		errors.Is(err, stage.ErrForeign),
		state == stage.Gone && !aborted,
		state == stage.Foreign,
		state == stage.Published && e.State != stage.Published,
		e.State == stage.Published && !bytes.Equal(bytesThere, wholeData):
		t.Errorf("operation %d: %s answers %v and sees %s; published %t, aborted %t; in the end it is %s (%s)",
			k, verb, err, state, published, aborted, e.State, e.Detail)
	}
	return fired
}

// An unmount between any two operations makes nothing gone, aborted or published.
func TestUnmountBetweenAnyTwoOperations(t *testing.T) {
	for _, verb := range []string{"inspect", "publish", "abort", "visible", "note", "sweep"} {
		for _, published := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, published %t", verb, published), func(t *testing.T) {
				for k, fired := 1, true; fired; k++ {
					fired = unmountAt(t, verb, published, k)
				}
			})
		}
	}
}

func unmountAt(t *testing.T, verb string, published bool, k int) (fired bool) {
	mem := vfs.NewMem(1)
	if err := mem.Mount(memTo); err != nil {
		t.Fatal(err)
	}
	s := openMem(t, mem, 1)
	a := runstate.Artifact{Run: runA, Attempt: 1, Checkpoint: 1, Ext: "csv"}
	h := stageBytes(t, s, a, wholeData)
	if published {
		if err := s.Publish(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		if err := s.PutNote(t.Context(), stage.MarkNote("a"), nil); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	mem.OnOp(func(vfs.Op) vfs.Fault {
		if n++; n == k {
			fired = true
			if err := mem.Unmount(memTo); err != nil {
				t.Fatal(err)
			}
		}
		return vfs.Fault{}
	})
	var e stage.Evidence
	var names []string
	var err error
	switch verb {
	case "inspect":
		e, err = s.Inspect(t.Context(), h)
	case "publish":
		err = s.Publish(t.Context(), h)
	case "abort":
		err = s.Abort(t.Context(), h)
	case "visible":
		names, err = s.(stage.Lister).Visible(t.Context(), runA)
	case "note":
		_, err = s.Note(t.Context(), stage.MarkNote("a"))
	case "sweep":
		err = s.(stage.Sweeper).Sweep(t.Context(), runA, []runstate.Handle{h})
	}
	mem.OnOp(nil)
	if !fired {
		return false
	}
	if err := mem.Mount(memTo); err != nil {
		t.Fatal(err)
	}
	is, inspectErr := s.Inspect(t.Context(), h)
	if inspectErr != nil {
		t.Fatal(inspectErr)
	}
	switch {
	case e.State == stage.Gone, e.State == stage.Foreign,
		verb == "publish" && err == nil && is.State != stage.Published,
		verb == "abort" && err == nil && is.State != stage.Gone,
		verb == "visible" && err == nil && published && len(names) != 1,
		verb == "note" && published && err != nil && !errors.Is(err, stage.ErrElsewhere) && isNotExist(err):
		t.Errorf("unmounted at operation %d, %s answers %s, %q, %v; mounted again it is %s", k, verb, e.State, names, err, is.State)
	}
	return true
}
