package s3test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// upload is an upload in parts.
type upload struct {
	bucket, key, id string
	initiated       time.Time
	options         http.Header // of the request that created it
	header          http.Header // what its object is to be read back with
	tags            url.Values
	sum             checksum        // the algorithm and what the checksum is to be of; no algorithm if none was asked for
	parts           map[int][]*part // by number, the newest last; more than one only by StaleETagOnRepart
	taken           bool            // by a Complete that is at work
	done            completion
}

// part is what was uploaded under one number.
type part struct {
	number   int
	data     []byte
	corrupt  bool // what is stored is not what came
	etag     string
	modified time.Time
	sum      checksum
}

func (s *Server) createUpload(c *call) (answer, error) {
	if len(c.key) > 1024 {
		return answer{}, fail(http.StatusBadRequest, "KeyTooLongError", "Your key is too long")
	}
	s.serial++
	u := &upload{bucket: c.bucket, key: c.key, id: fmt.Sprintf("%08d.%s", s.serial, etagOf([]byte(c.bucket+"/"+c.key))), initiated: s.now(),
		options: c.header.Clone(), parts: map[int][]*part{}}
	u.options.Del("Authorization")
	var err error
	if u.header, u.tags, err = s.kept(c); err == nil {
		u.sum, err = s.uploadSum(c)
	}
	if err != nil {
		return answer{}, err
	}
	b := s.buckets[c.bucket]
	b.uploads[u.id] = u
	a := answerXML(http.StatusOK, struct {
		XMLName     xml.Name `xml:"InitiateMultipartUploadResult"`
		Xmlns       string   `xml:"xmlns,attr"`
		Bucket, Key string
		UploadID    string `xml:"UploadId"`
	}{Xmlns: namespace, Bucket: u.bucket, Key: u.key, UploadID: u.id})
	for name, values := range encryption(u.header) {
		a.header[name] = values
	}
	if u.sum.algorithm != nil {
		a.header.Set("X-Amz-Checksum-Algorithm", u.sum.name)
		a.header.Set("X-Amz-Checksum-Type", u.sum.kind)
	}
	b.abortHeader(u, a.header)
	return a, nil
}

// uploadSum reads which checksum an upload is to have.
func (s *Server) uploadSum(c *call) (checksum, error) {
	name, kind := c.header.Get("X-Amz-Checksum-Algorithm"), c.header.Get("X-Amz-Checksum-Type")
	if name == "" && kind != "" {
		return checksum{}, invalidRequest("The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.")
	}
	if name == "" || s.ignoresSums(c) {
		return checksum{}, nil
	}
	a := algorithmOf(name)
	if a == nil {
		return checksum{}, invalidRequest("Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]")
	}
	if kind == "" {
		kind = a.kinds[0]
	}
	for _, can := range a.kinds {
		if can == kind {
			return checksum{algorithm: a, kind: kind}, nil
		}
	}
	return checksum{}, invalidRequest("The %s checksum type cannot be used with the %s checksum algorithm.", kind, strings.ToLower(name))
}

// open finds the upload that a request is about.
func (s *Server) open(c *call) (*upload, error) {
	u := s.buckets[c.bucket].uploads[c.query.Get("uploadId")]
	if u == nil || u.key != c.key || u.taken && !c.landing {
		return nil, noSuchUpload()
	}
	return u, nil
}

func (s *Server) uploadPart(c *call) (answer, error) {
	number, err := strconv.Atoi(c.query.Get("partNumber"))
	if err != nil || number < 1 || number > 10000 {
		return answer{}, invalidArgument("Part number must be an integer between 1 and 10000, inclusive")
	}
	if on := s.firesIf(MaxParts, c, func(on *On) bool { return number > on.N }); on != nil {
		return answer{}, invalidArgument("Part number must be an integer between 1 and %d, inclusive", on.N)
	}
	u, err := s.open(c)
	if err != nil {
		return answer{}, err
	}
	p := &part{number: number, data: c.body, etag: s.etag(c, c.body), modified: s.now()}
	if p.sum, err = s.partSum(c, u); err != nil {
		return answer{}, err
	}
	h := encryption(u.header)
	h.Set("Etag", quote(p.etag))
	p.sum.setHeader(h)
	p.corrupt = len(p.data) > 0 && s.fires(CorruptPart, c) != nil
	return answer{status: http.StatusOK, header: h}, s.keepPart(c, u, p)
}

// partSum verifies the checksum of a part, and that it is what the upload was created for.
func (s *Server) partSum(c *call, u *upload) (checksum, error) {
	sum, err := s.verify(c)
	if err != nil {
		return sum, err
	}
	want := u.sum
	missing := want.algorithm != nil && sum.algorithm == nil
	other := sum.algorithm != nil && want.algorithm != sum.algorithm
	refuse := missing && want.kind == composite || other && want.algorithm != nil
	if refuse || (missing || other) && s.fires(StrictChecksums, c) != nil {
		return sum, invalidRequest("Checksum Type mismatch occurred, expected checksum Type: %s, actual checksum Type: %s", want.nameOrNull(), sum.nameOrNull())
	}
	if want.algorithm != nil && sum.algorithm == nil {
		sum = checksum{algorithm: want.algorithm, value: want.sum(c.body)}
	}
	return sum, nil
}

func (s checksum) nameOrNull() string {
	if s.algorithm == nil {
		return "null"
	}
	return strings.ToLower(s.name)
}

// keepPart puts a part in the place of one of the same number.
func (s *Server) keepPart(c *call, u *upload, p *part) error {
	before := u.parts[p.number]
	if len(before) == 0 {
		u.parts[p.number] = []*part{p}
		return nil
	}
	if !bytes.Equal(before[0].data, p.data) && s.fires(RefuseRepart, c) != nil {
		return fail(http.StatusNotImplemented, "NotImplemented", fmt.Sprintf("part %d cannot be replaced with different contents", p.number))
	}
	if s.fires(StaleETagOnRepart, c) == nil {
		before = nil
	}
	u.parts[p.number] = append(before, p)
	return nil
}

func (s *Server) abort(c *call) (answer, error) {
	u, err := s.open(c)
	if err != nil && s.fires(AbortAlways204, c) != nil {
		return answer{status: http.StatusNoContent}, nil
	}
	if err != nil {
		return answer{}, err
	}
	delete(s.buckets[c.bucket].uploads, u.id)
	return answer{status: http.StatusNoContent}, nil
}
