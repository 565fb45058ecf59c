package vfs_test

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// onNext makes a fault of the next operation of a name.
func onNext(m *vfs.Mem, name string, fault vfs.Fault) {
	done := false
	m.OnOp(func(op vfs.Op) vfs.Fault {
		if done || op.Name != name {
			return vfs.Fault{}
		}
		done = true
		return fault
	})
}

func TestDieAtKillsOnlyTheProcessThatMakesTheOperation(t *testing.T) {
	m := vfs.NewMem(1)
	p, other := m.Process(), m.Process()
	_, err := p.Lock("/lock") // 1
	must(t, err)
	_, err = p.Stat("/")
	must(t, err)
	m.OnOp(vfs.DieAt(3))
	must(t, p.Mkdir("/a")) // 2
	wantErr(t, p.Mkdir("/b"), vfs.ErrCrashed)
	wantErr(t, p.Mkdir("/c"), vfs.ErrCrashed)
	_, err = p.Stat("/")
	wantErr(t, err, vfs.ErrCrashed)
	same(t, m.Ops(), 3)
	same(t, m.Reads(), 1)
	same(t, names(t, "/")(m), "a lock")
	_, err = other.Lock("/lock")
	must(t, err)
}

func TestKillFreesWhatTheProcessHeld(t *testing.T) {
	m := vfs.NewMem(1)
	p, other := m.Process(), m.Process()
	empty := m.Used()
	_, err := p.Lock("/a")
	must(t, err)
	_, err = other.Lock("/a")
	wantErr(t, err, vfs.ErrLocked)
	must(t, other.Remove("/a"))
	p.Kill()
	same(t, m.Used(), empty)
	must(t, other.Mkdir("/d"))
	wantErr(t, p.Mkdir("/e"), vfs.ErrCrashed)
}

func TestFailures(t *testing.T) {
	m := vfs.NewMem(1)
	onNext(m, vfs.OpMkdir, vfs.Fail(syscall.EACCES))
	err := m.Mkdir("/d")
	wantErr(t, err, fs.ErrPermission)
	same(t, err.Error(), "mkdir /d: permission denied")
	same(t, names(t, "/")(m), "")

	onNext(m, vfs.OpCreate, vfs.FailAfter(syscall.EIO))
	_, err = m.Create("/a")
	wantErr(t, err, syscall.EIO)
	onNext(m, vfs.OpLink, vfs.FailAfter(fs.ErrExist))
	err = m.Link("/a", "/b")
	wantErr(t, err, fs.ErrExist)
	if _, ok := err.(*os.LinkError); !ok {
		t.Errorf("%T is no LinkError", err)
	}
	onNext(m, vfs.OpLock, vfs.FailAfter(syscall.EIO))
	_, err = m.Lock("/a")
	wantErr(t, err, syscall.EIO)
	held, err := m.Lock("/a")
	must(t, err)
	onNext(m, vfs.OpUnlock, vfs.Fail(syscall.EIO))
	wantErr(t, held.Close(), syscall.EIO)
	_, err = m.Lock("/a")
	must(t, err)
	same(t, names(t, "/")(m), "a b")
}

func TestFailedWrites(t *testing.T) {
	for name, c := range map[string]struct {
		fault vfs.Fault
		n     int
		err   error
		want  string
	}{
		"fail":  {vfs.Fail(syscall.EIO), 0, syscall.EIO, ""},
		"short": {vfs.ShortWrite(2, io.ErrShortWrite), 2, io.ErrShortWrite, "ab"},
		"after": {vfs.FailAfter(syscall.EIO), 4, syscall.EIO, "abcd"},
		"die":   {vfs.DieWriting(3), 0, vfs.ErrCrashed, "abc"},
		"dead":  {vfs.Die(), 0, vfs.ErrCrashed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMem(1)
			f, err := m.Create("/a")
			must(t, err)
			onNext(m, vfs.OpWrite, c.fault)
			n, err := f.Write([]byte("abcd"))
			wantErr(t, err, c.err)
			same(t, n, c.n)
			same(t, get(t, m.Outside(), "/a"), c.want)
			_, err = m.Stat("/a")
			if dead := c.err == vfs.ErrCrashed; dead != (err != nil) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestFailedCloseHasClosed(t *testing.T) {
	m := vfs.NewMem(1)
	f, err := m.Create("/a")
	must(t, err)
	onNext(m, vfs.OpClose, vfs.Fail(syscall.EIO))
	wantErr(t, f.Close(), syscall.EIO)
	wantErr(t, f.Close(), fs.ErrClosed)
}

func TestFailedSyncOfADirectorySyncsNothing(t *testing.T) {
	m := vfs.NewMem(1)
	must(t, m.Mkdir("/d"))
	onNext(m, vfs.OpSyncDir, vfs.FailSync(syscall.EIO))
	wantErr(t, m.SyncDir("/"), syscall.EIO)
	m.LoseUnsynced()
	same(t, names(t, "/")(m), "")
}

func TestLogTellsTheOrder(t *testing.T) {
	m := vfs.NewMem(1)
	must(t, vfs.WriteNew(m, "/a", []byte("abc")))
	must(t, m.Link("/a", "/b"))
	must(t, m.SyncDir("/"))
	_ = m.Mkdir("/a")
	var got []string
	for _, done := range m.Log() {
		line := done.Name + " " + done.Path
		if done.Err != nil {
			line += ": failed"
		}
		got = append(got, line)
	}
	same(t, got, []string{"create /a", "write /a", "sync /a", "link /a", "syncdir /", "mkdir /a: failed"})
	same(t, m.Log()[1].Op, vfs.Op{N: 2, Name: vfs.OpWrite, Path: "/a", Bytes: 3})
	same(t, m.Log()[3].Op, vfs.Op{N: 4, Name: vfs.OpLink, Path: "/a", Path2: "/b"})
}

// A plan may look at and change the world from outside, clone and crash it.
func TestPlanMayInterfere(t *testing.T) {
	m := vfs.NewMem(1)
	outside := m.Outside()
	var worlds []*vfs.Mem
	m.OnOp(func(op vfs.Op) vfs.Fault {
		worlds = append(worlds, m.Clone())
		if op.Name == vfs.OpLink {
			put(t, outside, "/b", "foreign")
		}
		if op.Name == vfs.OpRemove {
			m.ProcessDeath(false)
		}
		return vfs.Fault{}
	})
	put(t, m, "/a", "x")
	wantErr(t, m.Link("/a", "/b"), fs.ErrExist)
	wantErr(t, m.Remove("/a"), vfs.ErrCrashed)
	m.OnOp(nil)
	same(t, names(t, "/")(m), "a b")
	same(t, len(worlds), 5) // create, write, close, link, remove
	same(t, names(t, "/")(worlds[0]), "")
	same(t, get(t, worlds[1], "/a"), "")
	same(t, get(t, worlds[2], "/a"), "x")
}

func TestOperationsOfManyGoroutinesAreOneAfterAnother(t *testing.T) {
	m := vfs.NewMem(1)
	die, inside := vfs.DieAt(100), false
	m.OnOp(func(op vfs.Op) vfs.Fault {
		if inside {
			t.Error("two operations at once")
		}
		inside = true
		runtime.Gosched()
		inside = false
		return die(op)
	})
	p := m.Process()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 100 {
				_ = vfs.WriteNew(p, "/"+string(rune('a'+i))+string(rune('0'+j)), []byte("x"))
			}
		})
	}
	group.Wait()
	same(t, m.Ops(), 100)
	same(t, len(m.Log()), 99)
}
