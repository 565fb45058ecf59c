package runstate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// minReserve is the least space, in bytes, that is kept free for a journal's end.
const minReserve = 1 << 20

// growReserve keeps twice the journal's size allocated beside it, so that a run can be brought to its end on a full disk:
// once for the copy on opening, once for the records that are still to come. A reserve that was given up is not made again.
func (j *Journal) growReserve() error {
	if j.spent || j.state.Ended != nil || j.reserve >= max(minReserve, 2*j.size) {
		return nil
	}
	size, err := allocateReserve(j.fsys, j.dir, j.size)
	if err == nil {
		j.reserve = size
	}
	return err
}

// allocateReserve makes the reserve for a journal of some size, in bytes, or makes it larger. It tells the reserve's size,
// which is a power of two so that it seldom changes.
func allocateReserve(fsys vfs.FS, dir string, journal int64) (int64, error) {
	size := int64(minReserve)
	for size < 2*journal {
		size *= 2
	}
	at := path.Join(dir, reserveFile)
	f, err := fsys.OpenAppend(at)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = fsys.Create(at)
	}
	if err != nil {
		return 0, err
	}
	return size, errors.Join(f.Allocate(size), f.Close())
}

// DropReserve gives a run's reserve back to the disk. The run goes on without one.
func DropReserve(fsys vfs.FS, dir string) error {
	if err := fsys.Remove(path.Join(dir, reserveFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.SyncDir(dir)
}

// ErrBegun says that a folder has a journal.
var ErrBegun = errors.New("the run is begun")

// Unmake removes a run's folder in which no journal could be begun. ErrBegun says that there is one, though whoever tried
// was told that it failed: then nothing is removed.
func Unmake(fsys vfs.FS, dir string) error {
	switch _, err := fsys.Stat(path.Join(dir, journalFile)); {
	case err == nil:
		return ErrBegun
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	var errs []error
	for _, name := range []string{newFile, reserveFile, lockFile} {
		if err := fsys.Remove(path.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, fsys.Remove(dir))...)
}

// KeepOld gives the journal in a folder a second name, journal.old-<n>, under which it stays when it is replaced.
func KeepOld(fsys vfs.FS, dir string) error {
	for n := 1; ; n++ {
		err := fsys.Link(path.Join(dir, journalFile), path.Join(dir, fmt.Sprintf("journal.old-%d", n)))
		if !errors.Is(err, fs.ErrExist) {
			return errors.Join(err, fsys.SyncDir(dir))
		}
	}
}

// SetJournalAside keeps the journal in a folder under another name, so that the folder has none.
func SetJournalAside(fsys vfs.FS, dir string) error {
	if err := KeepOld(fsys, dir); err != nil {
		return err
	}
	return errors.Join(fsys.Remove(path.Join(dir, journalFile)), fsys.SyncDir(dir))
}
