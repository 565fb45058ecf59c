package namenode

import (
	"crypto/md5" // HDFS's own checksum of a file; it proves nothing against malice
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
)

// Checksum is the checksum that HDFS has of a file.
// https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/WebHDFS.html#Get_File_Checksum
type Checksum struct {
	Algorithm string `json:"algorithm,omitempty"`
	Bytes     string `json:"bytes,omitempty"` // hex
}

// String is for people.
func (c Checksum) String() string { return c.Algorithm + ":" + c.Bytes }

// md5md5 is the name of the checksum of checksums: how many chunks a block has, 0 of a file of one block, and how many bytes a
// chunk has.
var md5md5 = regexp.MustCompile(`^MD5-of-[0-9]+MD5-of-([0-9]+)(CRC32C?)$`)

// hasher computes the checksum of a file while it is written.
type hasher interface {
	write(p []byte)
	// sum is the checksum's bytes in hex. Nothing is written after it.
	sum() string
}

// newHasher makes one of an algorithm as servers name it.
func newHasher(algorithm string, block int64) (hasher, error) {
	switch algorithm {
	case "COMPOSITE-CRC32C":
		return &composite{table: crc32.MakeTable(crc32.Castagnoli)}, nil
	case "COMPOSITE-CRC32":
		return &composite{table: crc32.IEEETable}, nil
	}
	m := md5md5.FindStringSubmatch(algorithm)
	if m == nil {
		return nil, fmt.Errorf("the server's checksums are %q, which clinkctl cannot compute: there is checksum: false", algorithm)
	}
	chunk, err := strconv.Atoi(m[1])
	if err != nil || chunk <= 0 || block%int64(chunk) != 0 {
		return nil, fmt.Errorf("the server's checksums are %q, and a block of %d bytes is not made of such chunks: give another block_size", algorithm, block)
	}
	table := crc32.IEEETable
	if strings.HasSuffix(m[2], "C") {
		table = crc32.MakeTable(crc32.Castagnoli)
	}
	return &chunked{table: table, chunk: chunk, block: block, inBlock: md5.New()}, nil
}

// kind is what two algorithms' names must have in common for their sums to be compared.
func kind(algorithm string) string { return md5md5.ReplaceAllString(algorithm, "MD5-of-MD5-of-$1$2") }

// composite is the CRC of all bytes.
type composite struct {
	table *crc32.Table
	crc   uint32
}

func (c *composite) write(p []byte) { c.crc = crc32.Update(c.crc, c.table, p) }
func (c *composite) sum() string    { return fmt.Sprintf("%08x", c.crc) }

// chunked is the MD5 of the MD5s of blocks of the CRCs of chunks. The MD5s of blocks are padded with zeros to a power of two
// of them, since HDFS takes the digest of the buffer that it gathers them in.
type chunked struct {
	table   *crc32.Table
	chunk   int
	block   int64
	crc     uint32
	filled  int // bytes of the chunk that was begun
	written int64
	inBlock hash.Hash
	crcs    []byte
	blocks  []byte
}

// gather is how many bytes of CRCs go to MD5 at once.
const gather = 4096

func (c *chunked) write(p []byte) {
	for len(p) > 0 {
		n := min(c.chunk-c.filled, len(p))
		c.crc = crc32.Update(c.crc, c.table, p[:n])
		c.filled += n
		c.written += int64(n)
		p = p[n:]
		if c.filled == c.chunk {
			c.endChunk()
		}
	}
}

func (c *chunked) endChunk() {
	c.crcs = binary.BigEndian.AppendUint32(c.crcs, c.crc)
	c.crc, c.filled = 0, 0
	if len(c.crcs) >= gather {
		c.flush()
	}
	if c.written%c.block == 0 {
		c.endBlock()
	}
}

func (c *chunked) flush() {
	_, _ = c.inBlock.Write(c.crcs) // cannot fail
	c.crcs = c.crcs[:0]
}

func (c *chunked) endBlock() {
	c.flush()
	c.blocks = c.inBlock.Sum(c.blocks)
	c.inBlock.Reset()
}

func (c *chunked) sum() string {
	if c.filled > 0 {
		c.endChunk()
	}
	if c.written%c.block != 0 {
		c.endBlock()
	}
	size := 2 * md5.Size // HDFS's buffer begins with 32 bytes
	for size < len(c.blocks) {
		size *= 2
	}
	sum := md5.Sum(append(c.blocks, make([]byte, size-len(c.blocks))...))
	return hex.EncodeToString(sum[:])
}
