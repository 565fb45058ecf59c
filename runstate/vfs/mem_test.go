package vfs_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

func TestCapacity(t *testing.T) {
	m := vfs.NewMem(1)
	must(t, m.Mkdir("/d"))
	f, err := m.Create("/a")
	must(t, err)
	empty := m.Used()
	m.SetCapacity(empty + 2*page)
	n, err := f.Write([]byte(strings.Repeat("x", 3*page)))
	wantErr(t, err, syscall.ENOSPC)
	same(t, n, 2*page)
	same(t, m.Used(), empty+2*page)
	_, err = m.Create("/b")
	wantErr(t, err, syscall.ENOSPC)
	wantErr(t, m.Mkdir("/b"), syscall.ENOSPC)
	_, err = m.Lock("/lock")
	wantErr(t, err, syscall.ENOSPC)
	wantErr(t, f.Allocate(2*page+1), syscall.ENOSPC)
	must(t, m.Link("/a", "/d/a"))
	must(t, m.Remove("/a"))
	must(t, m.Remove("/d/a"))
	same(t, m.Used(), empty+2*page) // it is still open
	must(t, f.Close())
	put(t, m, "/b", "x")
	must(t, m.Remove("/b"))

	f, err = m.Create("/c")
	must(t, err)
	must(t, f.Allocate(2*page))
	m.SetCapacity(m.Used())
	_, err = f.Write([]byte(strings.Repeat("x", 2*page)))
	must(t, err)
	_, err = f.Write([]byte("x"))
	wantErr(t, err, syscall.ENOSPC)
	m.SetCapacity(-1)
	_, err = f.Write([]byte("x"))
	must(t, err)
	must(t, f.Close())
	must(t, m.Remove("/c"))
	used := m.Used()
	m.ProcessDeath(true)
	same(t, m.Used(), used)
}

func TestVolumes(t *testing.T) {
	m := vfs.NewMem(1)
	must(t, m.Mount("/mnt/vol"))
	put(t, m, "/a", "x")
	if stat(t, m, "/mnt/vol").Device == stat(t, m, "/").Device {
		t.Error("one device")
	}
	wantErr(t, m.Link("/a", "/mnt/vol/a"), syscall.EXDEV)
	wantErr(t, m.Rename("/a", "/mnt/vol/a"), syscall.EXDEV)
	wantErr(t, m.RenameNoReplace("/a", "/mnt/vol/a"), syscall.EXDEV)
	wantErr(t, m.Remove("/mnt/vol"), syscall.EBUSY)
	wantErr(t, m.Rename("/mnt/vol", "/mnt/other"), syscall.EBUSY)
	must(t, m.Mkdir("/mnt/vol/d"))
	putDurable(t, m, "/mnt/vol/d/a", "y")
	must(t, m.SyncDir("/mnt/vol"))
	must(t, m.Link("/mnt/vol/d/a", "/mnt/vol/b"))
	must(t, m.SyncDir("/mnt/vol"))

	must(t, m.Unmount("/mnt/vol"))
	same(t, names(t, "/mnt/vol")(m), "")
	if m.Unmount("/mnt/vol") == nil {
		t.Error("unmounted twice")
	}
	m.LoseUnsynced()
	must(t, m.Mount("/mnt/vol"))
	same(t, names(t, "/mnt/vol", "/mnt/vol/d")(m), "b d a")
	same(t, stat(t, m, "/mnt/vol/b").Links, 2)
	same(t, get(t, m.Clone(), "/mnt/vol/d/a"), "y")
	if m.Mount("/mnt/vol/b") == nil {
		t.Error("mounted on a file")
	}
}

func TestWhatAFileSystemLacks(t *testing.T) {
	m := vfs.NewMem(1)
	for _, dir := range []string{"/no", "/nominally"} {
		must(t, m.Mkdir(dir))
	}
	put(t, m, "/a", "x")
	m.NoLink("/no")
	m.NoRenameNoReplace("/no")
	m.SetKind("/no", "fuse")
	wantErr(t, m.Link("/a", "/no/a"), syscall.EPERM)
	wantErr(t, m.RenameNoReplace("/a", "/no/a"), vfs.ErrUnsupported)
	must(t, m.Link("/a", "/nominally/a"))
	must(t, m.RenameNoReplace("/a", "/nominally/b"))
	for name, want := range map[string]string{"/no": "fuse", "/no/x/y": "fuse", "/nominally": "ext4", "/": "ext4"} {
		kind, err := m.Kind(name)
		must(t, err)
		same(t, kind, want)
	}
}

func TestPathsMustBeAbsoluteAndClean(t *testing.T) {
	m := vfs.NewMem(1)
	for _, name := range []string{"", "a", "/a/", "/./a", "//a", "/b/../a"} {
		_, err := m.Create(name)
		wantErr(t, err, syscall.EINVAL)
	}
}

func TestRootIsThere(t *testing.T) {
	m := vfs.NewMem(1)
	same(t, stat(t, m, "/").Dir, true)
	must(t, m.SyncDir("/"))
	wantErr(t, m.Mkdir("/"), fs.ErrExist)
	wantErr(t, m.Remove("/"), syscall.EBUSY)
	wantErr(t, m.Rename("/", "/a"), syscall.EBUSY)
}

func TestClock(t *testing.T) {
	m := vfs.NewMem(1)
	put(t, m, "/a", "x")
	put(t, m, "/b", "x")
	a, b := stat(t, m, "/a"), stat(t, m, "/b")
	same(t, b.ModTime.Sub(a.ModTime), 3*time.Millisecond)

	m = vfs.NewMem(1)
	now := time.Date(2027, 1, 2, 3, 4, 5, 6, time.UTC)
	m.Now = func() time.Time { return now }
	put(t, m, "/a", "x")
	now = now.Add(time.Hour)
	must(t, m.Link("/a", "/b"))
	info := stat(t, m, "/a")
	same(t, info.ModTime, now.Add(-time.Hour))
	same(t, info.Change, now)
	same(t, stat(t, m, "/").ModTime, now)
}

func TestBytesRead(t *testing.T) {
	m := vfs.NewMem(1)
	put(t, m, "/a", strings.Repeat("x", 5000))
	_ = get(t, m, "/a")
	f, err := m.Open("/a")
	must(t, err)
	_, err = f.ReadAt(make([]byte, 100), 4950)
	if err == nil {
		t.Error("no end of file")
	}
	same(t, m.BytesRead("/a"), 5050)
	same(t, m.BytesRead("/b"), 0)
}

func TestCloneIsIndependent(t *testing.T) {
	m := vfs.NewMem(7)
	putDurable(t, m, "/a", "one")
	must(t, m.Link("/a", "/b"))
	f, err := m.OpenAppend("/a")
	must(t, err)
	_, err = f.Write([]byte("two"))
	must(t, err)
	_, err = m.Lock("/b")
	must(t, err)

	c := m.Clone()
	same(t, c.Ops(), m.Ops())
	same(t, len(c.Log()), len(m.Log()))
	_, err = c.Lock("/b")
	must(t, err)
	g, err := c.OpenAppend("/b")
	must(t, err)
	_, err = g.Write([]byte("-clone"))
	must(t, err)
	_, err = f.Write([]byte("-three"))
	must(t, err)
	same(t, get(t, m, "/b"), "onetwo-three")
	same(t, get(t, c, "/a"), "onetwo-clone")
	must(t, m.Remove("/a"))
	same(t, stat(t, c, "/a").Links, 2)
	same(t, stat(t, c, "/a").Inode, stat(t, m, "/b").Inode)
	c.LoseUnsynced()
	same(t, names(t, "/")(c)+get(t, c, "/a"), "aone")
}

func TestSameSeedSameLoss(t *testing.T) {
	loss := func(seed uint64) string {
		m := vfs.NewMem(seed)
		for _, name := range strings.Split("abcdefghijklmnop", "") {
			put(t, m, "/"+name, "x")
		}
		c := m.Clone()
		m.PowerLoss()
		c.PowerLoss()
		same(t, names(t, "/")(c), names(t, "/")(m))
		return names(t, "/")(m)
	}
	all := map[string]bool{}
	for seed := range uint64(20) {
		same(t, loss(seed), loss(seed))
		all[loss(seed)] = true
	}
	if len(all) < 5 {
		t.Errorf("the seed hardly matters: %v", all)
	}
}

func BenchmarkNewMem(b *testing.B) {
	for b.Loop() {
		vfs.NewMem(1)
	}
}

func BenchmarkJournal(b *testing.B) {
	m := vfs.NewMem(1)
	f, err := m.Create("/journal")
	must(b, err)
	record := []byte(strings.Repeat("x", 500))
	for b.Loop() {
		_, err := f.Write(record)
		must(b, errors.Join(err, f.Sync()))
	}
}

func BenchmarkClone(b *testing.B) {
	m := vfs.NewMem(1)
	put(b, m, "/a", strings.Repeat("x", 4<<20))
	for b.Loop() {
		m.Clone()
	}
}
