package vfs

import (
	"errors"
	"io"
	"syscall"
)

// Create implements Files.
func (p *Process) Create(name string) (File, error) {
	f := &memFile{writes: true}
	err := p.do(Op{Name: OpCreate, Path: name}, func() error {
		at, err := p.mem.vacant(name)
		if err != nil {
			return err
		}
		n, err := p.mem.create(at)
		if err != nil {
			return err
		}
		f.handle = p.newHandle(n, name)
		return nil
	})
	return f.opened(err)
}

// Open implements Files.
func (p *Process) Open(name string) (File, error) { return p.open(name, &memFile{}) }

// OpenAppend implements Files.
func (p *Process) OpenAppend(name string) (File, error) {
	return p.open(name, &memFile{writes: true, appends: true})
}

func (p *Process) open(name string, f *memFile) (File, error) {
	err := p.do(Op{Name: OpOpen, Path: name}, func() error {
		at, err := p.mem.have(name, true)
		switch {
		case err != nil:
			return err
		case at.node.dir != nil && f.writes:
			return syscall.EISDIR
		}
		f.handle = p.newHandle(at.node, name)
		return nil
	})
	return f.opened(err)
}

func (m *Mem) create(at spot) (*node, error) {
	if err := m.room(inodeBytes); err != nil {
		return nil, err
	}
	n := m.newNode(at.dir.device)
	n.file = &content{}
	m.set(at.dir, at.base, n)
	return n, nil
}

type memFile struct {
	*handle
	offset  int64
	writes  bool
	appends bool
}

func (f *memFile) opened(err error) (File, error) {
	if f.handle != nil && err != nil { // it was opened, and the reply was lost
		f.process.mem.mu.Lock()
		defer f.process.mem.mu.Unlock()
		if f.check() == nil {
			f.release()
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// do is Process.do for an open file.
func (f *memFile) do(name string, bytes int, act func() error) error {
	return f.process.do(Op{Name: name, Path: f.name, Bytes: bytes}, func() error {
		if err := f.check(); err != nil {
			return err
		}
		return act()
	})
}

func (f *memFile) Read(p []byte) (n int, err error) {
	err = f.do(OpRead, len(p), func() (err error) {
		n, err = f.read(p, f.offset)
		f.offset += int64(n)
		return err
	})
	if n == 0 && len(p) > 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (f *memFile) ReadAt(p []byte, offset int64) (n int, err error) {
	err = f.do(OpRead, len(p), func() (err error) {
		if offset < 0 {
			return errors.New("negative offset")
		}
		n, err = f.read(p, offset)
		return err
	})
	if n < len(p) && err == nil {
		err = io.EOF
	}
	return n, err
}

func (f *memFile) read(p []byte, offset int64) (int, error) {
	if f.node.dir != nil {
		return 0, syscall.EISDIR
	}
	n := f.node.file.readAt(p, offset)
	f.process.mem.bytesRead[f.name] += int64(n)
	return n, nil
}

func (f *memFile) Write(p []byte) (n int, err error) {
	op := Op{Name: OpWrite, Path: f.name, Bytes: len(p)}
	err = f.process.run(op, func(fault Fault) error {
		if err := f.check(); err != nil {
			return err
		}
		part := p
		switch fault.kind {
		case faultFail, faultFailSync:
			part = nil
		case faultShortWrite, faultDieWriting:
			part = p[:min(len(p), fault.bytes)]
		}
		var err error
		if n, err = f.write(part); err != nil {
			return err
		}
		if fault.kind == faultDieWriting {
			n = 0
			f.process.die()
			return ErrCrashed
		}
		return fault.err
	})
	return n, err
}

func (f *memFile) write(p []byte) (int, error) {
	if !f.writes {
		return 0, syscall.EBADF
	}
	if len(p) == 0 {
		return 0, nil
	}
	file := f.node.file
	if f.appends {
		f.offset = file.size
	}
	n, err := file.writeAt(f.process.mem, p, f.offset)
	f.offset += int64(n)
	f.touch()
	return n, err
}

func (f *memFile) touch() {
	f.node.modified = f.process.mem.now()
	f.node.changed = f.node.modified
}

func (f *memFile) Sync() error {
	op := Op{Name: OpSync, Path: f.name}
	return f.process.run(op, func(fault Fault) error {
		if err := f.check(); err != nil {
			return err
		}
		switch {
		case fault.kind == faultFailSync && f.node.file != nil:
			f.node.file.loseDirty()
		case fault.kind != faultNone && fault.kind != faultFailAfter:
		case f.node.dir != nil:
			clear(f.node.dir.unsynced)
		default:
			f.node.file.sync()
		}
		return fault.err
	})
}

func (f *memFile) Allocate(size int64) error {
	return f.do(OpAllocate, int(size), func() error {
		switch {
		case !f.writes:
			return syscall.EBADF
		case size < 0:
			return syscall.EINVAL
		}
		err := f.node.file.allocate(f.process.mem, size)
		if err == nil {
			f.touch()
		}
		return err
	})
}

func (f *memFile) WriteBack(end int64) {
	// Without promise: what is wrong shows at Sync.
	_ = f.do(OpWriteBack, int(end), func() error {
		if f.node.file != nil {
			f.node.file.writeBack(f.process.mem.coin(0.5), end)
		}
		return nil
	})
}

func (f *memFile) Stat() (info Info, err error) {
	err = f.do(OpStat, 0, func() error {
		info = f.node.info()
		return nil
	})
	return info, err
}

func (f *memFile) Close() error { return f.close(OpClose) }
