package namenode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"

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
	one, oneID, err := s.probeFile(ctx, path.Join(dir, "one"))
	if err != nil {
		return err
	}
	two, twoID, err := s.probeFile(ctx, path.Join(dir, "two"))
	if err != nil {
		return err
	}
	renameErr := s.Client.Rename(ctx, one, two)
	is, err := s.Client.Stat(ctx, two)
	if err != nil {
		return err
	}
	if is.ID != twoID || renameErr == nil {
		return fmt.Errorf("%w: a rename onto a name that is taken has replaced it, or was answered with success", stage.ErrRefused)
	}
	if errors.Is(renameErr, ErrFalse) {
		return fmt.Errorf("%w: a rename onto a name that is taken is answered with false, as without renameoptions, which this server does not know (HttpFS does not; use the NameNode's own address)", stage.ErrRefused)
	}
	if !errors.Is(renameErr, fs.ErrExist) {
		return fmt.Errorf("try a rename onto a name that is taken: %w", renameErr)
	}
	three := path.Join(dir, "three")
	renameErr = s.Client.Rename(ctx, one, three)
	is, err = s.Client.Stat(ctx, three)
	if err != nil {
		return errors.Join(renameErr, err)
	}
	if is.ID != oneID {
		return fmt.Errorf("%w: a file that was renamed has not kept its fileId", stage.ErrRefused)
	}
	return s.probeParent(ctx, path.Join(dir, "none", "file"))
}

// probeFile uploads a small file, and compares it. An upload that breaks is begun again under another name, as an artifact's is.
func (s *Sink) probeFile(ctx context.Context, prefix string) (name string, id int64, err error) {
	data := []byte(probePrefix + s.id)
	for try := 0; ; try++ {
		name = prefix + "-" + strconv.Itoa(try+1)
		broken, err := s.probeUpload(ctx, name, data)
		if err == nil {
			break
		}
		if !broken || errors.Is(err, ErrPermanent) || try+1 >= s.Retries || ctx.Err() != nil {
			return name, 0, err
		}
		if sleepErr := s.Sleep(ctx, pause(try)); sleepErr != nil {
			return name, 0, errors.Join(err, sleepErr)
		}
	}
	is, err := s.Client.Stat(ctx, name)
	if err != nil {
		return name, 0, err
	}
	if is.Size != int64(len(data)) || is.ID <= 0 {
		return name, 0, fmt.Errorf("%w: a file of %d bytes has %d, and the fileId %d", stage.ErrRefused, len(data), is.Size, is.ID)
	}
	return name, is.ID, s.probeChecksum(ctx, name, data)
}

// probeUpload uploads a file. broken says that it had begun, and may go well under another name: its own may be taken now.
func (s *Sink) probeUpload(ctx context.Context, name string, data []byte) (broken bool, err error) {
	up, err := s.Client.Create(ctx, name)
	if err != nil {
		return errors.Is(err, fs.ErrExist), err // by a try that was not answered
	}
	if _, err := up.Write(data); err != nil {
		up.GiveUp()
		return true, err
	}
	return true, up.Finish(ctx)
}

// probeChecksum compares the server's checksum of a file with that of its bytes.
func (s *Sink) probeChecksum(ctx context.Context, name string, data []byte) error {
	if !s.Checksum {
		return nil
	}
	algorithm, err := s.checksums(ctx)
	if err != nil {
		return err
	}
	sum, err := newHasher(algorithm, s.Block)
	if err != nil {
		return fmt.Errorf("%w: %w", stage.ErrRefused, err)
	}
	sum.write(data)
	got, err := s.Client.Checksum(ctx, name)
	if err == nil && got.Bytes != sum.sum() {
		err = fmt.Errorf("%w: the server's checksum of a small file is not that of its bytes; where the folder is encrypted or erasure-coded by HDFS that is so, and there is checksum: false", stage.ErrRefused)
	}
	return err
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
