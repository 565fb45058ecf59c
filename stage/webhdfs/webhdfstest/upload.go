package webhdfstest

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"path"
	"slices"
)

// upload is a file that is being written.
type upload struct {
	n     *node
	limit int // how many bytes are read before the connection is closed; -1: all
	stays bool
	late  *On // the file is not there yet
}

const smallestBlock = 1024

// creatable says why the file of a request cannot be created now, or nil.
func (ns *Namespace) creatable(c *call) error {
	if !c.canonical() {
		return invalidPath(c.path)
	}
	if size := c.given.blockSize; size != 0 && size < smallestBlock {
		return fail("IOException", "Specified block size %d is less than configured minimum value dfs.namenode.fs-limits.min-block-size=%d", size, smallestBlock)
	}
	if file := ns.fileOnTheWay(c.path); file != "" {
		return notDirectory(file)
	}
	overwrite := c.given.overwrite || slices.Contains(c.given.flags, "OVERWRITE")
	switch n := ns.find(c.path); {
	case n != nil && n.isDir():
		return fail("FileAlreadyExistsException", "%s already exists as a directory", c.path)
	case n != nil && n.open && !overwrite:
		return fail("AlreadyBeingCreatedException", "Failed to CREATE_FILE %s for this client because this file lease is currently owned by another", c.path)
	case n != nil && !overwrite:
		return fail("FileAlreadyExistsException", "%s for client 127.0.0.1 already exists", c.path)
	case ns.find(path.Dir(c.path)) == nil && !c.given.createParent:
		return fail("FileNotFoundException", "Parent directory doesn't exist: %s", path.Dir(c.path))
	}
	return checkName(c.path)
}

// create makes the file of a request, which can be created, and opens it.
func (ns *Namespace) create(c *call) *node {
	dir := ns.makeDirs(path.Dir(c.path), c.user(), "755")
	n := ns.newNode(c.user(), cmp.Or(c.given.permission, "644"))
	n.blockSize, n.replication, n.flags = cmp.Or(c.given.blockSize, ns.o.BlockSize), c.given.replication, c.given.flags
	n.open, n.accessed = true, n.modified
	ns.link(dir, path.Base(c.path), n)
	return n
}

// beginUpload is the second step of CREATE, as far as it comes before the body.
func (ns *Namespace) beginUpload(c *call) (answer, error) {
	if err := ns.creatable(c); err != nil {
		return answer{}, err
	}
	u := &upload{limit: -1}
	if on := ns.firesIf(LateCreate, c, func(*On) bool { return !ns.closed }); on != nil {
		u.late = on
		return answer{upload: u}, nil
	}
	if on := ns.fires(CutUpload, c); on != nil {
		u.limit = on.N
	} else if on := ns.fires(StaysOpen, c); on != nil {
		u.limit, u.stays = on.N, true
	}
	u.n = ns.create(c)
	ns.notify()
	return answer{upload: u}, nil
}

// receive reads the body of an upload, and closes the file.
func (ns *Namespace) receive(c *call, u *upload) answer {
	from := c.reader()
	if u.limit >= 0 {
		from = io.LimitReader(from, int64(u.limit))
	}
	var body bytes.Buffer
	_, err := body.ReadFrom(from)
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if u.late != nil {
		ns.postpone(c, u.late, body.Bytes())
		return answer{drop: true}
	}
	defer ns.notify()
	if u.n.gone {
		return c.answerError(fail("FileNotFoundException", "File does not exist: %s (inode %d) The client does not have any open files.", c.path, u.n.id))
	}
	data := body.Bytes()
	if u.stays {
		u.n.rest = data
		return answer{drop: true}
	}
	if len(data) > 0 && ns.fires(CorruptUpload, c) != nil {
		data[len(data)/2] ^= 1
	}
	ns.closeFile(u.n, data)
	if err != nil || u.limit >= 0 {
		return answer{drop: true}
	}
	header := http.Header{"Location": {"hdfs://" + c.r.Host + c.path}}
	return ns.spoil(c, answer{status: http.StatusCreated, header: header})
}

func (ns *Namespace) closeFile(n *node, data []byte) {
	n.data, n.rest, n.open, n.modified = data, nil, false, ns.now()
}
