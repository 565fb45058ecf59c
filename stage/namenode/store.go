package namenode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/ranged"
)

// Store is HDFS as a place to read from. Paths are addresses, scheme://host/path.
type Store struct {
	Client Client
	Prefix string // of every path: scheme://host
	Tries  int
	Sleep  func(ctx context.Context, d time.Duration) error
}

var _ stage.Store = (*Store)(nil)

// wildcards are the characters that make an element of a path a pattern.
const wildcards = `*?[\`

// cut gives the path of an address of a file.
func (s *Store) cut(at string) (string, error) {
	name, ok := strings.CutPrefix(at, s.Prefix)
	if !ok || len(name) < 2 || name[0] != '/' || path.Clean(name) != name {
		return "", fmt.Errorf("%q names no file: write %s/path", at, s.Prefix)
	}
	return name, nil
}

// List gives the files that a pattern matches. One whose very name is the pattern is that file.
func (s *Store) List(ctx context.Context, pattern string) ([]string, error) {
	name, err := s.cut(pattern)
	if err == nil {
		_, err = path.Match(name, "")
	}
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", pattern, err)
	}
	_, err = s.Stat(ctx, pattern)
	if err == nil {
		return []string{pattern}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(name, wildcards) {
		return nil, fmt.Errorf("source %s: %w", pattern, err)
	}
	found, err := s.match(ctx, "/", strings.Split(name[1:], "/"))
	if err == nil && len(found) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", pattern, err)
	}
	slices.Sort(found)
	return found, nil
}

// match gives the files below a folder whose elements match patterns. Names that begin with a dot or an underscore match no
// wildcard: readers of folders take them for hidden.
func (s *Store) match(ctx context.Context, dir string, patterns []string) ([]string, error) {
	first, rest := patterns[0], patterns[1:]
	if !strings.ContainsAny(first, wildcards) && len(rest) > 0 {
		return s.match(ctx, path.Join(dir, first), rest)
	}
	all, err := s.Client.List(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, is := range all {
		hidden := strings.HasPrefix(is.Name, ".") || strings.HasPrefix(is.Name, "_")
		if ok, _ := path.Match(first, is.Name); !ok || hidden && strings.ContainsAny(first, wildcards) || is.Dir != (len(rest) > 0) {
			continue
		}
		below := []string{s.Prefix + path.Join(dir, is.Name)}
		if is.Dir {
			if below, err = s.match(ctx, path.Join(dir, is.Name), rest); err != nil {
				return nil, err
			}
		}
		found = append(found, below...)
	}
	return found, nil
}

// Stat describes a file. Its version is its number, length and time of modification: bytes that were appended, and another
// file under the name, show in one of them.
func (s *Store) Stat(ctx context.Context, at string) (stage.Object, error) {
	name, err := s.cut(at)
	if err != nil {
		return stage.Object{}, err
	}
	is, err := s.Client.Stat(ctx, name)
	if err != nil {
		return stage.Object{}, err
	}
	if is.Dir {
		return stage.Object{}, fmt.Errorf("%s is a folder: write %s/*", at, at)
	}
	return stage.Object{Path: at, Size: is.Size, ModTime: is.ModTime.UTC(), Version: version(is)}, nil
}

func version(is Info) string { return fmt.Sprintf("%d-%d-%d", is.ID, is.Size, is.ModTime.UnixMilli()) }

// Fingerprint is Stat: the version tells more than blocks do.
func (s *Store) Fingerprint(ctx context.Context, at string) (stage.Object, error) {
	return s.Stat(ctx, at)
}

// Open reads a file from an offset to its end. Before and after every answer its version is looked at.
func (s *Store) Open(ctx context.Context, at, want string, offset int64) (io.ReadCloser, error) {
	is, err := s.Stat(ctx, at)
	if err != nil {
		return nil, err
	}
	if want != "" && is.Version != want {
		return nil, fmt.Errorf("%s: %w", at, stage.ErrChanged)
	}
	return ranged.New(ctx, ranged.Source{Name: at, Tries: s.Tries, Sleep: s.Sleep,
		Get: func(ctx context.Context, from, to int64) (io.ReadCloser, error) { return s.get(ctx, is, from, to) },
	}, offset, offset >= is.Size), nil
}

// get asks for bytes [from, to) of a file as it was, to its end where to is negative.
func (s *Store) get(ctx context.Context, was stage.Object, from, to int64) (io.ReadCloser, error) {
	if err := s.same(ctx, was); err != nil { // also at the end, which may be that of another version
		return nil, err
	}
	if from >= was.Size {
		return nil, ranged.ErrPastEnd
	}
	if to < 0 || to > was.Size {
		to = was.Size
	}
	name, err := s.cut(was.Path)
	if err != nil {
		return nil, err
	}
	body, err := s.Client.Read(ctx, name, from, to-from)
	if err != nil {
		return nil, err
	}
	return &whole{ReadCloser: body, left: to - from, same: func() error { return s.same(ctx, was) }}, nil
}

// same makes sure that a file is still the one that is read.
func (s *Store) same(ctx context.Context, was stage.Object) error {
	is, err := s.Stat(ctx, was.Path)
	if err == nil && is.Version != was.Version {
		err = fmt.Errorf("%s: %w", was.Path, stage.ErrChanged)
	}
	return err
}

// whole is an answer that ends only when all of it has come, and the file is still the same.
type whole struct {
	io.ReadCloser
	left int64
	same func() error
}

func (w *whole) Read(p []byte) (int, error) {
	if w.left == 0 {
		if err := w.same(); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := w.ReadCloser.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	if err == io.EOF {
		err = nil
		if w.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}
