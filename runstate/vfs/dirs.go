package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"syscall"
)

// MkdirAll makes a directory and the parents it lacks, each synced into its parent. It returns the directories that it
// made, outermost first, so that a caller who gives up can remove them. The last directory of the path that exists is
// synced into its parent too: it may have been made by a process that died before its sync.
func MkdirAll(fsys FS, dir string) (made []string, err error) {
	missing, err := missingDirs(fsys, dir)
	if err != nil {
		return nil, err
	}
	for _, at := range missing {
		switch err := fsys.Mkdir(at); {
		case err == nil:
			made = append(made, at)
		case !errors.Is(err, fs.ErrExist):
			return made, err
		default: // made meanwhile, or a link that leads nowhere
			if err := isDir(fsys, at); err != nil {
				return made, err
			}
		}
		if err := fsys.SyncDir(path.Dir(at)); err != nil {
			return made, err
		}
	}
	return made, nil
}

// missingDirs gives the directories of a path that do not exist, outermost first, and syncs the last that does.
func missingDirs(fsys FS, dir string) (missing []string, err error) {
	for at := dir; ; at = path.Dir(at) {
		err := isDir(fsys, at)
		if err == nil {
			return missing, syncEntry(fsys, at)
		}
		if !errors.Is(err, fs.ErrNotExist) || at == path.Dir(at) {
			return nil, err
		}
		missing = append([]string{at}, missing...)
	}
}

// syncEntry makes the entry of an existing directory durable, unless it is none that a run can have made: the root of a
// mount, or in a folder closed to us.
func syncEntry(fsys FS, dir string) error {
	up := path.Dir(dir)
	mine, err := fsys.Stat(dir)
	if err != nil {
		return err
	}
	parents, err := fsys.Stat(up)
	if err != nil {
		return err
	}
	if up == dir || mine.Device != parents.Device {
		return nil
	}
	if err := fsys.SyncDir(up); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func isDir(fsys FS, name string) error {
	info, err := fsys.Stat(name)
	if err == nil && !info.Dir {
		err = fmt.Errorf("%s: %w", name, syscall.ENOTDIR)
	}
	return err
}

// ReadFile reads a whole file.
func ReadFile(fsys FS, name string) (data []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(f)
}

// WriteNew writes a whole new file and syncs it, but not its name: the caller syncs the folder. On error nothing is left
// under the name, as far as the file system lets it be removed.
func WriteNew(fsys FS, name string, data []byte) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return errors.Join(err, fsys.Remove(name))
	}
	return nil
}
