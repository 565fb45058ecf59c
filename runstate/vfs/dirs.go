package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// MkdirAll makes a directory and the parents it lacks, each synced into its parent. It returns the directories that it
// made, outermost first, so that a caller who gives up can remove them. A directory that exists is synced into its parent
// too when its own parent is: it may have been made by a process that died before its sync.
func MkdirAll(fsys FS, dir string) (made []string, err error) {
	var missing []string
	for at := dir; ; at = path.Dir(at) {
		info, err := fsys.Stat(at)
		if err == nil {
			if !info.Dir {
				return nil, fmt.Errorf("%s is not a directory", at)
			}
			if at != dir || at == "/" {
				break
			}
			return nil, fsys.SyncDir(path.Dir(at))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, at)
		if at == path.Dir(at) {
			return nil, err
		}
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := fsys.Mkdir(missing[i]); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		} else if err == nil {
			made = append(made, missing[i])
		}
		if err := fsys.SyncDir(path.Dir(missing[i])); err != nil {
			return made, err
		}
	}
	return made, nil
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
