package namenode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Kept is how many of an artifact's first bytes are kept: an upload that fails before there are more is begun again.
const Kept = 1 << 20

// pauses are those before an upload is begun again.
func pause(try int) time.Duration { return min(100*time.Millisecond<<try, 5*time.Second) }

// writer uploads an artifact while it is written.
type writer struct {
	sink     *Sink
	artifact runstate.Artifact
	ctx      context.Context
	folder   string // path below the destination of the folder that the upload goes to
	upload   Upload
	sum      hasher // nil where none is compared
	size     int64
	kept     []byte // all that was written, nil where that is too much
	tries    int
	failed   error // what has ended the upload for good
	ended    bool
}

var errEnded = errors.New("the artifact has ended")

// Create begins an artifact.
func (s *Sink) Create(ctx context.Context, a runstate.Artifact) (stage.ByteWriter, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if _, err := parseName(a.Name()); err != nil {
		return nil, err
	}
	w := &writer{sink: s, artifact: a, ctx: ctx, kept: make([]byte, 0, Kept)}
	if s.Checksum {
		algorithm, err := s.checksums(ctx)
		if err != nil {
			return nil, err
		}
		if w.sum, err = newHasher(algorithm, s.Block); err != nil {
			return nil, err
		}
	}
	if err := w.begin(ctx); err != nil {
		if err = w.again(err); err != nil {
			return nil, errors.Join(err, w.Discard(context.WithoutCancel(ctx)))
		}
	}
	return w, nil
}

// checksums is the algorithm of the server's checksums, as that of the id shows it.
func (s *Sink) checksums(ctx context.Context) (string, error) {
	s.algorithmMu.Lock()
	defer s.algorithmMu.Unlock()
	if s.algorithm == "" {
		sum, err := s.Client.Checksum(ctx, s.in(idNote))
		if err != nil {
			return "", fmt.Errorf("ask for the checksum of %s/%s: %w", s.At, idNote, err)
		}
		s.algorithm = sum.Algorithm
	}
	return s.algorithm, nil
}

// begin opens an upload in a folder that nobody has used.
func (w *writer) begin(ctx context.Context) error {
	s := w.sink
	name, err := s.folderName(w.artifact)
	if err != nil {
		return err
	}
	w.folder = path.Join(runFolder(w.artifact.Run), name)
	if err := s.Client.Mkdirs(ctx, s.in(w.folder)); err != nil {
		return err
	}
	w.upload, err = s.Client.Create(ctx, s.in(path.Join(w.folder, stagedFile)))
	return err
}

func (w *writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, fmt.Errorf("%s: %w", w.artifact.Name(), errEnded)
	}
	if w.failed != nil {
		return 0, fmt.Errorf("upload %s: %w", w.artifact.Name(), w.failed)
	}
	if w.kept != nil && len(w.kept)+len(p) <= Kept {
		w.kept = append(w.kept, p...)
	} else {
		w.kept = nil
	}
	w.size += int64(len(p))
	if w.sum != nil {
		w.sum.write(p)
	}
	if _, err := w.upload.Write(p); err != nil {
		if err = w.again(err); err != nil {
			return 0, fmt.Errorf("upload %s: %w", w.artifact.Name(), err)
		}
	}
	return len(p), nil
}

// again begins a failed upload again, as long as all of its bytes are kept. The folder that it had is not used any more.
func (w *writer) again(cause error) error {
	w.failed = w.retry(cause)
	return w.failed
}

func (w *writer) retry(cause error) error {
	for w.kept != nil && !errors.Is(cause, ErrPermanent) && w.tries < w.sink.Retries && w.ctx.Err() == nil {
		if err := w.giveUp(w.ctx); err != nil {
			return errors.Join(cause, err)
		}
		if err := w.sink.Sleep(w.ctx, pause(w.tries)); err != nil {
			return errors.Join(cause, err)
		}
		w.tries++
		if cause = w.begin(w.ctx); cause == nil {
			_, cause = w.upload.Write(w.kept)
		}
		if cause == nil {
			return nil
		}
	}
	return cause
}

// giveUp ends an upload, and removes its folder: a file of it that is still under way has no place to appear in then.
func (w *writer) giveUp(ctx context.Context) error {
	if w.upload != nil {
		w.upload.GiveUp()
		w.upload = nil
	}
	return w.sink.remove(ctx, w.sink.in(w.folder), true)
}

// Prepare ends the upload, and looks whether the server has what was sent: a closed file of this length and checksum.
func (w *writer) Prepare(ctx context.Context, rows int64, digest string) (runstate.Handle, error) {
	leave, err := w.sink.enter(ctx)
	if err != nil {
		return runstate.Handle{}, err
	}
	defer leave()
	if w.ended {
		return runstate.Handle{}, fmt.Errorf("%s: %w", w.artifact.Name(), errEnded)
	}
	if w.failed != nil {
		return runstate.Handle{}, fmt.Errorf("upload %s: %w", w.artifact.Name(), w.failed)
	}
	for {
		err := w.upload.Finish(ctx)
		if err == nil {
			break
		}
		if err = w.again(err); err != nil {
			return runstate.Handle{}, fmt.Errorf("upload %s: %w", w.artifact.Name(), err)
		}
	}
	p, err := w.verify(ctx)
	if err != nil {
		return runstate.Handle{}, fmt.Errorf("upload %s: %w", w.artifact.Name(), err)
	}
	w.ended = true
	data, err := json.Marshal(p)
	if err != nil {
		return runstate.Handle{}, err
	}
	s, a := w.sink, w.artifact
	return runstate.Handle{Name: a.Name(), Sink: a.Sink, Attempt: a.Attempt, Subtask: a.Subtask, Checkpoint: a.Checkpoint,
		Place: s.At, Rows: rows, Bytes: w.size, Digest: digest, Backend: s.Backend, Payload: data}, nil
}

// verify compares what the server has with what was sent.
func (w *writer) verify(ctx context.Context) (payload, error) {
	s := w.sink
	staged := path.Join(w.folder, stagedFile)
	p := payload{ID: s.id, Dir: s.At, Staged: staged, Block: s.Block}
	is, err := s.Client.Stat(ctx, s.in(staged))
	switch {
	case err != nil:
		return p, fmt.Errorf("look at what was uploaded: %w", err)
	case is.Dir || is.Size != w.size:
		return p, fmt.Errorf("the server has %d bytes of the %d that were sent", is.Size, w.size)
	case is.ID <= 0:
		return p, errors.New("the server tells no fileId of the file")
	}
	p.File = is.ID
	sum, err := s.Client.Checksum(ctx, s.in(staged)) // of a file that is still open it is refused
	if err != nil && (s.Checksum || errors.Is(err, ErrOpen)) {
		return p, fmt.Errorf("ask for the checksum of what was uploaded: %w", err)
	}
	if !s.Checksum {
		return p, nil
	}
	if w.size > 0 && kind(sum.Algorithm) != kind(s.algorithm) {
		return p, fmt.Errorf("the server's checksum is %s, and was %s for other files; its DataNodes are not configured alike: there is checksum: false", sum.Algorithm, s.algorithm)
	}
	if want := w.sum.sum(); sum.Bytes != want {
		return p, fmt.Errorf("the server's checksum of the file is %s, and of what was sent it is %s. Where that happens always, the folder is encrypted or erasure-coded by HDFS, whose checksums are of other bytes: there is checksum: false", sum, want)
	}
	p.Checksum = sum
	return p, nil
}

// Discard throws the artifact away.
func (w *writer) Discard(ctx context.Context) error {
	if w.ended {
		return fmt.Errorf("%s: %w", w.artifact.Name(), errEnded)
	}
	w.ended, w.kept = true, nil
	leave, err := w.sink.enter(ctx)
	if err != nil {
		if w.upload != nil {
			w.upload.GiveUp()
		}
		return err
	}
	defer leave()
	return w.giveUp(ctx)
}
