package stagetest

import (
	"context"
	"io"

	"github.com/clinkctl/clinkctl/stage"
)

// Store wraps a place that is read from.
func (f *Faults) Store(s stage.Store) stage.Store { return &faultyStore{s, f} }

type faultyStore struct {
	store  stage.Store
	faults *Faults
}

func (s *faultyStore) List(ctx context.Context, pattern string) (paths []string, err error) {
	err = s.faults.do(ctx, "store-list", pattern, func() (err error) {
		paths, err = s.store.List(ctx, pattern)
		return err
	})
	if err != nil {
		return nil, err
	}
	return paths, nil
}

func (s *faultyStore) Stat(ctx context.Context, path string) (stage.Object, error) {
	return s.describe(ctx, "store-stat", path, s.store.Stat)
}

func (s *faultyStore) Fingerprint(ctx context.Context, path string) (stage.Object, error) {
	return s.describe(ctx, "store-fingerprint", path, s.store.Fingerprint)
}

func (s *faultyStore) describe(ctx context.Context, call, path string,
	describe func(context.Context, string) (stage.Object, error)) (o stage.Object, err error) {
	err = s.faults.do(ctx, call, path, func() (err error) {
		o, err = describe(ctx, path)
		return err
	})
	if err != nil {
		return stage.Object{}, err
	}
	return o, nil
}

func (s *faultyStore) Open(ctx context.Context, path, version string, offset int64) (r io.ReadCloser, err error) {
	err = s.faults.do(ctx, "store-open", path, func() (err error) {
		r, err = s.store.Open(ctx, path, version, offset)
		return err
	})
	if err != nil {
		return nil, err
	}
	reader := &faultyReader{ReadCloser: r, ctx: ctx, faults: s.faults, path: path}
	if at, ok := r.(io.ReaderAt); ok {
		return &faultyReaderAt{reader, at}, nil
	}
	return reader, nil
}

// faultyReader keeps the context that it was opened with, as Read has none.
type faultyReader struct {
	io.ReadCloser
	ctx    context.Context
	faults *Faults
	path   string
}

func (r *faultyReader) Read(p []byte) (n int, err error) {
	err = r.faults.do(r.ctx, "store-read", r.path, func() (err error) {
		n, err = r.ReadCloser.Read(p)
		return err
	})
	return n, err
}

type faultyReaderAt struct {
	*faultyReader
	at io.ReaderAt
}

func (r *faultyReaderAt) ReadAt(p []byte, offset int64) (n int, err error) {
	err = r.faults.do(r.ctx, "store-read", r.path, func() (err error) {
		n, err = r.at.ReadAt(p, offset)
		return err
	})
	return n, err
}
