package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// A note is written under a temporary name that says which note it is, .clinkctl/tmp-<note>-<random>, and linked to its
// own name if that is free. What a process that died has left under a temporary name is of no use once the note stands:
// whoever puts or reads that note then, removes it. A living writer that loses its temporary file that way has lost the
// race, and finds out.
const tempPrefix = "tmp-"

// PutNote makes a note, whole and durable, if its name is free.
func (s *sink) PutNote(ctx context.Context, name string, data []byte) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := stage.CheckNote(name, tempPrefix, "probe-"); err != nil {
		return err
	}
	if err := s.check(s.id); err != nil {
		return err
	}
	return s.put(name, data)
}

// Note reads a note, after making it durable.
func (s *sink) Note(ctx context.Context, name string) ([]byte, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := stage.CheckNote(name, tempPrefix, "probe-"); err != nil {
		return nil, err
	}
	if err := s.check(s.id); err != nil {
		return nil, err
	}
	data, err := s.note(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.check(s.id); err != nil {
			return nil, err
		}
	}
	return data, err
}

func (s *sink) put(name string, data []byte) error {
	random, err := s.randomHex()
	if err != nil {
		return err
	}
	temp := path.Join(s.hidden(), tempPrefix+path.Base(name)+"-"+random)
	if err := vfs.WriteNew(s.fsys, temp, data); err != nil {
		return err
	}
	_, err = s.give(s.chosen(), temp, s.at(name))
	if errors.Is(err, fs.ErrNotExist) { // the temporary name was removed, as the note stands; or the destination was
		if _, statErr := s.fsys.Stat(s.at(name)); statErr == nil {
			err = &fs.PathError{Op: "put", Path: s.at(name), Err: fs.ErrExist}
		}
	}
	if err == nil {
		err = s.fsys.SyncDir(path.Dir(s.at(name)))
	}
	return errors.Join(err, s.remove(temp), s.sweepNote(name))
}

func (s *sink) note(name string) (data []byte, err error) {
	f, err := s.fsys.Open(s.at(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if data, err = io.ReadAll(f); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if err := s.fsys.SyncDir(path.Dir(s.at(name))); err != nil {
		return nil, err
	}
	_ = s.sweepNote(name) // what is left is read by nobody, and the next who puts or reads this note tries again
	return data, nil
}

// sweepNote removes temporary files of a note that stands.
func (s *sink) sweepNote(name string) error {
	names, err := s.fsys.List(s.hidden())
	if err != nil {
		return err
	}
	prefix := tempPrefix + path.Base(name) + "-"
	var temps []string
	for _, n := range names {
		if random, ok := strings.CutPrefix(n, prefix); ok && isID(random) {
			temps = append(temps, n)
		}
	}
	if len(temps) == 0 {
		return nil
	}
	if _, err := s.fsys.Stat(s.at(name)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	var errs []error
	for _, n := range temps {
		errs = append(errs, s.remove(path.Join(s.hidden(), n)))
	}
	return errors.Join(errs...)
}
