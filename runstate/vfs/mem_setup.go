package vfs

import (
	"cmp"
	"fmt"
	"path"
	"syscall"
)

// Mount makes a directory, and the parents it lacks, a volume of its own with another device number, empty the first time
// and as it was after Unmount. The directory itself is durable at once.
func (m *Mem) Mount(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.durableDir(name)
	if err != nil {
		return fmt.Errorf("mount %s: %w", name, err)
	}
	if n.dir.volume == nil {
		m.devices++
		n.dir.volume = m.newDir(m.devices)
	}
	n.dir.mounted = true
	return nil
}

// Unmount lets the empty directory show on which a volume was mounted. Files open on it stay so.
func (m *Mem) Unmount(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.have(name, true)
	if err != nil || at.dir == nil || !at.isMount() {
		return fmt.Errorf("unmount %s: not mounted", name)
	}
	at.dir.dir.entries[at.base].dir.mounted = false
	return nil
}

// Symlink makes a symbolic link, durable at once.
func (m *Mem) Symlink(target, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.vacant(name)
	if err != nil || target == "" {
		return fmt.Errorf("symlink %s: %w", name, cmp.Or(err, error(syscall.EINVAL)))
	}
	n := m.newNode(at.dir.device)
	n.target = target
	m.setDurable(at, n)
	return nil
}

func (m *Mem) setDurable(at spot, n *node) {
	m.set(at.dir, at.base, n)
	delete(at.dir.dir.unsynced, at.base)
}

// durableDir gives the directory of a name, made if absent, its entries up to the root durable.
func (m *Mem) durableDir(name string) (*node, error) {
	if name != "/" {
		if _, err := m.durableDir(path.Dir(name)); err != nil {
			return nil, err
		}
	}
	at, err := m.find(name, true)
	switch {
	case err != nil:
		return nil, err
	case at.dir == nil:
		return at.node, nil
	case at.node == nil:
		n := m.newNode(at.dir.device)
		n.dir = newDirectory()
		m.setDurable(at, n)
		return n, nil
	case at.node.dir == nil:
		return nil, syscall.ENOTDIR
	}
	delete(at.dir.dir.unsynced, at.base)
	return at.node, nil
}
