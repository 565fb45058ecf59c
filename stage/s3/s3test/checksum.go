package s3test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strconv"
	"strings"
)

// algorithm is a way to make a checksum.
type algorithm struct {
	name  string // as in x-amz-checksum-algorithm
	new   func() hash.Hash
	kinds []string // what it can be of an object in parts, the default first
}

const (
	composite  = "COMPOSITE"   // of the checksums of the parts
	fullObject = "FULL_OBJECT" // of the bytes
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	nvme       = crc64.MakeTable(0x9a6c9329ac4bc9b5)

	crc64nvme  = &algorithm{"CRC64NVME", func() hash.Hash { return crc64.New(nvme) }, []string{fullObject}}
	algorithms = []*algorithm{
		{"CRC32", func() hash.Hash { return crc32.NewIEEE() }, []string{composite, fullObject}},
		{"CRC32C", func() hash.Hash { return crc32.New(castagnoli) }, []string{composite, fullObject}},
		crc64nvme,
		{"SHA1", sha1.New, []string{composite}},
		{"SHA256", sha256.New, []string{composite}},
	}
)

// algorithmOf finds one by its name; nil is none.
func algorithmOf(name string) *algorithm {
	for _, a := range algorithms {
		if strings.EqualFold(a.name, name) {
			return a
		}
	}
	return nil
}

func (a *algorithm) header() string { return "X-Amz-Checksum-" + strings.ToLower(a.name) }

func (a *algorithm) digest(chunks ...[]byte) []byte {
	h := a.new()
	for _, chunk := range chunks {
		h.Write(chunk)
	}
	return h.Sum(nil)
}

func (a *algorithm) sum(chunks ...[]byte) string {
	return base64.StdEncoding.EncodeToString(a.digest(chunks...))
}

// checksum is a value with what it is of; the zero value is none.
type checksum struct {
	*algorithm
	value, kind string
}

func (s checksum) setHeader(h http.Header) {
	if s.algorithm == nil {
		return
	}
	h.Set(s.header(), s.value)
	if s.kind != "" {
		h.Set("X-Amz-Checksum-Type", s.kind)
	}
}

// sumsXML is a checksum in a document.
type sumsXML struct {
	ChecksumCRC32     string `xml:",omitempty"`
	ChecksumCRC32C    string `xml:",omitempty"`
	ChecksumCRC64NVME string `xml:",omitempty"`
	ChecksumSHA1      string `xml:",omitempty"`
	ChecksumSHA256    string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
}

func (x *sumsXML) field(a *algorithm) *string {
	return map[string]*string{"CRC32": &x.ChecksumCRC32, "CRC32C": &x.ChecksumCRC32C, "CRC64NVME": &x.ChecksumCRC64NVME,
		"SHA1": &x.ChecksumSHA1, "SHA256": &x.ChecksumSHA256}[a.name]
}

func (s checksum) xml() sumsXML {
	x := sumsXML{ChecksumType: s.kind}
	if s.algorithm != nil {
		*x.field(s.algorithm) = s.value
	}
	return x
}

// given finds the checksum that the headers or trailers hold.
func (c *call) given() (sum checksum, err error) {
	for _, a := range algorithms {
		value := c.header.Get(a.header())
		if value != "" && sum.algorithm != nil {
			return sum, invalidRequest("Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
		}
		if value != "" {
			sum = checksum{algorithm: a, value: value}
		}
	}
	if sum.algorithm == nil && c.header.Get("X-Amz-Sdk-Checksum-Algorithm") != "" {
		return sum, invalidRequest("x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.")
	}
	return sum, nil
}

// verify compares the body with the checksums that came with it.
func (s *Server) verify(c *call) (checksum, error) {
	if want := c.header.Get("Content-Md5"); want != "" {
		if sum, err := base64.StdEncoding.DecodeString(want); err != nil || len(sum) != md5.Size {
			return checksum{}, fail(http.StatusBadRequest, "InvalidDigest", "The Content-MD5 you specified was invalid.")
		}
		if got := md5.Sum(c.body); base64.StdEncoding.EncodeToString(got[:]) != want {
			return checksum{}, fail(http.StatusBadRequest, "BadDigest", "The Content-MD5 you specified did not match what we received.")
		}
	}
	if c.hasChecksums() && s.ignoresSums(c) {
		return checksum{}, nil
	}
	sum, err := c.given()
	if err == nil && sum.algorithm != nil && sum.sum(c.body) != sum.value {
		err = badDigest(sum)
	}
	return sum, err
}

func badDigest(sum checksum) error {
	return fail(http.StatusBadRequest, "BadDigest", "The "+sum.name+" you specified did not match the calculated checksum.")
}

// hasChecksums says whether a request uses what RejectChecksums is about.
func (c *call) hasChecksums() bool {
	for name := range c.r.Header {
		if strings.HasPrefix(name, "X-Amz-Checksum-") || name == "X-Amz-Sdk-Checksum-Algorithm" || name == "X-Amz-Trailer" {
			return true
		}
	}
	return strings.HasPrefix(c.header.Get("X-Amz-Content-Sha256"), "STREAMING-") ||
		strings.Contains(strings.Join(c.header.Values("Content-Encoding"), ","), "aws-chunked")
}

func etagOf(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// etag is what a store gives for bytes that came at once.
func (s *Server) etag(c *call, data []byte) string {
	etag := etagOf(data)
	if s.fires(OpaqueETag, c) != nil {
		etag = etagOf([]byte("opaque " + etag))
	}
	return etag
}

// etagOfParts is the MD5 of the ETags of the parts, which are MD5s on AWS, and their number.
func etagOfParts(etags []string) string {
	h := md5.New()
	for _, etag := range etags {
		// What is no hex is no ETag that this store has given, and is not refused where its part is not looked for.
		sum, err := hex.DecodeString(etag)
		if err != nil {
			sum = []byte(etag)
		}
		h.Write(sum)
	}
	return hex.EncodeToString(h.Sum(nil)) + "-" + strconv.Itoa(len(etags))
}
