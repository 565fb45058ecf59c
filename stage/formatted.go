package stage

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/runstate"
)

// Formatted makes a Stager of rows from a format and a backend of bytes. It encodes, counts and digests, and reads a
// finished file back where format and backend can, before there is a handle. head is as in format.Target.
func Formatted(f format.Writer, head []byte, b Bytes) Stager {
	return &formatted{format: f, head: head, bytes: b}
}

type formatted struct {
	format format.Writer
	head   []byte
	bytes  Bytes
}

func (f *formatted) Open(ctx context.Context, a runstate.Artifact, schema *columnar.Schema) (Writer, error) {
	bw, err := f.bytes.Create(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("stage %s: %w", a.Name(), err)
	}
	w := &formattedWriter{bytes: bw, format: f.format, schema: schema, name: a.Name()}
	w.out = &counted{to: bw, digest: runstate.NewHasher()}
	meta := [][2]string{{"clinkctl.run", string(a.Run)}, {"clinkctl.artifact", a.Name()}}
	w.encoder, err = f.format.NewEncoder(w.out, format.Target{Schema: schema, Head: f.head, Meta: meta})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("stage %s: %w", a.Name(), err), bw.Discard(ctx))
	}
	return w, nil
}

// counted counts and digests the bytes on their way from an encoder to a backend.
type counted struct {
	to     io.Writer
	digest *runstate.Hasher
	size   int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	_, _ = c.digest.Write(p[:n]) // cannot fail
	c.size += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

type formattedWriter struct {
	encoder format.Encoder
	out     *counted
	bytes   ByteWriter
	format  format.Writer
	schema  *columnar.Schema
	name    string
	rows    int64
}

func (w *formattedWriter) Write(ctx context.Context, b *columnar.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.encoder.Encode(b); err != nil {
		return fmt.Errorf("write %s: %w", w.name, err)
	}
	w.rows += int64(b.Rows)
	return nil
}

func (w *formattedWriter) Prepare(ctx context.Context) (runstate.Handle, error) {
	if err := w.encoder.Close(); err != nil {
		return runstate.Handle{}, fmt.Errorf("finish %s: %w", w.name, err)
	}
	if err := w.check(); err != nil {
		return runstate.Handle{}, fmt.Errorf("read %s back: %w", w.name, err)
	}
	h, err := w.bytes.Prepare(ctx, w.rows, w.out.digest.Digest())
	if err != nil {
		return runstate.Handle{}, fmt.Errorf("prepare %s: %w", w.name, err)
	}
	if counter, ok := w.encoder.(format.Counter); ok {
		h.Nulled = counter.Nulled()
	}
	if h.Bytes != w.out.size {
		return runstate.Handle{}, fmt.Errorf("prepare %s: %d bytes were staged of %d written", w.name, h.Bytes, w.out.size)
	}
	return h, nil
}

func (w *formattedWriter) check() error {
	checker, ok := w.format.(format.Checker)
	if !ok {
		return nil
	}
	reader, ok := w.bytes.(ReadBack)
	if !ok {
		return nil
	}
	r, size, err := reader.ReadBack()
	if err != nil {
		return err
	}
	if size != w.out.size {
		return fmt.Errorf("%d bytes are there of %d written", size, w.out.size)
	}
	err = checker.Check(r, size, w.rows, w.schema)
	if errors.Is(err, errors.ErrUnsupported) { // it is at a store that shows nothing of it yet: what it took is checked part by part
		return nil
	}
	return err
}

func (w *formattedWriter) Discard(ctx context.Context) error { return w.bytes.Discard(ctx) }
