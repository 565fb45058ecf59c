package vfs

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
