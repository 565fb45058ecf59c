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
// once for the copy on opening, once for the records that are still to come.
func (j *Journal) growReserve() error {
	want := int64(minReserve)
	for want < 2*j.size {
		want *= 2
	}
	if j.state.Ended != nil || j.reserve >= want {
		return nil
	}
	at := path.Join(j.dir, reserveFile)
	f, err := j.fsys.OpenAppend(at)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = j.fsys.Create(at)
	}
	if err != nil {
		return err
	}
	err = f.Allocate(want)
	if err = errors.Join(err, f.Close()); err == nil {
		j.reserve = want
	}
	return err
}

// DropReserve gives a run's reserve back to the disk. The run goes on without one.
func DropReserve(fsys vfs.FS, dir string) error {
	if err := fsys.Remove(path.Join(dir, reserveFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fsys.SyncDir(dir)
}

// Unmake removes a run's folder in which no journal could be begun, as far as it can. A folder that has a journal is an
// error and stays.
func Unmake(fsys vfs.FS, dir string) error {
	if _, err := fsys.Stat(path.Join(dir, journalFile)); !errors.Is(err, fs.ErrNotExist) {
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
