package runstate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// Lock is a lock of a job or of a run. The kernel frees it when its holder dies, so it needs no process numbers, ages or
// unlocking by hand; and it reaches no further than this host.
type Lock struct {
	fsys   vfs.FS
	name   string
	locked vfs.Locked
}

// TakeLock takes the lock in a folder of a job or a run, without waiting: vfs.ErrLocked if it is held.
func TakeLock(fsys vfs.FS, dir string) (*Lock, error) {
	name := path.Join(dir, lockFile)
	locked, err := fsys.Lock(name)
	if err != nil {
		return nil, err
	}
	l := &Lock{fsys: fsys, name: name, locked: locked}
	err = l.StillHere()
	if errors.Is(err, vfs.ErrFenced) { // another process has taken it from this one meanwhile
		return nil, errors.Join(vfs.ErrLocked, l.Release())
	}
	if err != nil { // the folder was removed in between
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// StillHere fails with ErrReplaced unless the lock's path still names the file that is locked.
func (l *Lock) StillHere() error { return same(l.fsys, l.name, l.locked) }

// Release frees the lock.
func (l *Lock) Release() error { return l.locked.Close() }

// remote are the file systems where a lock does not keep another host out, or is known not to work.
var remote = map[string]string{"nfs": "NFS", "smb": "SMB", "9p": "9P", "afs": "AFS"}

// CheckHome fails, naming the file system, where a state directory cannot be locked reliably.
func CheckHome(fsys vfs.FS, dir string) error {
	kind, err := fsys.Kind(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	if name, ok := remote[kind]; ok {
		return fmt.Errorf("the state directory %s is on %s, a network file system, where a lock does not keep other hosts out: give a local one with --state", dir, name)
	}
	return nil
}
