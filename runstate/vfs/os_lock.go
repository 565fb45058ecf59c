//go:build linux || darwin

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// lockTries bounds how often a lock is taken anew because its file was replaced meanwhile.
const lockTries = 10

// lock takes the lock of the file that the name leads to when lock returns: a file that was replaced between open and
// flock locks nothing that the next process would look at.
func lock(name string) (Locked, error) {
	for range lockTries {
		held, err := tryLock(name)
		if held != nil || err != nil {
			return held, err
		}
	}
	return nil, &fs.PathError{Op: "lock", Path: name, Err: errors.New("the file is replaced faster than it can be locked")}
}

// tryLock returns neither a lock nor an error if the name leads elsewhere once the lock is taken.
func tryLock(name string) (_ Locked, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	held := osLock{osFile{f}}
	err = held.control(func(fd int) error {
		return retryInterrupted(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	})
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: name, Err: err}, f.Close())
	}
	same, err := held.named(name)
	if err != nil || !same {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

type osLock struct{ file osFile }

func (l osLock) Stat() (Info, error) { return l.file.Stat() }

func (l osLock) control(do func(fd int) error) error { return l.file.control(do) }

// named tells whether the name still leads to the locked file.
func (l osLock) named(name string) (bool, error) {
	now, err := osFS{}.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	mine, err := l.Stat()
	return err == nil && mine.Same(now), err
}

// Close unlocks before it closes: a child that is being started may hold a copy of the descriptor for a moment.
func (l osLock) Close() error {
	err := l.control(func(fd int) error {
		return retryInterrupted(func() error { return unix.Flock(fd, unix.LOCK_UN) })
	})
	if err != nil && !errors.Is(err, os.ErrClosed) {
		err = fmt.Errorf("unlock %s: %w", l.file.Name(), err)
		return errors.Join(err, l.file.Close())
	}
	return l.file.Close()
}
