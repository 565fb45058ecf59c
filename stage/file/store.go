package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
)

// Store is the local file system as a place to read from.
type Store struct{ fsys vfs.FS }

var _ stage.Store = Store{}

// NewStore makes a store of a file system.
func NewStore(fsys vfs.FS) Store { return Store{fsys} }

// List gives the files that a pattern matches. A file whose very name is the pattern is that file. Folders that match a
// wildcard are left out; whatever else is no regular file is an error, and so is a pattern that names a folder.
func (s Store) List(ctx context.Context, pattern string) ([]string, error) {
	if err := checkPattern(pattern); err != nil {
		return nil, fmt.Errorf("source %s: %w", pattern, err)
	}
	pattern = path.Clean(pattern)
	names, err := s.expand(ctx, pattern)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", pattern, err)
	}
	var files []string
	for _, name := range names {
		info, err := s.fsys.Stat(name)
		if err == nil && info.Dir && name != pattern {
			continue
		}
		if err == nil {
			err = checkFile(name, info)
		}
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", pattern, err)
		}
		real, err := s.fsys.Real(name)
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", pattern, err)
		}
		files = append(files, real)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("source %s: %w", pattern, fs.ErrNotExist)
	}
	slices.Sort(files)
	return files, nil
}

func checkPattern(pattern string) error {
	if !path.IsAbs(pattern) {
		return errors.New("the path is not absolute")
	}
	if strings.Contains(pattern, "**") {
		return errors.New("** is not known; write one * for each folder between")
	}
	_, err := path.Match(pattern, "")
	return err
}

func checkFile(name string, info vfs.Info) error {
	switch {
	case info.Dir:
		return fmt.Errorf("%s is a folder; name the files in it: %s", name, path.Join(name, "*.csv"))
	case !info.Regular:
		return fmt.Errorf("%s is not a regular file", name)
	}
	return nil
}

// expand gives the paths that a clean pattern matches, whatever they are.
func (s Store) expand(ctx context.Context, pattern string) ([]string, error) {
	_, err := s.fsys.Stat(pattern)
	if err == nil {
		return []string{pattern}, nil
	}
	if !noEntry(err) {
		return nil, err
	}
	paths := []string{"/"}
	for element := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		var next []string
		for _, dir := range paths {
			names, err := s.match(ctx, dir, element)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				next = append(next, path.Join(dir, name))
			}
		}
		paths = next
	}
	return paths, nil
}

// noEntry tells whether an error says that there is nothing under a path.
func noEntry(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// match gives the names in a folder that one element of a pattern matches. What is no folder has none.
func (s Store) match(ctx context.Context, dir, element string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !strings.ContainsAny(element, `*?[\`) {
		_, err := s.fsys.Stat(path.Join(dir, element))
		if noEntry(err) {
			return nil, nil
		}
		return []string{element}, err
	}
	if info, err := s.fsys.Stat(dir); err != nil || !info.Dir {
		return nil, err
	}
	names, err := s.fsys.List(dir)
	if err != nil {
		return nil, err
	}
	var matched []string
	for _, name := range names {
		if ok, _ := path.Match(element, name); ok && name[0] != '.' && name[0] != '_' { // the pattern is known to be good
			matched = append(matched, name)
		}
	}
	return matched, nil
}

// Stat describes a file.
func (s Store) Stat(ctx context.Context, name string) (stage.Object, error) {
	if err := ctx.Err(); err != nil {
		return stage.Object{}, err
	}
	info, err := s.fsys.Stat(name)
	if err == nil {
		err = checkFile(name, info)
	}
	if err != nil {
		return stage.Object{}, err
	}
	return object(name, info), nil
}

func object(name string, info vfs.Info) stage.Object {
	return stage.Object{Path: name, Size: info.Size, ModTime: info.ModTime.UTC(), Change: info.Change.UTC(),
		Device: info.Device, Inode: info.Inode, Links: info.Links}
}

// Fingerprint describes a file and digests its first and last block. What it describes is the file that it has read.
func (s Store) Fingerprint(ctx context.Context, name string) (o stage.Object, err error) {
	if _, err := s.Stat(ctx, name); err != nil { // opening a pipe would wait for ever
		return o, err
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return o, err
	}
	o = object(name, info)
	block := make([]byte, min(stage.FingerprintBlock, info.Size))
	for _, b := range []struct {
		at     int64
		digest *string
	}{{0, &o.First}, {info.Size - int64(len(block)), &o.Last}} {
		if n, err := f.ReadAt(block, b.at); n < len(block) {
			return o, fmt.Errorf("%s: block at %d: %w", name, b.at, err)
		}
		*b.digest = runstate.DigestOf(block)
	}
	return o, nil
}

// Open reads a file from an offset to its end, whatever version is asked for: files have none. The reader is an io.ReaderAt, too, with positions in the whole file.
func (s Store) Open(ctx context.Context, name, _ string, offset int64) (io.ReadCloser, error) {
	if _, err := s.Stat(ctx, name); err != nil {
		return nil, err
	}
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return &fileReader{File: f, from: io.NewSectionReader(f, offset, math.MaxInt64-offset)}, nil
}

// fileReader reads a part of a file.
type fileReader struct {
	vfs.File
	from *io.SectionReader
}

func (r *fileReader) Read(p []byte) (int, error) { return r.from.Read(p) }
