package s3test

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
)

// completedPart is a part as a Complete names it.
type completedPart struct {
	PartNumber int
	ETag       string
	sumsXML
}

// completion is how an upload was completed.
type completion struct {
	parts  []completedPart
	object *object
	answer answer
}

type completeXML struct {
	XMLName               xml.Name `xml:"CompleteMultipartUploadResult"`
	Xmlns                 string   `xml:"xmlns,attr"`
	Location, Bucket, Key string
	ETag                  string
	sumsXML
}

func (s *Server) complete(c *call) (answer, error) {
	if !c.landing {
		if s.fires(ErrorIn200, c) != nil {
			return c.errorIn200(), nil
		}
		if a, late := s.postpone(c); late {
			return a, nil
		}
	}
	a, err := s.completeNow(c)
	if err == nil && s.fires(ErrorIn200Done, c) != nil {
		return c.errorIn200(), nil
	}
	return a, err
}

// errorIn200 is the answer of a store that fails after it has sent the status.
func (c *call) errorIn200() answer {
	a := c.answerError(fail(http.StatusInternalServerError, "InternalError", internal))
	a.status = http.StatusOK
	return a
}

func (s *Server) completeNow(c *call) (answer, error) {
	var x struct {
		XMLName xml.Name        `xml:"CompleteMultipartUpload"`
		Parts   []completedPart `xml:"Part"`
	}
	if xml.Unmarshal(c.body, &x) != nil || len(x.Parts) == 0 {
		return answer{}, malformedXML()
	}
	u, err := s.open(c)
	if err != nil {
		return s.completeGone(c, x.Parts, err)
	}
	parts, err := s.chosen(c, u, x.Parts)
	if err == nil {
		err = s.sizes(c, parts)
	}
	if err != nil {
		return answer{}, err
	}
	o := s.assemble(c, u, parts)
	if err := s.checkComplete(c, u, o); err != nil {
		return answer{}, err
	}
	if err := s.condition(c); err != nil {
		return answer{}, err
	}
	return s.finish(c, u, o, x.Parts), nil
}

// finish makes the object, and keeps in mind how.
func (s *Server) finish(c *call, u *upload, o *object, parts []completedPart) answer {
	h := s.store(c, o)
	for _, name := range []string{"Etag", o.sum.headerOrNone(), "X-Amz-Checksum-Type"} {
		h.Del(name)
	}
	a := answerXML(http.StatusOK, completeXML{Xmlns: namespace, Location: "http://" + c.r.Host + c.r.URL.EscapedPath(), Bucket: c.bucket, Key: c.key,
		ETag: quote(o.etag), sumsXML: o.sum.xml()})
	for name, values := range h {
		a.header[name] = values
	}
	u.done = completion{parts: parts, object: o, answer: a}
	b := s.buckets[c.bucket]
	delete(b.uploads, u.id)
	b.completed[u.id] = u
	return a
}

func (s checksum) headerOrNone() string {
	if s.algorithm == nil {
		return ""
	}
	return s.header()
}

// completeGone answers for an upload that is not open. AWS answers the same again, for one that it has completed.
func (s *Server) completeGone(c *call, parts []completedPart, gone error) (answer, error) {
	b := s.buckets[c.bucket]
	now := b.current(c.key)
	u := b.completed[c.query.Get("uploadId")]
	switch {
	case u != nil && now != nil && c.header.Get("If-None-Match") != "" && s.fires(ConditionBeforeReplay, c) != nil:
		return answer{}, preconditionFailed()
	case u != nil && u.key == c.key && slices.EqualFunc(parts, u.done.parts, samePart) && s.replays(c, u, now):
		return u.done.answer, nil
	case now != nil && s.fires(UnknownUploadCompletes, c) != nil:
		var etags []string
		for _, p := range parts {
			etags = append(etags, p.etag())
		}
		return answerXML(http.StatusOK, completeXML{Xmlns: namespace, Bucket: c.bucket, Key: c.key, ETag: quote(etagOfParts(etags))}), nil
	}
	return answer{}, gone
}

// samePart compares what identifies a part. Checksums may be named one time and not the other.
func samePart(a, b completedPart) bool {
	return a.PartNumber == b.PartNumber && a.etag() == b.etag()
}

func (p completedPart) etag() string { return strings.Trim(p.ETag, `"`) }

// replays says whether a completed upload is known any more.
func (s *Server) replays(c *call, u *upload, now *object) bool {
	if now != u.done.object && s.fires(ReplayNeedsObject, c) != nil {
		return false
	}
	return s.fires(NoSuchUploadAfterComplete, c) == nil
}

// chosen finds the parts that a Complete names.
func (s *Server) chosen(c *call, u *upload, named []completedPart) ([]*part, error) {
	var parts []*part
	for i, n := range named {
		if i > 0 && n.PartNumber <= named[i-1].PartNumber {
			return nil, fail(http.StatusBadRequest, "InvalidPartOrder", "The list of parts was not in ascending order. Parts must be ordered by part number.")
		}
		at := slices.IndexFunc(u.parts[n.PartNumber], func(p *part) bool { return p.etag == n.etag() })
		if at < 0 {
			return nil, invalidPart()
		}
		p := u.parts[n.PartNumber][at]
		if err := s.checkNamed(c, u, p, n); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// checkNamed compares the checksum that a Complete names for a part.
func (s *Server) checkNamed(c *call, u *upload, p *part, named completedPart) error {
	if s.ignoresSums(c) {
		return nil
	}
	given := ""
	for _, a := range algorithms {
		value := *named.field(a)
		if value != "" && (p.sum.algorithm != a || p.sum.value != value) {
			return invalidPart()
		}
		given += value
	}
	if given != "" && u.sum.algorithm == nil && s.fires(UnaskedPartSums, c) != nil {
		return invalidPart()
	}
	needed := u.sum.kind == composite
	if u.sum.algorithm != nil && given == "" && !needed {
		needed = s.fires(StrictChecksums, c) != nil
	}
	if needed && given == "" {
		return invalidRequest("The upload was created using a %s checksum. The complete request must include the checksum for each part. It was missing for part %d in the request.",
			strings.ToLower(u.sum.name), p.number)
	}
	return nil
}
