package vfs

import "io/fs"

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

func (h *handle) close(name string) error {
	return h.process.run(Op{Name: name, Path: h.name}, func(fault Fault) error {
		if err := h.check(); err != nil {
			return err
		}
		h.release()
		return fault.err
	})
}
