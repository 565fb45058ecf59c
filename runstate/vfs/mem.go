package vfs

import (
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Mem is a file system in memory that can crash, for tests. It behaves as a POSIX one that promises nothing beyond what
// fsync promises: PowerLoss takes what was not synced, ProcessDeath leaves it, and a plan set with OnOp makes operations
// fail or the process die at any of them. Mem's own FS methods act as one process, which every crash replaces by a new
// one; Process gives further ones. All methods are safe for concurrent use, and what happens depends on the seed and the
// order of operations alone.
type Mem struct {
	// Now gives the times of changes. Nil is a clock that starts in 2026 and advances a millisecond an operation. It is
	// set before the first operation, and must not use the file system.
	Now func() time.Time

	turn sync.Mutex // held through each operation that is counted, its hook included
	plan func(Op) Fault

	mu         sync.Mutex // guards everything below and all nodes
	random     rand.PCG
	root       *node
	main       *Process
	world      uint64 // counts the crashes: what was opened in another world is dead
	inodes     uint64
	devices    uint64
	owner      *owner
	ticks      int64
	ops, reads int
	log        []Done
	bytesRead  map[string]int64
	used       int64
	capacity   int64
	kinds      map[string]string
	noLink     []string
	noReplace  []string
}

// NewMem makes an empty file system; the seed decides what its power losses take.
func NewMem(seed uint64) *Mem {
	m := &Mem{
		devices:   1,
		owner:     new(owner),
		bytesRead: map[string]int64{},
		capacity:  -1,
		kinds:     map[string]string{"/": "ext4"},
	}
	m.random.Seed(seed, 0)
	m.root = m.newDir(1)
	m.main = m.newProcess()
	return m
}

// Reseed makes the outcomes of later crashes those of another seed.
func (m *Mem) Reseed(seed uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.random.Seed(seed, 0)
}

// SetCapacity limits the disk to so many bytes: what would exceed it gets ENOSPC. A file or directory takes 256 bytes, a
// page of a file that was written or allocated 4096 more. Negative is no limit, SetCapacity(Used()) a full disk.
func (m *Mem) SetCapacity(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity = bytes
}

// Used is what the files take of the capacity, removed ones that are still open included.
func (m *Mem) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// SetKind makes Kind answer so for a path and what is under it; the longest path set decides. Unset it is "ext4".
func (m *Mem) SetKind(prefix, kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds[prefix] = kind
}

// NoLink makes Link fail with EPERM under a path, as on a file system without hard links.
func (m *Mem) NoLink(prefix string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noLink = append(m.noLink, prefix)
}

// NoRenameNoReplace makes RenameNoReplace fail with ErrUnsupported under a path.
func (m *Mem) NoRenameNoReplace(prefix string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noReplace = append(m.noReplace, prefix)
}

// Ops counts the operations so far that modify, Lock and unlock included: a sweep goes over them.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// Reads counts the operations so far that do not modify.
func (m *Mem) Reads() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

// BytesRead tells how many bytes were read from files opened under a name.
func (m *Mem) BytesRead(name string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytesRead[name]
}

func (m *Mem) now() time.Time {
	if m.Now != nil {
		return m.Now()
	}
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(m.ticks) * time.Millisecond)
}

// room tells whether so many bytes fit.
func (m *Mem) room(bytes int64) error {
	if m.capacity >= 0 && m.used+bytes > m.capacity {
		return syscall.ENOSPC
	}
	return nil
}

// charge takes bytes of the capacity.
func (m *Mem) charge(bytes int64) error {
	if err := m.room(bytes); err != nil {
		return err
	}
	m.used += bytes
	return nil
}

func within(name, prefix string) bool {
	return name == prefix || strings.HasPrefix(name, strings.TrimSuffix(prefix, "/")+"/")
}

func withinAny(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if within(name, prefix) {
			return true
		}
	}
	return false
}

func (m *Mem) kindOf(name string) string {
	for at := name; ; at = path.Dir(at) {
		if kind, ok := m.kinds[at]; ok {
			return kind
		}
	}
}
