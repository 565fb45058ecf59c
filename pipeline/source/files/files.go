// Package files is the source of files: any format over any store. A split is a piece of a file between two records, or between
// two groups of rows where a format reads rows by their number.
package files

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Sources opens files as sources. Stores opens the store that a path is in, Formats makes a format by name.
type Sources struct {
	Stores  func(ctx context.Context, at stage.Place) (stage.Store, error)
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

// source is files in one format. layout is what depends on the format's kind.
type source struct {
	store      stage.Store
	projection *pipeline.Projection
	plan       pipeline.Plan
	print      print          // as journaled
	base       []stage.Object // of each file, as this process first saw it: what is kept was compared with that
	splits     []runstate.Split
	versions   sync.Map // of files that are read, by path: what they have now, and was compared with what was read of them before
	layout
}

// layout is how the rows of a format's files are found. Positions are its own.
type layout interface {
	// measure looks at a file that was found.
	measure(ctx context.Context, f *file) error
	// split cuts a file into pieces of about so many bytes; 0: not at all.
	split(ctx context.Context, f file, piece int64) ([]runstate.Split, error)
	// head gives what stands before the first record, and checks that the plan's columns are there. first is nil for the
	// first file.
	head(ctx context.Context, f file, first []byte) ([]byte, error)
	// copied gives what of a head is written above records that are copied unparsed.
	copied(head []byte) []byte
	// size is about how many bytes a range takes in its file.
	size(f file, r runstate.Range) int64
	// infer gives the columns of the files.
	infer(ctx context.Context) ([]column, error)
	open(ctx context.Context, f file, r runstate.Range) (pipeline.Reader, error)
	// digest is of what a range holds now.
	digest(ctx context.Context, f file, r runstate.Range) (string, error)
}

// Find lists the files that the plan's pattern matches, and fingerprints them. One file under two names is refused.
func (s Sources) Find(ctx context.Context, p pipeline.Plan) (pipeline.Source, pipeline.Fingerprint, error) {
	var found pipeline.Fingerprint
	src, err := s.open(ctx, p)
	if err != nil {
		return nil, found, err
	}
	names, err := src.store.List(ctx, p.Source.Path)
	if err != nil {
		return nil, found, err
	}
	for _, name := range names {
		if !utf8.ValidString(name) { // the journal is JSON
			return nil, found, &pipeline.Failure{Code: pipeline.Usage, Err: fmt.Errorf("source %q: its name is not UTF-8: rename it", name)}
		}
		o, err := src.store.Fingerprint(ctx, name)
		if err != nil {
			return nil, found, fmt.Errorf("source %s: %w", name, err)
		}
		src.print.Files = append(src.print.Files, file{Object: o})
		src.versions.Store(name, o.Version)
		if err := src.measure(ctx, &src.print.Files[len(src.print.Files)-1]); err != nil {
			return nil, found, err
		}
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
		if f.Version != "" {
			_, _ = fmt.Fprintf(h, "%q\n", f.Version)
		}
		if times {
			_, _ = fmt.Fprintf(h, "%d\n", f.ModTime.UnixNano())
		}
	}
	return h.Digest()
}

// Reopen is the source of a run that was begun: its files are the journal's, whatever matches now.
func (s Sources) Reopen(ctx context.Context, p pipeline.Plan, own json.RawMessage, splits []runstate.Split, kept []runstate.Range) (pipeline.Source, []string, error) {
	src, err := s.open(ctx, p)
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

func (s Sources) open(ctx context.Context, p pipeline.Plan) (*source, error) {
	f, err := s.Formats(p.Source.Format, p.Source.Options)
	if err != nil {
		return nil, &pipeline.Failure{Code: pipeline.Usage, Err: err}
	}
	store, err := s.Stores(ctx, p.Source.Place())
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", p.Source.Path, err)
	}
	src := &source{store: store, plan: p}
	if src.projection, err = p.Projection(); err != nil {
		return nil, &pipeline.Failure{Code: pipeline.Usage, Err: err}
	}
	if careful, ok := f.(format.Careful); ok && p.Rejects() {
		f = careful.Careful()
	}
	switch f := f.(type) {
	case format.Text:
		src.layout = text{src, f}
	case format.Table:
		src.layout = table{src, f}
	default:
		return nil, &pipeline.Failure{Code: pipeline.Usage, Err: fmt.Errorf("format %s cannot be read", p.Source.Format)}
	}
	return src, nil
}
