package hdfs

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"regexp"
	"sync"
	"syscall"
	"time"

	colinmarc "github.com/colinmarc/hdfs/v2"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/kerberos"
	"github.com/clinkctl/clinkctl/stage/namenode"
)

// client speaks with the NameNodes of one cluster, over several clients of the library: one of those makes one call at a time.
type client struct {
	settings
	at    namenode.Address
	env   Env
	nodes []string
	login *kerberos.Login // nil where there is none

	mu     sync.Mutex
	idle   []*session
	closed bool
}

var _ namenode.Client = (*client)(nil)

// connect makes a client. Nothing is sent.
func connect(env Env, at stage.Place) (*client, error) {
	set, err := settingsOf(at)
	if err != nil {
		return nil, err
	}
	address, err := namenode.ParseAddress(scheme, at.To)
	if err != nil {
		return nil, err
	}
	c := &client{settings: set, at: address, env: env}
	return c, c.configure()
}

// session is a client of the library. One that has failed is not used again.
type session struct {
	*colinmarc.Client
	guard *guard
	once  sync.Once
}

// take gives a session that nobody uses.
func (c *client) take(ctx context.Context) (*session, error) {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		s := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return s, nil
	}
	c.mu.Unlock()
	g := &guard{timeout: c.timeout, conns: map[net.Conn]bool{}}
	stop := context.AfterFunc(ctx, g.end)
	defer stop()
	o := c.options
	o.Addresses, o.User = c.nodes, c.user
	o.NamenodeDialFunc, o.DatanodeDialFunc = g.dialNameNode, g.dial
	if c.login != nil {
		var err error
		if o.KerberosClient, err = c.login.Client(); err != nil {
			g.end()
			if errors.Is(err, kerberos.ErrUnreached) {
				err = &brokenError{err}
			}
			return nil, err
		}
	}
	library, err := colinmarc.NewClient(o)
	if err != nil {
		g.end()
		return nil, &brokenError{fmt.Errorf("connect to %v: %w", c.nodes, err)}
	}
	return &session{Client: library, guard: g}, nil
}

// give gives a session back, or throws it away if it has failed.
func (c *client) give(s *session, err error) {
	_, broken := errors.AsType[*brokenError](err)
	c.mu.Lock()
	keep := !broken && !c.closed
	if keep {
		c.idle = append(c.idle, s)
	}
	c.mu.Unlock()
	if !keep {
		s.end()
	}
}

// end cuts a session's connections, and ends what the library has in the background.
func (s *session) end() {
	s.once.Do(func() { // the library closes once
		s.guard.end()
		_ = s.Close() // of connections that are closed
	})
}

func (c *client) Close() error {
	c.mu.Lock()
	idle := c.idle
	c.idle, c.closed = nil, true
	c.mu.Unlock()
	for _, s := range idle {
		s.end()
	}
	if c.login != nil {
		c.login.Close()
	}
	return nil
}

// call makes a call, and again as long as its answer says that it may be another one later.
func (c *client) call(ctx context.Context, method, name string, do func(s *session) error) error {
	for try := 1; ; try++ {
		err := c.once(ctx, method, do)
		if err == nil {
			return nil
		}
		if !passing(err) || try >= c.retries || ctx.Err() != nil {
			return fmt.Errorf("%s %s: %w", method, name, err)
		}
		if sleepErr := c.env.Sleep(ctx, min(100*time.Millisecond<<min(try-1, 10), 5*time.Second)); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
	}
}

// refusedLogin is what the library says of a connection that has ended before it could be used.
var refusedLogin = regexp.MustCompile(`no available namenodes: .*(EOF|broken pipe|connection reset)|unexpected sequence number`)

func (c *client) once(ctx context.Context, method string, do func(s *session) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.env.Call != nil {
		if err := c.env.Call(method); err != nil {
			return &brokenError{err}
		}
	}
	s, err := c.take(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, s.guard.end)
	err = sort(ctx, do(s))
	if c.login == nil && err != nil && refusedLogin.MatchString(err.Error()) {
		err = fmt.Errorf("%w; a NameNode that asks for Kerberos ends connections like this: there is the option kerberos", err)
	}
	if !stop() {
		err = errors.Join(err, &brokenError{context.Cause(ctx)})
	}
	c.give(s, err)
	return err
}

func infoOf(is fs.FileInfo) namenode.Info {
	i := namenode.Info{Name: is.Name(), Dir: is.IsDir(), Size: is.Size(), ModTime: is.ModTime()}
	if status, ok := is.Sys().(*colinmarc.FileStatus); ok && status.GetFileId() <= math.MaxInt64 {
		i.ID = int64(status.GetFileId())
	}
	return i
}

// Stat describes a file or folder.
func (c *client) Stat(ctx context.Context, name string) (is namenode.Info, err error) {
	err = c.call(ctx, "stat", name, func(s *session) error {
		info, err := s.Stat(name)
		if err == nil {
			is = infoOf(info)
		}
		return err
	})
	return is, err
}

// List describes what is in a folder.
func (c *client) List(ctx context.Context, dir string) (all []namenode.Info, err error) {
	err = c.call(ctx, "list", dir, func(s *session) error {
		infos, err := s.ReadDir(dir)
		all = nil
		for _, info := range infos {
			all = append(all, infoOf(info))
		}
		return err
	})
	return all, err
}

const folderMode = 0o755

// Mkdirs makes a folder and its parents.
func (c *client) Mkdirs(ctx context.Context, dir string) error {
	return c.call(ctx, "mkdirs", dir, func(s *session) error { return s.MkdirAll(dir, folderMode) })
}

// Rename gives a file another name, and replaces nothing.
func (c *client) Rename(ctx context.Context, from, to string) error {
	return c.call(ctx, "rename", from, func(s *session) error { return renameKeeping(s.Client, from, to) })
}

// Remove removes a file or folder for good.
func (c *client) Remove(ctx context.Context, name string, all bool) (bool, error) {
	was := true
	err := c.call(ctx, "remove", name, func(s *session) error {
		err := s.Client.Remove(name)
		if all {
			err = s.RemoveAll(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			was, err = false, nil
		}
		if errors.Is(err, syscall.ENOTEMPTY) {
			return namenode.Exception{Class: "PathIsNotEmptyDirectoryException", Message: name + " is not empty"}
		}
		return err
	})
	return was, err
}

// algorithm is that of the checksums of files that the library writes, and that it reads.
const algorithm = "MD5-of-0MD5-of-512CRC32C"

// Checksum asks the DataNodes for the checksum of a file that is closed.
func (c *client) Checksum(ctx context.Context, name string) (sum namenode.Checksum, err error) {
	err = c.call(ctx, "checksum", name, func(s *session) error {
		open, err := isOpen(s.Client, name)
		if err != nil {
			return err
		}
		if open {
			return namenode.ErrOpen
		}
		f, err := s.Open(name)
		if err != nil {
			return err
		}
		if err := f.SetDeadline(time.Now().Add(c.timeout)); err != nil {
			return err
		}
		bytes, err := f.Checksum()
		sum = namenode.Checksum{Algorithm: algorithm, Bytes: hex.EncodeToString(bytes)}
		return errors.Join(err, f.Close())
	})
	return sum, err
}

// Read reads a file from an offset.
func (c *client) Read(ctx context.Context, name string, offset, length int64) (body io.ReadCloser, err error) {
	err = c.call(ctx, "open", name, func(*session) error {
		s, err := c.take(ctx)
		if err != nil {
			return err
		}
		f, err := s.Open(name)
		if err == nil {
			_, err = f.Seek(offset, io.SeekStart)
		}
		if err != nil {
			c.give(s, sort(ctx, err))
			return err
		}
		left := max(f.Stat().Size()-offset, 0)
		if length >= 0 {
			left = min(left, length)
		}
		d := &download{client: c, session: s, ctx: ctx, file: f, stop: context.AfterFunc(ctx, s.guard.end), left: left}
		body = d
		return nil
	})
	return body, err
}

// download is a file that is being read.
type download struct {
	client  *client
	session *session
	ctx     context.Context
	file    *colinmarc.FileReader
	left    int64 // bytes that are still to come
	stop    func() bool
	err     error
}

// Read reads on. The library answers io.EOF also where a connection has ended: it is the end only when all has come.
func (d *download) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	if err := d.file.SetDeadline(time.Now().Add(d.client.timeout)); err != nil {
		return 0, sort(d.ctx, err)
	}
	n, err := d.file.Read(p[:min(int64(len(p)), d.left)])
	d.left -= int64(n)
	if err == io.EOF && d.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && err != io.EOF {
		err = sort(d.ctx, err)
		d.err = err
	}
	return n, err
}

func (d *download) Close() error {
	err := d.file.Close()
	if !d.stop() {
		d.err = &brokenError{context.Cause(d.ctx)}
	}
	d.client.give(d.session, errors.Join(d.err, sort(d.ctx, err)))
	return nil
}
