package vfs

import (
	"maps"
	"slices"
)

// Clone is an independent copy of the file system as it is, dirty pages and the state of the randomness included, with no
// process running on it and no plan. It is cheap: pages are shared until written. A plan that clones sees the world as it
// is before the operation.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owner = new(owner)
	c := &Mem{
		Now: m.Now, random: m.random, inodes: m.inodes, devices: m.devices, owner: new(owner),
		ticks: m.ticks, ops: m.ops, reads: m.reads, log: slices.Clip(m.log), bytesRead: maps.Clone(m.bytesRead),
		capacity: m.capacity, kinds: maps.Clone(m.kinds),
		noLink: slices.Clone(m.noLink), noReplace: slices.Clone(m.noReplace),
	}
	c.root = (cloner{}).clone(m.root)
	c.main = c.newProcess()
	c.recount()
	return c
}

// cloner maps nodes to their copies, so that two names of a file stay two names of one.
type cloner map[*node]*node

func (c cloner) clone(n *node) *node {
	if n == nil {
		return nil
	}
	if done := c[n]; done != nil {
		return done
	}
	copied := *n
	c[n] = &copied
	if n.file != nil {
		copied.file = n.file.clone()
	}
	if n.dir != nil {
		copied.dir = c.cloneDir(n.dir)
	}
	return &copied
}

func (c cloner) cloneDir(d *directory) *directory {
	copied := newDirectory()
	copied.volume, copied.mounted = c.clone(d.volume), d.mounted
	for name, n := range d.entries {
		copied.entries[name] = c.clone(n)
	}
	for name, values := range d.unsynced {
		for _, n := range values {
			copied.unsynced[name] = append(copied.unsynced[name], c.clone(n))
		}
	}
	return copied
}
