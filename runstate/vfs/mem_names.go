package vfs

import (
	"path"
	"slices"
	"syscall"
)

// Link implements Names.
func (p *Process) Link(oldname, newname string) error {
	m := p.mem
	return p.do(Op{Name: OpLink, Path: oldname, Path2: newname}, func() error {
		from, err := m.have(oldname, false)
		if err != nil {
			return err
		}
		to, err := m.vacant(newname)
		switch {
		case err != nil:
			return err
		case from.node.device != to.dir.device:
			return syscall.EXDEV
		case from.node.dir != nil, withinAny(to.path, m.noLink):
			return syscall.EPERM
		}
		m.set(to.dir, to.base, from.node)
		return nil
	})
}

// Rename implements Names.
func (p *Process) Rename(oldname, newname string) error {
	m := p.mem
	return p.do(Op{Name: OpRename, Path: oldname, Path2: newname}, func() error {
		return m.rename(oldname, newname, true)
	})
}

// RenameNoReplace implements Names.
func (p *Process) RenameNoReplace(oldname, newname string) error {
	m := p.mem
	return p.do(Op{Name: OpRenameNoReplace, Path: oldname, Path2: newname}, func() error {
		return m.rename(oldname, newname, false)
	})
}

func (m *Mem) rename(oldname, newname string, replace bool) error {
	from, err := m.have(oldname, false)
	if err != nil {
		return err
	}
	to, err := m.find(newname, false)
	switch {
	case err != nil:
		return err
	case from.isMount() || to.node != nil && to.isMount():
		return syscall.EBUSY
	case from.node.device != to.dir.device:
		return syscall.EXDEV
	case from.node.dir != nil && to.path != from.path && within(to.path, from.path):
		return syscall.EINVAL
	case to.node != nil && (!replace || to.node.dir != nil):
		return syscall.EEXIST
	case !replace && withinAny(to.path, m.noReplace):
		return ErrUnsupported
	case to.node == from.node && to.node != nil: // two names of one file: POSIX leaves both
		return nil
	case to.node != nil && from.node.dir != nil:
		return syscall.ENOTDIR
	}
	// The new entry first, so that the node is not reaped between.
	m.set(to.dir, to.base, from.node)
	m.set(from.dir, from.base, nil)
	return nil
}

// Remove implements Names.
func (p *Process) Remove(name string) error {
	m := p.mem
	return p.do(Op{Name: OpRemove, Path: name}, func() error {
		at, err := m.have(name, false)
		switch {
		case err != nil:
			return err
		case at.isMount():
			return syscall.EBUSY
		case at.node.dir != nil && len(at.node.dir.entries) > 0:
			return syscall.ENOTEMPTY
		}
		m.set(at.dir, at.base, nil)
		return nil
	})
}

// Stat implements Names.
func (p *Process) Stat(name string) (info Info, err error) {
	err = p.do(Op{Name: OpStat, Path: name}, func() error {
		at, err := p.mem.have(name, true)
		if err == nil {
			info = at.node.info()
		}
		return err
	})
	return info, err
}

// Mkdir implements Dirs.
func (p *Process) Mkdir(name string) error {
	m := p.mem
	return p.do(Op{Name: OpMkdir, Path: name}, func() error {
		at, err := m.vacant(name)
		if err != nil {
			return err
		}
		if err := m.room(inodeBytes); err != nil {
			return err
		}
		n := m.newNode(at.dir.device)
		n.dir = newDirectory()
		m.set(at.dir, at.base, n)
		return nil
	})
}

// List implements Dirs.
func (p *Process) List(name string) (names []string, err error) {
	err = p.do(Op{Name: OpList, Path: name}, func() error {
		at, err := p.mem.have(name, true)
		switch {
		case err != nil:
			return err
		case at.node.dir == nil:
			return syscall.ENOTDIR
		}
		names = make([]string, 0, len(at.node.dir.entries))
		for name := range at.node.dir.entries {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil
	})
	return names, err
}

// SyncDir implements Dirs.
func (p *Process) SyncDir(name string) error {
	return p.do(Op{Name: OpSyncDir, Path: name}, func() error {
		at, err := p.mem.have(name, true)
		switch {
		case err != nil:
			return err
		case at.node.dir == nil:
			return syscall.ENOTDIR
		}
		clear(at.node.dir.unsynced)
		return nil
	})
}

// Kind implements Host.
func (p *Process) Kind(name string) (kind string, err error) {
	err = p.do(Op{Name: OpKind, Path: name}, func() error {
		at, err := p.mem.real(name)
		if err == nil {
			kind = p.mem.kindOf(at)
		}
		return err
	})
	return kind, err
}

// Real implements Host.
func (p *Process) Real(name string) (at string, err error) {
	err = p.do(Op{Name: OpReal, Path: name}, func() (err error) {
		at, err = p.mem.real(name)
		return err
	})
	return at, err
}

func (m *Mem) real(name string) (string, error) {
	return resolve(name, func(at string) (string, error) {
		found, err := m.have(path.Clean(at), false)
		if err != nil {
			return "", err
		}
		return found.node.target, nil
	})
}

// vacant is find for a name that must be free.
func (m *Mem) vacant(name string) (spot, error) {
	at, err := m.find(name, false)
	if err == nil && at.node != nil {
		err = syscall.EEXIST
	}
	return at, err
}
