package namenode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/clinkctl/clinkctl/runstate"
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
// only told when the final name was looked at once more, and when the destination is still the one that was opened.
func (s *Sink) Inspect(ctx context.Context, h runstate.Handle) (stage.Evidence, error) {
	leave, p, err := s.begin(ctx, h)
	if err != nil {
		return stage.Evidence{}, err
	}
	defer leave()
	final, detail, err := s.seeFinal(ctx, p)
	if err != nil {
		return stage.Evidence{}, err
	}
	if final == ours {
		return stage.Evidence{State: stage.Published, Detail: detail}, nil
	}
	staged, stagedDetail, err := s.see(ctx, p, p.Staged)
	if err != nil {
		return stage.Evidence{}, err
	}
	if final == absent && staged == ours {
		return stage.Evidence{State: stage.Staged, Detail: stagedDetail}, nil
	}
	if final == absent {
		if final, detail, err = s.seeFinal(ctx, p); err != nil {
			return stage.Evidence{}, err
		}
	}
	if final == ours {
		return stage.Evidence{State: stage.Published, Detail: detail}, nil
	}
	if err := s.check(ctx); err != nil {
		return stage.Evidence{}, err
	}
	e := stage.Evidence{State: stage.Gone, Detail: detail + "; " + stagedDetail}
	if final == other {
		e.State = stage.Foreign
	}
	return e, nil
}

// begin enters a call about a handle.
func (s *Sink) begin(ctx context.Context, h runstate.Handle) (leave func(), p promise, err error) {
	leave, err = s.enter(ctx)
	if err != nil {
		return nil, p, err
	}
	if p, err = s.read(h); err != nil {
		leave()
		return nil, p, err
	}
	return leave, p, nil
}

// seeFinal looks at the name under which an artifact is published, and at the checksum of what has it.
func (s *Sink) seeFinal(ctx context.Context, p promise) (sight, string, error) {
	seen, detail, err := s.see(ctx, p, p.handle.Name)
	if err != nil || seen != ours || p.Checksum.Bytes == "" {
		return seen, detail, err
	}
	sum, err := s.Client.Checksum(ctx, s.in(p.handle.Name))
	switch {
	case errors.Is(err, fs.ErrNotExist): // it has gone since
		return absent, s.in(p.handle.Name) + " is not there", nil
	case errors.Is(err, ErrOpen):
		return other, fmt.Sprintf("%s is our file, and somebody is writing to it", s.in(p.handle.Name)), nil
	case err != nil:
		return absent, "", fmt.Errorf("ask for the checksum of %s: %w", s.in(p.handle.Name), err)
	case p.handle.Bytes > 0 && kind(sum.Algorithm) != kind(p.Checksum.Algorithm):
		return absent, "", fmt.Errorf("the server's checksum of %s is %s now, and was %s: they cannot be compared; configure the servers as they were, or compare the file yourself and say so with clinkctl resolve", s.in(p.handle.Name), sum.Algorithm, p.Checksum.Algorithm)
	case sum.Bytes != p.Checksum.Bytes:
		return other, fmt.Sprintf("%s is our file, and has the checksum %s where it had %s: it was written to", s.in(p.handle.Name), sum, p.Checksum), nil
	}
	return ours, fmt.Sprintf("%s, checksum %s", detail, sum), nil
}

// see looks whether a path below the destination leads to our artifact: the file with its number, of its length.
func (s *Sink) see(ctx context.Context, p promise, name string) (sight, string, error) {
	at := s.in(name)
	is, err := s.Client.Stat(ctx, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent, at + " is not there", nil
	case err != nil:
		return absent, "", fmt.Errorf("look at %s: %w", at, err)
	case is.Dir:
		return other, at + " is a folder", nil
	case is.ID != p.File:
		return other, fmt.Sprintf("%s has the fileId %d, the artifact has %d", at, is.ID, p.File), nil
	case is.Size != p.handle.Bytes:
		return other, fmt.Sprintf("%s is our file, and has %d bytes, the artifact has %d: it was written to", at, is.Size, p.handle.Bytes), nil
	}
	return ours, fmt.Sprintf("%s has our fileId %d and %d bytes", at, is.ID, is.Size), nil
}
