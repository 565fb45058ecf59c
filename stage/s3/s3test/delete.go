package s3test

import (
	"encoding/xml"
	"net/http"
)

// drop deletes a key or one version of it, and says what came of it.
func (s *Server) drop(b *bucket, key, version string) (marker bool, id string) {
	switch {
	case version != "":
		for _, o := range b.objects[key] {
			marker = marker || o.version == version && o.marker
		}
		b.remove(key, version, true)
		return marker, version
	case b.versioning == "":
		delete(b.objects, key)
		return false, ""
	}
	o := &object{version: s.newVersion(b), marker: true, modified: s.now()}
	b.add(key, o)
	return true, o.version
}

func (s *Server) deleteObject(c *call) (answer, error) {
	b := s.buckets[c.bucket]
	if want := c.header.Get("If-Match"); want != "" {
		now := b.current(c.key)
		if now == nil {
			return answer{}, noSuchKey()
		}
		if !sameETag(want, now.etag) {
			return answer{}, preconditionFailed()
		}
	}
	marker, id := s.drop(b, c.key, c.query.Get("versionId"))
	a := answer{status: http.StatusNoContent, header: http.Header{}}
	if marker {
		a.header.Set("X-Amz-Delete-Marker", "true")
	}
	if id != "" {
		a.header.Set("X-Amz-Version-Id", id)
	}
	return a, nil
}

func (s *Server) deleteObjects(c *call) (answer, error) {
	sum, err := s.verify(c)
	if err != nil {
		return answer{}, err
	}
	if sum.algorithm == nil && c.header.Get("Content-Md5") == "" && !s.ignoresSums(c) {
		return answer{}, invalidRequest("Missing required header for this request: Content-MD5 OR x-amz-checksum-*")
	}
	type entry struct {
		Key       string
		VersionID string `xml:"VersionId,omitempty"`
		Marker    bool   `xml:"DeleteMarker,omitempty"`
		MarkerID  string `xml:"DeleteMarkerVersionId,omitempty"`
	}
	var x struct {
		Quiet   bool
		Objects []entry `xml:"Object"`
	}
	if xml.Unmarshal(c.body, &x) != nil || len(x.Objects) == 0 || len(x.Objects) > 1000 {
		return answer{}, malformedXML()
	}
	result := struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Xmlns   string   `xml:"xmlns,attr"`
		Deleted []entry
	}{Xmlns: namespace}
	for _, o := range x.Objects {
		o.Marker, o.MarkerID = s.drop(s.buckets[c.bucket], o.Key, o.VersionID)
		if !o.Marker {
			o.MarkerID = ""
		}
		if !x.Quiet {
			result.Deleted = append(result.Deleted, o)
		}
	}
	return answerXML(http.StatusOK, result), nil
}
