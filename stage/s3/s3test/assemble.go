package s3test

import (
	"bytes"
	"net/http"
	"strconv"
)

const minPart = 5 << 20

// sizes refuses parts that an object cannot be made of.
func (s *Server) sizes(c *call, parts []*part) error {
	smallest := len(parts[0].data)
	for _, p := range parts[:len(parts)-1] {
		smallest = min(smallest, len(p.data))
	}
	small := len(parts) > 1 && smallest < minPart
	if s.firesIf(MinPart, c, func(on *On) bool { return len(parts) > 1 && small != (smallest < on.N) }) != nil {
		small = !small
	}
	if small {
		return fail(http.StatusBadRequest, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
	}
	first, last := len(parts[0].data), len(parts[len(parts)-1].data)
	unequal := last > first
	for _, p := range parts[:len(parts)-1] {
		unequal = unequal || len(p.data) != first
	}
	if unequal && s.fires(EqualParts, c) != nil {
		return fail(http.StatusBadRequest, "InvalidPart", "All non-trailing parts must have the same length.")
	}
	return nil
}

// assemble makes the object of an upload, and its checksum, of what came rather than of what is stored.
func (s *Server) assemble(c *call, u *upload, parts []*part) *object {
	o := &object{modified: s.now(), header: u.header, tags: u.tags}
	var came [][]byte
	var etags []string
	corrupt := false
	for _, p := range parts {
		came, etags = append(came, p.data), append(etags, p.etag)
		o.parts = append(o.parts, len(p.data))
		corrupt = corrupt || p.corrupt
	}
	o.data, o.etag = bytes.Join(came, nil), etagOfParts(etags)
	if s.fires(PlainETag, c) != nil {
		o.etag = etagOf(o.data)
	}
	switch {
	case s.ignoresSums(c):
	case u.sum.algorithm == nil:
		o.sum = checksum{crc64nvme, crc64nvme.sum(o.data), fullObject}
	case u.sum.kind == fullObject:
		o.sum = checksum{u.sum.algorithm, u.sum.sum(o.data), fullObject}
	default:
		var digests [][]byte
		for _, p := range parts {
			digests = append(digests, u.sum.digest(p.data))
		}
		o.sum = checksum{u.sum.algorithm, u.sum.sum(digests...) + "-" + strconv.Itoa(len(parts)), composite}
	}
	if corrupt {
		o.corrupt(parts)
	}
	return o
}

// corrupt flips a bit in the middle of each part that is stored so.
func (o *object) corrupt(parts []*part) {
	at := 0
	for _, p := range parts {
		if p.corrupt {
			o.data[at+len(p.data)/2] ^= 1
		}
		at += len(p.data)
	}
}

// checkComplete compares what a Complete says of the whole object.
func (s *Server) checkComplete(c *call, u *upload, o *object) error {
	if size := c.header.Get("X-Amz-Mp-Object-Size"); size != "" && size != strconv.Itoa(len(o.data)) && s.fires(IgnoreObjectSize, c) == nil {
		return invalidRequest("The provided 'x-amz-mp-object-size' header value %s does not match what was computed: %d", size, len(o.data))
	}
	if s.ignoresSums(c) {
		return nil
	}
	if kind := c.header.Get("X-Amz-Checksum-Type"); kind != "" && kind != o.sum.kind {
		return invalidRequest("The upload was created using the %s checksum mode. The complete request must use the same checksum mode.", o.sum.kind)
	}
	sum, err := c.given()
	switch {
	case err != nil || sum.algorithm == nil:
		return err
	case u.sum.algorithm != nil && sum.algorithm != u.sum.algorithm:
		return invalidRequest("Checksum Type mismatch occurred, expected checksum Type: %s, actual checksum Type: %s", u.sum.nameOrNull(), sum.nameOrNull())
	case sum.algorithm == o.sum.algorithm && sum.value != o.sum.value:
		return badDigest(sum)
	}
	return nil
}
