// Package hdfs is the backend of HDFS over its native protocol, with the client of github.com/colinmarc/hdfs. What is done
// with it is in package namenode.
//
// The client cannot ask for what it writes to be synced to disks: what is published is in the memory of DataNodes until they
// write it, and a power loss of all of them loses it. WebHDFS can.
package hdfs

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/namenode"
)

// scheme begins the addresses of this backend, and is its name.
const scheme = "hdfs"

// Env is what the backend takes from its process.
type Env struct {
	Random io.Reader // must give bytes that nobody else gets
	Sleep  func(ctx context.Context, d time.Duration) error
	// Call, which may be nil, is called before every call of a NameNode with its name, for tests. Its error is that of the call.
	Call func(method string) error
}

// Backend is HDFS over its native protocol as a backend.
func Backend(env Env) stage.Backend {
	env.Random = stage.Locked(env.Random)
	return stage.Backend{
		Name: scheme, Scheme: scheme, Expand: expand, Memory: memory,
		Barring: "power loss at the cluster", Instead: "webhdfs://",
		Open: func(ctx context.Context, at stage.Place, create bool) (stage.Sink, error) {
			s, err := open(ctx, env, at, create)
			if err != nil {
				return nil, fmt.Errorf("open destination %s: %w", at.To, err)
			}
			return s, nil
		},
		Store: func(_ context.Context, at stage.Place) (stage.Store, error) {
			c, err := connect(env, at)
			if err != nil {
				return nil, err
			}
			return &namenode.Store{Client: c, Prefix: c.at.Server(), Tries: c.retries, Sleep: env.Sleep}, nil
		},
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

// buffered is what the library has in packets of an upload, at most.
const buffered = 8 << 20

// memory is the most that buffers take.
func memory(at stage.Place, subtasks int) (int64, error) {
	_, err := settingsOf(at)
	return int64(subtasks) * (namenode.Kept + buffered), err
}
