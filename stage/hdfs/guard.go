package hdfs

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// guard is around the connections of one client of the library, which waits for answers without end: all of them end when the
// guard does.
type guard struct {
	timeout time.Duration
	mu      sync.Mutex
	cut     bool
	conns   map[net.Conn]bool
}

var errCut = errors.New("the connection was cut")

// dialNameNode is how the client connects to NameNodes, which it waits for only when it has asked.
func (g *guard) dialNameNode(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := g.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &timed{Conn: c, timeout: g.timeout}, nil
}

// dial is how the client connects to DataNodes. It may wait long for what they have to say, while nothing is written: the
// library takes a deadline for what is not to last.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: g.timeout}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cut {
		return nil, errors.Join(errCut, c.Close())
	}
	g.conns[c] = true
	return &guarded{Conn: c, guard: g}, nil
}

// end cuts all connections, and those that are yet to come.
func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = true
	for c := range g.conns {
		_ = c.Close() // what was sent on it is unknown in any case
	}
	clear(g.conns)
}

// timed is a connection with a time for every read and write.
type timed struct {
	net.Conn
	timeout time.Duration
}

func (c *timed) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *timed) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// guarded is a connection that the guard knows of.
type guarded struct {
	net.Conn
	guard *guard
}

func (c *guarded) Close() error {
	c.guard.mu.Lock()
	delete(c.guard.conns, c.Conn)
	c.guard.mu.Unlock()
	return c.Conn.Close()
}
