package webhdfstest

import (
	"cmp"
	"net/http"
)

// file gives what is read, at a DataNode.
func (ns *Namespace) file(c *call) (*node, error) {
	n := ns.find(c.path)
	switch {
	case n == nil:
		return nil, fail("FileNotFoundException", "File does not exist: %s", c.path)
	case n.isDir():
		return nil, fail("FileNotFoundException", "Path is not a file: %s", c.path)
	}
	return n, nil
}

func (ns *Namespace) open(c *call) (answer, error) {
	n, err := ns.file(c)
	if err != nil {
		return answer{}, err
	}
	if outOfRange(n, c) {
		return answer{}, fail("IOException", "Offset=%d out of the range [0, %d); OPEN, path=%s", c.given.offset, len(n.data), c.path)
	}
	data := n.data[c.given.offset:]
	if c.given.length >= 0 {
		data = data[:min(int64(len(data)), c.given.length)]
	}
	return answer{status: http.StatusOK, body: data}, nil
}

type fileChecksum struct {
	Algorithm string `json:"algorithm"`
	Bytes     string `json:"bytes"` // in hexadecimal, as long as the server's buffer
	Length    int    `json:"length"`
}

func (ns *Namespace) checksum(c *call) (answer, error) {
	n, err := ns.file(c)
	if err != nil {
		return answer{}, err
	}
	if n.open {
		return answer{}, fail("IOException", "Fail to get checksum, since file %s is under construction.", c.path)
	}
	kind := ns.o.Checksum
	if on := ns.fires(ChecksumOther, c); on != nil {
		kind = cmp.Or(on.Code, compositeCRC32C)
	}
	return answerJSON(http.StatusOK, map[string]fileChecksum{"FileChecksum": checksumOf(n.data, n.blockSize, kind)}), nil
}
