// Package vfs is the part of a file system that clinkctl's durability rests on, small enough that an in-memory one can
// crash at every operation. Whatever writes state, stages or publishes a file goes through it.
//
// Errors satisfy errors.Is with fs.ErrNotExist, fs.ErrExist, syscall.ENOSPC, syscall.EXDEV and the like, as the os
// package's do, and name the operation and the path.
package vfs

import (
	"errors"
	"io"
	"time"
)

// ErrLocked is returned by Lock when another holder, in this process or another one, has the lock.
var ErrLocked = errors.New("locked by another process")

// ErrFenced is returned where another process has taken over what this one was working on: nothing more is written by it.
var ErrFenced = errors.New("another process has taken over")

// FS is a file system. Paths are absolute and clean, with forward slashes. All methods are safe for concurrent use.
type FS interface {
	Files
	Names
	Dirs
	Host
}

// Files opens files.
type Files interface {
	// Create makes a new file and opens it for writing and reading. An existing name is fs.ErrExist, never truncated.
	// The new name is durable only after SyncDir of its folder.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// OpenAppend opens an existing file for appending and reading.
	OpenAppend(name string) (File, error)
}

// Names changes and reads directory entries. No change is durable before SyncDir of every folder it touched.
type Names interface {
	// Link gives a file a second name; an existing name is fs.ErrExist.
	Link(oldname, newname string) error
	// Rename replaces newname if it exists. Only the journal's copy on opening may use it.
	Rename(oldname, newname string) error
	// RenameNoReplace renames; an existing newname is fs.ErrExist; a file system without it answers ErrUnsupported.
	RenameNoReplace(oldname, newname string) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// Stat describes what name leads to, following symbolic links.
	Stat(name string) (Info, error)
}

// Dirs makes, lists and syncs directories.
type Dirs interface {
	// Mkdir makes one directory; fs.ErrExist if the name is taken.
	Mkdir(name string) error
	// List gives the names in a directory, sorted.
	List(name string) ([]string, error)
	// SyncDir makes the directory's entries durable; a file system that cannot sync directories answers ErrUnsupported.
	SyncDir(name string) error
}

// Host is what a file system tells of the machine it is on, and its locks.
type Host interface {
	// Lock takes an exclusive advisory lock on a file, creating it if absent, without waiting: ErrLocked if held. The
	// kernel frees it when the process dies.
	Lock(name string) (Locked, error)
	// Kind names the type of the file system that holds name ("ext4", "nfs", "tmpfs"; "0x..." where unknown).
	Kind(name string) (string, error)
	// Real resolves symbolic links, of the longest part of the path that exists.
	Real(name string) (string, error)
}

// File is an open file. A failed Sync may have dropped the pages that it could not write: the file's durable content is
// then unknown, and a second Sync that succeeds proves nothing.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Sync() error
	// Allocate reserves size bytes of disk for the file, which then has at least that size.
	Allocate(size int64) error
	// WriteBack starts to write dirty pages up to offset end, without waiting and without promise.
	WriteBack(end int64)
	Stat() (Info, error)
}

// Locked is a lock that is held, until Close.
type Locked interface {
	io.Closer
	// Stat describes the locked file itself, whatever its path names by now.
	Stat() (Info, error)
}

// ErrUnsupported is the answer of a file system that lacks an operation.
var ErrUnsupported = errors.ErrUnsupported

// Info describes a file or directory.
type Info struct {
	Size    int64
	ModTime time.Time
	Change  time.Time // inode change time (ctime)
	Device  uint64
	Inode   uint64
	Links   int
	Dir     bool
	Regular bool
}

// Same tells whether two descriptions are of one file.
func (i Info) Same(o Info) bool { return i.Device == o.Device && i.Inode == o.Inode }
