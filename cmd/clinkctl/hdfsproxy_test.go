package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// rpcProxy stands before a NameNode, and loses requests and answers. Of the native protocol it knows where messages begin and
// end: a connection begins with 7 bytes and a message, and then each request is a message that is answered by one, in turn.
// A message is 4 bytes of length, the highest first, and so many bytes.
// https://cwiki.apache.org/confluence/display/HADOOP2/HadoopRpc
type rpcProxy struct {
	node     string
	listener net.Listener
	accepts  sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // when a connection has ended
	conns   map[net.Conn]bool
	seen    int
	lost    int
	loss    loss
}

// loss is what is lost, beginning with a request. The connection is cut each time.
type loss struct {
	from int               // the first request that is lost, 0 for none: of those that match, counted from 1
	of   func([]byte) bool // which requests match, nil for all
	done bool              // the first one is done, and only its answer is lost
	once bool              // later ones are passed on; otherwise they are lost, and not done
	then func()            // is called once, when the first one is lost; may be nil
}

const opening = 7 // bytes: "hrpc", the version, the class and the kind of authentication

func newRPCProxy(t *testing.T, node string) *rpcProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &rpcProxy{node: node, listener: listener, conns: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.accepts.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close() // which ends accept
		p.accepts.Wait()
		p.mu.Lock()
		for c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.quiet()
	})
	return p
}

func (p *rpcProxy) host() string { return p.listener.Addr().String() }

// set says what is lost from now on, and begins to count.
func (p *rpcProxy) set(l loss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.lost, p.loss = 0, 0, l
}

// unset ends what is lost, and tells whether anything was.
func (p *rpcProxy) unset() bool {
	p.mu.Lock()
	lost := p.lost
	p.mu.Unlock()
	p.set(loss{})
	return lost > 0
}

// requests counts the requests of something that goes well.
func (p *rpcProxy) requests(do func()) int {
	p.set(loss{})
	do()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// quiet waits until no connection is left: nothing that was asked is still under way then.
func (p *rpcProxy) quiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.conns) > 0 {
		p.changed.Wait()
	}
}

func (p *rpcProxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns[c] = true
		p.mu.Unlock()
		go func() { // quiet waits for it
			p.serve(c)
			_ = c.Close() // it may be cut
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.conns, c)
			p.changed.Broadcast()
		}()
	}
}

// serve passes a connection on, until one of its sides ends it or something is lost.
func (p *rpcProxy) serve(client net.Conn) {
	node, err := net.Dial("tcp", p.node)
	if err != nil {
		return
	}
	defer func() { _ = node.Close() }() // nothing is lost by that
	if _, err := io.CopyN(node, client, opening); err != nil {
		return
	}
	for completing, n := false, 0; ; n++ {
		request, err := readMessage(client)
		if err != nil {
			return
		}
		lost, done, then := false, false, func() {}
		if n > 0 { // the first one is part of the handshake, and has no answer
			again := completing
			completing = bytes.Contains(request, []byte("\n\x08complete"))
			lost, done, then = p.count(request, again && completing)
		}
		if lost && !done {
			then()
			return
		}
		if _, err := node.Write(request); err != nil {
			then()
			return
		}
		if n == 0 {
			continue
		}
		answer, err := readMessage(node)
		if lost || err != nil {
			then()
			return
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// count counts a request, and tells what becomes of it. Those that come by the clock are not counted: leases that are kept, and
// files that are completed again since the NameNode has not heard of their blocks yet.
func (p *rpcProxy) count(request []byte, again bool) (lost, done bool, then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, then := p.loss, func() {}
	if again || bytes.Contains(request, []byte("renewLease")) {
		return p.lost > 0 && !l.once, false, then
	}
	if l.of != nil && !l.of(request) {
		return false, false, then
	}
	p.seen++
	if l.from == 0 || p.seen < l.from || l.once && p.seen > l.from {
		return false, false, then
	}
	p.lost++
	if p.seen == l.from && l.then != nil {
		then = l.then
	}
	return true, l.done && p.seen == l.from, then
}

// maxMessage is the length of the longest message, in bytes: what is longer is none.
const maxMessage = 64 << 20

// readMessage reads a message, with its length.
func readMessage(r io.Reader) ([]byte, error) {
	var message bytes.Buffer
	if _, err := io.CopyN(&message, r, 4); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(message.Bytes()))
	if length > maxMessage {
		return nil, io.ErrUnexpectedEOF
	}
	_, err := io.CopyN(&message, r, length)
	return message.Bytes(), err
}
