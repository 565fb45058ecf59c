package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/clinkctl/clinkctl/runstate/vfs"
	"pgregory.net/rapid"
)

// model is what a program may rely on: it knows of each entry the values that it may have after a power loss, and of each
// file which bytes were written and how many of them were synced. It knows nothing of pages.
type model struct {
	m       *vfs.Mem
	entries map[string]map[string][]uint64 // of each directory, the inodes a name may have; the last is the visible one
	files   map[uint64]*modelFile
	inodes  map[uint64]bool // all that there ever were
	next    byte
}

type modelFile struct {
	written []byte // zeros where it was allocated only
	synced  int    // so many bytes are on disk as written
	size    int    // the size that is on disk at least
	offset  int    // of the handle that created it
	file    vfs.File
}

var modelDirs = []string{"/", "/d", "/d/e"}

func TestPowerLossTakesNothingSyncedAndInventsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := vfs.NewMem(rapid.Uint64().Draw(t, "seed"))
		s := &model{m: m, entries: map[string]map[string][]uint64{}, files: map[uint64]*modelFile{}, inodes: map[uint64]bool{}}
		if _, err := vfs.MkdirAll(m, "/d/e"); err != nil {
			t.Fatal(err)
		}
		for _, dir := range modelDirs {
			s.entries[dir] = map[string][]uint64{}
		}
		t.Repeat(map[string]func(*rapid.T){
			"":             s.check,
			"create":       s.create,
			"write":        s.write,
			"allocate":     s.allocate,
			"sync":         s.sync,
			"writeback":    s.writeBack,
			"syncdir":      s.syncDir,
			"link":         s.link,
			"rename":       s.rename,
			"remove":       s.remove,
			"power loss":   s.powerLoss,
			"processdeath": s.processDeath,
			"clone":        s.clone,
		})
	})
}

func (s *model) name(t *rapid.T, label string) (dir, base string) {
	return rapid.SampledFrom(modelDirs).Draw(t, label+" dir"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, label)
}

func (s *model) visible(dir, base string) uint64 {
	values := s.entries[dir][base]
	if len(values) == 0 {
		return 0
	}
	return values[len(values)-1]
}

func (s *model) set(dir, base string, inode uint64) {
	if len(s.entries[dir][base]) == 0 {
		s.entries[dir][base] = []uint64{0}
	}
	s.entries[dir][base] = append(s.entries[dir][base], inode)
}

// some draws a file that has a name.
func (s *model) some(t *rapid.T) *modelFile {
	dir, base := s.name(t, "file")
	f := s.files[s.visible(dir, base)]
	if f == nil {
		t.Skip("no such file")
	}
	if f.file == nil {
		file, err := s.m.OpenAppend(path.Join(dir, base))
		if err != nil {
			t.Fatal(err)
		}
		f.file, f.offset = file, -1
	}
	return f
}

func (s *model) create(t *rapid.T) {
	dir, base := s.name(t, "new")
	file, err := s.m.Create(path.Join(dir, base))
	if s.visible(dir, base) != 0 {
		if !errors.Is(err, fs.ErrExist) {
			t.Fatalf("created over a file: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil || s.inodes[info.Inode] {
		t.Fatalf("inode %d came again, or %v", info.Inode, err)
	}
	s.inodes[info.Inode] = true
	s.files[info.Inode] = &modelFile{file: file}
	s.set(dir, base, info.Inode)
}

func (s *model) write(t *rapid.T) {
	f := s.some(t)
	data := make([]byte, rapid.OneOf(rapid.IntRange(1, 10), rapid.IntRange(1, 3*page)).Draw(t, "bytes"))
	for i := range data {
		s.next = s.next%255 + 1
		data[i] = s.next
	}
	if _, err := f.file.Write(data); err != nil {
		t.Fatal(err)
	}
	at := f.offset
	if at < 0 {
		at = len(f.written)
	} else {
		f.offset += len(data)
	}
	f.synced = min(f.synced, at)
	end := max(len(f.written), at+len(data))
	f.written = append(f.written, make([]byte, end-len(f.written))...)
	copy(f.written[at:], data)
}

func (s *model) allocate(t *rapid.T) {
	f := s.some(t)
	size := rapid.IntRange(1, 4*page).Draw(t, "size")
	if err := f.file.Allocate(int64(size)); err != nil {
		t.Fatal(err)
	}
	if size > len(f.written) {
		f.written = append(f.written, make([]byte, size-len(f.written))...)
	}
}

func (s *model) sync(t *rapid.T) {
	f := s.some(t)
	if err := f.file.Sync(); err != nil {
		t.Fatal(err)
	}
	f.synced, f.size = len(f.written), len(f.written)
}

func (s *model) writeBack(t *rapid.T) {
	s.some(t).file.WriteBack(rapid.Int64Range(0, 4*page).Draw(t, "end"))
}

func (s *model) syncDir(t *rapid.T) {
	dir := rapid.SampledFrom(modelDirs).Draw(t, "dir")
	if err := s.m.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	for base, values := range s.entries[dir] {
		s.entries[dir][base] = values[len(values)-1:]
	}
}

func (s *model) link(t *rapid.T) {
	dir, base := s.name(t, "old")
	newDir, newBase := s.name(t, "new")
	err := s.m.Link(path.Join(dir, base), path.Join(newDir, newBase))
	from, to := s.visible(dir, base), s.visible(newDir, newBase)
	if want := from != 0 && to == 0; want != (err == nil) {
		t.Fatalf("link of %d onto %d: %v", from, to, err)
	}
	if err == nil {
		s.set(newDir, newBase, from)
	}
}

func (s *model) rename(t *rapid.T) {
	dir, base := s.name(t, "old")
	newDir, newBase := s.name(t, "new")
	replace := rapid.Bool().Draw(t, "replace")
	call := s.m.RenameNoReplace
	if replace {
		call = s.m.Rename
	}
	err := call(path.Join(dir, base), path.Join(newDir, newBase))
	from, to := s.visible(dir, base), s.visible(newDir, newBase)
	if want := from != 0 && (replace || to == 0); want != (err == nil) {
		t.Fatalf("rename of %d onto %d, replacing %v: %v", from, to, replace, err)
	}
	if err == nil && from != to {
		s.set(newDir, newBase, from)
		s.set(dir, base, 0)
	}
}

func (s *model) remove(t *rapid.T) {
	dir, base := s.name(t, "file")
	err := s.m.Remove(path.Join(dir, base))
	if there := s.visible(dir, base) != 0; there != (err == nil) {
		t.Fatalf("remove: %v", err)
	}
	if err == nil {
		s.set(dir, base, 0)
	}
}

// check is that what is visible is what was done.
func (s *model) check(t *rapid.T) {
	for _, dir := range modelDirs {
		want := []string{}
		for base := range s.entries[dir] {
			if s.visible(dir, base) != 0 {
				want = append(want, base)
			}
		}
		slices.Sort(want)
		if got := s.list(t, dir); !slices.Equal(got, want) {
			t.Fatalf("%s has %q, want %q", dir, got, want)
		}
		for _, base := range want {
			inode, data := s.read(t, path.Join(dir, base))
			if inode != s.visible(dir, base) || string(data) != string(s.files[inode].written) {
				t.Fatalf("%s in %s is inode %d with %d bytes, not as it was written", base, dir, inode, len(data))
			}
		}
	}
}

// list leaves out the directories.
func (s *model) list(t *rapid.T, dir string) []string {
	names, err := s.m.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "d" || name == "e" })
}

func (s *model) read(t *rapid.T, name string) (inode uint64, data []byte) {
	info, err := s.m.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err = vfs.ReadFile(s.m, name)
	if err != nil || int64(len(data)) != info.Size {
		t.Fatalf("%s of size %d: %d bytes, %v", name, info.Size, len(data), err)
	}
	return info.Inode, data
}

func (s *model) powerLoss(t *rapid.T) {
	if rapid.Bool().Draw(t, "all") {
		s.m.LoseUnsynced()
	} else {
		s.m.PowerLoss()
	}
	for _, f := range s.files {
		f.file = nil
	}
	for _, dir := range modelDirs {
		s.entriesAfter(t, dir)
	}
}

// entriesAfter checks a directory after a power loss, and takes over what it has.
func (s *model) entriesAfter(t *rapid.T, dir string) {
	now := map[string]uint64{}
	for _, base := range s.list(t, dir) {
		inode, data := s.read(t, path.Join(dir, base))
		now[base] = inode
		if err := s.files[inode].after(data); err != nil {
			t.Fatalf("%s: %v", path.Join(dir, base), err)
		}
	}
	for base, values := range s.entries[dir] {
		if !slices.Contains(values, now[base]) {
			t.Fatalf("%s in %s is inode %d, none of %v", base, dir, now[base], values)
		}
		delete(s.entries[dir], base)
	}
	for base, inode := range now {
		s.entries[dir][base] = []uint64{inode}
	}
}

// after checks what a power loss has left of a file, and takes it over.
func (f *modelFile) after(data []byte) error {
	if len(data) < f.size || len(data) > len(f.written) {
		return fmt.Errorf("size is %d, of %d that were written and %d that were synced", len(data), len(f.written), f.size)
	}
	for i, b := range data {
		if b != f.written[i] && (i < f.synced || b != 0) {
			return fmt.Errorf("byte %d is %d, written was %d; %d bytes were synced", i, b, f.written[i], f.synced)
		}
	}
	*f = modelFile{written: data, synced: len(data), size: len(data)}
	return nil
}

func (s *model) processDeath(t *rapid.T) {
	s.m.ProcessDeath(rapid.Bool().Draw(t, "evict"))
	for _, f := range s.files {
		f.file = nil
	}
}

// clone goes on with a copy, and spoils the original.
func (s *model) clone(t *rapid.T) {
	old := s.m
	s.m = old.Clone()
	for _, f := range s.files {
		if f.file != nil {
			if _, err := f.file.Write([]byte("spoilt")); err != nil {
				t.Fatal(err)
			}
			f.file = nil
		}
	}
	old.PowerLoss()
}
