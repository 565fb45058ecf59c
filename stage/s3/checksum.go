package s3

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"hash/crc32"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/minio/crc64nvme"
)

// checksum is an algorithm by which the store checks what it gets. The CRCs of a whole object are those of its bytes;
// SHA-256 of one is that of its parts' sums, with their number behind it.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
type checksum string

const (
	noChecksum checksum = "none"
	crc32C     checksum = "crc32c"
	crc64NVME  checksum = "crc64nvme"
	sha256Sum  checksum = "sha256"
)

func (c checksum) new() hash.Hash {
	switch c {
	case crc32C:
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case crc64NVME:
		return crc64nvme.New()
	case sha256Sum:
		return sha256.New()
	}
	return nil
}

// known tells whether the algorithm is one of ours.
func (c checksum) known() bool { return c == noChecksum || c.new() != nil }

// whole tells whether the sum of an object is that of its bytes.
func (c checksum) whole() bool { return c == crc32C || c == crc64NVME }

func encode(h hash.Hash) string { return base64.StdEncoding.EncodeToString(h.Sum(nil)) }

// composite is the sum of a whole object that is made of the sums of its parts.
func (c checksum) composite(parts []part) (string, error) {
	h := c.new()
	for _, p := range parts {
		raw, err := base64.StdEncoding.DecodeString(p.Sum)
		if err != nil {
			return "", fmt.Errorf("checksum of part %d: %w", p.Number, err)
		}
		_, _ = h.Write(raw) // cannot fail
	}
	return fmt.Sprintf("%s-%d", encode(h), len(parts)), nil
}

// algorithm and kind are how the store calls it.
func (c checksum) algorithm() types.ChecksumAlgorithm {
	return map[checksum]types.ChecksumAlgorithm{crc32C: types.ChecksumAlgorithmCrc32c, crc64NVME: types.ChecksumAlgorithmCrc64nvme,
		sha256Sum: types.ChecksumAlgorithmSha256}[c]
}

func (c checksum) kind() types.ChecksumType {
	switch {
	case c == noChecksum:
		return ""
	case c.whole():
		return types.ChecksumTypeFullObject
	}
	return types.ChecksumTypeComposite
}

// onPart, onCompleted, onComplete and onPut put a sum where a request has it.
func (c checksum) onPart(in *s3.UploadPartInput, sum string) {
	c.put(sum, &in.ChecksumCRC32C, &in.ChecksumCRC64NVME, &in.ChecksumSHA256)
}

func (c checksum) onCompleted(in *types.CompletedPart, sum string) {
	c.put(sum, &in.ChecksumCRC32C, &in.ChecksumCRC64NVME, &in.ChecksumSHA256)
}

func (c checksum) onComplete(in *s3.CompleteMultipartUploadInput, sum string) {
	if c.whole() {
		c.put(sum, &in.ChecksumCRC32C, &in.ChecksumCRC64NVME, &in.ChecksumSHA256)
		in.ChecksumType = c.kind()
	}
}

func (c checksum) onPut(in *s3.PutObjectInput, sum string) {
	c.put(sum, &in.ChecksumCRC32C, &in.ChecksumCRC64NVME, &in.ChecksumSHA256)
}

func (c checksum) put(sum string, crc32c, crc64, sha **string) {
	switch c {
	case crc32C:
		*crc32c = aws.String(sum)
	case crc64NVME:
		*crc64 = aws.String(sum)
	case sha256Sum:
		*sha = aws.String(sum)
	}
}

// of is the sum that an answer shows, "" if it shows none.
func (c checksum) of(out *s3.HeadObjectOutput) string {
	switch c {
	case crc32C:
		return aws.ToString(out.ChecksumCRC32C)
	case crc64NVME:
		return aws.ToString(out.ChecksumCRC64NVME)
	case sha256Sum:
		return aws.ToString(out.ChecksumSHA256)
	}
	return ""
}
