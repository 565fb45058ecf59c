package file_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
	"github.com/clinkctl/clinkctl/stage/stagetest"
)

func TestLawsOnThisMachine(t *testing.T) {
	stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place {
		root := t.TempDir()
		return newPlace(t, path.Join(root, name), vfs.OS(), func() vfs.FS { return vfs.OS() })
	})
}

func TestLawsInMemory(t *testing.T) {
	stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place {
		mem := vfs.NewMem(1)
		return newPlace(t, path.Join("/data", name), mem.Outside(), func() vfs.FS { return mem.Process() })
	})
}

// The same where files have no second names.
func TestLawsWithoutLinks(t *testing.T) {
	stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place {
		mem := vfs.NewMem(1)
		mem.NoLink("/data")
		return newPlace(t, path.Join("/data", name), mem.Outside(), func() vfs.FS { return mem.Process() })
	})
}

// random gives bytes that a test can have again.
func random(seed uint64) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1})
}

// newPlace is a destination for the laws: outside changes it behind the backend's back, process gives what one process
// sees of the file system.
func newPlace(t *testing.T, to string, outside vfs.FS, process func() vfs.FS) stagetest.Place {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := vfs.MkdirAll(outside, path.Dir(to))
	must(err)
	steering, opened := &steering{}, uint64(0)
	return stagetest.Place{
		Open: func() stage.Sink {
			opened++
			s, err := file.Backend(steered{process(), steering}, random(opened)).Open(t.Context(), stage.Place{To: to}, true)
			must(err)
			return s
		},
		Visible: func() map[string][]byte { return visible(t, outside, to) },
		Staged:  func() []string { return staged(t, outside, to) },
		Plant: func(name string, data []byte) {
			must(vfs.WriteNew(outside, path.Join(to, name), data))
		},
		Unstage: func(h runstate.Handle) {
			a, err := runstate.ParseName(h.Name)
			must(err)
			for _, name := range staged(t, outside, to) {
				if strings.HasPrefix(path.Base(name), a.Stem()+".a") {
					must(outside.Remove(path.Join(to, stage.Hidden, name)))
				}
			}
		},
		PlantStaged: func(run runstate.Token, name string) {
			must(vfs.WriteNew(outside, path.Join(to, stage.Hidden, string(run), name), nil))
		},
		Deny: steering.setDenied,
		Hold: steering.setHold,
		Replace: func() func() {
			must(outside.Rename(to, to+".away"))
			must(outside.Mkdir(to))
			return func() {
				must(outside.Rename(to, to+".other"))
				must(outside.Rename(to+".away", to))
			}
		},
	}
}

// visible is what a reader sees that looks at files in the folder itself.
func visible(t *testing.T, fsys vfs.FS, to string) map[string][]byte {
	t.Helper()
	seen := map[string][]byte{}
	names, err := fsys.List(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, name := range names {
		if name == stage.Hidden {
			continue
		}
		if seen[name], err = vfs.ReadFile(fsys, path.Join(to, name)); err != nil {
			t.Fatal(err)
		}
	}
	return seen
}

// staged is whatever is under the hidden folder, but for the id, notes and empty folders of runs.
func staged(t *testing.T, fsys vfs.FS, to string) []string {
	t.Helper()
	var found []string
	var walk func(below string)
	walk = func(below string) {
		names, err := fsys.List(path.Join(to, stage.Hidden, below))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, name := range names {
			name = path.Join(below, name)
			info, err := fsys.Stat(path.Join(to, stage.Hidden, name))
			switch {
			case err != nil:
				t.Fatal(err)
			case info.Dir && strings.HasPrefix(name, "probe-"):
				found = append(found, name)
			case info.Dir:
				walk(name)
			case name == "id", strings.HasPrefix(name, "key-"):
			default:
				found = append(found, name)
			}
		}
	}
	walk("")
	return found
}

// steering is what the laws make of a file system.
type steering struct {
	mu       sync.Mutex
	denied   bool
	entered  chan struct{}
	released chan struct{}
}

func (s *steering) setDenied(denied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = denied
}

func (s *steering) setHold() (<-chan struct{}, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entered, s.released = make(chan struct{}), make(chan struct{})
	return s.entered, sync.OnceFunc(func() { close(s.released) })
}

func (s *steering) look(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.denied {
		return &fs.PathError{Op: "look", Path: name, Err: syscall.EACCES}
	}
	return nil
}

func (s *steering) wait() {
	s.mu.Lock()
	entered, released := s.entered, s.released
	s.entered = nil
	s.mu.Unlock()
	if entered != nil {
		close(entered)
		<-released
	}
}

// steered is a file system that the laws steer.
type steered struct {
	vfs.FS
	by *steering
}

func (f steered) Stat(name string) (vfs.Info, error) {
	if err := f.by.look(name); err != nil {
		return vfs.Info{}, err
	}
	return f.FS.Stat(name)
}

func (f steered) Open(name string) (vfs.File, error) {
	if err := f.by.look(name); err != nil {
		return nil, err
	}
	return f.FS.Open(name)
}

func (f steered) List(name string) ([]string, error) {
	if err := f.by.look(name); err != nil {
		return nil, err
	}
	return f.FS.List(name)
}

func (f steered) Link(old, name string) error {
	f.by.wait()
	return f.FS.Link(old, name)
}
