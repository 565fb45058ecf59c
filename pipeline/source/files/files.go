// Package files is the source of files: any text format over any store. A split is a piece of a file between two records.
package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Sources opens files as sources. Formats makes a format by name.
type Sources struct {
	Store   stage.Store
	Formats func(name string, options map[string]any) (format.Format, error)
}

var _ pipeline.Sources = Sources{}

// print is what the journal knows of the source.
type print struct {
	Files []file `json:"files"`
}

// file is one file, as it was when the run was begun.
type file struct {
	stage.Object
	Head       int    `json:"head"`        // bytes before the first record
	HeadDigest string `json:"head_digest"` // of them
}

// Find lists the files that the plan's pattern matches, and fingerprints them. One file under two names is refused.
func (s Sources) Find(ctx context.Context, p pipeline.Plan) (pipeline.Source, pipeline.Fingerprint, error) {
	var found pipeline.Fingerprint
	src, err := s.open(p)
	if err != nil {
		return nil, found, err
	}
	names, err := s.Store.List(ctx, p.Source.Path)
	if err != nil {
		return nil, found, err
	}
	for _, name := range names {
		if !utf8.ValidString(name) { // the journal is JSON
			return nil, found, &pipeline.Failure{Code: pipeline.Usage, Err: fmt.Errorf("source %q: its name is not UTF-8: rename it", name)}
		}
		o, err := s.Store.Fingerprint(ctx, name)
		if err != nil {
			return nil, found, fmt.Errorf("source %s: %w", name, err)
		}
		f := file{Object: o}
		if err := src.measureHead(ctx, &f); err != nil {
			return nil, found, err
		}
		src.print.Files = append(src.print.Files, f)
		found.Bytes += o.Size
	}
	if err := twice(src.print.Files); err != nil {
		return nil, found, &pipeline.Failure{Code: pipeline.Usage, Err: err}
	}
	src.base = src.print.objects()
	if found.Own, err = json.Marshal(src.print); err != nil {
		return nil, found, fmt.Errorf("encode the source's fingerprint: %w", err)
	}
	found.Digest, found.Content = src.print.digest(true), src.print.digest(false)
	return src, found, nil
}

// twice refuses a file that would be read under two names.
func twice(files []file) error {
	seen := map[[2]uint64]string{}
	paths := map[string]bool{}
	for _, f := range files {
		id := [2]uint64{f.Device, f.Inode}
		if first, ok := seen[id]; ok && f.Inode != 0 || paths[f.Path] {
			return fmt.Errorf("the source has one file twice: %s and %s; name it once", first, f.Path)
		}
		seen[id], paths[f.Path] = f.Path, true
	}
	return nil
}

// digest is of what makes the default key, with or without the times of modification. On which device a file is, as which
// inode, raises suspicion, and no more.
func (p print) digest(times bool) string {
	h := runstate.NewHasher()
	for _, f := range p.Files {
		_, _ = fmt.Fprintf(h, "%q %d %s %s\n", f.Path, f.Size, f.First, f.Last) // cannot fail
		if times {
			_, _ = fmt.Fprintf(h, "%d\n", f.ModTime.UnixNano())
		}
	}
	return h.Digest()
}

// Reopen is the source of a run that was begun: its files are the journal's, whatever matches now.
func (s Sources) Reopen(ctx context.Context, p pipeline.Plan, own json.RawMessage, splits []runstate.Split, kept []runstate.Range) (pipeline.Source, []string, error) {
	src, err := s.open(p)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(own, &src.print); err != nil {
		return nil, nil, fmt.Errorf("the source's fingerprint in the journal: %w", err)
	}
	src.splits = splits
	var warnings []string
	for _, f := range src.print.Files {
		now, grown, err := src.look(ctx, f, f.Object, kept)
		if err != nil {
			return nil, warnings, err
		}
		src.base, warnings = append(src.base, now), append(warnings, grown...)
	}
	return src, warnings, nil
}

func (p print) objects() []stage.Object {
	var o []stage.Object
	for _, f := range p.Files {
		o = append(o, f.Object)
	}
	return o
}

func (s Sources) open(p pipeline.Plan) (*source, error) {
	f, err := s.Formats(p.Source.Format, p.Source.Options)
	if err != nil {
		return nil, &pipeline.Failure{Code: pipeline.Usage, Err: err}
	}
	text, ok := f.(format.Text)
	if !ok {
		return nil, &pipeline.Failure{Code: pipeline.Usage, Err: fmt.Errorf("format %s cannot be read", p.Source.Format)}
	}
	schema, err := p.Schema()
	if err != nil {
		return nil, &pipeline.Failure{Code: pipeline.Usage, Err: err}
	}
	return &source{store: s.Store, text: text, schema: schema, plan: p}, nil
}

// maxHead bounds what may stand before a file's first record, in bytes.
const maxHead = 16 << 20

// measureHead reads what stands before a file's first record.
func (s *source) measureHead(ctx context.Context, f *file) error {
	for size := int64(stage.FingerprintBlock); ; size *= 4 {
		start, err := s.read(ctx, f.Path, 0, min(size, f.Size))
		if err != nil {
			return err
		}
		whole := int64(len(start)) == f.Size
		n, err := s.text.Head(start, whole)
		if errors.Is(err, format.ErrShort) && !whole && size < maxHead {
			continue
		}
		if err != nil {
			return s.located(ctx, f.Path, err)
		}
		f.Head, f.HeadDigest = n, runstate.DigestOf(start[:n])
		return nil
	}
}

// read reads bytes [from, to) of a file. Fewer mean that it has changed.
func (s *source) read(ctx context.Context, path string, from, to int64) (data []byte, err error) {
	r, err := s.openFile(ctx, path, from)
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
		err = fmt.Errorf("source %s: %w", path, err)
	}
	return data, err
}

// openFile opens a file that was found before. That it is not there any more is a change.
func (s *source) openFile(ctx context.Context, path string, from int64) (io.ReadCloser, error) {
	r, err := s.store.Open(ctx, path, from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is not there any more", pipeline.ErrSourceChanged, path)
	}
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", path, err)
	}
	return r, nil
}
