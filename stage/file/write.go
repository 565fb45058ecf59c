package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// writeBackStep is how many bytes are gathered before the disk is asked to start on them, so that the sync of Prepare
// finds little left to do.
const writeBackStep = 8 << 20

var errEnded = errors.New("the writer has ended")

// Create begins to stage an artifact, in a file that did not exist.
func (s *sink) Create(ctx context.Context, a runstate.Artifact) (stage.ByteWriter, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if _, err := parseName(a.Name()); err != nil {
		return nil, err
	}
	if a.Attempt < 1 {
		return nil, fmt.Errorf("artifact %s has no attempt", a.Name())
	}
	if err := s.check(s.id); err != nil {
		return nil, err
	}
	if err := s.makeStagingDir(a.Run); err != nil {
		return nil, err
	}
	w := &writer{sink: s, artifact: a, path: s.at(stagedPath(a))}
	if w.file, err = s.fsys.Create(w.path); err != nil {
		return nil, err
	}
	return w, nil
}

// makeStagingDir makes a run's staging folder. One that is there may have been made by a process that died before its
// sync. The folder above is not made here: where it is missing, the destination is missing.
func (s *sink) makeStagingDir(run runstate.Token) error {
	if err := s.fsys.Mkdir(s.stagingDir(run)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.fsys.SyncDir(s.hidden())
}

// writer stages one artifact.
type writer struct {
	sink     *sink
	artifact runstate.Artifact
	path     string
	file     vfs.File // nil once closed
	size     int64    // bytes written
	started  int64    // bytes that the disk was asked to start on
	failed   error    // the first error; nothing is promised after it
	ended    bool
}

var (
	_ stage.ByteWriter = (*writer)(nil)
	_ stage.ReadBack   = (*writer)(nil)
)

func (w *writer) Write(p []byte) (int, error) {
	leave, err := w.sink.enter(context.Background()) // io.Writer has no context
	if err != nil {
		return 0, err
	}
	defer leave()
	if err := w.usable(); err != nil {
		return 0, err
	}
	n, err := w.file.Write(p)
	w.size += int64(n)
	if err == nil && n < len(p) {
		err = fmt.Errorf("write %s: %w", w.path, io.ErrShortWrite)
	}
	if err != nil {
		w.failed = err
		return n, err
	}
	if w.size-w.started >= writeBackStep {
		w.started = w.size
		w.file.WriteBack(w.size)
	}
	return n, nil
}

func (w *writer) usable() error {
	if w.ended || w.file == nil {
		return fmt.Errorf("%s: %w", w.path, errors.Join(errEnded, w.failed))
	}
	return w.failed
}

// ReadBack shows what was written, until Prepare or Discard.
func (w *writer) ReadBack() (io.ReaderAt, int64, error) {
	leave, err := w.sink.enter(context.Background())
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	if err := w.usable(); err != nil {
		return nil, 0, err
	}
	return w.file, w.size, nil
}

func (w *writer) Prepare(ctx context.Context, rows int64, digest string) (runstate.Handle, error) {
	leave, err := w.sink.enter(ctx)
	if err != nil {
		return runstate.Handle{}, err
	}
	defer leave()
	if err := w.usable(); err != nil {
		return runstate.Handle{}, err
	}
	info, err := w.persist()
	if err != nil {
		w.failed = err
		return runstate.Handle{}, err
	}
	w.ended = true
	return w.handle(info, rows, digest)
}

// persist makes the staged file and its name durable, and closes it.
func (w *writer) persist() (info vfs.Info, err error) {
	err = w.file.Sync()
	if err == nil {
		info, err = w.file.Stat()
	}
	err = errors.Join(err, w.close())
	if err != nil {
		return info, err
	}
	named, err := w.sink.fsys.Stat(w.path)
	if err != nil {
		return info, err
	}
	if !named.Same(info) || named.Size != w.size {
		return info, fmt.Errorf("%s has %d bytes and is another file, or lacks some of the %d that were written",
			w.path, named.Size, w.size)
	}
	return named, w.sink.fsys.SyncDir(w.sink.stagingDir(w.artifact.Run))
}

func (w *writer) handle(info vfs.Info, rows int64, digest string) (runstate.Handle, error) {
	s := w.sink
	data, err := json.Marshal(payload{ID: s.id, Dir: s.dir, Staged: stagedPath(w.artifact), Inode: info.Inode,
		MTime: info.ModTime.UnixNano(), Method: s.chosen()})
	if err != nil {
		return runstate.Handle{}, err
	}
	a := w.artifact
	return runstate.Handle{Name: a.Name(), Sink: a.Sink, Attempt: a.Attempt, Subtask: a.Subtask, Checkpoint: a.Checkpoint,
		Place: s.dir, Rows: rows, Bytes: info.Size, Digest: digest, Backend: backendName, Payload: data}, nil
}

func (w *writer) close() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}

// Discard removes what was written. It is not synced: what power loss brings back is Sweep's.
func (w *writer) Discard(ctx context.Context) error {
	if w.ended {
		return fmt.Errorf("%s: %w", w.path, errEnded)
	}
	w.ended = true
	closed := w.close()
	leave, err := w.sink.enter(ctx)
	if err != nil {
		return errors.Join(closed, err)
	}
	defer leave()
	if err = w.sink.fsys.Remove(w.path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(closed, err)
}
