package namenode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/clinkctl/clinkctl/stage"
)

// tmpPrefix begins the names of folders that are there for a moment.
const (
	tmpPrefix   = "tmp-"
	probePrefix = "probe-"
)

// maxNote is the size of the largest note that is read, in bytes.
const maxNote = 1 << 30

// PutNote writes a note as artifacts are written, in a folder of its own, and renames it.
func (s *Sink) PutNote(ctx context.Context, name string, data []byte) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := stage.CheckNote(name, tmpPrefix, probePrefix); err != nil {
		return err
	}
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.put(ctx, name, data)
}

// put makes a file of ours, tries again as an artifact's upload does, and never replaces one.
func (s *Sink) put(ctx context.Context, name string, data []byte) error {
	var errs []error
	for try := range max(s.Retries, 1) {
		err := s.putOnce(ctx, name, data)
		if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, ErrPermanent) || ctx.Err() != nil {
			return err
		}
		errs = append(errs, err)
		if err := s.Sleep(ctx, pause(try)); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	return errs[len(errs)-1]
}

func (s *Sink) putOnce(ctx context.Context, name string, data []byte) (err error) {
	random, err := s.random(folderBytes)
	if err != nil {
		return err
	}
	dir := s.in(path.Join(stage.Hidden, tmpPrefix+path.Base(name)+"-"+random))
	file := path.Join(dir, stagedFile)
	if err := s.Client.Mkdirs(ctx, dir); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.remove(context.WithoutCancel(ctx), dir, true))
	}()
	up, err := s.Client.Create(ctx, file)
	if errors.Is(err, fs.ErrExist) { // a try that was not answered has made it; the note's own name may be free
		return fmt.Errorf("put %s: what is written has its file already: %v", name, err)
	}
	if err != nil {
		return err
	}
	if _, err := up.Write(data); err != nil {
		up.GiveUp()
		return err
	}
	if err := up.Finish(ctx); err != nil {
		return err
	}
	there, is, err := s.get(ctx, path.Join(stage.Hidden, path.Base(dir), stagedFile))
	if err == nil && !bytes.Equal(there, data) {
		err = fmt.Errorf("put %s: the server has other bytes than those that were sent", name)
	}
	if err != nil {
		return err
	}
	err = s.Client.Rename(ctx, file, s.in(name))
	if err == nil {
		return nil
	}
	final, lookErr := s.Client.Stat(ctx, s.in(name))
	switch {
	case lookErr == nil && final.ID == is.ID && is.ID != 0:
		return s.barrier(ctx)
	case lookErr == nil:
		return &fs.PathError{Op: "put", Path: s.in(name), Err: fs.ErrExist}
	}
	return fmt.Errorf("put %s: %w", name, err)
}

// Note reads a note, after making it durable.
func (s *Sink) Note(ctx context.Context, name string) ([]byte, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := stage.CheckNote(name, tmpPrefix, probePrefix); err != nil {
		return nil, err
	}
	data, _, err := s.get(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(s.check(ctx), err)
	}
	if err != nil {
		return nil, err
	}
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	return data, s.barrier(ctx)
}

// errShort says that less was read of a note than there is.
var errShort = errors.New("not all of it has come")

// get reads a file of ours, whole, and again where a connection breaks on the way.
func (s *Sink) get(ctx context.Context, name string) (data []byte, is Info, err error) {
	for try := 0; ; try++ {
		data, is, err = s.getOnce(ctx, name)
		if !errors.Is(err, errShort) || try+1 >= s.Retries || ctx.Err() != nil {
			return data, is, err
		}
		if err := s.Sleep(ctx, pause(try)); err != nil {
			return nil, is, err
		}
	}
}

func (s *Sink) getOnce(ctx context.Context, name string) (data []byte, is Info, err error) {
	is, err = s.Client.Stat(ctx, s.in(name))
	if err != nil {
		return nil, is, err
	}
	if is.Dir || is.Size > maxNote {
		return nil, is, fmt.Errorf("%s is no note", s.in(name))
	}
	if is.Size == 0 {
		return []byte{}, is, nil
	}
	r, err := s.Client.Read(ctx, s.in(name), 0, is.Size)
	if err != nil {
		return nil, is, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var b bytes.Buffer
	if n, err := b.ReadFrom(io.LimitReader(r, is.Size+1)); err != nil || n != is.Size {
		return nil, is, errors.Join(fmt.Errorf("read %s: %w: %d bytes of %d", s.in(name), errShort, n, is.Size), err)
	}
	return b.Bytes(), is, nil
}
