// Package webhdfs is the backend of HDFS over WebHDFS, the REST interface of its NameNodes. It is a client of its own on
// net/http; what is done with it is in package namenode.
//
// https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html
package webhdfs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/namenode"
)

// scheme begins the addresses of this backend, and is its name.
const scheme = "webhdfs"

// Env is what the backend takes from its process.
type Env struct {
	Random io.Reader // must give bytes that nobody else gets
	Sleep  func(ctx context.Context, d time.Duration) error
	// Around, which may be nil, is laid around every request, for tests.
	Around func(http.RoundTripper) http.RoundTripper
}

// Backend is HDFS over WebHDFS as a backend.
func Backend(env Env) stage.Backend {
	env.Random = stage.Locked(env.Random)
	return stage.Backend{
		Name: scheme, Scheme: scheme, Expand: expand, Memory: memory,
		Open: func(ctx context.Context, at stage.Place, create bool) (stage.Sink, error) {
			s, err := open(ctx, env, at, create)
			if err != nil {
				return nil, fmt.Errorf("open destination %s: %w", at.To, err)
			}
			return s, nil
		},
		Store: func(_ context.Context, at stage.Place) (stage.Store, error) { return openStore(env, at) },
	}
}

func open(ctx context.Context, env Env, at stage.Place, create bool) (stage.Sink, error) {
	c, err := connect(env, at)
	if err != nil {
		return nil, err
	}
	return namenode.Open(ctx, namenode.Options{Backend: scheme, At: at.To, Dir: c.at.Path, Client: c,
		Random: env.Random, Sleep: env.Sleep, Block: c.block, Checksum: c.checksum, Retries: c.retries}, create)
}

// buffered is what an upload has in buffers besides what namenode keeps: those of the request and of the connection.
const buffered = bodyBuffers*bodyBuffer + 2*bufferSize

// memory is the most that buffers take.
func memory(at stage.Place, subtasks int) (int64, error) {
	_, err := settingsOf(at)
	return int64(subtasks) * (namenode.Kept + buffered), err
}
