// Package file is the backend of the local file system. A destination is a folder:
//
//	<to>/sub0-<run>-000001.csv              published artifacts, manifests, the user's own files
//	<to>/.clinkctl/id                       128 random bits: which destination this is
//	<to>/.clinkctl/<run>/sub0-<run>-000001.a<attempt>    what is staged
//	<to>/.clinkctl/key-<digest>.json        notes that only clinkctl reads
//	<to>/.clinkctl/tmp-<note>-<random>      a note that is being written
//	<to>/.clinkctl/probe-<run>/             what a probe tries, for a moment
//
// An artifact is published by a second name for the same file, so that a reader sees all of it or nothing, and a name that
// is taken is never replaced. The destination's folder is synced before the staged name is taken away: at every instant
// at least one of the two names is durable.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"syscall"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

const backendName = "file"

// Backend is the local file system as a backend. random must give bytes that nobody else gets.
func Backend(fsys vfs.FS, random io.Reader) stage.Backend {
	shared := stage.Locked(random)
	return stage.Backend{
		Name: backendName,
		Open: func(ctx context.Context, at stage.Place, create bool) (stage.Sink, error) {
			s, err := open(ctx, fsys, shared, at.To, create)
			if err != nil {
				return nil, fmt.Errorf("open destination %s: %w", at.To, err)
			}
			return s, nil
		},
		Store: func(context.Context, stage.Place) (stage.Store, error) { return NewStore(fsys), nil },
	}
}

// sink is an open destination.
type sink struct {
	fsys   vfs.FS
	random io.Reader
	dir    string   // the destination, without symbolic links
	id     string   // as it was when the destination was opened
	made   []string // folders that Open made of it, outermost first
	madeID bool     // Open made the id

	gate stage.Gate

	methodMu sync.Mutex
	method   method
}

var (
	_ stage.Sink    = (*sink)(nil)
	_ stage.Bytes   = (*sink)(nil)
	_ stage.Lister  = (*sink)(nil)
	_ stage.Sweeper = (*sink)(nil)
	_ stage.Prober  = (*sink)(nil)
)

func open(ctx context.Context, fsys vfs.FS, random io.Reader, to string, create bool) (*sink, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !path.IsAbs(to) {
		return nil, fmt.Errorf("the path is not absolute")
	}
	s := &sink{fsys: fsys, random: random, dir: path.Clean(to), method: methodLink}
	err := s.resolve(create)
	if err == nil {
		err = s.openID(create)
	}
	if err != nil {
		return nil, errors.Join(err, s.unmake())
	}
	return s, nil
}

// resolve makes the folders where that is asked for, and follows symbolic links once and for all.
func (s *sink) resolve(create bool) error {
	if create {
		if err := s.mkdir(s.dir); err != nil {
			return err
		}
	}
	real, err := s.fsys.Real(s.dir)
	if err != nil {
		return err
	}
	s.dir = real
	if create {
		return s.mkdir(s.hidden())
	}
	return nil
}

// mkdir makes a folder durably, and its parents.
func (s *sink) mkdir(dir string) error {
	made, err := vfs.MkdirAll(s.fsys, dir)
	s.made = append(s.made, made...)
	return err
}

// unmake removes the folders that Open has made, as far as nobody has put anything into them.
func (s *sink) unmake() error {
	var errs []error
	for i := len(s.made) - 1; i >= 0; i-- {
		err := s.fsys.Remove(s.made[i])
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
			break
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	s.made = nil
	return errors.Join(errs...)
}

func (s *sink) hidden() string                       { return path.Join(s.dir, stage.Hidden) }
func (s *sink) stagingDir(run runstate.Token) string { return path.Join(s.hidden(), string(run)) }
func (s *sink) at(relative string) string            { return path.Join(s.dir, relative) }
func (s *sink) Identity() string                     { return backendName + ":" + s.id }

// enter begins a call. leave ends it; Close waits for that.
func (s *sink) enter(ctx context.Context) (leave func(), err error) {
	leave, err = s.gate.Enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("destination %s: %w", s.dir, err)
	}
	return leave, nil
}

// Close waits for the calls that are in flight; those that come later are refused.
func (s *sink) Close() error { return s.gate.Close() }
