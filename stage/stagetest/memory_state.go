package stagetest

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// memoryState is a place of a World as a store of objects.
type memoryState struct {
	world *World
	to    string
}

var _ runstate.Objects = memoryState{}

func (w *World) state(_ context.Context, at stage.Place) (runstate.Objects, error) {
	return memoryState{w, at.To}, nil
}

// do lets f see the place's objects, which are made at need.
func (s memoryState) do(ctx context.Context, f func(objects map[string][]byte) error) error {
	return s.world.look(ctx, func(places map[string]*place) error {
		if places[s.to] == nil {
			places[s.to] = newPlace(freshID(places))
		}
		return f(places[s.to].Objects)
	})
}

func (s memoryState) Create(ctx context.Context, name string, data []byte) error {
	return s.do(ctx, func(objects map[string][]byte) error {
		if _, taken := objects[name]; taken {
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
		objects[name] = bytes.Clone(data)
		return nil
	})
}

func (s memoryState) Replace(ctx context.Context, name string, data []byte) error {
	return s.do(ctx, func(objects map[string][]byte) error {
		objects[name] = bytes.Clone(data)
		return nil
	})
}

func (s memoryState) Get(ctx context.Context, name string) (data []byte, err error) {
	err = s.do(ctx, func(objects map[string][]byte) error {
		is, ok := objects[name]
		if !ok {
			return &fs.PathError{Op: "get", Path: name, Err: fs.ErrNotExist}
		}
		data = bytes.Clone(is)
		return nil
	})
	return data, err
}

func (s memoryState) List(ctx context.Context, folder string) (names []string, err error) {
	prefix := strings.TrimPrefix(folder+"/", "/")
	err = s.do(ctx, func(objects map[string][]byte) error {
		seen := map[string]bool{}
		for name := range objects {
			if rest, ok := strings.CutPrefix(name, prefix); ok {
				first, _, _ := strings.Cut(rest, "/")
				seen[first] = true
			}
		}
		names = slices.Sorted(maps.Keys(seen))
		return nil
	})
	return names, err
}
