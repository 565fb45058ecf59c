package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

type column = columnar.Column

// minSplit is the least size, in bytes, of the pieces that files are cut into unless the job says otherwise.
const minSplit = 1 << 20

// Split cuts the files. With one subtask files are read whole; otherwise a file is cut into pieces of about the share of
// one subtask.
func (s *source) Split(ctx context.Context) ([]runstate.Split, error) {
	piece := s.plan.Source.SplitBytes
	if piece == 0 && s.plan.Subtasks > 1 {
		var total int64
		for _, f := range s.print.Files {
			total += f.Size
		}
		piece = max(minSplit, (total+int64(s.plan.Subtasks)-1)/int64(s.plan.Subtasks))
	}
	s.splits = nil
	for _, f := range s.print.Files {
		splits, err := s.split(ctx, f, piece)
		if err != nil {
			return nil, err
		}
		s.splits = append(s.splits, splits...)
	}
	return s.splits, nil
}

// Head gives the head of the first file, and refuses files that lack columns, or whose heads say something else.
func (s *source) Head(ctx context.Context) (first []byte, err error) {
	for i, f := range s.print.Files {
		head, err := s.head(ctx, f, first)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = head
		}
	}
	return s.copied(first), nil
}

// Infer is as pipeline.Source has it.
func (s *source) Infer(ctx context.Context) ([]columnar.Column, error) { return s.infer(ctx) }

// Size is as pipeline.Source has it.
func (s *source) Size(r runstate.Range) int64 {
	f, err := s.file(s.splits[r.Split].Part)
	if err != nil { // whoever opens the range will tell
		return 0
	}
	return s.size(f, r)
}

func (s *source) file(path string) (file, error) {
	i := slices.IndexFunc(s.print.Files, func(f file) bool { return f.Path == path })
	if i < 0 {
		return file{}, fmt.Errorf("the journal names no file %s", path)
	}
	return s.print.Files[i], nil
}

// Open reads a range of a split.
func (s *source) Open(ctx context.Context, r runstate.Range) (pipeline.Reader, error) {
	f, err := s.file(s.splits[r.Split].Part)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, f, r)
}

// Unmatched names the files that the pattern matches now and the run does not read.
func (s *source) Unmatched(ctx context.Context) []string {
	names, err := s.store.List(ctx, s.plan.Source.Path)
	if err != nil { // it is a remark for people: what the run reads is checked elsewhere
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(s.print.Files, func(f file) bool { return f.Path == name })
	})
}

// bytes reads bytes [from, to) of a file as it is kept. Fewer mean that it has changed.
func (s *source) bytes(ctx context.Context, path string, from, to int64) (data []byte, err error) {
	r, err := s.openBytes(ctx, path, from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	data = make([]byte, to-from)
	n, err := io.ReadFull(r, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF && to > from {
		return data[:n], fmt.Errorf("%w: %s ends at %d", pipeline.ErrSourceChanged, path, from+int64(n))
	}
	if err == io.EOF {
		err = nil
	}
	if err != nil {
		err = changedBy(fmt.Errorf("source %s: %w", path, err))
	}
	return data, err
}

// openBytes opens a file that was found before. That it is not there any more is a change.
func (s *source) openBytes(ctx context.Context, path string, from int64) (io.ReadCloser, error) {
	version, _ := s.versions.Load(path)
	v, _ := version.(string)
	r, err := s.store.Open(ctx, path, v, from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is not there any more", pipeline.ErrSourceChanged, path)
	}
	if err != nil {
		return nil, changedBy(fmt.Errorf("source %s: %w", path, err))
	}
	return r, nil
}
