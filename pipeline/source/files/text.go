package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// text is the layout of text. Positions are bytes of the text, which of a compressed file are those it becomes.
type text struct {
	*source
	format format.Text
}

// compression is how a file is compressed.
func (t text) compression(f file) format.Compression { return t.format.Compression().Of(f.Path) }

// stream reads the text of a file from a position on, up to the end that the file had when it was found.
func (t text) stream(ctx context.Context, f file, from int64) (*stream, error) {
	c := t.compression(f)
	at := from
	if c != format.Uncompressed {
		at = 0
	}
	kept, err := t.openBytes(ctx, f.Path, at)
	if err != nil {
		return nil, err
	}
	s := &stream{kept: kept, limited: io.LimitedReader{R: kept, N: f.Size - at}}
	if s.ReadCloser, err = c.NewReader(&s.limited); err == nil && from > at {
		_, err = io.CopyN(io.Discard, s, from)
		if err == io.EOF {
			err = fmt.Errorf("%w: %s ends before %d", pipeline.ErrSourceChanged, f.Path, from)
		}
	}
	if err != nil {
		if s.ReadCloser == nil {
			s.ReadCloser = io.NopCloser(nil)
		}
		return nil, errors.Join(t.inFile(f.Path, err), s.Close())
	}
	s.begin = s.limited.N
	return s, nil
}

// stream is the text of a file.
type stream struct {
	io.ReadCloser
	kept    io.Closer
	limited io.LimitedReader // of the bytes that are kept
	begin   int64
}

// passed is how many of the bytes that are kept were read for the text since the stream was opened.
func (s *stream) passed() int64 { return s.begin - s.limited.N }

func (s *stream) Close() error { return errors.Join(s.ReadCloser.Close(), s.kept.Close()) }

// maxHead bounds what may stand before a file's first record, in bytes.
const maxHead = 16 << 20

// measure reads what stands before a file's first record.
func (t text) measure(ctx context.Context, f *file) error {
	for size := int64(4096); ; size *= 4 {
		start, whole, err := t.start(ctx, *f, size)
		if err != nil {
			return err
		}
		n, err := t.format.Head(start, whole)
		if errors.Is(err, format.ErrShort) && !whole && size < maxHead {
			continue
		}
		if err != nil {
			return t.located(ctx, *f, err)
		}
		f.Head, f.HeadDigest = n, runstate.DigestOf(start[:n])
		return nil
	}
}

// start reads the first size bytes of a file's text; all of it if whole.
func (t text) start(ctx context.Context, f file, size int64) (start []byte, whole bool, err error) {
	r, err := t.stream(ctx, f, 0)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	start, err = io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return nil, false, t.located(ctx, f, err)
	}
	whole = int64(len(start)) <= size
	if whole && r.limited.N > 0 && t.compression(f) == format.Uncompressed {
		return nil, false, fmt.Errorf("%w: %s ends at %d", pipeline.ErrSourceChanged, f.Path, len(start))
	}
	return start[:min(int64(len(start)), size)], whole, nil
}

// split cuts a file at the ends of records, which are found by reading the file. A compressed file is one piece, whose end is
// known when it has been read.
func (t text) split(ctx context.Context, f file, piece int64) (splits []runstate.Split, err error) {
	sp := runstate.Split{Part: f.Path, From: int64(f.Head), To: f.Size}
	if t.compression(f) != format.Uncompressed {
		sp.To = runstate.Unknown
		return []runstate.Split{sp}, nil
	}
	if piece <= 0 || sp.To-sp.From <= piece {
		return []runstate.Split{sp}, nil
	}
	r, err := t.stream(ctx, f, sp.From)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	chunker := format.NewChunker(r, t.format, 0)
	chunker.At = sp.From
	var buf []byte
	for {
		chunk, err := chunker.Next(buf, format.Limit{Bytes: sp.From + piece - chunker.At})
		if err == io.EOF {
			return append(splits, sp), nil
		}
		if err != nil {
			return nil, t.located(ctx, f, err)
		}
		buf = chunk.Data
		if at := chunk.At + chunk.Source; at-sp.From >= piece && at < f.Size {
			splits = append(splits, runstate.Split{Part: f.Path, From: sp.From, To: at})
			sp.From = at
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

func (t text) head(ctx context.Context, f file, first []byte) ([]byte, error) {
	head, err := t.headBytes(ctx, f)
	if err != nil {
		return nil, err
	}
	if _, err := t.format.NewDecoder(format.Reading{Schema: t.projection.Read, Head: head}); err != nil {
		return nil, t.located(ctx, f, err)
	}
	if first == nil {
		first = head
	}
	if len(t.plan.Columns) == 0 && !t.format.SameHead(first, head) {
		return nil, &format.DataError{File: f.Path, Line: 1, Value: string(bytes.TrimSpace(head)), Advice: "declare the columns, or export the files apart",
			Reason: fmt.Sprintf("is not the header of %s, and records are copied unparsed", t.print.Files[0].Path)}
	}
	return append([]byte{}, head...), nil
}

func (t text) copied(head []byte) []byte { return t.format.CopyHead(head) }

// headBytes reads what stands before a file's first record, which must be what was there when the run was begun.
func (t text) headBytes(ctx context.Context, f file) ([]byte, error) {
	head, _, err := t.start(ctx, f, int64(f.Head))
	if err != nil {
		return nil, err
	}
	if runstate.DigestOf(head) != f.HeadDigest {
		return nil, fmt.Errorf("%w: the header of %s is another one", pipeline.ErrSourceChanged, f.Path)
	}
	return head, nil
}

// size of a piece of a compressed file is that of the file: where a position is in it is not known.
func (t text) size(f file, r runstate.Range) int64 {
	if t.compression(f) != format.Uncompressed {
		return f.Size
	}
	return r.To - r.From
}

// infer samples the first files.
func (t text) infer(ctx context.Context) ([]columnar.Column, error) {
	inferrer, ok := t.format.(format.Inferrer)
	if !ok {
		return nil, nil
	}
	sampler := inferrer.NewSampler()
	rows := t.plan.Source.SampleRows
	if rows == 0 {
		rows = pipeline.DefaultSampleRows
	}
	for _, f := range t.print.Files {
		n, err := t.sample(ctx, f, sampler, rows)
		if err != nil {
			return nil, err
		}
		if rows -= n; rows <= 0 {
			break
		}
	}
	return sampler.Columns(), nil
}

// sample gives the first rows of a file to a sampler, and tells how many there were.
func (t text) sample(ctx context.Context, f file, sampler format.Sampler, rows int64) (n int64, err error) {
	head, err := t.headBytes(ctx, f)
	if err != nil {
		return 0, err
	}
	if err := sampler.AddHead(head); err != nil {
		return 0, t.located(ctx, f, err)
	}
	r, err := t.stream(ctx, f, int64(f.Head))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	chunker := format.NewChunker(r, t.format, 0)
	chunker.At = int64(f.Head)
	var buf []byte
	for n < rows {
		chunk, err := chunker.Next(buf, format.Limit{Rows: rows - n})
		if err == io.EOF {
			break
		}
		if err == nil {
			err = sampler.Sample(chunk.Data, chunk.At)
			if _, refused := errors.AsType[*format.DataError](err); refused && t.plan.Rejects() {
				err = nil // the record will be rejected, and those around it were looked at
			}
		}
		if err != nil {
			return n, t.located(ctx, f, err)
		}
		buf = chunk.Data
		n += chunk.Rows
	}
	return n, nil
}

// digest reads a range again.
func (t text) digest(ctx context.Context, f file, r runstate.Range) (_ string, err error) {
	digest, err := runstate.Verifier(r.Digest)
	if err != nil {
		return "", err
	}
	from, err := t.stream(ctx, f, r.From)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	n, err := io.Copy(digest, io.LimitReader(from, r.To-r.From))
	if err != nil {
		return "", t.inFile(f.Path, err)
	}
	if n != r.To-r.From {
		return "", fmt.Errorf("%w: %s ends at %d", pipeline.ErrSourceChanged, f.Path, r.From+n)
	}
	return digest.Digest(), nil
}
