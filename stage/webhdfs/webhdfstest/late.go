package webhdfstest

import "slices"

// lateCreate is an upload whose moment has not come yet.
type lateCreate struct {
	c    *call
	data []byte
	left int  // how many requests are yet to see nothing of it
	ever bool // false: only Release ends it
}

func (ns *Namespace) postpone(c *call, on *On, data []byte) {
	l := &lateCreate{c: c, data: data, left: on.N, ever: on.N > 0}
	if ns.closed {
		ns.land(l)
		return
	}
	ns.late = append(ns.late, l)
}

// landDue lets those uploads happen whose moment is this request, and counts it for the others. The lock is held.
func (ns *Namespace) landDue() {
	for _, l := range slices.Clone(ns.late) {
		switch {
		case !l.ever:
		case l.left > 0:
			l.left--
		default:
			ns.land(l)
		}
	}
}

// land carries a late upload out, if that can be done as things are now.
func (ns *Namespace) land(l *lateCreate) {
	ns.late = slices.DeleteFunc(ns.late, func(other *lateCreate) bool { return other == l })
	if ns.creatable(l.c) == nil {
		ns.closeFile(ns.create(l.c), l.data)
	}
	ns.notify()
}

// Release lets everything happen that a switch holds back now.
func (ns *Namespace) Release() {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.release()
}

func (ns *Namespace) release() {
	for _, l := range slices.Clone(ns.late) {
		ns.land(l)
	}
	close(ns.faults.released)
	ns.faults.released = make(chan struct{})
}

// Close releases everything, and lets nothing be held back any more, so that a server in front of this can close.
func (ns *Namespace) Close() {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.closed = true
	ns.release()
}
