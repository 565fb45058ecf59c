package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// sight is what one look at one path has shown.
type sight int

const (
	absent sight = iota
	ours         // our artifact, whole
	other        // something else
)

// Inspect looks first at the final name and then at the stage. As another process may publish in between, an absence is
// only told when the final name was looked at once more, and when the destination was the same before and after.
func (s *sink) Inspect(ctx context.Context, h runstate.Handle) (stage.Evidence, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return stage.Evidence{}, err
	}
	defer leave()
	p, err := read(h)
	if err != nil {
		return stage.Evidence{}, err
	}
	if err := s.check(p.ID); err != nil {
		return stage.Evidence{}, err
	}
	return s.inspect(ctx, p)
}

func (s *sink) inspect(ctx context.Context, p promise) (stage.Evidence, error) {
	final, finalDetail, err := s.seeFinal(ctx, p)
	if err != nil {
		return stage.Evidence{}, err
	}
	if final == ours {
		return stage.Evidence{State: stage.Published, Detail: finalDetail}, nil
	}
	staged, stagedDetail, err := s.see(ctx, s.at(p.Staged), p)
	if err != nil {
		return stage.Evidence{}, err
	}
	if final == absent && staged == ours {
		return stage.Evidence{State: stage.Staged, Detail: stagedDetail}, nil
	}
	if final == absent {
		if final, finalDetail, err = s.seeFinal(ctx, p); err != nil {
			return stage.Evidence{}, err
		}
		if final == ours {
			return stage.Evidence{State: stage.Published, Detail: finalDetail}, nil
		}
	}
	if err := s.check(p.ID); err != nil {
		return stage.Evidence{}, err
	}
	detail := finalDetail + "; " + stagedDetail
	if final == other {
		return stage.Evidence{State: stage.Foreign, Detail: detail}, nil
	}
	return stage.Evidence{State: stage.Gone, Detail: detail}, nil
}

// seeFinal looks at the name under which an artifact is published. A symbolic link there is not ours, whatever it leads
// to: that may be our own stage.
func (s *sink) seeFinal(ctx context.Context, p promise) (sight, string, error) {
	name := s.at(p.handle.Name)
	dir, err := s.fsys.Real(s.dir)
	if err != nil {
		return absent, "", err
	}
	real, err := s.fsys.Real(name)
	if err != nil {
		return absent, "", err
	}
	if real != path.Join(dir, p.handle.Name) {
		return other, fmt.Sprintf("%s is a symbolic link to %s", name, real), nil
	}
	return s.see(ctx, name, p)
}

// see looks whether a path leads to our artifact: the file that was staged, of its size and untouched since, or else a
// file with the same bytes. detail is for people.
func (s *sink) see(ctx context.Context, name string, p promise) (seen sight, detail string, err error) {
	info, err := s.fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, name + " is not there", nil
	}
	if err != nil {
		return absent, "", err
	}
	h := p.handle
	if !info.Regular {
		return other, name + " is not a regular file", nil
	}
	if info.Size != h.Bytes {
		return other, fmt.Sprintf("%s has %d bytes, the artifact has %d", name, info.Size, h.Bytes), nil
	}
	if info.Inode == p.Inode && info.ModTime.UnixNano() == p.MTime {
		return ours, fmt.Sprintf("%s is the file that was staged, %d bytes", name, info.Size), nil
	}
	digest, err := s.digest(ctx, name, h.Digest)
	if err != nil {
		return absent, "", err
	}
	if digest != h.Digest {
		return other, fmt.Sprintf("%s has the digest %s, the artifact has %s", name, digest, h.Digest), nil
	}
	return ours, fmt.Sprintf("%s has the artifact's %d bytes and digest", name, info.Size), nil
}

// digest reads a whole file, and computes its digest by the algorithm of another one.
func (s *sink) digest(ctx context.Context, name, like string) (digest string, err error) {
	verifier, err := runstate.Verifier(like)
	if err != nil {
		return "", err
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.CopyBuffer(verifier, struct{ io.Reader }{waiting{ctx, f}}, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return verifier.Digest(), nil
}

// waiting is a reader that ends when its context does.
type waiting struct {
	ctx  context.Context
	from io.Reader
}

func (w waiting) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.from.Read(p)
}

// syncFile makes the bytes of a file durable that this process may not have written.
func syncFile(fsys vfs.FS, name string) (err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
