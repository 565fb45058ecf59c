package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// renamesAtomically tells whether a file system of this kind logs a rename as one transaction, so that power loss leaves
// the old name or the new one and never both or neither. ext4, xfs and f2fs journal or log a rename as a unit, btrfs, zfs
// and bcachefs write both folders in one transaction. FAT and exFAT write the two entries one after the other; what a
// server, FUSE or an overlay does cannot be known from here.
func renamesAtomically(kind string) bool {
	return slices.Contains([]string{"ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs"}, kind)
}

// Names inside a probe's folder, which look like nothing that anybody reads.
const (
	probeOld   = "old"
	probeNew   = "new"
	probeTaken = "taken"
)

func (s *sink) probeDir(run runstate.Token) string {
	return path.Join(s.hidden(), "probe-"+string(run))
}

// Probe finds out whether a file can get a second name here, or at least another one, without replacing anything, and
// whether folders can be synced. It leaves nothing; when it refuses the destination, not even what Open made.
func (s *sink) Probe(ctx context.Context, run runstate.Token) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return err
	}
	if err := s.check(s.id); err != nil {
		return err
	}
	by, err := s.probe(run)
	err = errors.Join(err, s.removeProbe(run))
	if errors.Is(err, stage.ErrRefused) {
		return errors.Join(err, s.unmakeID(), s.unmake())
	}
	if err == nil {
		err = s.fsys.SyncDir(s.hidden())
	}
	if err != nil {
		return fmt.Errorf("probe %s: %w", s.dir, err)
	}
	s.choose(by)
	return nil
}

// chosen is the method for what is staged from now on.
func (s *sink) chosen() method {
	s.methodMu.Lock()
	defer s.methodMu.Unlock()
	return s.method
}

func (s *sink) choose(by method) {
	s.methodMu.Lock()
	defer s.methodMu.Unlock()
	s.method = by
}

func (s *sink) probe(run runstate.Token) (method, error) {
	if err := s.oneDevice(); err != nil {
		return "", err
	}
	dir := s.probeDir(run)
	if err := s.removeProbe(run); err != nil {
		return "", err
	}
	if err := s.fsys.Mkdir(dir); err != nil {
		return "", err
	}
	for _, name := range []string{probeOld, probeTaken} {
		if err := vfs.WriteNew(s.fsys, path.Join(dir, name), []byte(run)); err != nil {
			return "", err
		}
	}
	for _, at := range []string{dir, s.hidden(), s.dir} {
		if err := s.fsys.SyncDir(at); err != nil && unsupported(err) {
			return "", s.refuse("cannot make the names in a folder durable", err)
		} else if err != nil {
			return "", err
		}
	}
	return s.tryNames(dir)
}

// tryNames gives a file a new name, and tries to give it one that is taken.
func (s *sink) tryNames(dir string) (method, error) {
	old, name := path.Join(dir, probeOld), path.Join(dir, probeNew)
	by, err := s.give(methodLink, old, name)
	if err != nil {
		return "", err
	}
	_, err = s.give(by, name, path.Join(dir, probeTaken))
	switch {
	case err == nil:
		return "", s.refuse("gives a file a name that another file has", nil)
	case !errors.Is(err, fs.ErrExist):
		return "", err
	}
	return by, nil
}

// oneDevice makes sure that what is staged can get a name at the destination.
func (s *sink) oneDevice() error {
	to, err := s.fsys.Stat(s.dir)
	if err != nil {
		return err
	}
	hidden, err := s.fsys.Stat(s.hidden())
	if err != nil {
		return err
	}
	if to.Device != hidden.Device {
		return s.refuse("has another file system mounted at its "+stage.Hidden, nil)
	}
	return nil
}

// refuse names the file system, what it lacks, and what to do.
func (s *sink) refuse(lacks string, cause error) error {
	kind, err := s.fsys.Kind(s.dir)
	if err != nil {
		kind = "unknown"
	}
	err = fmt.Errorf("%w: the file system of %s (%s) %s; choose a folder on ext4, xfs, btrfs or zfs, and copy from there",
		stage.ErrRefused, s.dir, kind, lacks)
	return errors.Join(err, cause)
}

// removeProbe removes a probe's folder, if it is there.
func (s *sink) removeProbe(run runstate.Token) error {
	dir := s.probeDir(run)
	if _, err := s.fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var errs []error
	for _, name := range []string{probeOld, probeNew, probeTaken} {
		errs = append(errs, s.remove(path.Join(dir, name)))
	}
	return errors.Join(append(errs, s.remove(dir))...)
}
