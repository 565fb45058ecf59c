package namenode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Probe tries what the backend relies on: that a small file can be uploaded and is found as it was sent, that it keeps its
// number when it is renamed, that a rename replaces nothing, and that a file does not bring a folder back.
func (s *Sink) Probe(ctx context.Context, run runstate.Token) (err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	dir := path.Join(stage.Hidden, probePrefix+string(run))
	if err := s.remove(ctx, s.in(dir), true); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.remove(context.WithoutCancel(ctx), s.in(dir), true))
	}()
	if err := s.Client.Mkdirs(ctx, s.in(dir)); err != nil { // it may be there all the same
		return err
	}
	return s.probe(ctx, s.in(dir))
}

func (s *Sink) probe(ctx context.Context, dir string) error {
	one, two := path.Join(dir, "one"), path.Join(dir, "two")
	ids := map[string]int64{}
	for _, name := range []string{one, two} {
		is, err := s.probeFile(ctx, name)
		if err != nil {
			return err
		}
		ids[name] = is.ID
	}
	renameErr := s.Client.Rename(ctx, one, two)
	is, err := s.Client.Stat(ctx, two)
	if err != nil {
		return err
	}
	if is.ID != ids[two] || renameErr == nil {
		return fmt.Errorf("%w: a rename onto a name that is taken has replaced it, or was answered with success", stage.ErrRefused)
	}
	if errors.Is(renameErr, ErrFalse) {
		return fmt.Errorf("%w: a rename onto a name that is taken is answered with false, as without renameoptions, which this server does not know (HttpFS does not; use the NameNode's own address)", stage.ErrRefused)
	}
	if !errors.Is(renameErr, fs.ErrExist) {
		return fmt.Errorf("try a rename onto a name that is taken: %w", renameErr)
	}
	three := path.Join(dir, "three")
	if err := s.Client.Rename(ctx, one, three); err != nil {
		return err
	}
	is, err = s.Client.Stat(ctx, three)
	if err != nil {
		return err
	}
	if is.ID != ids[one] {
		return fmt.Errorf("%w: a file that was renamed has not kept its fileId", stage.ErrRefused)
	}
	return s.probeParent(ctx, path.Join(dir, "none", "file"))
}

// probeFile uploads a small file, and compares it.
func (s *Sink) probeFile(ctx context.Context, name string) (Info, error) {
	data := []byte(probePrefix + s.id)
	up, err := s.Client.Create(ctx, name)
	if err != nil {
		return Info{}, err
	}
	if _, err := up.Write(data); err != nil {
		up.GiveUp()
		return Info{}, err
	}
	if err := up.Finish(ctx); err != nil {
		return Info{}, err
	}
	is, err := s.Client.Stat(ctx, name)
	if err != nil {
		return is, err
	}
	if is.Size != int64(len(data)) || is.ID <= 0 {
		return is, fmt.Errorf("%w: a file of %d bytes has %d, and the fileId %d", stage.ErrRefused, len(data), is.Size, is.ID)
	}
	if !s.Checksum {
		return is, nil
	}
	algorithm, err := s.checksums(ctx)
	if err != nil {
		return is, err
	}
	sum, err := newHasher(algorithm, s.Block)
	if err != nil {
		return is, fmt.Errorf("%w: %w", stage.ErrRefused, err)
	}
	sum.write(data)
	got, err := s.Client.Checksum(ctx, name)
	if err == nil && got.Bytes != sum.sum() {
		err = fmt.Errorf("%w: the server's checksum of a small file is not that of its bytes; where the folder is encrypted or erasure-coded by HDFS that is so, and there is checksum: false", stage.ErrRefused)
	}
	return is, err
}

// probeParent tries to make a file in a folder that does not exist.
func (s *Sink) probeParent(ctx context.Context, name string) error {
	up, err := s.Client.Create(ctx, name)
	if err == nil {
		if err = up.Finish(ctx); err == nil {
			return fmt.Errorf("%w: a file makes the folder that it is in, so that one that was given up could come back", stage.ErrRefused)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("try to make a file in a folder that does not exist: %w", err)
}
