package vfs

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// OS is the file system of this machine. Files are made with mode 0644 and directories with 0755, less the umask. Where
// the platform cannot keep a promise of FS (Windows: most of them), the operation answers ErrUnsupported and says why.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) Create(name string) (File, error)     { return openOS(name, os.O_RDWR|os.O_CREATE|os.O_EXCL) }
func (osFS) Open(name string) (File, error)       { return openOS(name, os.O_RDONLY) }
func (osFS) OpenAppend(name string) (File, error) { return openOS(name, os.O_RDWR|os.O_APPEND) }

func openOS(name string, flags int) (File, error) {
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Link(oldname, newname string) error   { return os.Link(oldname, newname) }
func (osFS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }

func (osFS) RenameNoReplace(oldname, newname string) error {
	if err := renameNoReplace(oldname, newname); err != nil {
		return &os.LinkError{Op: "rename without replacing", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (osFS) Remove(name string) error { return os.Remove(name) }
func (osFS) Mkdir(name string) error  { return os.Mkdir(name, 0o755) }

func (osFS) Stat(name string) (Info, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Info{}, err
	}
	return describe(name, info)
}

func (osFS) List(name string) (names []string, err error) {
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	names, err = dir.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (osFS) SyncDir(name string) error { return syncDir(name) }

func (osFS) Lock(name string) (Locked, error) { return lock(name) }

func (osFS) Kind(name string) (string, error) {
	kind, err := kindOf(name)
	if err != nil {
		return "", &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	return kind, nil
}

func (osFS) Real(name string) (string, error) { return realPath(name) }

// osFile adds to an open file what the os package lacks. Its Sync is fsync, and F_FULLFSYNC on darwin.
type osFile struct{ *os.File }

func (f osFile) Stat() (Info, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return describe(f.Name(), info)
}

func (f osFile) Allocate(size int64) error {
	if err := f.control(func(fd int) error { return allocate(fd, size) }); err != nil {
		return &fs.PathError{Op: "allocate", Path: f.Name(), Err: err}
	}
	return nil
}

func (f osFile) WriteBack(end int64) {
	if end > 0 {
		// Only a hint: whatever is wrong with the file, Sync reports it.
		_ = f.control(func(fd int) error { return writeBack(fd, end) })
	}
}

func (f osFile) control(do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = conn.Control(func(fd uintptr) { done = do(int(fd)) })
	return errors.Join(err, done)
}
