package vfs_test

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

func TestLockIsExclusive(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		held, err := w.Lock(w.at("lock"))
		must(t, err)
		info, err := held.Stat()
		must(t, err)
		if !info.Same(stat(t, w, w.at("lock"))) {
			t.Fatal("the lock is not on the file that was named")
		}
		_, err = w.Lock(w.at("lock"))
		wantErr(t, err, vfs.ErrLocked)
		must(t, held.Close())
		wantErr(t, held.Close(), fs.ErrClosed)
		again, err := w.Lock(w.at("lock"))
		must(t, err)
		must(t, again.Close())
		_, err = w.Lock(w.at("none/lock"))
		wantErr(t, err, fs.ErrNotExist)
		_, err = w.Lock(w.dir)
		wantErr(t, err, syscall.EISDIR)
	})
}

func TestLockIsOfTheFileAndNotOfTheName(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		first, err := w.Lock(w.at("lock"))
		must(t, err)
		must(t, w.Link(w.at("lock"), w.at("second name")))
		_, err = w.Lock(w.at("second name"))
		wantErr(t, err, vfs.ErrLocked)
		put(t, w, w.at("new"), "")
		must(t, w.Rename(w.at("new"), w.at("lock")))
		second, err := w.Lock(w.at("lock"))
		must(t, err)
		info, err := first.Stat()
		must(t, err)
		if info.Same(stat(t, w, w.at("lock"))) {
			t.Error("the first lock seems to be on the new file")
		}
		must(t, first.Close())
		_, err = w.Lock(w.at("lock"))
		wantErr(t, err, vfs.ErrLocked)
		must(t, second.Close())
	})
}

// A holder that removes the lock file before it unlocks must not let two others in, one on the old file and one on a new.
func TestLockExcludesWhileItsFileIsRemoved(t *testing.T) {
	eachFS(t, func(t *testing.T, w world) {
		var inside sync.Mutex
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 200 {
					held, err := w.Lock(w.at("lock"))
					if err != nil {
						continue
					}
					if !inside.TryLock() {
						t.Error("two have the lock")
						return
					}
					if _, err := w.Stat(w.at("lock")); err != nil {
						t.Error(err)
					}
					inside.Unlock()
					if err := w.Remove(w.at("lock")); err != nil {
						t.Error(err)
					}
					if err := held.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
	})
}

const lockEnv = "VFS_TEST_LOCK"

// TestLockHelper is the process that TestKilledProcessLosesItsLock kills.
func TestLockHelper(t *testing.T) {
	name := os.Getenv(lockEnv)
	if name == "" {
		return
	}
	_, err := vfs.OS().Lock(name)
	fmt.Println("locked", err)
	select {}
}

func TestKilledProcessLosesItsLock(t *testing.T) {
	name := t.TempDir() + "/lock"
	child := exec.Command(os.Args[0], "-test.run=^TestLockHelper$")
	child.Env = append(os.Environ(), lockEnv+"="+name)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	same(t, line, "locked <nil>\n")
	_, err = vfs.OS().Lock(name)
	wantErr(t, err, vfs.ErrLocked)
	must(t, child.Process.Kill())
	_ = child.Wait() // it was killed: an error is what it has to answer
	held, err := vfs.OS().Lock(name)
	must(t, err)
	must(t, held.Close())
}
