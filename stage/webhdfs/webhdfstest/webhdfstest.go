// Package webhdfstest is an HDFS namespace in memory that speaks WebHDFS and misbehaves on purpose. Without switches it
// answers as the NameNode and the DataNode of Hadoop 3 do; with them it does what gateways, networks and unlucky moments do.
//
//	ns := webhdfstest.New(webhdfstest.Options{})
//	server := httptest.NewServer(ns.NameNode())
//	defer server.Close()
//	defer ns.Close()
//	ns.Set(webhdfstest.DropReplyAfter, webhdfstest.On{Verb: webhdfstest.Rename, Times: 1})
//	...
//	if ns.Fired(webhdfstest.DropReplyAfter) != 1 { ... }
//
// A NameNode is its own DataNode: where a real one sends a client elsewhere, the address that it gives has datanode=true.
//
// Nobody is refused anything for who he is. Go's HTTP client repeats GET by itself when a connection breaks that it has
// used before: a test that counts what is asked after a dropped reply may find one request more of them.
package webhdfstest

import (
	"cmp"
	"net/http"
	"sync"
	"time"
)

// Options are what a namespace is made with.
type Options struct {
	User      string // who asks without user.name, and owns what Put makes; dr.who when empty
	BlockSize int64  // of files that are created without one, in bytes; 128 MiB when 0
	Checksum  string // what GETFILECHECKSUM is made with: CRC32C, also when empty, CRC32 or COMPOSITE-CRC32C
	ListLimit int    // how many entries LISTSTATUS_BATCH gives at once; 1,000 when 0

	// BasicUser and BasicPassword are what requests must carry, as at a gateway. With no BasicUser nothing is verified.
	BasicUser, BasicPassword string

	Now func() time.Time // time.Now when nil
}

// Namespace is a tree of files that any number of NameNodes give access to. All its methods may be called at any time
// from any goroutine.
type Namespace struct {
	o   Options
	now func() time.Time

	mu        sync.Mutex
	closed    bool
	root      *node
	lastID    int64
	nameNodes []*NameNode
	log       []Request
	changed   chan struct{} // closed and replaced at every request, and whenever a switch has fired
	faults    faults
	late      []*lateCreate
}

// New makes a namespace that is empty.
func New(o Options) *Namespace {
	o.User = cmp.Or(o.User, "dr.who")
	o.BlockSize = cmp.Or(o.BlockSize, 128<<20)
	o.Checksum = cmp.Or(o.Checksum, crc32C)
	o.ListLimit = cmp.Or(o.ListLimit, 1000)
	ns := &Namespace{
		o: o, now: o.Now, lastID: 16384,
		changed: make(chan struct{}),
		faults:  faults{fired: map[Switch]int{}, released: make(chan struct{})},
	}
	if ns.now == nil {
		ns.now = time.Now
	}
	ns.root = ns.newDir(o.User, "755")
	return ns
}

// NameNode is one server of a namespace.
type NameNode struct {
	ns      *Namespace
	number  int
	standby bool
}

// NameNode adds a server, which is active. The first is number 1 in On and in the log.
func (ns *Namespace) NameNode() *NameNode {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	n := &NameNode{ns: ns, number: len(ns.nameNodes) + 1}
	ns.nameNodes = append(ns.nameNodes, n)
	return n
}

// SetStandby makes a server refuse all but the first step of CREATE with StandbyException, or stop doing so. What it
// does as a DataNode is refused only while no server of the namespace is active.
func (n *NameNode) SetStandby(standby bool) {
	n.ns.mu.Lock()
	defer n.ns.mu.Unlock()
	n.standby = standby
}

// ServeHTTP answers one request.
func (n *NameNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := n.arrive(r)
	a := n.ns.handle(c)
	n.ns.mu.Lock()
	n.ns.log[c.number].Status = a.status
	n.ns.mu.Unlock()
	a.write(w, c)
}

// handle waits where a switch says so, and works on the request in between.
func (ns *Namespace) handle(c *call) answer {
	if !ns.wait(Stall, c) {
		return answer{drop: true}
	}
	a := ns.work(c)
	switch {
	case a.upload != nil:
		a = ns.receive(c, a.upload)
	case a.drop:
		return a
	default:
		// A client is heard out before it is refused, so that it sees the answer rather than a broken connection.
		_ = c.readAll()
	}
	if !ns.wait(StallReply, c) {
		return answer{drop: true}
	}
	return a
}

// work makes the answer, all of it at one moment; or, for an upload, opens the file.
func (ns *Namespace) work(c *call) answer {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	var a answer
	err := ns.refused(c)
	if err == nil {
		a, err = ns.do(c)
	}
	if err != nil {
		a = c.answerError(err)
	}
	if a.upload != nil {
		return a
	}
	return ns.spoil(c, a)
}

// do carries out what the request asks for.
func (ns *Namespace) do(c *call) (answer, error) {
	handler, ok := handlers[c.verb]
	if !ok {
		return answer{}, c.unknownOperation()
	}
	if err := c.parse(); err != nil {
		return answer{}, err
	}
	return handler(ns, c)
}

// spoil makes of the answer what switches make of it.
func (ns *Namespace) spoil(c *call, a answer) answer {
	if a.drop || a.status >= http.StatusBadRequest {
		return a
	}
	if ns.fires(DropReplyAfter, c) != nil {
		return answer{drop: true}
	}
	if on := ns.fires(ErrorAfter, c); on != nil {
		return c.answerError(on.fail("IOException", "the operation was interrupted"))
	}
	return a
}
