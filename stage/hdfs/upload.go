package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	colinmarc "github.com/colinmarc/hdfs/v2"

	"github.com/clinkctl/clinkctl/stage/namenode"
)

// upload is a file that is being written. It has a session of its own, which keeps the file's lease, and which is thrown away
// with it.
type upload struct {
	client  *client
	session *session
	ctx     context.Context
	stop    func() bool
	name    string
	file    *colinmarc.FileWriter
	failed  bool
}

const fileMode = 0o644

// Create begins a new file in a folder that exists.
func (c *client) Create(ctx context.Context, name string) (namenode.Upload, error) {
	u := &upload{client: c, ctx: ctx, name: name}
	err := c.call(ctx, "create", name, func(s *session) error {
		defaults, err := s.ServerDefaults()
		if err != nil {
			return err
		}
		replication := defaults.Replication
		if c.replication != 0 {
			replication = c.replication
		}
		mode := fs.FileMode(fileMode)
		if c.permission != 0 {
			mode = c.permission
		}
		own, err := c.take(ctx)
		if err != nil {
			return err
		}
		if u.file, err = own.CreateFile(name, replication, c.block, mode); err != nil {
			own.end()
			return err
		}
		u.session, u.stop = own, context.AfterFunc(ctx, own.guard.end)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// Write writes. Of no bytes the library is not told: it would begin a block that never ends.
func (u *upload) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	err := u.file.SetDeadline(time.Now().Add(u.client.timeout))
	n := 0
	if err == nil {
		n, err = u.file.Write(p)
	}
	if err == nil {
		err = u.file.SetDeadline(time.Time{}) // whoever writes may take his time
	}
	if err != nil {
		u.failed = true
		return n, fmt.Errorf("write %s: %w", u.name, sort(u.ctx, err))
	}
	return n, nil
}

// again is the pause before a file that is not complete yet is looked at again.
const again = 5 * time.Millisecond

// Finish ends the file. Where the DataNodes have all of it and have not told the NameNode yet, it is asked again; after any
// other failure nothing is, since a file can be closed then with bytes that nobody has acknowledged.
func (u *upload) Finish(ctx context.Context) error {
	if u.failed {
		return fmt.Errorf("write %s: it has failed before", u.name)
	}
	stop := context.AfterFunc(ctx, u.session.guard.end)
	defer stop()
	defer u.GiveUp()
	for end := time.Now().Add(u.client.timeout); ; {
		err := u.file.SetDeadline(end)
		if err == nil {
			err = u.file.Close()
		}
		if err == nil {
			return nil
		}
		u.failed = !errors.Is(err, colinmarc.ErrReplicating) || time.Now().After(end)
		if u.failed {
			return fmt.Errorf("write %s: %w", u.name, sort(ctx, err))
		}
		if err := u.client.env.Sleep(ctx, again); err != nil {
			return err
		}
	}
}

// GiveUp cuts the connections. The file stays open until it is removed, or its lease ends.
func (u *upload) GiveUp() {
	u.stop()
	u.session.end()
}
