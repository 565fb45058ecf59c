package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// file is an open file. One that was created is in memory until it is synced; a journal's has an object for each sync.
type file struct {
	fsys *FS
	name string // path

	mu      sync.Mutex
	data    []byte
	done    int      // bytes that have their object
	at      int      // where Read is
	journal *journal // nil of other files
	writes  bool
	virtual bool // nothing of it is kept
	mine    bool // this process has appended to the journal
}

// Create makes a new file.
func (f *FS) Create(name string) (vfs.File, error) {
	if path.Base(name) == reserveName {
		return &file{fsys: f, name: name, virtual: true}, nil
	}
	if _, err := f.Stat(name); err == nil {
		return nil, pathError("create", name, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	n := &file{fsys: f, name: name, writes: true}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending[name] != nil {
		return nil, pathError("create", name, fs.ErrExist)
	}
	f.pending[name] = n
	return n, nil
}

// Open opens a file for reading.
func (f *FS) Open(name string) (vfs.File, error) {
	n := &file{fsys: f, name: name}
	var err error
	if path.Base(name) == journalName {
		if n.journal, err = f.read(object(name)); err == nil {
			n.data = n.journal.data
		}
	} else {
		n.data, err = f.store.Get(background(), object(name))
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return n, nil
}

// OpenAppend opens a reserve, which is none: there is no disk that can be full.
func (f *FS) OpenAppend(name string) (vfs.File, error) {
	if path.Base(name) == reserveName {
		return &file{fsys: f, name: name, virtual: true}, nil
	}
	return nil, pathError("open", name, vfs.ErrUnsupported)
}

func (n *file) Read(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.at >= len(n.data) && len(p) > 0 {
		return 0, io.EOF
	}
	k := copy(p, n.data[n.at:])
	n.at += k
	return k, nil
}

func (n *file) ReadAt(p []byte, off int64) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return bytes.NewReader(n.data).ReadAt(p, off)
}

func (n *file) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.writes {
		return 0, pathError("write", n.name, fs.ErrPermission)
	}
	n.data = append(n.data, p...)
	return len(p), nil
}

// Sync makes what was written durable: as the next part of a journal, as the whole of another file.
func (n *file) Sync() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	fresh := n.data[n.done:]
	switch {
	case n.virtual || !n.writes || path.Base(n.name) == newName && n.journal == nil:
		return nil
	case n.journal == nil && n.done > 0 && len(fresh) > 0:
		return pathError("sync", n.name, vfs.ErrUnsupported)
	case n.journal == nil:
		if n.done > 0 {
			return nil
		}
		if err := n.fsys.create(object(n.name), n.data); err != nil {
			return err
		}
		n.settled()
	case len(fresh) > 0:
		if err := n.fsys.create(part(n.journal.name, n.journal.gen, n.journal.parts+1), bytes.Clone(fresh)); err != nil {
			n.writes = false // what comes later must not take its number
			return err
		}
		n.journal.parts++
		n.mine = true
	}
	n.done = len(n.data)
	return nil
}

// settled says that a file has its object now.
func (n *file) settled() {
	n.fsys.mu.Lock()
	defer n.fsys.mu.Unlock()
	delete(n.fsys.pending, n.name)
}

// install makes a file the journal of a name. One that holds what the journal there holds goes on with it. One that holds less
// was read before somebody else has appended: fenced. Any other takes its place as a further generation.
func (n *file) install(name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	j, err := n.fsys.read(name)
	switch {
	case err == nil && bytes.Equal(j.data, n.data):
		n.journal, n.done = j, len(n.data)
		return nil
	case err == nil && bytes.HasPrefix(j.data, n.data):
		return fmt.Errorf("the journal %s has grown since it was read: %w", name, vfs.ErrFenced)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	next := &journal{name: name, gen: j.gen + 1, parts: 1}
	if err := n.fsys.create(part(name, next.gen, 1), bytes.Clone(n.data)); err != nil {
		return err
	}
	n.journal, n.done, n.mine = next, len(n.data), true
	return nil
}

// Close puts a journal's parts together for those who read it later. That is no more than a help: it may fail.
func (n *file) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.settled()
	if n.journal != nil && n.mine && n.writes && n.journal.parts > 2 && n.done == len(n.data) {
		_ = n.fsys.store.Create(background(), fmt.Sprintf("%s-%d/%s%06d", n.journal.name, n.journal.gen, wholePrefix, n.journal.parts), n.data)
	}
	n.writes = false
	return nil
}

// Allocate has nothing to reserve.
func (n *file) Allocate(int64) error { return nil }

// WriteBack has nothing to start.
func (n *file) WriteBack(int64) {}

func (n *file) Stat() (vfs.Info, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.journal != nil {
		info := n.journal.info()
		info.Size = int64(len(n.data))
		return info, nil
	}
	return vfs.Info{Size: int64(len(n.data)), Device: 1, Inode: inode(object(n.name), 0), Regular: true, Links: 1}, nil
}
