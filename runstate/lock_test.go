package runstate_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// chained makes lines with checksums that are right.
func chained(lines ...string) []byte {
	var b []byte
	sum := uint32(0)
	for _, line := range lines {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), []byte(line))
		b = fmt.Appendf(b, "%08x %s\n", sum, line)
	}
	return b
}

func TestLock(t *testing.T) {
	m := machine(t)
	a, b := m.Process(), m.Process()
	first, err := runstate.TakeLock(a, dir)
	ok(t, err)
	ok(t, first.StillHere())
	for _, p := range []*vfs.Process{a, b} {
		if _, err := runstate.TakeLock(p, dir); !errors.Is(err, vfs.ErrLocked) {
			t.Fatal(err)
		}
	}
	ok(t, first.Release())
	second, err := runstate.TakeLock(b, dir)
	ok(t, err)
	a.Kill()
	ok(t, second.StillHere())
	b.Kill() // the kernel frees it
	third, err := runstate.TakeLock(m, dir)
	ok(t, err)
	ok(t, third.Release())
	if _, err := runstate.TakeLock(m, "/nowhere"); err == nil {
		t.Fatal("a lock in a folder that is not there")
	}
}

// TestReplacedFolder: lock and journal notice that their paths lead elsewhere by now, or nowhere.
func TestReplacedFolder(t *testing.T) {
	for _, remade := range []bool{false, true} {
		m := machine(t)
		owner := m.Process()
		lock, err := runstate.TakeLock(owner, dir)
		ok(t, err)
		j := tell(t, owner, reading)
		ok(t, j.StillHere())
		out := m.Outside()
		for _, name := range []string{"journal", "lock", "reserve"} {
			ok(t, out.Remove(dir+"/"+name))
		}
		ok(t, out.Remove(dir))
		if remade {
			ok(t, out.Mkdir(dir))
			other, err := runstate.TakeLock(m.Process(), dir)
			ok(t, err)
			ok(t, tell(t, m, reading).Close())
			defer func() { ok(t, other.Release()) }()
		}
		if err := lock.StillHere(); !errors.Is(err, runstate.ErrReplaced) {
			t.Fatalf("remade %v: lock: %v", remade, err)
		}
		if err := j.StillHere(); !errors.Is(err, runstate.ErrReplaced) {
			t.Fatalf("remade %v: journal: %v", remade, err)
		}
		ok(t, j.Close())
		ok(t, lock.Release())
	}
}

// TestLockOfAFolderThatGoes: the folder is removed between the lock and the look at it.
func TestLockOfAFolderThatGoes(t *testing.T) {
	m := machine(t)
	m.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpStat && strings.HasSuffix(op.Path, "/lock") {
			_ = m.Outside().Remove(dir + "/lock") // the second time it is gone
		}
		return vfs.Fault{}
	})
	if _, err := runstate.TakeLock(m, dir); !errors.Is(err, runstate.ErrReplaced) {
		t.Fatal(err)
	}
}

func TestHomeOnANetwork(t *testing.T) {
	m := machine(t)
	ok(t, runstate.CheckHome(m, dir))
	ok(t, runstate.CheckHome(m, "/not/there/yet"))
	for kind, name := range map[string]string{"nfs": "NFS", "smb": "SMB", "9p": "9P", "afs": "AFS"} {
		m.SetKind(dir, kind)
		for _, at := range []string{dir, dir + "/below/not/yet"} {
			if err := runstate.CheckHome(m, at); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "--state") {
				t.Fatalf("%s: %v", at, err)
			}
		}
	}
	for _, kind := range []string{"ext4", "tmpfs", "0x1234"} {
		m.SetKind(dir, kind)
		ok(t, runstate.CheckHome(m, dir))
	}
}
