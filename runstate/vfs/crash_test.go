package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

const page = 4096

// outcomes tells what is seen after power losses of one world under many seeds, and how often.
func outcomes(t *testing.T, m *vfs.Mem, see func(m *vfs.Mem) string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(300) {
		c := m.Clone()
		c.Reseed(seed)
		c.PowerLoss()
		seen[see(c)]++
	}
	return seen
}

// wantOutcomes checks that exactly these outcomes occur.
func wantOutcomes(t *testing.T, m *vfs.Mem, see func(m *vfs.Mem) string, want ...string) {
	t.Helper()
	seen := outcomes(t, m, see)
	for _, outcome := range want {
		if seen[outcome] == 0 {
			t.Errorf("%q never happens: %v", outcome, seen)
		}
		delete(seen, outcome)
	}
	if len(seen) > 0 {
		t.Errorf("it also happens: %v", seen)
	}
}

func names(t *testing.T, dirs ...string) func(m *vfs.Mem) string {
	return func(m *vfs.Mem) string {
		var all []string
		for _, dir := range dirs {
			names, err := m.List(dir)
			must(t, err)
			all = append(all, names...)
		}
		return strings.Join(all, " ")
	}
}

// putDurable writes a new file, synced with its name.
func putDurable(t *testing.T, fsys vfs.FS, name, data string) {
	t.Helper()
	must(t, vfs.WriteNew(fsys, name, []byte(data)))
	must(t, fsys.SyncDir(name[:max(1, strings.LastIndexByte(name, '/'))]))
}

func TestPowerLossTakesPagesOneByOne(t *testing.T) {
	m := vfs.NewMem(1)
	f, err := m.Create("/a")
	must(t, err)
	must(t, f.Allocate(8*page))
	must(t, f.Sync())
	must(t, m.SyncDir("/"))
	_, err = f.Write(bytes.Repeat([]byte("x"), 8*page))
	must(t, err)
	seen := outcomes(t, m, func(m *vfs.Mem) string {
		var kept strings.Builder
		data := get(t, m, "/a")
		same(t, len(data), 8*page)
		for i := range 8 {
			switch part := data[i*page : (i+1)*page]; part {
			case strings.Repeat("x", page):
				kept.WriteByte('x')
			case strings.Repeat("\x00", page):
				kept.WriteByte('0')
			default:
				t.Fatalf("page %d is torn", i)
			}
		}
		return kept.String()
	})
	if len(seen) < 50 || seen["xxxxxxxx"] == 0 || seen["00000000"] == 0 {
		t.Errorf("pages are not kept and lost each by itself: %v", seen)
	}
}

func TestPowerLossTakesSizeApartFromContent(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "old")
	f, err := m.OpenAppend("/a")
	must(t, err)
	_, err = f.Write([]byte("new"))
	must(t, err)
	see := func(m *vfs.Mem) string { return get(t, m, "/a") }
	wantOutcomes(t, m, see, "old", "oldnew", "old\x00\x00\x00")
	must(t, f.Sync())
	wantOutcomes(t, m, see, "oldnew")
}

func TestWhatIsBehindALostSizeDoesNotComeBack(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "old")
	f, err := m.OpenAppend("/a")
	must(t, err)
	_, err = f.Write([]byte("ghost"))
	must(t, err)
	for seed := range uint64(50) {
		c := m.Clone()
		c.Reseed(seed)
		c.PowerLoss()
		if get(t, c, "/a") != "old" {
			continue
		}
		f, err := c.OpenAppend("/a")
		must(t, err)
		must(t, f.Allocate(10))
		same(t, get(t, c, "/a"), "old"+strings.Repeat("\x00", 7))
	}
}

func TestWriteBackMayHaveWritten(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "")
	f, err := m.OpenAppend("/a")
	must(t, err)
	_, err = f.Write([]byte("one"))
	must(t, err)
	seen := map[string]bool{}
	for seed := range uint64(50) {
		c := m.Clone()
		c.Reseed(seed)
		f, err := c.OpenAppend("/a")
		must(t, err)
		f.WriteBack(3)
		_, err = f.Write([]byte("two"))
		must(t, err)
		c.LoseUnsynced()
		seen[get(t, c, "/a")] = true
	}
	same(t, seen, map[string]bool{"": true, "one": true})
}

func TestUnsyncedRenameIsTwoEntries(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "x")
	must(t, m.Rename("/a", "/b"))
	wantOutcomes(t, m, names(t, "/"), "a", "b", "a b", "")
	must(t, m.SyncDir("/"))
	wantOutcomes(t, m, names(t, "/"), "b")
}

func TestUnsyncedRenameOverAFileLeavesOldOrNew(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "new")
	putDurable(t, m, "/b", "old")
	must(t, m.Rename("/a", "/b"))
	wantOutcomes(t, m, func(m *vfs.Mem) string { return names(t, "/")(m) + " " + get(t, m, "/b") },
		"a b old", "a b new", "b old", "b new")
}

func TestEntryKeepsAnyValueItHadSinceTheSync(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "1")
	must(t, m.Remove("/a"))
	must(t, vfs.WriteNew(m, "/a", []byte("2")))
	must(t, m.Remove("/a"))
	must(t, vfs.WriteNew(m, "/a", []byte("3")))
	wantOutcomes(t, m, func(m *vfs.Mem) string {
		data, err := vfs.ReadFile(m, "/a")
		if errors.Is(err, fs.ErrNotExist) {
			return "none"
		}
		return string(data)
	}, "1", "2", "3", "none")
}

func TestSyncOfOneDirectoryIsNoSyncOfTheOther(t *testing.T) {
	m := vfs.NewMem(1)
	for _, dir := range []string{"/stage", "/final"} {
		_, err := vfs.MkdirAll(m, dir)
		must(t, err)
	}
	putDurable(t, m, "/stage/staged", "x")
	must(t, m.Link("/stage/staged", "/final/published"))
	must(t, m.Remove("/stage/staged"))
	must(t, m.SyncDir("/stage"))
	wantOutcomes(t, m, names(t, "/stage", "/final"), "published", "")
	must(t, m.SyncDir("/final"))
	wantOutcomes(t, m, names(t, "/stage", "/final"), "published")
}

func TestFileSyncIsNoSyncOfItsName(t *testing.T) {
	m := vfs.NewMem(1)
	must(t, vfs.WriteNew(m, "/a", []byte("x")))
	wantOutcomes(t, m, names(t, "/"), "a", "")
}

func TestNewDirectoryIsLostWithWhatIsInIt(t *testing.T) {
	m := vfs.NewMem(1)
	must(t, m.Mkdir("/d"))
	must(t, m.Mkdir("/d/e"))
	putDurable(t, m, "/d/e/a", "x")
	must(t, m.SyncDir("/d"))
	see := func(m *vfs.Mem) string {
		data, err := vfs.ReadFile(m, "/d/e/a")
		return fmt.Sprint(string(data), errors.Is(err, fs.ErrNotExist))
	}
	wantOutcomes(t, m, see, "xfalse", "true")
	must(t, m.SyncDir("/"))
	wantOutcomes(t, m, see, "xfalse")
}

func TestUnsyncedRenameOfADirectoryLeavesOneOrNone(t *testing.T) {
	m := vfs.NewMem(1)
	_, err := vfs.MkdirAll(m, "/d")
	must(t, err)
	putDurable(t, m, "/d/a", "x")
	must(t, m.Rename("/d", "/e"))
	wantOutcomes(t, m, names(t, "/"), "d", "e", "")
}

func TestAllocatedBytesAreZerosAfterPowerLoss(t *testing.T) {
	m := vfs.NewMem(1)
	f, err := m.Create("/a")
	must(t, err)
	must(t, f.Allocate(page+1))
	must(t, f.Sync())
	must(t, m.SyncDir("/"))
	used := m.Used()
	m.PowerLoss()
	same(t, get(t, m, "/a"), strings.Repeat("\x00", page+1))
	same(t, m.Used(), used)
}

func TestLostAllocationTakesNoSpace(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "")
	empty := m.Used()
	f, err := m.OpenAppend("/a")
	must(t, err)
	must(t, f.Allocate(3*page))
	same(t, m.Used(), empty+3*page)
	m.LoseUnsynced()
	same(t, m.Used(), empty)
}

func TestProcessDeathLeavesWhatWasWritten(t *testing.T) {
	m := vfs.NewMem(1)
	put(t, m, "/a", "x")
	must(t, m.Mkdir("/d"))
	must(t, m.Rename("/a", "/d/b"))
	m.ProcessDeath(true)
	same(t, get(t, m, "/d/b"), "x")
	same(t, names(t, "/")(m), "d")
	m.LoseUnsynced()
	same(t, names(t, "/")(m), "")
}

func TestFailedSyncLosesThePagesThoughTheNextSucceeds(t *testing.T) {
	m := vfs.NewMem(1)
	putDurable(t, m, "/a", "old")
	f, err := m.OpenAppend("/a")
	must(t, err)
	_, err = f.Write([]byte("new"))
	must(t, err)
	m.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpSync {
			return vfs.FailSync(syscall.EIO)
		}
		return vfs.Fault{}
	})
	wantErr(t, f.Sync(), syscall.EIO)
	m.OnOp(nil)
	must(t, f.Sync())
	same(t, get(t, m, "/a"), "oldnew")
	see := func(m *vfs.Mem) string { return get(t, m, "/a") }
	wantOutcomes(t, m, see, "old\x00\x00\x00")

	evicted := m.Clone()
	evicted.Evict()
	same(t, get(t, evicted, "/a"), "old\x00\x00\x00")
	killed := m.Clone()
	killed.ProcessDeath(false)
	same(t, get(t, killed, "/a"), "oldnew")
	killed.ProcessDeath(true)
	same(t, get(t, killed, "/a"), "old\x00\x00\x00")

	_, err = f.Write([]byte("!")) // dirties the page again, and with it what was lost
	must(t, err)
	must(t, f.Sync())
	wantOutcomes(t, m, see, "oldnew!")
}

func TestNothingOpenedBeforeACrashReachesTheWorldAfter(t *testing.T) {
	for name, crash := range map[string]func(m *vfs.Mem){
		"process death": func(m *vfs.Mem) { m.ProcessDeath(false) },
		"power loss":    (*vfs.Mem).PowerLoss,
	} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMem(1)
			p, outside := m.Process(), m.Outside()
			putDurable(t, p, "/a", "x")
			f, err := p.OpenAppend("/a")
			must(t, err)
			g, err := outside.OpenAppend("/a")
			must(t, err)
			held, err := p.Lock("/lock")
			must(t, err)
			must(t, p.SyncDir("/"))
			crash(m)
			_, err = f.Write([]byte("y"))
			wantErr(t, err, vfs.ErrCrashed)
			_, err = g.Write([]byte("y"))
			wantErr(t, err, vfs.ErrCrashed)
			for _, err := range []error{f.Sync(), f.Close(), g.Close(), held.Close(), p.Remove("/a"), p.SyncDir("/")} {
				wantErr(t, err, vfs.ErrCrashed)
			}
			same(t, get(t, m, "/a"), "x")
			same(t, get(t, outside, "/a"), "x")
			again, err := m.Lock("/lock")
			must(t, err)
			wantErr(t, held.Close(), vfs.ErrCrashed)
			_, err = m.Process().Lock("/lock")
			wantErr(t, err, vfs.ErrLocked)
			must(t, again.Close())
		})
	}
}

func TestInodesAreNeverUsedAgain(t *testing.T) {
	m := vfs.NewMem(1)
	seen := map[uint64]bool{}
	for i := range 20 {
		put(t, m, "/a", "x")
		inode := stat(t, m, "/a").Inode
		if seen[inode] {
			t.Fatalf("inode %d came twice", inode)
		}
		seen[inode] = true
		if i%3 == 0 {
			m.LoseUnsynced()
		} else {
			must(t, m.Remove("/a"))
		}
	}
}
