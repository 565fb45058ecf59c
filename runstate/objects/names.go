package objects

import (
	"errors"
	"hash/fnv"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// Mkdir makes nothing: a folder is there when something is in it.
func (f *FS) Mkdir(string) error { return nil }

// SyncDir has nothing to do: what is made is durable.
func (f *FS) SyncDir(string) error { return nil }

// Kind says what holds the state.
func (f *FS) Kind(string) (string, error) { return "objects", nil }

// Real gives the path as it is: there are no links.
func (f *FS) Real(name string) (string, error) { return name, nil }

// List gives the names in a folder. A run that is put aside is under that name only.
func (f *FS) List(name string) ([]string, error) {
	below, err := f.store.List(background(), strings.TrimPrefix(object(name), "/"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range below {
		switch gen, ok := generation(n); {
		case depth(name) == 0 && strings.HasPrefix(n, "."): // ours, and no job
		case depth(name) == 1 && slices.Contains(below, asidePrefix+n): // put aside
		case depth(name) == 2 && ok:
			if gen > 0 && !slices.Contains(names, journalName) {
				names = append(names, journalName)
			}
		default:
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Stat describes a file or folder. Folders are there always.
func (f *FS) Stat(name string) (vfs.Info, error) {
	switch {
	case isDir(name):
		return vfs.Info{Dir: true, Device: 1, Inode: inode(name, 0)}, nil
	case path.Base(name) == lockName:
		return f.statLock(name)
	case path.Base(name) == journalName:
		j, err := f.journal(object(name))
		if err != nil {
			return vfs.Info{}, pathError("stat", name, err)
		}
		return j.info(), nil
	}
	data, err := f.store.Get(background(), object(name))
	if err != nil {
		return vfs.Info{}, pathError("stat", name, err)
	}
	return vfs.Info{Size: int64(len(data)), Device: 1, Inode: inode(object(name), 0), Regular: true, Links: 1}, nil
}

// inode tells files apart, and what is under one name at different times.
func inode(name string, n int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // cannot fail
	return h.Sum64() + uint64(n)
}

// Link keeps a journal's bytes under another name.
func (f *FS) Link(oldname, newname string) error {
	if path.Base(oldname) != journalName {
		return pathError("link", oldname, vfs.ErrUnsupported)
	}
	data, err := vfs.ReadFile(f, oldname)
	if err != nil {
		return err
	}
	err = f.create(object(newname), data)
	if errors.Is(err, vfs.ErrFenced) {
		return pathError("link", newname, fs.ErrExist)
	}
	return err
}

// Rename puts a journal in another one's place, and can do nothing else.
func (f *FS) Rename(oldname, newname string) error {
	f.mu.Lock()
	fresh := f.pending[oldname]
	delete(f.pending, oldname)
	f.mu.Unlock()
	if path.Base(oldname) != newName || path.Base(newname) != journalName || fresh == nil {
		return pathError("rename", oldname, vfs.ErrUnsupported)
	}
	return fresh.install(object(newname))
}

// RenameNoReplace puts a run aside.
func (f *FS) RenameNoReplace(oldname, newname string) error {
	if depth(oldname) != 2 || path.Base(newname) != asidePrefix+path.Base(oldname) {
		return pathError("rename", oldname, vfs.ErrUnsupported)
	}
	return f.create(strings.TrimPrefix(newname, "/")+"/moved", []byte(path.Base(oldname)+"\n"))
}

// Remove takes a journal away, or what is no object at all.
func (f *FS) Remove(name string) error {
	switch path.Base(name) {
	case newName:
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.pending[name] == nil {
			return pathError("remove", name, fs.ErrNotExist)
		}
		delete(f.pending, name)
		return nil
	case reserveName, lockName:
		return nil
	case journalName:
		j, err := f.journal(object(name))
		if err != nil {
			return pathError("remove", name, err)
		}
		return f.create(part(object(name), j.gen+1, 0), []byte("removed\n"))
	}
	if isDir(name) {
		return nil
	}
	return pathError("remove", name, vfs.ErrUnsupported)
}
