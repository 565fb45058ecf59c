package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

type source struct {
	store  stage.Store
	text   format.Text
	schema *columnar.Schema
	plan   pipeline.Plan
	print  print          // as journaled
	base   []stage.Object // of each file, as this process first saw it: what is kept was compared with that
	splits []runstate.Split
}

// minSplit is the least size, in bytes, of the pieces that files are cut into unless the job says otherwise.
const minSplit = 1 << 20

// Split cuts the files. With one subtask files are read whole; otherwise a file is cut into pieces of about the share of
// one subtask, at the ends of records, which are found by reading the file up to them.
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
		if err := s.splitFile(ctx, f, piece); err != nil {
			return nil, err
		}
	}
	return s.splits, nil
}

func (s *source) splitFile(ctx context.Context, f file, piece int64) (err error) {
	sp := runstate.Split{Part: f.Path, From: int64(f.Head), To: f.Size}
	if piece <= 0 || sp.To-sp.From <= piece {
		s.splits = append(s.splits, sp)
		return nil
	}
	r, err := s.openFile(ctx, f.Path, sp.From)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	chunker := format.NewChunker(io.LimitReader(r, sp.To-sp.From), s.text, 0)
	chunker.At = sp.From
	var buf []byte
	for {
		chunk, err := chunker.Next(buf, format.Limit{Bytes: sp.From + piece - chunker.At})
		if err == io.EOF {
			break
		}
		if err != nil {
			return s.located(ctx, f.Path, err)
		}
		buf = chunk.Data
		if at := chunk.At + chunk.Source; at-sp.From >= piece && at < f.Size {
			s.splits = append(s.splits, runstate.Split{Part: f.Path, From: sp.From, To: at})
			sp.From = at
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	s.splits = append(s.splits, sp)
	return nil
}

// Head gives the head of the first file, and refuses files whose heads say something else.
func (s *source) Head(ctx context.Context) ([]byte, error) {
	var first []byte
	for i, f := range s.print.Files {
		head, err := s.head(ctx, f)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = head
		}
		if _, err := s.text.NewDecoder(format.Reading{Schema: s.schema, Head: head}); err != nil {
			return nil, s.located(ctx, f.Path, err)
		}
		if len(s.schema.Columns) == 0 && !s.text.SameHead(first, head) {
			return nil, &format.DataError{File: f.Path, Line: 1, Value: string(bytes.TrimSpace(head)), Advice: "declare the columns, or export the files apart",
				Reason: fmt.Sprintf("is not the header of %s, and records are copied unparsed", s.print.Files[0].Path)}
		}
	}
	return first, nil
}

// head reads what stands before a file's first record, which must be what was there when the run was begun.
func (s *source) head(ctx context.Context, f file) ([]byte, error) {
	head, err := s.read(ctx, f.Path, 0, int64(f.Head))
	if err != nil {
		return nil, err
	}
	if runstate.DigestOf(head) != f.HeadDigest {
		return nil, fmt.Errorf("%w: the header of %s is another one", pipeline.ErrSourceChanged, f.Path)
	}
	return head, nil
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
	path := s.splits[r.Split].Part
	f, err := s.file(path)
	if err != nil {
		return nil, err
	}
	head, err := s.head(ctx, f)
	if err != nil {
		return nil, err
	}
	decoder, err := s.text.NewDecoder(format.Reading{Schema: s.schema, Head: head})
	if err != nil {
		return nil, s.located(ctx, path, err)
	}
	from, err := s.openFile(ctx, path, r.From)
	if err != nil {
		return nil, err
	}
	chunker := format.NewChunker(io.LimitReader(from, r.To-r.From), s.text, 0)
	chunker.At = r.From
	return &reader{source: s, path: path, end: r.To, within: r.To < f.Size, from: from, chunker: chunker, decoder: decoder, digest: runstate.NewHasher()}, nil
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

type reader struct {
	source  *source
	path    string
	end     int64 // of the range
	within  bool  // the range ends before the file does, so at a record's end
	from    io.ReadCloser
	chunker *format.Chunker
	decoder format.Decoder
	digest  *runstate.Hasher
	buf     []byte
}

func (r *reader) Next(ctx context.Context, limit format.Limit, b *columnar.Batch) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	chunk, err := r.chunker.Next(r.buf, limit)
	if err == io.EOF {
		return 0, err
	}
	if err != nil {
		return 0, r.source.changedWhileRead(ctx, r.path, r.source.located(ctx, r.path, err))
	}
	r.buf = chunk.Data
	if r.within && chunk.Source < int64(len(chunk.Data)) {
		return 0, fmt.Errorf("%w: no record of %s ends at byte %d any more", pipeline.ErrSourceChanged, r.path, chunk.At+chunk.Source)
	}
	_, _ = r.digest.Write(chunk.Data[:chunk.Source]) // cannot fail; before the decoder, which may change the bytes
	if err := r.decoder.Decode(chunk.Data, chunk.At, b); err != nil {
		return 0, r.source.changedWhileRead(ctx, r.path, r.source.located(ctx, r.path, err))
	}
	return chunk.At + chunk.Source, nil
}

func (r *reader) Digest() string {
	d := r.digest.Digest()
	r.digest = runstate.NewHasher()
	return d
}

func (r *reader) Close() error { return r.from.Close() }
