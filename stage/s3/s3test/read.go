package s3test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// find gives the version that a request is about.
func (s *Server) find(c *call) (*object, error) {
	b := s.buckets[c.bucket]
	version := c.query.Get("versionId")
	if version == "" {
		if o := b.current(c.key); o != nil {
			return o, nil
		}
		if s.fires(MissingIs403, c) != nil {
			return nil, fail(http.StatusForbidden, "AccessDenied", "Access Denied")
		}
		return nil, b.missing(c.key)
	}
	for _, o := range b.objects[c.key] {
		if o.version == version && o.marker {
			return nil, fail(http.StatusMethodNotAllowed, "MethodNotAllowed", "The specified method is not allowed against this resource.")
		}
		if o.version == version {
			return o, nil
		}
	}
	return nil, fail(http.StatusNotFound, "NoSuchVersion", "The specified version does not exist.")
}

// missing says that a key has no object now, and whether that is because one was deleted.
func (b *bucket) missing(key string) error {
	e := &apiError{status: http.StatusNotFound, code: "NoSuchKey", message: "The specified key does not exist."}
	if len(b.objects[key]) > 0 {
		e.header = http.Header{"X-Amz-Delete-Marker": {"true"}}
	}
	return e
}

// getObject answers HeadObject too.
func (s *Server) getObject(c *call) (answer, error) {
	o, err := s.find(c)
	if err != nil {
		return answer{}, err
	}
	if want := c.header.Get("If-Match"); want != "" && !sameETag(want, o.etag) {
		return answer{}, preconditionFailed()
	}
	if not := c.header.Get("If-None-Match"); not != "" && sameETag(not, o.etag) {
		return answer{}, &apiError{status: http.StatusNotModified, code: "NotModified", header: http.Header{"Etag": {quote(o.etag)}}}
	}
	h := maps.Clone(o.header)
	h.Set("Etag", quote(o.etag))
	h.Set("Last-Modified", o.modified.UTC().Format(http.TimeFormat))
	h.Set("Accept-Ranges", "bytes")
	if s.buckets[c.bucket].versioning != "" {
		h.Set("X-Amz-Version-Id", o.version)
	}
	if len(o.tags) > 0 {
		h.Set("X-Amz-Tagging-Count", fmt.Sprint(len(o.tags)))
	}
	a := answer{status: http.StatusOK, header: h}
	from, to, err := o.span(c, h)
	if err != nil {
		return answer{}, err
	}
	a.body = o.data[from:to]
	h.Set("Content-Length", strconv.Itoa(to-from))
	switch {
	case h.Get("Content-Range") != "":
		a.status = http.StatusPartialContent
	case c.header.Get("X-Amz-Checksum-Mode") == "ENABLED":
		o.sum.setHeader(h)
	}
	return a, nil
}

// span gives the bytes that a request asks for, and sets Content-Range if they are not all.
func (o *object) span(c *call, h http.Header) (from, to int, err error) {
	size := len(o.data)
	if text := c.query.Get("partNumber"); text != "" {
		return o.partSpan(text, h)
	}
	text, ok := strings.CutPrefix(c.header.Get("Range"), "bytes=")
	first, last, two := strings.Cut(text, "-")
	if !ok || !two || strings.Contains(text, ",") {
		return 0, size, nil
	}
	unsatisfied := fail(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The requested range is not satisfiable")
	to = size
	if first == "" {
		n, err := strconv.Atoi(last)
		if err != nil || n == 0 || size == 0 {
			return 0, 0, unsatisfied
		}
		from = max(0, size-n)
	} else if from, err = strconv.Atoi(first); err != nil || from >= size {
		return 0, 0, unsatisfied
	} else if last != "" {
		n, err := strconv.Atoi(last)
		if err != nil || n < from {
			return 0, size, nil
		}
		to = min(size, n+1)
	}
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, size))
	return from, to, nil
}

func (o *object) partSpan(text string, h http.Header) (from, to int, err error) {
	parts := o.parts
	if len(parts) == 0 {
		parts = []int{len(o.data)}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(parts) {
		return 0, 0, fail(http.StatusRequestedRangeNotSatisfiable, "InvalidPartNumber", "The requested partnumber is not satisfiable")
	}
	for _, size := range parts[:n-1] {
		from += size
	}
	to = from + parts[n-1]
	if len(o.parts) > 0 {
		h.Set("X-Amz-Mp-Parts-Count", strconv.Itoa(len(o.parts)))
	}
	h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(o.data)))
	return from, to, nil
}

func (s *Server) getTagging(c *call) (answer, error) {
	o, err := s.find(c)
	if err != nil {
		return answer{}, err
	}
	type tag struct{ Key, Value string }
	x := struct {
		XMLName xml.Name `xml:"Tagging"`
		Xmlns   string   `xml:"xmlns,attr"`
		Tags    []tag    `xml:"TagSet>Tag"`
	}{Xmlns: namespace}
	for _, name := range slices.Sorted(maps.Keys(o.tags)) {
		x.Tags = append(x.Tags, tag{name, o.tags.Get(name)})
	}
	return answerXML(http.StatusOK, x), nil
}
