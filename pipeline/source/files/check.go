package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Check looks at the files that ranges are of, and compares the ranges with the bytes there now where a file is not as it
// was when this process first looked: another size, time, block, device, inode or inode time. Equal bytes carry on,
// whatever else differs.
func (s *source) Check(ctx context.Context, ranges []runstate.Range) (warnings []string, err error) {
	touched := map[string]bool{}
	for _, r := range ranges {
		touched[s.splits[r.Split].Part] = true
	}
	for i, f := range s.print.Files {
		if !touched[f.Path] {
			continue
		}
		_, grown, err := s.look(ctx, f, s.base[i], ranges)
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, grown...)
	}
	return warnings, nil
}

// look tells what a file is now. Where that is not what it was, ranges are compared.
func (s *source) look(ctx context.Context, f file, was stage.Object, ranges []runstate.Range) (now stage.Object, warnings []string, err error) {
	now, err = s.store.Fingerprint(ctx, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return now, nil, fmt.Errorf("%w: %s is not there any more", pipeline.ErrSourceChanged, f.Path)
	}
	if err != nil {
		return now, nil, fmt.Errorf("source %s: %w", f.Path, err)
	}
	s.versions.LoadOrStore(f.Path, now.Version)
	if same(now, was) {
		return now, nil, nil
	}
	s.versions.Store(f.Path, now.Version) // what was read is compared with it
	if now.Size < f.Size {
		return now, nil, fmt.Errorf("%w: %s has %d bytes, and had %d", pipeline.ErrSourceChanged, f.Path, now.Size, f.Size)
	}
	if err := s.compareBlocks(ctx, f, now); err != nil {
		return now, nil, err
	}
	if now.Size > was.Size {
		warnings = append(warnings, fmt.Sprintf("%s has grown from %d to %d bytes; it is read to its planned end, at %d", f.Path, was.Size, now.Size, f.Size))
	}
	return now, warnings, s.compare(ctx, f, ranges)
}

// compareBlocks compares the first and the last block of what a file was when the run was begun. A file has only grown if
// both are where they were.
func (s *source) compareBlocks(ctx context.Context, f file, now stage.Object) error {
	first, last := now.First, now.Last
	if now.Size > f.Size {
		block := min(stage.FingerprintBlock, f.Size)
		head, err := s.bytes(ctx, f.Path, 0, block)
		if err != nil {
			return err
		}
		tail, err := s.bytes(ctx, f.Path, f.Size-block, f.Size)
		if err != nil {
			return err
		}
		first, last = runstate.DigestOf(head), runstate.DigestOf(tail)
	}
	if first != f.First || last != f.Last {
		return fmt.Errorf("%w: the first or the last block of %s is another one", pipeline.ErrSourceChanged, f.Path)
	}
	return nil
}

func same(a, b stage.Object) bool {
	times := a.ModTime.Equal(b.ModTime) && a.Change.Equal(b.Change)
	a.ModTime, a.Change, a.Links = b.ModTime, b.Change, b.Links // the inode time tells of another link too
	return times && a == b
}

// changedWhileRead gives the reason why data was refused: a file that is being written to is no bad data.
func (s *source) changedWhileRead(ctx context.Context, path string, refused error) error {
	i := slices.IndexFunc(s.print.Files, func(f file) bool { return f.Path == path })
	if now, err := s.store.Fingerprint(ctx, path); i >= 0 && (err != nil || !same(now, s.base[i])) {
		return errors.Join(fmt.Errorf("%w: %s, while it was read, so that it says: %v", pipeline.ErrSourceChanged, path, refused), err)
	}
	return refused
}

// changedBy makes a store's word that a file has changed the source's.
func changedBy(err error) error {
	if errors.Is(err, stage.ErrChanged) {
		return fmt.Errorf("%w: %w", pipeline.ErrSourceChanged, err)
	}
	return err
}

// compare reads ranges of one file again.
func (s *source) compare(ctx context.Context, f file, ranges []runstate.Range) error {
	if _, err := s.head(ctx, f, nil); err != nil {
		return err
	}
	for _, r := range ranges {
		if s.splits[r.Split].Part != f.Path {
			continue
		}
		now, err := s.digest(ctx, f, r)
		if err != nil {
			return err
		}
		if now != r.Digest {
			return fmt.Errorf("%w: %s %d to %d of %s are not what was read there before", pipeline.ErrSourceChanged,
				s.splits[r.Split].Units(), r.From, r.To, f.Path)
		}
	}
	return nil
}

// inFile adds to a data error its file. To other errors it adds what was read.
func (s *source) inFile(path string, err error) error {
	e, ok := errors.AsType[*format.DataError](err)
	if !ok {
		return changedBy(fmt.Errorf("source %s: %w", path, err))
	}
	e.File = path
	return e
}

// located adds to a data error the file, and the lines of the spot and of its record, which are counted by reading the
// file up to them. Other errors pass unchanged.
func (t text) located(ctx context.Context, f file, err error) error {
	err = t.inFile(f.Path, err)
	e, ok := errors.AsType[*format.DataError](err)
	if !ok || e.Line > 0 || e.Offset == format.Unplaced {
		return err
	}
	record, spot, counted := t.countLines(ctx, f, e.Start, e.Offset)
	if counted == nil { // else the byte offset says where it is
		e.Record, e.Line = record, spot
	}
	return e
}

// countLines gives the lines, from 1, on which two positions of a file lie, the first being no later than the second.
func (t text) countLines(ctx context.Context, f file, first, second int64) (a, b int64, err error) {
	r, err := t.stream(ctx, f, 0)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	count := func(n int64) (lines int64, err error) {
		buf := make([]byte, 64<<10)
		for n > 0 {
			m, err := io.ReadFull(r, buf[:min(n, int64(len(buf)))])
			lines += int64(bytes.Count(buf[:m], lineFeed))
			if n -= int64(m); err != nil {
				return lines, err
			}
		}
		return lines, nil
	}
	if a, err = count(first); err != nil {
		return 0, 0, err
	}
	b, err = count(second - first)
	return a + 1, a + b + 1, err
}
