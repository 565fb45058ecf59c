package vfs

import "io/fs"

// Process is the view that one process has of a Mem. After its death every operation on it, and on the files and locks
// it opened, is ErrCrashed for ever, so that a goroutine left behind cannot touch the world after.
type Process struct {
	mem     *Mem
	world   uint64
	outside bool
	dead    bool
	handles map[*handle]struct{}
}

// Process starts a process. Locks conflict between processes and within one.
func (m *Mem) Process() *Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.newProcess()
}

// Outside is a process whose operations are neither counted, logged nor planned, and which outlives crashes, though the
// files and locks it has open do not: for checks, and for interference from within a plan.
func (m *Mem) Outside() *Process {
	p := m.Process()
	p.outside = true
	return p
}

// Kill is kill -9 of this process alone.
func (p *Process) Kill() {
	p.mem.mu.Lock()
	defer p.mem.mu.Unlock()
	p.die()
}

func (m *Mem) newProcess() *Process {
	return &Process{mem: m, world: m.world, handles: map[*handle]struct{}{}}
}

func (p *Process) die() {
	p.dead = true
	for h := range p.handles {
		if h.world == p.mem.world {
			h.release()
		}
	}
}

func (p *Process) gone() bool { return p.dead || !p.outside && p.world != p.mem.world }

// run counts an operation, asks the plan, and lets act do it or what the fault makes of it, unless the process is dead.
func (p *Process) run(op Op, act func(Fault) error) error {
	m := p.mem
	var fault Fault
	if !p.outside {
		m.turn.Lock()
		defer m.turn.Unlock()
		if !p.count(&op) {
			return op.wrap(ErrCrashed)
		}
		if m.plan != nil {
			fault = m.plan(op)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.gone() {
		return op.wrap(ErrCrashed)
	}
	m.ticks++
	if fault.kind == faultDie || fault.kind == faultDieWriting && op.Name != OpWrite {
		p.die()
		return op.wrap(ErrCrashed)
	}
	err := op.wrap(act(fault))
	if !p.outside && op.Modifies() {
		m.log = append(m.log, Done{op, err})
	}
	return err
}

func (p *Process) count(op *Op) bool {
	p.mem.mu.Lock()
	defer p.mem.mu.Unlock()
	if p.gone() {
		return false
	}
	n := &p.mem.reads
	if op.Modifies() {
		n = &p.mem.ops
	}
	*n++
	op.N = *n
	return true
}

// do is run for operations that happen wholly or not at all.
func (p *Process) do(op Op, act func() error) error {
	return p.run(op, func(fault Fault) error {
		switch fault.kind {
		case faultNone:
			return act()
		case faultFailAfter:
			if err := act(); err != nil {
				return err
			}
		}
		return fault.err
	})
}

func (m *Mem) current() *Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.main
}

// The methods of FS, of the process that each crash replaces.

func (m *Mem) Create(name string) (File, error)     { return m.current().Create(name) }
func (m *Mem) Open(name string) (File, error)       { return m.current().Open(name) }
func (m *Mem) OpenAppend(name string) (File, error) { return m.current().OpenAppend(name) }
func (m *Mem) Link(oldname, newname string) error   { return m.current().Link(oldname, newname) }
func (m *Mem) Rename(oldname, newname string) error { return m.current().Rename(oldname, newname) }
func (m *Mem) RenameNoReplace(oldname, newname string) error {
	return m.current().RenameNoReplace(oldname, newname)
}
func (m *Mem) Remove(name string) error           { return m.current().Remove(name) }
func (m *Mem) Stat(name string) (Info, error)     { return m.current().Stat(name) }
func (m *Mem) Mkdir(name string) error            { return m.current().Mkdir(name) }
func (m *Mem) List(name string) ([]string, error) { return m.current().List(name) }
func (m *Mem) SyncDir(name string) error          { return m.current().SyncDir(name) }
func (m *Mem) Lock(name string) (Locked, error)   { return m.current().Lock(name) }
func (m *Mem) Kind(name string) (string, error)   { return m.current().Kind(name) }
func (m *Mem) Real(name string) (string, error)   { return m.current().Real(name) }

// handle is what an open file and a lock have in common.
type handle struct {
	process *Process
	world   uint64
	node    *node
	name    string
	closed  bool
}

func (p *Process) newHandle(n *node, name string) *handle {
	h := &handle{process: p, world: p.mem.world, node: n, name: name}
	p.handles[h] = struct{}{}
	n.open++
	return h
}

func (h *handle) check() error {
	if h.world != h.process.mem.world {
		return ErrCrashed
	}
	if h.closed {
		return fs.ErrClosed
	}
	return nil
}

// release gives back what the handle holds; it is not called in another world.
func (h *handle) release() {
	h.closed = true
	delete(h.process.handles, h)
	if h.node.holder == h {
		h.node.holder = nil
	}
	h.node.open--
	h.process.mem.reap(h.node)
}
