package webhdfstest

import (
	"path"
	"slices"
	"time"
)

// File is what is at a path.
type File struct {
	ID          int64
	Data        []byte // of a file that is open: none
	Dir, Open   bool
	Modified    time.Time
	Owner       string
	Permission  string
	BlockSize   int64
	Replication int
	Flags       []string // of createflag
	XAttrs      map[string][]byte
}

// File gives what is at a path now, past all switches.
func (ns *Namespace) File(p string) (File, bool) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	n := ns.find(p)
	if n == nil {
		return File{}, false
	}
	out := File{ID: n.id, Data: slices.Clone(n.data), Dir: n.isDir(), Open: n.open, Modified: n.modified, Owner: n.owner, Permission: n.permission,
		BlockSize: n.blockSize, Replication: n.replication, Flags: slices.Clone(n.flags), XAttrs: map[string][]byte{}}
	for name, value := range n.xattrs {
		out.XAttrs[name] = slices.Clone(value)
	}
	return out, true
}

// Files gives all files with their bytes, by path. Open ones are empty.
func (ns *Namespace) Files() map[string][]byte {
	files := map[string][]byte{}
	ns.each(func(p string, n *node) {
		if !n.isDir() {
			files[p] = append([]byte{}, n.data...)
		}
	})
	return files
}

// Dirs gives the paths of all folders but the root, in order.
func (ns *Namespace) Dirs() []string {
	var dirs []string
	ns.each(func(p string, n *node) {
		if n.isDir() && p != "/" {
			dirs = append(dirs, p)
		}
	})
	return dirs
}

// OpenFiles gives the paths of the files that are open, in order.
func (ns *Namespace) OpenFiles() []string {
	var open []string
	ns.each(func(p string, n *node) {
		if n.open {
			open = append(open, p)
		}
	})
	return open
}

func (ns *Namespace) each(visit func(p string, n *node)) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.walk(visit)
}

// Put puts a closed file at a path, with the folders that it needs, behind the client's back. What was there is replaced.
func (ns *Namespace) Put(p string, data []byte) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	n := ns.newNode(ns.o.User, "644")
	n.data, n.blockSize, n.replication, n.accessed = slices.Clone(data), ns.o.BlockSize, 1, n.modified
	ns.link(ns.makeDirs(path.Dir(p), ns.o.User, "755"), path.Base(p), n)
}

// Remove takes away what is at a path, with all that is under it, behind the client's back. It says whether there was
// anything.
func (ns *Namespace) Remove(p string) bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if n := ns.find(p); n == nil || n == ns.root {
		return false
	}
	ns.unlink(p).leave()
	return true
}

// CloseFile closes a file that StaysOpen has left open, as a NameNode does when nobody renews its lease. It says whether
// there was one.
func (ns *Namespace) CloseFile(p string) bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	n := ns.find(p)
	if n == nil || !n.open {
		return false
	}
	ns.closeFile(n, n.rest)
	return true
}
