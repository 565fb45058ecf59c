package webhdfstest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// node is a file or a folder.
type node struct {
	id          int64
	children    map[string]*node // nil: a file
	data        []byte
	rest        []byte // what an open file will have once it is closed
	open        bool
	gone        bool // nothing leads there any more
	owner       string
	permission  string
	blockSize   int64
	replication int
	flags       []string
	modified    time.Time
	accessed    time.Time
	xattrs      map[string][]byte
}

func (n *node) isDir() bool { return n.children != nil }

func (ns *Namespace) newNode(owner, permission string) *node {
	ns.lastID++
	return &node{id: ns.lastID, owner: owner, permission: permission, modified: ns.now(), xattrs: map[string][]byte{}}
}

func (ns *Namespace) newDir(owner, permission string) *node {
	n := ns.newNode(owner, permission)
	n.children = map[string]*node{}
	return n
}

// parts are the names on the way to a path.
func parts(p string) []string {
	return slices.DeleteFunc(strings.Split(p, "/"), func(name string) bool { return name == "" })
}

// find gives what is at a path, or nil.
func (ns *Namespace) find(p string) *node {
	at := ns.root
	for _, name := range parts(p) {
		if at = at.children[name]; at == nil {
			return nil
		}
	}
	return at
}

// fileOnTheWay gives the path of a file that something at this path would have to be under, or "".
func (ns *Namespace) fileOnTheWay(p string) string {
	at, way := ns.root, ""
	names := parts(p)
	for _, name := range names[:max(0, len(names)-1)] {
		way += "/" + name
		if at = at.children[name]; at == nil {
			return ""
		}
		if !at.isDir() {
			return way
		}
	}
	return ""
}

// makeDirs gives the folder at a path, which no file is in the way of, and makes what of it is missing.
func (ns *Namespace) makeDirs(p, owner, permission string) *node {
	at := ns.root
	for _, name := range parts(p) {
		next := at.children[name]
		if next == nil {
			next = ns.newDir(owner, permission)
			ns.link(at, name, next)
		}
		at = next
	}
	return at
}

// link puts a node into a folder, in place of what is there.
func (ns *Namespace) link(dir *node, name string, n *node) {
	if old := dir.children[name]; old != nil {
		old.leave()
	}
	dir.children[name] = n
	dir.modified = ns.now()
}

// unlink takes what is at a path out of its folder, and gives it.
func (ns *Namespace) unlink(p string) *node {
	dir, name := ns.find(path.Dir(p)), path.Base(p)
	n := dir.children[name]
	delete(dir.children, name)
	dir.modified = ns.now()
	return n
}

// leave marks a node, and all under it, as gone.
func (n *node) leave() {
	n.gone = true
	for _, child := range n.children {
		child.leave()
	}
}

// names gives those of a folder in their order.
func (n *node) names() []string { return slices.Sorted(maps.Keys(n.children)) }

// walk calls visit for all that there is, the root too, in the order of the paths' parts.
func (ns *Namespace) walk(visit func(p string, n *node)) { walk("/", ns.root, visit) }

func walk(p string, n *node, visit func(p string, n *node)) {
	visit(p, n)
	for _, name := range n.names() {
		walk(path.Join(p, name), n.children[name], visit)
	}
}

// checkName refuses what nothing can be called.
func checkName(p string) error {
	if strings.Contains(p, ":") {
		return invalidPath(p)
	}
	for _, name := range parts(p) {
		if len(name) > 255 {
			return fail("PathComponentTooLongException", "The maximum path component name limit of %s in directory %s is exceeded: limit=255 length=%d",
				name, path.Dir(p), len(name))
		}
	}
	return nil
}
