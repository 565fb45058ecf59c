package objects

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// owner is who works on a run, by the number of its object.
type owner struct {
	fsys   *FS
	name   string // path of the lock
	number int

	stop context.CancelFunc
	done chan struct{}
	once sync.Once
}

// beat is what an owner's beat holds. Nobody compares its numbers with anything but what they were before.
type beat struct {
	Count    int    `json:"count"`
	Process  string `json:"process"`
	Released bool   `json:"released,omitempty"`
}

func ownerName(name string, n int) string {
	return fmt.Sprintf("%s/owner/%06d", path.Dir(object(name)), n)
}

// Lock makes this process the owner of a run. It watches the beat of the owner before, as long as that moves or may yet move:
// vfs.ErrLocked if it does. Jobs need no lock: which run a key has is decided by claims.
func (f *FS) Lock(name string) (vfs.Locked, error) {
	if depth(name) != 3 || path.Base(name) != lockName {
		return noLock{}, nil
	}
	f.mu.Lock()
	_, mine := f.held[name]
	f.mu.Unlock()
	if mine {
		return nil, pathError("lock", name, vfs.ErrLocked)
	}
	last, err := f.lastOwner(name)
	if err != nil {
		return nil, err
	}
	if last > 0 {
		if err := f.watch(name, last); err != nil {
			return nil, pathError("lock", name, err)
		}
	}
	o := &owner{fsys: f, name: name, number: last + 1, done: make(chan struct{})}
	var id [16]byte
	if _, err := io.ReadFull(f.env.Random, id[:]); err != nil {
		return nil, err
	}
	process := hex.EncodeToString(id[:])
	err = f.create(ownerName(name, o.number), []byte(process+"\n"))
	if errors.Is(err, vfs.ErrFenced) {
		return nil, pathError("lock", name, vfs.ErrLocked)
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.held[name] = o.number
	f.mu.Unlock()
	ctx, stop := context.WithCancel(background())
	o.stop = stop
	o.write(beat{Count: 1, Process: process})
	go o.beats(ctx, process)
	return o, nil
}

// lastOwner is the number of the last owner, 0 if there was none.
func (f *FS) lastOwner(name string) (last int, err error) {
	names, err := f.store.List(background(), path.Dir(object(name))+"/owner")
	for _, n := range names {
		k, bad := strconv.Atoi(n)
		if bad == nil {
			last = max(last, k)
		}
	}
	return last, err
}

// watch waits until the beat of an owner has stood still for long enough, or was released. One that moves is vfs.ErrLocked.
func (f *FS) watch(name string, number int) error {
	first, err := f.beatOf(name, number)
	if err != nil || first.Released {
		return err
	}
	most := still * f.env.Period
	if f.env.Watch != nil {
		f.env.Watch(path.Base(path.Dir(name)), most)
	}
	for begin := f.env.Now(); f.env.Now().Sub(begin) < most; {
		if err := f.env.Sleep(background(), f.env.Period/2); err != nil {
			return err
		}
		now, err := f.beatOf(name, number)
		switch {
		case err != nil:
			return err
		case now.Released:
			return nil
		case now != first:
			return vfs.ErrLocked
		}
	}
	return nil
}

// beatOf reads a beat. An owner that has not beaten yet is one that stands still.
func (f *FS) beatOf(name string, number int) (b beat, err error) {
	data, err := f.store.Get(background(), ownerName(name, number)+".beat")
	if errors.Is(err, fs.ErrNotExist) {
		return beat{}, nil
	}
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(data, &b)
}

// beats renews the beat until the lock is given back. One that cannot be renewed is tried again: whoever takes the run over
// meanwhile fences this process.
func (o *owner) beats(ctx context.Context, process string) {
	defer close(o.done)
	for n := 2; ; n++ {
		if o.fsys.env.Beat(ctx, o.fsys.env.Period) != nil {
			o.write(beat{Count: n, Process: process, Released: true})
			return
		}
		o.write(beat{Count: n, Process: process})
	}
}

func (o *owner) write(b beat) {
	data, err := json.Marshal(b)
	if err == nil {
		ctx, cancel := context.WithTimeout(background(), max(o.fsys.env.Period, time.Second))
		defer cancel()
		_ = o.fsys.store.Replace(ctx, ownerName(o.name, o.number)+".beat", append(data, '\n')) // others wait longer then
	}
}

// Close gives the lock back, so that the next process need not wait.
func (o *owner) Close() error {
	o.once.Do(func() {
		o.stop()
		<-o.done
		o.fsys.mu.Lock()
		defer o.fsys.mu.Unlock()
		delete(o.fsys.held, o.name)
	})
	return nil
}

func (o *owner) Stat() (vfs.Info, error) {
	return vfs.Info{Device: 1, Inode: inode(o.name, o.number), Regular: true, Links: 1}, nil
}

// statLock describes the lock that stands. Where this process has it and another one has taken it, it is fenced.
func (f *FS) statLock(name string) (vfs.Info, error) {
	if depth(name) != 3 {
		return noLock{}.Stat()
	}
	f.mu.Lock()
	mine, held := f.held[name]
	f.mu.Unlock()
	last, err := f.lastOwner(name)
	switch {
	case err != nil:
		return vfs.Info{}, err
	case held && last != mine:
		return vfs.Info{}, pathError("stat", name, vfs.ErrFenced)
	case last == 0:
		return vfs.Info{}, pathError("stat", name, fs.ErrNotExist)
	}
	return vfs.Info{Device: 1, Inode: inode(name, last), Regular: true, Links: 1}, nil
}

// noLock is a lock that keeps nobody out.
type noLock struct{}

func (noLock) Close() error            { return nil }
func (noLock) Stat() (vfs.Info, error) { return vfs.Info{Device: 1, Inode: 1, Regular: true}, nil }
