package vfs

import "syscall"

// Lock implements Host.
func (p *Process) Lock(name string) (Locked, error) {
	var held *handle
	err := p.do(Op{Name: OpLock, Path: name}, func() error {
		at, err := p.mem.find(name, true)
		if err != nil {
			return err
		}
		n := at.node
		switch {
		case n == nil:
			if n, err = p.mem.create(at); err != nil {
				return err
			}
		case n.dir != nil:
			return syscall.EISDIR
		case n.holder != nil:
			return ErrLocked
		}
		held = p.newHandle(n, name)
		n.holder = held
		return nil
	})
	switch {
	case err == nil:
		return memLock{held}, nil
	case held != nil: // it was locked, and the reply was lost: the kernel closes what nobody was told of
		p.mem.mu.Lock()
		defer p.mem.mu.Unlock()
		if held.check() == nil {
			held.release()
		}
	}
	return nil, err
}

type memLock struct{ *handle }

func (l memLock) Close() error { return l.close(OpUnlock) }

func (l memLock) Stat() (info Info, err error) {
	err = l.process.do(Op{Name: OpStat, Path: l.name}, func() error {
		err := l.check()
		if err == nil {
			info = l.node.info()
		}
		return err
	})
	return info, err
}
