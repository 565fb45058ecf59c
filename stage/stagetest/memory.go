package stagetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// World is where destinations of memory are: those of the scheme "mem", as in mem://lake/orders. What opens one in the
// same world is a further process at the same destination. A world that is kept in a folder is shared by all processes
// that open it there, and outlives them, kill -9 included (but no power loss).
type World struct {
	mu     sync.Mutex
	dir    string // "" keeps nothing
	places map[string]*place

	hooks  sync.Mutex
	denied bool
	hold   *hold
}

// hold is a Publish that is to wait.
type hold struct{ entered, released chan struct{} }

// place is a destination.
type place struct {
	ID      string            `json:"id"`
	Staged  map[string][]byte `json:"staged"` // by <run>/<stem>.a<attempt>
	Objects map[string][]byte `json:"objects"`
	Hidden  map[string][]byte `json:"hidden"` // notes under stage.Hidden
}

func newPlace(id string) *place {
	return &place{ID: id, Staged: map[string][]byte{}, Objects: map[string][]byte{}, Hidden: map[string][]byte{}}
}

// NewWorld makes an empty world that lasts as long as its process.
func NewWorld() *World { return &World{places: map[string]*place{}} }

// OpenWorld opens the world that is kept in a folder, which exists.
func OpenWorld(dir string) *World { return &World{dir: dir} }

// Objects gives what a reader sees at a destination. It answers nil for one that does not exist.
func (w *World) Objects(to string) (objects map[string][]byte, err error) {
	err = w.do(context.Background(), func(places map[string]*place) error {
		if p := places[to]; p != nil {
			objects = maps.Clone(p.Objects)
		}
		return nil
	})
	return objects, err
}

// Deny makes every look of this process at any destination fail, until it is called with false.
func (w *World) Deny(deny bool) {
	w.hooks.Lock()
	defer w.hooks.Unlock()
	w.denied = deny
}

// Hold makes the next Publish of this process wait in the middle, until release is called.
func (w *World) Hold() (entered <-chan struct{}, release func()) {
	w.hooks.Lock()
	defer w.hooks.Unlock()
	h := &hold{entered: make(chan struct{}), released: make(chan struct{})}
	w.hold = h
	return h.entered, func() { close(h.released) }
}

// held waits if it has to.
func (w *World) held() {
	w.hooks.Lock()
	h := w.hold
	w.hold = nil
	w.hooks.Unlock()
	if h != nil {
		close(h.entered)
		<-h.released
	}
}

// look is do for calls that are denied when looks are.
func (w *World) look(ctx context.Context, f func(places map[string]*place) error) error {
	w.hooks.Lock()
	denied := w.denied
	w.hooks.Unlock()
	if denied {
		return fmt.Errorf("look at the destination: %w", syscall.EACCES)
	}
	return w.do(ctx, f)
}

// do lets f see and change the destinations, alone among all processes. Nothing is changed if it returns an error.
func (w *World) do(ctx context.Context, f func(places map[string]*place) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		return f(w.places)
	}
	return w.withLock(ctx, func() error {
		places, err := w.load()
		if err != nil {
			return err
		}
		if err := f(places); err != nil {
			return err
		}
		return w.save(places)
	})
}

func (w *World) withLock(ctx context.Context, f func() error) (err error) {
	for {
		lock, err := vfs.OS().Lock(filepath.Join(w.dir, "lock"))
		if err == nil {
			return errors.Join(f(), lock.Close())
		}
		if !errors.Is(err, vfs.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func (w *World) file() string { return filepath.Join(w.dir, "world.json") }

func (w *World) load() (map[string]*place, error) {
	places := map[string]*place{}
	data, err := os.ReadFile(w.file())
	if errors.Is(err, fs.ErrNotExist) {
		return places, nil
	}
	if err != nil {
		return nil, err
	}
	return places, json.Unmarshal(data, &places)
}

func (w *World) save(places map[string]*place) error {
	data, err := json.Marshal(places)
	if err != nil {
		return err
	}
	temp := w.file() + ".new"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, w.file())
}

// Backend gives the world's destinations as a backend named "mem".
func (w *World) Backend() stage.Backend {
	return stage.Backend{Name: memoryName, Scheme: memoryName, Open: w.open, State: w.state}
}

func (w *World) open(ctx context.Context, at stage.Place, create bool) (stage.Sink, error) {
	to := at.To
	s := &memorySink{world: w, to: to}
	err := w.do(ctx, func(places map[string]*place) error {
		if places[to] == nil {
			if !create {
				return &fs.PathError{Op: "open", Path: to, Err: fs.ErrNotExist}
			}
			places[to] = newPlace(freshID(places))
		}
		s.id = places[to].ID
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// freshID gives an id that no destination of the world has, or has had in a place that still knows of it.
func freshID(places map[string]*place) string {
	for n := len(places); ; n++ {
		id := fmt.Sprintf("place-%d", n)
		taken := false
		for _, p := range places {
			taken = taken || p.ID == id
		}
		if !taken {
			return id
		}
	}
}
