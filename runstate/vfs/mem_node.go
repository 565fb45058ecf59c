package vfs

import (
	"path"
	"strings"
	"syscall"
	"time"
)

// inodeBytes is what a file or directory itself takes of the capacity.
const inodeBytes = 256

// node is an inode: a file, a directory or a symbolic link. Its number is never used again.
type node struct {
	device, inode     uint64
	links, open       int
	modified, changed time.Time
	holder            *handle // of its lock
	file              *content
	dir               *directory
	target            string
}

// directory is a directory's entries as they are read, and what a power loss may make of those changed since the last
// sync: for each such name all the values it had, the durable one first, nil where it had none.
type directory struct {
	entries  map[string]*node
	unsynced map[string][]*node
	volume   *node // the root of what is, or was, mounted here
	mounted  bool
}

func (m *Mem) newNode(device uint64) *node {
	m.inodes++
	now := m.now()
	m.used += inodeBytes
	return &node{device: device, inode: m.inodes, modified: now, changed: now}
}

func (m *Mem) newDir(device uint64) *node {
	n := m.newNode(device)
	n.links = 1
	n.dir = newDirectory()
	return n
}

func newDirectory() *directory {
	return &directory{entries: map[string]*node{}, unsynced: map[string][]*node{}}
}

func (d *directory) lookup(name string) *node {
	n := d.entries[name]
	if n != nil && n.dir != nil && n.dir.mounted {
		return n.dir.volume
	}
	return n
}

// set changes one entry; nil removes it.
func (m *Mem) set(dir *node, name string, n *node) {
	d, now := dir.dir, m.now()
	old := d.entries[name]
	if d.unsynced[name] == nil {
		d.unsynced[name] = []*node{old}
	}
	d.unsynced[name] = append(d.unsynced[name], n)
	dir.modified, dir.changed = now, now
	if n != nil {
		d.entries[name] = n
		n.links++
		n.changed = now
	} else {
		delete(d.entries, name)
	}
	if old != nil {
		old.links--
		old.changed = now
		m.reap(old)
	}
}

// reap frees what has neither a name nor a handle.
func (m *Mem) reap(n *node) {
	if n.links == 0 && n.open == 0 {
		m.used -= n.bytes()
	}
}

// bytes is what a node takes of the capacity.
func (n *node) bytes() int64 {
	if n.file == nil {
		return inodeBytes
	}
	return inodeBytes + n.file.bytes()
}

// spot is where a path leads: the entry base of dir, and the node there, nil if there is none. The root has no dir.
type spot struct {
	dir  *node
	base string
	node *node
	path string // without symbolic links
}

// isMount tells whether the node is the root of the file system or of a volume.
func (s spot) isMount() bool { return s.dir == nil || s.node != s.dir.dir.entries[s.base] }

// find walks a path, through a symbolic link at its end only if told to follow.
func (m *Mem) find(name string, follow bool) (spot, error) {
	if !path.IsAbs(name) || path.Clean(name) != name {
		return spot{}, syscall.EINVAL
	}
	at := spot{node: m.root, path: "/"}
	for pos, links := 1, 0; pos < len(name); {
		end := len(name)
		if i := strings.IndexByte(name[pos:], '/'); i >= 0 {
			end = pos + i
		}
		step := name[pos:end]
		switch {
		case at.node.dir == nil:
			return spot{}, syscall.ENOTDIR
		case len(step) > 255:
			return spot{}, syscall.ENAMETOOLONG
		}
		next := spot{dir: at.node, base: step, node: at.node.dir.lookup(step), path: name[:end]}
		switch {
		case next.node == nil && end < len(name):
			return spot{}, syscall.ENOENT
		case next.node != nil && next.node.target != "" && (follow || end < len(name)):
			if links++; links > maxLinks {
				return spot{}, syscall.ELOOP
			}
			target := next.node.target
			if !path.IsAbs(target) {
				target = path.Join(at.path, target)
			}
			name = path.Join(target, name[end:])
			at, pos = spot{node: m.root, path: "/"}, 1
		default:
			at, pos = next, end+1
		}
	}
	return at, nil
}

// have is find for what must exist.
func (m *Mem) have(name string, follow bool) (spot, error) {
	at, err := m.find(name, follow)
	if err == nil && at.node == nil {
		err = syscall.ENOENT
	}
	return at, err
}

func (n *node) info() Info {
	info := Info{
		ModTime: n.modified,
		Change:  n.changed,
		Device:  n.device,
		Inode:   n.inode,
		Links:   n.links,
		Dir:     n.dir != nil,
		Regular: n.file != nil,
	}
	if n.file != nil {
		info.Size = n.file.size
	}
	return info
}
