//go:build !linux && !darwin

package vfs

import (
	"fmt"
	"io/fs"
	"runtime"
)

// What a run's promises rest on cannot be kept on this platform, so it is refused by name rather than done by halves.
func unsupported(op, name, what string) error {
	return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%w: %s has no %s that clinkctl can rely on", ErrUnsupported, runtime.GOOS, what)}
}

func describe(name string, _ fs.FileInfo) (Info, error) {
	return Info{}, unsupported("stat", name, "file identity")
}

func syncDir(name string) error { return unsupported("sync", name, "sync of a directory") }

func realPath(name string) (string, error) {
	return "", unsupported("resolve", name, "path with forward slashes")
}

func kindOf(name string) (string, error) {
	return "", unsupported("statfs", name, "name of a file system")
}

func lock(name string) (Locked, error) {
	return nil, unsupported("lock", name, "lock freed by the death of its holder")
}

func renameNoReplace(_, newname string) error {
	return unsupported("rename", newname, "rename without replacing")
}

func allocate(int, int64) error { return unsupported("allocate", "", "reservation of space") }

func writeBack(int, int64) error { return nil }
