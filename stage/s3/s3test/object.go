package s3test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// object is one version of what is at a key, or the marker that it was deleted.
type object struct {
	version  string // "null" where the bucket has none
	marker   bool
	data     []byte
	etag     string
	modified time.Time
	header   http.Header // what was set when it was made, and is given when it is read
	tags     url.Values
	sum      checksum
	parts    []int // their sizes, of one that was uploaded in parts
}

// current gives the newest version at a key, or nil.
func (b *bucket) current(key string) *object {
	versions := b.objects[key]
	if len(versions) == 0 || versions[len(versions)-1].marker {
		return nil
	}
	return versions[len(versions)-1]
}

// add makes a version the newest, and replaces the one without an id if it has none either.
func (b *bucket) add(key string, o *object) {
	b.remove(key, "null", o.version == "null")
	b.objects[key] = append(b.objects[key], o)
}

func (b *bucket) remove(key, version string, really bool) {
	if !really {
		return
	}
	b.objects[key] = slices.DeleteFunc(b.objects[key], func(o *object) bool { return o.version == version })
	if len(b.objects[key]) == 0 {
		delete(b.objects, key)
	}
}

// keptHeaders are those of a request that an object is read back with, besides x-amz-meta-*.
var keptHeaders = []string{"Content-Type", "Content-Encoding", "Content-Disposition", "Content-Language", "Cache-Control", "Expires",
	"X-Amz-Storage-Class", "X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id",
	"X-Amz-Server-Side-Encryption-Bucket-Key-Enabled", "X-Amz-Server-Side-Encryption-Customer-Algorithm",
	"X-Amz-Server-Side-Encryption-Customer-Key-Md5", "X-Amz-Website-Redirect-Location"}

// kept picks what an object is to be read back with.
func (s *Server) kept(c *call) (header http.Header, tags url.Values, err error) {
	header = http.Header{"Content-Type": {"binary/octet-stream"}, "X-Amz-Server-Side-Encryption": {"AES256"}}
	metadata := http.Header{}
	for name, values := range c.header {
		switch {
		case strings.HasPrefix(name, "X-Amz-Meta-"):
			metadata[name] = values
		case slices.Contains(keptHeaders, name):
			header[name] = values
		}
	}
	if len(metadata) > 0 && s.fires(DropMetadata, c) == nil {
		maps.Copy(header, metadata)
	}
	unchunked(header)
	if header.Get("X-Amz-Storage-Class") == "STANDARD" {
		header.Del("X-Amz-Storage-Class")
	}
	tags, err = url.ParseQuery(c.header.Get("X-Amz-Tagging"))
	if err != nil {
		return nil, nil, invalidArgument("The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.")
	}
	if len(tags) > 0 && s.fires(DropTags, c) != nil {
		tags = nil
	}
	return header, tags, nil
}

// unchunked takes out of the codings the one that is of the transfer only.
func unchunked(header http.Header) {
	var codings []string
	for coding := range strings.SplitSeq(strings.Join(header.Values("Content-Encoding"), ","), ",") {
		if coding = strings.TrimSpace(coding); coding != "" && coding != "aws-chunked" {
			codings = append(codings, coding)
		}
	}
	header.Del("Content-Encoding")
	if len(codings) > 0 {
		header.Set("Content-Encoding", strings.Join(codings, ","))
	}
}

// encryption picks the headers that writing answers with.
func encryption(kept http.Header) http.Header {
	h := http.Header{}
	for name, values := range kept {
		if strings.HasPrefix(name, "X-Amz-Server-Side-Encryption") {
			h[name] = values
		}
	}
	return h
}

// condition compares what is at the key with what the request says must be, before something is written.
func (s *Server) condition(c *call) error {
	none, match := c.header.Get("If-None-Match"), c.header.Get("If-Match")
	if none == "" && match == "" {
		return nil
	}
	if none != "" && none != "*" {
		return fail(http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented.")
	}
	if s.fires(ConditionalConflict, c) != nil {
		return fail(http.StatusConflict, "ConditionalRequestConflict", "The conditional request cannot succeed due to a conflicting operation against this resource.")
	}
	now := s.buckets[c.bucket].current(c.key)
	switch {
	case none == "*" && now != nil && s.fires(IgnoreIfNoneMatch, c) == nil:
		return preconditionFailed()
	case match != "" && now == nil:
		return noSuchKey()
	case match != "" && !sameETag(match, now.etag):
		return preconditionFailed()
	}
	return nil
}

func sameETag(given, etag string) bool { return given == "*" || strings.Trim(given, `"`) == etag }

func quote(etag string) string { return `"` + etag + `"` }

func (s *Server) putObject(c *call) (answer, error) {
	if len(c.key) > 1024 {
		return answer{}, fail(http.StatusBadRequest, "KeyTooLongError", "Your key is too long")
	}
	sum, err := s.verify(c)
	if err == nil {
		err = s.condition(c)
	}
	if err != nil {
		return answer{}, err
	}
	o := &object{data: c.body, etag: s.etag(c, c.body), modified: s.now(), sum: sum}
	if o.header, o.tags, err = s.kept(c); err != nil {
		return answer{}, err
	}
	if sum.algorithm == nil && !s.ignoresSums(c) {
		o.sum = checksum{algorithm: crc64nvme, value: crc64nvme.sum(c.body)}
	}
	o.sum.kind = fullObject
	return answer{status: http.StatusOK, header: s.store(c, o)}, nil
}

// store puts an object at the key of the request, and gives the headers of the answer.
func (s *Server) store(c *call, o *object) http.Header {
	b := s.buckets[c.bucket]
	o.version = s.newVersion(b)
	b.add(c.key, o)
	h := encryption(o.header)
	h.Set("Etag", quote(o.etag))
	o.sum.setHeader(h)
	if b.versioning != "" {
		h.Set("X-Amz-Version-Id", o.version)
	}
	return h
}
