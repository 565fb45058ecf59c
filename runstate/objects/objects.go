// Package objects is the state directory in an object store: a vfs.FS of two levels of folders, jobs and runs, that any host
// can work on. It rests on one thing, that an object is created only if its name is free:
//
//	<job>/keys/<digest>/000001             claims: the first line of the run that a key has
//	<job>/<run>/journal-1/000001           lines of the journal, an object for each append
//	<job>/<run>/journal-1/whole-000017     the first 17 of them again, put together for readers
//	<job>/<run>/journal-2/000001           another journal in its place; 000000 says that there is none any more
//	<job>/<run>/owner/000001               who works on the run, and owner/000001.beat, which it renews
//	<job>/<run>/progress.json              for people
//	<job>/aside-<run>/moved                the run is put aside
//
// An append is durable when its object is made. Of two processes that append, the second finds the number taken by bytes that
// are not its own, and is fenced: vfs.ErrFenced. So a lock is no more than a courtesy: it is taken from a holder whose beat
// has stood still for several periods, by the taker's own clock.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// Env is what a file system takes from its process.
type Env struct {
	Random io.Reader // owners are told apart by it
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Beat   func(ctx context.Context, d time.Duration) error // waits until the next beat; nil is Sleep
	Period time.Duration                                    // of the beat; 0 is 10 s
	Watch  func(name string, most time.Duration)            // called when a beat is watched, for people; may be nil
}

// Defaults.
const (
	defaultPeriod = 10 * time.Second
	still         = 6 // periods that a beat must stand still before its holder is taken for dead
	tries         = 6 // of a request whose outcome is unknown
)

// FS is a state directory in an object store.
type FS struct {
	store runstate.Objects
	env   Env

	mu      sync.Mutex
	pending map[string]*file // files that were created and have no object yet, by path
	held    map[string]int   // owners' numbers of the locks that this process holds, by path
	cache   map[string][]byte
}

var (
	_ vfs.FS           = (*FS)(nil)
	_ runstate.Claimer = (*FS)(nil)
)

// New makes a file system of a store.
func New(store runstate.Objects, env Env) *FS {
	if env.Period == 0 {
		env.Period = defaultPeriod
	}
	if env.Beat == nil {
		env.Beat = env.Sleep
	}
	return &FS{store: store, env: env, pending: map[string]*file{}, held: map[string]int{}, cache: map[string][]byte{}}
}

// Names of files that are more than objects, or less.
const (
	journalName = "journal"
	newName     = "journal.new"
	lockName    = "lock"
	reserveName = "reserve"
	asidePrefix = "aside-"
)

// object is the name of what a path leads to. What is put aside stays where it is.
func object(name string) string {
	dir, base := path.Split(strings.TrimPrefix(name, "/"))
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	if len(parts) == 2 {
		parts[1] = strings.TrimPrefix(parts[1], asidePrefix)
	}
	return path.Join(append(parts, base)...)
}

// depth is how many folders a path is below the root.
func depth(name string) int {
	if name == "/" {
		return 0
	}
	return strings.Count(name, "/")
}

// isDir tells whether a path is a folder's: all paths down to those of runs are, but for the lock of a job.
func isDir(name string) bool { return depth(name) <= 2 && path.Base(name) != lockName }

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// background is the context of requests: files have none. Every request has its own time limit.
func background() context.Context { return context.Background() }

// create makes an object and finds out what became of it. Bytes that are there and equal are ours: each attempt's lines
// follow on its random bits. Other bytes are vfs.ErrFenced.
func (f *FS) create(name string, data []byte) error {
	var last error
	for try := range tries {
		if try > 0 {
			if err := f.env.Sleep(background(), time.Duration(try)*100*time.Millisecond); err != nil {
				return errors.Join(last, err)
			}
		}
		err := f.store.Create(background(), name, data)
		if err == nil {
			return nil
		}
		there, lookErr := f.store.Get(background(), name)
		switch {
		case lookErr == nil && slices.Equal(there, data):
			return nil
		case lookErr == nil:
			return fmt.Errorf("%s: %w", name, vfs.ErrFenced)
		}
		last = errors.Join(err, lookErr)
	}
	return fmt.Errorf("create %s: it is unknown whether it was made: %w", name, last)
}

// get reads an object that never changes.
func (f *FS) get(name string) ([]byte, error) {
	f.mu.Lock()
	data, ok := f.cache[name]
	f.mu.Unlock()
	if ok {
		return data, nil
	}
	data, err := f.store.Get(background(), name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cache[name] = data
	return data, nil
}

// Claim claims a key for a run.
func (f *FS) Claim(folder string, line []byte, passed func(line []byte) (bool, error)) error {
	for n := 1; ; n++ {
		name := strings.TrimPrefix(fmt.Sprintf("%s/%06d", folder, n), "/")
		err := f.create(name, line)
		if err == nil || !errors.Is(err, vfs.ErrFenced) {
			return err
		}
		theirs, err := f.get(name)
		if err != nil {
			return err
		}
		over, err := passed(theirs)
		if err != nil {
			return err
		}
		if !over {
			return &runstate.ClaimedError{Line: theirs}
		}
	}
}

// Replace writes a file that is only shown.
func (f *FS) Replace(name string, data []byte) error {
	return f.store.Replace(background(), object(name), data)
}

// ErrRefused says that a store cannot keep a state.
var ErrRefused = errors.New("the store does not refuse to create an object that is there: runs could not be kept apart in it")

// Probe fails where the store does not keep two from creating one object, with ErrRefused.
func (f *FS) Probe(name string) error {
	err := f.store.Create(background(), name, []byte("probe 1\n"))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := f.store.Create(background(), name, []byte("probe 2\n")); !errors.Is(err, fs.ErrExist) {
		return errors.Join(ErrRefused, err)
	}
	data, err := f.store.Get(background(), name)
	if err == nil && string(data) != "probe 1\n" {
		err = ErrRefused
	}
	return err
}
