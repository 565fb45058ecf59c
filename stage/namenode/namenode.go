// Package namenode is what the backends of HDFS have in common, whatever protocol they speak. A destination is a folder:
//
//	<to>/sub0-<run>-000001.parquet                      published artifacts, manifests, the user's own files
//	<to>/.clinkctl/id                                   128 random bits: which destination this is
//	<to>/.clinkctl/<run>/sub0-<run>-000001.a<attempt>-<random>/file    what is staged, in a folder of its own
//	<to>/.clinkctl/key-<digest>.json                    notes that only clinkctl reads
//	<to>/.clinkctl/tmp-<note>-<random>/file             a note that is being written, for a moment
//
// An artifact is a file in a folder that nobody else has ever used, and is published by a rename that replaces nothing. What
// a NameNode answers proves little: a rename that was not answered may have been done, or may yet be; a file whose upload was
// cut is closed and looks finished; one that was given up may appear when it is long deleted. So a file has its place in a
// handle only when its length and checksum were found to be those that were sent, and it is known again by the number that
// HDFS gives every file, which a rename keeps: what has our number at the destination is ours, and what has another is not.
package namenode

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Client speaks to HDFS. Paths are absolute and clean. An error is fs.ErrNotExist, fs.ErrExist or ErrOpen where a NameNode
// has said so, ErrFalse or ErrPermanent where it has, and ErrUnsent where nothing can have been done; what else it is tells
// nothing about what was done. Every call
// ends within a time of the client's own.
type Client interface {
	// Stat describes a file or folder.
	Stat(ctx context.Context, name string) (Info, error)
	// List describes what is in a folder, all of it.
	List(ctx context.Context, dir string) ([]Info, error)
	// Mkdirs makes a folder and its parents.
	Mkdirs(ctx context.Context, dir string) error
	// Create begins a new file in a folder that exists, and must not make the folder: a file that is given up must not
	// come back with it.
	Create(ctx context.Context, name string) (Upload, error)
	// Rename gives a file another name. It replaces nothing: fs.ErrExist.
	Rename(ctx context.Context, from, to string) error
	// Remove removes a file or folder for good, with all that is in it where all is set. It tells whether it was there.
	Remove(ctx context.Context, name string, all bool) (was bool, err error)
	// Checksum is that of a file that is closed, as HDFS computes it; of an open one ErrOpen.
	Checksum(ctx context.Context, name string) (Checksum, error)
	// Read reads a file from an offset, so many bytes or, where that is negative, to its end.
	Read(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	io.Closer
}

// Upload is a file that is being written, by one goroutine at a time. It ends with Finish or GiveUp.
type Upload interface {
	io.Writer
	// Finish ends the file. Its nil says that the server has acknowledged all of it, and nothing else does.
	Finish(ctx context.Context) error
	// GiveUp ends without a word to the server that could be taken for the end of a whole file. What is there now, or
	// will be, is the caller's to remove.
	GiveUp()
}

// Info describes a file or folder.
type Info struct {
	Name    string // in a list: the last element
	ID      int64  // the number of its inode, which no other file of the cluster has had; 0: the server does not tell
	Dir     bool
	Size    int64 // bytes
	ModTime time.Time
}

// Errors of clients.
var (
	ErrOpen   = errors.New("the file is still being written")
	ErrUnsent = errors.New("no server was reached")
	// ErrFalse is an answer that says no and not why. It may have been done all the same.
	ErrFalse = errors.New("the answer is false")
	// ErrPermanent says that another try would be answered alike.
	ErrPermanent = errors.New("it is refused for good")
)

// Options are what a sink is made with.
type Options struct {
	Backend  string // the name in handles
	At       string // the address, as people write it
	Dir      string // the folder's path
	Client   Client
	Random   io.Reader // must give bytes that nobody else gets
	Sleep    func(ctx context.Context, d time.Duration) error
	Block    int64 // size of a file's blocks in bytes
	Checksum bool  // compare checksums
	Retries  int   // tries of an upload
}

// Sink is an open destination.
type Sink struct {
	Options
	id     string
	idFile int64 // the number of the file that the id is in

	gate stage.Gate

	algorithmMu sync.Mutex
	algorithm   string // of the server's checksums, once it is known
}

var (
	_ stage.Sink    = (*Sink)(nil)
	_ stage.Bytes   = (*Sink)(nil)
	_ stage.Lister  = (*Sink)(nil)
	_ stage.Sweeper = (*Sink)(nil)
	_ stage.Prober  = (*Sink)(nil)
	_ stage.Finder  = (*Sink)(nil)
)

// Open opens a destination. create makes it if it is absent; otherwise an absent one is fs.ErrNotExist.
func Open(ctx context.Context, o Options, create bool) (*Sink, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Sink{Options: o}
	if err := s.openID(ctx, create); err != nil {
		return nil, errors.Join(err, o.Client.Close())
	}
	return s, nil
}

const (
	idNote  = stage.IDNote
	idBytes = 16 // 128 bits
	scheme  = "hdfs"
)

// openID learns which destination this is. Of two processes that make an id at the same time, the first wins.
func (s *Sink) openID(ctx context.Context, create bool) error {
	err := s.readID(ctx)
	if !create || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh, err := s.random(idBytes)
	if err != nil {
		return err
	}
	if err := s.Client.Mkdirs(ctx, s.in(stage.Hidden)); err != nil {
		return err
	}
	if err := s.put(ctx, idNote, []byte(fresh+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.readID(ctx)
}

func (s *Sink) readID(ctx context.Context) error {
	data, is, err := s.get(ctx, idNote)
	if err != nil {
		return err
	}
	id, ok := strings.CutSuffix(string(data), "\n")
	if !ok || !isID(id) {
		return fmt.Errorf("%s/%s does not hold an id: put the file back from a copy, its value is the \"id\" of the handles that `clinkctl journal show` prints", s.At, idNote)
	}
	if is.ID == 0 {
		return fmt.Errorf("%w: the server tells no fileId of its files, so that ours could not be told from others (HttpFS does not; use the NameNode's own address)", stage.ErrRefused)
	}
	s.id, s.idFile = id, is.ID
	return nil
}

func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == idBytes && s == strings.ToLower(s)
}

// check makes sure that what is at the destination's path is still the destination that was opened.
func (s *Sink) check(ctx context.Context) error {
	is, err := s.Client.Stat(ctx, s.in(idNote))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s has no %s", stage.ErrElsewhere, s.At, idNote)
	case err != nil:
		return err
	case is.ID != s.idFile:
		return fmt.Errorf("%w: the file %s of %s is another one now", stage.ErrElsewhere, idNote, s.At)
	}
	return nil
}

// Identity is the same over every protocol.
func (s *Sink) Identity() string { return scheme + ":" + s.id }

// Wide is how many artifacts are finished at once: nothing of that is work for this machine.
func (s *Sink) Wide() int { return 16 }

// enter begins a call. leave ends it; Close waits for that.
func (s *Sink) enter(ctx context.Context) (leave func(), err error) {
	leave, err = s.gate.Enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("destination %s: %w", s.At, err)
	}
	return leave, nil
}

// Close waits for the calls that are in flight; those that come later are refused.
func (s *Sink) Close() error {
	return errors.Join(s.gate.Close(), s.Client.Close())
}

// in is the path of what has a name below the destination.
func (s *Sink) in(name string) string { return path.Join(s.Dir, name) }

// random gives so many random bytes in hex.
func (s *Sink) random(n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.Random, b); err != nil {
		return "", fmt.Errorf("random bits: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// remove removes a file or folder. A server that answers that it was not there is believed when it is not there.
func (s *Sink) remove(ctx context.Context, name string, all bool) error {
	for range 2 {
		was, err := s.Client.Remove(ctx, name, all)
		if was || err != nil {
			return err
		}
		if _, err := s.Client.Stat(ctx, name); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("remove %s: %w, and it is still there", name, ErrFalse)
}

// runOf is the run of an artifact's name, "" of another name.
func runOf(name string) runstate.Token {
	a, err := parseName(name)
	if err != nil {
		return ""
	}
	return a.Run
}
