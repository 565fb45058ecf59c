package vfs

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// ErrCrashed is the answer to every operation of a process of Mem that has died.
var ErrCrashed = errors.New("the process has crashed")

// The names of operations. Those from OpCreate to OpUnlock modify.
const (
	OpCreate          = "create"
	OpWrite           = "write"
	OpSync            = "sync"
	OpAllocate        = "allocate"
	OpWriteBack       = "writeback"
	OpLink            = "link"
	OpRename          = "rename"
	OpRenameNoReplace = "rename-no-replace"
	OpRemove          = "remove"
	OpMkdir           = "mkdir"
	OpSyncDir         = "syncdir"
	OpLock            = "lock"
	OpUnlock          = "unlock"

	OpOpen  = "open" // OpenAppend too
	OpRead  = "read" // Read and ReadAt
	OpClose = "close"
	OpStat  = "stat" // of names, files and locks
	OpList  = "list"
	OpKind  = "kind"
	OpReal  = "real"
)

// Op is an operation that a process is about to make.
type Op struct {
	// N numbers, from 1, the operations that modify (Lock and unlock count as such), and apart from them the others.
	N     int
	Name  string
	Path  string // for files and locks, the name they were opened by
	Path2 string // the new name of a link or rename
	Bytes int    // the length of a write or read, the size of an allocation
}

// Modifies tells whether the operation changes what is stored or locked.
func (o Op) Modifies() bool {
	switch o.Name {
	case OpOpen, OpRead, OpClose, OpStat, OpList, OpKind, OpReal:
		return false
	}
	return true
}

func (o Op) wrap(err error) error {
	switch {
	case err == nil:
		return nil
	case o.Path2 != "":
		return &os.LinkError{Op: o.Name, Old: o.Path, New: o.Path2, Err: err}
	default:
		return &fs.PathError{Op: o.Name, Path: o.Path, Err: err}
	}
}

// Fault is what a plan makes of an operation. The zero Fault lets it happen.
type Fault struct {
	kind  faultKind
	bytes int
	err   error
}

type faultKind int

const (
	faultNone faultKind = iota
	faultDie
	faultDieWriting
	faultFail
	faultFailAfter
	faultFailSync
	faultShortWrite
)

// Die kills the process before the operation happens: it and all later ones of the process get ErrCrashed.
func Die() Fault { return Fault{kind: faultDie} }

// DieWriting kills the process after so many bytes of a write; any other operation does not happen, as with Die.
func DieWriting(bytes int) Fault { return Fault{kind: faultDieWriting, bytes: bytes} }

// Fail makes the operation fail without happening. A Close that fails has closed.
func Fail(err error) Fault { return Fault{kind: faultFail, err: err} }

// FailAfter lets the operation happen and reports that it failed, as a lost reply of a network file system does.
func FailAfter(err error) Fault { return Fault{kind: faultFailAfter, err: err} }

// FailSync makes a File's Sync fail as Linux does: the dirty pages count as clean though they were not written, so the
// next Sync succeeds without writing them. They can be read until Evict or a power loss. Elsewhere it is Fail.
func FailSync(err error) Fault { return Fault{kind: faultFailSync, err: err} }

// ShortWrite makes a write fail after so many bytes. Elsewhere it is Fail.
func ShortWrite(bytes int, err error) Fault {
	return Fault{kind: faultShortWrite, bytes: bytes, err: err}
}

// DieAt is a plan that kills whichever process makes the n-th modifying operation.
func DieAt(n int) func(Op) Fault {
	return func(op Op) Fault {
		if op.Modifies() && op.N == n {
			return Die()
		}
		return Fault{}
	}
}

// OnOp sets the plan: it is asked before every operation that is counted. Calls come one at a time, and the operation
// happens before the next call. A plan may use Clone, Outside and the crashes of the same Mem, but none of its processes.
func (m *Mem) OnOp(plan func(Op) Fault) {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.plan = plan
}

// Done is an operation of the past and its result.
type Done struct {
	Op
	Err error
}

// Log lists the modifying operations so far, in order. Operations of dead processes are not among them.
func (m *Mem) Log() []Done {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log)
}
