package stage

import (
	"context"
	"errors"
	"io"
	"time"
)

// Store is a place that files are read from. All its methods may be called from several goroutines.
type Store interface {
	// List gives the files that a pattern names, sorted, each by the path that leads to it without symbolic links. A file
	// that is matched under two names is given twice: whoever plans decides what that means. The pattern is absolute and
	// matched by path.Match, element by element; names that begin with "." or "_" match no element with a wildcard. A
	// pattern that names nothing is fs.ErrNotExist.
	List(ctx context.Context, pattern string) ([]string, error)
	// Stat describes a file without reading it.
	Stat(ctx context.Context, path string) (Object, error)
	// Fingerprint is Stat and the digests of the file's first and last block.
	Fingerprint(ctx context.Context, path string) (Object, error)
	// Open reads a file from an offset, in bytes, to its end. Where the store tells versions apart, and one is given, what is
	// read is of that version: of another one it is ErrChanged, from Open or from any read.
	Open(ctx context.Context, path, version string, offset int64) (io.ReadCloser, error)
}

// ErrChanged says that a file has another version than the one that was to be read.
var ErrChanged = errors.New("it has another version now")

// FingerprintBlock is the length, in bytes, of the blocks that a fingerprint has the digests of.
const FingerprintBlock = 4096

// Object describes a file of a store. Path, size, times of modification and blocks identify it; the rest raises suspicion
// where it differs, and is zero in stores that have no such thing.
type Object struct {
	Path    string    `json:"path"`
	Size    int64     `json:"size"` // bytes
	ModTime time.Time `json:"mtime"`
	First   string    `json:"first,omitempty"` // digest of the first FingerprintBlock bytes, or of all
	Last    string    `json:"last,omitempty"`  // digest of the last FingerprintBlock bytes, or of all

	Change  time.Time `json:"ctime,omitzero"` // of the inode
	Device  uint64    `json:"device,omitempty"`
	Inode   uint64    `json:"inode,omitempty"`
	Links   int       `json:"links,omitempty"`
	Version string    `json:"version,omitempty"` // ETag, file id or the like
}
