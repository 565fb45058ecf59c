package stagetest

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Sink wraps an open destination. The result is stage.Bytes or stage.Stager as the destination is. It has all optional
// abilities: one that the destination lacks does nothing, and that without an error.
func (f *Faults) Sink(s stage.Sink, to string) stage.Sink {
	wrapped := faultySink{Sink: s, faults: f, to: to}
	switch s := s.(type) {
	case stage.Bytes:
		return &faultyBytes{wrapped, s}
	case stage.Stager:
		return &faultyStager{wrapped, s}
	}
	return &wrapped
}

type faultySink struct {
	stage.Sink
	faults *Faults
	to     string
}

func (s *faultySink) do(ctx context.Context, call string, happen func() error) error {
	return s.faults.do(ctx, call, s.to, happen)
}

func (s *faultySink) Inspect(ctx context.Context, h runstate.Handle) (e stage.Evidence, err error) {
	err = s.do(ctx, "inspect", func() (err error) {
		e, err = s.Sink.Inspect(ctx, h)
		return err
	})
	if err != nil {
		return stage.Evidence{}, err
	}
	return e, nil
}

func (s *faultySink) Publish(ctx context.Context, h runstate.Handle) error {
	return s.do(ctx, "publish", func() error { return s.Sink.Publish(ctx, h) })
}

func (s *faultySink) Abort(ctx context.Context, h runstate.Handle) error {
	return s.do(ctx, "abort", func() error { return s.Sink.Abort(ctx, h) })
}

func (s *faultySink) PutNote(ctx context.Context, name string, data []byte) error {
	return s.do(ctx, "put-note", func() error { return s.Sink.PutNote(ctx, name, data) })
}

func (s *faultySink) Note(ctx context.Context, name string) (data []byte, err error) {
	err = s.do(ctx, "note", func() (err error) {
		data, err = s.Sink.Note(ctx, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (s *faultySink) Late() time.Duration {
	if l, ok := s.Sink.(interface{ Late() time.Duration }); ok {
		return l.Late()
	}
	return 0
}

func (s *faultySink) Limits(ctx context.Context) (stage.Limits, error) {
	if l, ok := s.Sink.(stage.Limited); ok {
		return l.Limits(ctx)
	}
	return stage.Limits{}, nil
}

func (s *faultySink) Version(ctx context.Context, h runstate.Handle) (string, error) {
	if v, ok := s.Sink.(stage.Versioned); ok {
		return v.Version(ctx, h)
	}
	return "", nil
}

func (s *faultySink) Wide() int {
	if w, ok := s.Sink.(interface{ Wide() int }); ok {
		return w.Wide()
	}
	return 1
}

func (s *faultySink) Close() error {
	return s.do(context.Background(), "close", s.Sink.Close)
}

func (s *faultySink) Visible(ctx context.Context, run runstate.Token) (names []string, err error) {
	err = s.do(ctx, "visible", func() (err error) {
		if lister, ok := s.Sink.(stage.Lister); ok {
			names, err = lister.Visible(ctx, run)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

func (s *faultySink) Sweep(ctx context.Context, run runstate.Token, live []runstate.Handle) error {
	return s.do(ctx, "sweep", func() error {
		if sweeper, ok := s.Sink.(stage.Sweeper); ok {
			return sweeper.Sweep(ctx, run, live)
		}
		return nil
	})
}

func (s *faultySink) Probe(ctx context.Context, run runstate.Token) error {
	return s.do(ctx, "probe", func() error {
		if prober, ok := s.Sink.(stage.Prober); ok {
			return prober.Probe(ctx, run)
		}
		return nil
	})
}

// faultyBytes is of a destination that stages bytes.
type faultyBytes struct {
	faultySink
	bytes stage.Bytes
}

func (s *faultyBytes) Create(ctx context.Context, a runstate.Artifact) (w stage.ByteWriter, err error) {
	err = s.do(ctx, "create", func() (err error) {
		w, err = s.bytes.Create(ctx, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &faultyByteWriter{w, &s.faultySink}, nil
}

type faultyByteWriter struct {
	stage.ByteWriter
	sink *faultySink
}

func (w *faultyByteWriter) Write(p []byte) (n int, err error) {
	err = w.sink.do(context.Background(), "write", func() (err error) {
		n, err = w.ByteWriter.Write(p)
		return err
	})
	return n, err
}

func (w *faultyByteWriter) Prepare(ctx context.Context, rows int64, digest string) (runstate.Handle, error) {
	return w.sink.prepare(ctx, func() (runstate.Handle, error) { return w.ByteWriter.Prepare(ctx, rows, digest) })
}

func (s *faultySink) prepare(ctx context.Context, prepare func() (runstate.Handle, error)) (h runstate.Handle, err error) {
	err = s.do(ctx, "prepare", func() (err error) {
		h, err = prepare()
		return err
	})
	if err != nil {
		return runstate.Handle{}, err
	}
	return h, nil
}

func (w *faultyByteWriter) Discard(ctx context.Context) error {
	return w.sink.do(ctx, "discard", func() error { return w.ByteWriter.Discard(ctx) })
}

// ReadBack is that of the writer.
func (w *faultyByteWriter) ReadBack() (io.ReaderAt, int64, error) {
	if reader, ok := w.ByteWriter.(stage.ReadBack); ok {
		return reader.ReadBack()
	}
	return nil, 0, errors.ErrUnsupported
}

// faultyStager is of a destination that stages rows.
type faultyStager struct {
	faultySink
	stager stage.Stager
}

func (s *faultyStager) Open(ctx context.Context, a runstate.Artifact, schema *columnar.Schema) (w stage.Writer, err error) {
	err = s.do(ctx, "create", func() (err error) {
		w, err = s.stager.Open(ctx, a, schema)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &faultyWriter{w, &s.faultySink}, nil
}

type faultyWriter struct {
	stage.Writer
	sink *faultySink
}

func (w *faultyWriter) Write(ctx context.Context, b *columnar.Batch) error {
	return w.sink.do(ctx, "write", func() error { return w.Writer.Write(ctx, b) })
}

func (w *faultyWriter) Prepare(ctx context.Context) (runstate.Handle, error) {
	return w.sink.prepare(ctx, func() (runstate.Handle, error) { return w.Writer.Prepare(ctx) })
}

func (w *faultyWriter) Discard(ctx context.Context) error {
	return w.sink.do(ctx, "discard", func() error { return w.Writer.Discard(ctx) })
}
