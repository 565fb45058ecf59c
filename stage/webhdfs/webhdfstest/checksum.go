package webhdfstest

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
)

// The checksums that a namespace can have.
const (
	crc32C          = "CRC32C"
	compositeCRC32C = "COMPOSITE-CRC32C"
)

const bytesPerCRC = 512

// checksumOf is the checksum of a closed file: the MD5 of the MD5s of its blocks' checksums, each of which is of 512
// bytes; or, where it is composite, the CRC of all its bytes.
func checksumOf(data []byte, blockSize int64, kind string) fileChecksum {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	if kind == compositeCRC32C {
		sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(data, castagnoli))
		return fileChecksum{kind, hex.EncodeToString(sum), len(sum)}
	}
	table := castagnoli
	if kind != crc32C {
		table = crc32.IEEETable
	}
	var blocks []byte
	perBlock, perCRC, count := int64(0), uint32(bytesPerCRC), 0
	for rest := data; len(rest) > 0; count++ {
		n := min(int64(len(rest)), blockSize)
		sum := md5.Sum(sumsOf(rest[:n], table))
		blocks, rest = append(blocks, sum[:]...), rest[n:]
	}
	if count > 1 {
		perBlock = blockSize / bytesPerCRC
	}
	if count == 0 {
		// An empty file has no block to say what its checksums are made with.
		perCRC, kind = 0, "CRC32"
	}
	// The server sums up its buffer, which grows by doubling, and has 32 bytes at first.
	room := 32
	for room < len(blocks) {
		room *= 2
	}
	file := md5.Sum(append(blocks, make([]byte, room-len(blocks))...))
	out := binary.BigEndian.AppendUint32(nil, perCRC)
	out = binary.BigEndian.AppendUint64(out, uint64(perBlock))
	out = append(out, file[:]...)
	padded := append(out, make([]byte, 32-len(out))...)
	return fileChecksum{fmt.Sprintf("MD5-of-%dMD5-of-%d%s", perBlock, perCRC, kind), hex.EncodeToString(padded), len(out)}
}

// sumsOf are the checksums of a block, one for each 512 bytes.
func sumsOf(block []byte, table *crc32.Table) []byte {
	var sums []byte
	for len(block) > 0 {
		n := min(len(block), bytesPerCRC)
		sums = binary.BigEndian.AppendUint32(sums, crc32.Checksum(block[:n], table))
		block = block[n:]
	}
	return sums
}
