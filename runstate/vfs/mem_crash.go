package vfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// ProcessDeath is kill -9 of all processes: what they wrote stays as they left it, synced or not; what they had open and
// locked is theirs no more. With evict it is followed by Evict.
func (m *Mem) ProcessDeath(evict bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if evict {
		m.evict()
	}
	m.restart()
}

// PowerLoss is ProcessDeath, and of what was not synced only some survives, as the seed has it: each dirty page, each
// file's size and each directory entry by itself is as it was last synced or as it was last (an entry also as it was at
// any time between). A rename is two entries, so the file may be under both names, or neither. A page that is lost though
// the size survived is zeros. A directory whose entry is lost is lost with all in it.
func (m *Mem) PowerLoss() {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Even coins alone would hardly ever keep, or take, everything at once.
	keep := float64(rand.New(&m.random).IntN(5)) / 4
	m.lose(m.coin(keep))
}

// LoseUnsynced is the power loss that takes everything that was not synced.
func (m *Mem) LoseUnsynced() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lose(func() bool { return false })
}

// Evict drops the clean pages from the cache. It shows in files after a failed sync: the pages that it lost read again as
// they are on disk, while the size stays.
func (m *Mem) Evict() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.evict()
}

func (m *Mem) evict() {
	m.visit(func(n *node) {
		if n.file != nil {
			m.used -= n.file.bytes()
			n.file.evict()
			m.used += n.file.bytes()
		}
	})
}

func (m *Mem) coin(keep float64) func() bool {
	random := rand.New(&m.random)
	return func() bool { return random.Float64() < keep }
}

func (m *Mem) lose(keep func() bool) {
	random := rand.New(&m.random)
	m.visit(func(n *node) {
		if n.file != nil {
			n.file.settle(m, keep)
		}
		if n.dir == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(n.dir.unsynced)) {
			n.dir.settle(name, keep, random)
		}
		clear(n.dir.unsynced)
	})
	m.restart()
}

// settle gives an entry one of the values that it had since the last sync.
func (d *directory) settle(name string, keep func() bool, random *rand.Rand) {
	values := d.unsynced[name]
	last := len(values) - 1
	value := values[last]
	if !keep() {
		value = values[0]
		if between := last - 1; between > 0 && keep() {
			value = values[1+random.IntN(between)]
		}
	}
	if value == nil {
		delete(d.entries, name)
	} else {
		d.entries[name] = value
	}
}

// visit calls a function for each node that has a name, a directory before what is in it then, in an order that depends
// on nothing but the tree. A second name of a directory, which a power loss can leave, is removed.
func (m *Mem) visit(see func(*node)) {
	seen := map[*node]bool{}
	var walk func(n *node)
	walk = func(n *node) {
		seen[n] = true
		see(n)
		if n.dir == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(n.dir.entries)) {
			child := n.dir.entries[name]
			switch {
			case !seen[child]:
				walk(child)
			case child.dir != nil:
				delete(n.dir.entries, name)
			}
		}
		if v := n.dir.volume; v != nil && !seen[v] {
			walk(v)
		}
	}
	walk(m.root)
}

// restart begins a new world, with the nodes that have a name.
func (m *Mem) restart() {
	m.world++
	m.main = m.newProcess()
	m.recount()
}

// recount gives the nodes that have a name their counts, with nothing open.
func (m *Mem) recount() {
	m.used = 0
	m.visit(func(n *node) {
		n.links, n.open, n.holder = 0, 0, nil
		m.used += n.bytes()
	})
	m.root.links = 1
	m.visit(func(n *node) {
		if n.dir == nil {
			return
		}
		for _, child := range n.dir.entries {
			child.links++
		}
		if n.dir.volume != nil {
			n.dir.volume.links = 1
		}
	})
}
