// Package objectstest is a store of objects in memory, which misbehaves on purpose.
package objectstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/clinkctl/clinkctl/runstate"
)

// ErrFault is what requests fail with that a test has made fail.
var ErrFault = errors.New("fault on purpose")

// Op is a request.
type Op struct {
	N    int // from 1, over all requests
	Verb string
	Name string
}

// Fault is what becomes of a request.
type Fault struct {
	Lost  bool // it fails, and nothing happens
	Reply bool // it happens, and fails
}

// Memory is the store. It outlives the processes that use it.
type Memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	ops     int
	plan    func(Op) Fault
}

var _ runstate.Objects = (*Memory)(nil)

// New makes an empty store.
func New() *Memory { return &Memory{objects: map[string][]byte{}} }

// OnOp sets what becomes of requests; nil is nothing.
func (m *Memory) OnOp(plan func(Op) Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan, m.ops = plan, 0
}

// Names gives all names, sorted.
func (m *Memory) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

// do makes a request meet its fault.
func (m *Memory) do(verb, name string, happen func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ops++
	var f Fault
	if m.plan != nil {
		f = m.plan(Op{m.ops, verb, name})
	}
	if f.Lost {
		return fmt.Errorf("%s %s: %w", verb, name, ErrFault)
	}
	err := happen()
	if f.Reply {
		return fmt.Errorf("%s %s: %w", verb, name, ErrFault)
	}
	return err
}

// Create makes an object if its name is free.
func (m *Memory) Create(_ context.Context, name string, data []byte) error {
	return m.do("create", name, func() error {
		if _, taken := m.objects[name]; taken {
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
		m.objects[name] = bytes.Clone(data)
		return nil
	})
}

// Replace makes an object.
func (m *Memory) Replace(_ context.Context, name string, data []byte) error {
	return m.do("replace", name, func() error {
		m.objects[name] = bytes.Clone(data)
		return nil
	})
}

// Get gives an object.
func (m *Memory) Get(_ context.Context, name string) (data []byte, err error) {
	err = m.do("get", name, func() error {
		is, ok := m.objects[name]
		if !ok {
			return &fs.PathError{Op: "get", Path: name, Err: fs.ErrNotExist}
		}
		data = bytes.Clone(is)
		return nil
	})
	return data, err
}

// List gives the names below a folder.
func (m *Memory) List(_ context.Context, folder string) (names []string, err error) {
	err = m.do("list", folder, func() error {
		prefix := folder + "/"
		if folder == "" {
			prefix = ""
		}
		seen := map[string]bool{}
		for name := range m.objects {
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
