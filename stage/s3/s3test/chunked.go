package s3test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// unchunk takes the aws-chunked coding off a body, and joins its trailers to the headers:
//
//	body    = *chunk last *trailer CRLF
//	chunk   = hex [ ";chunk-signature=" text ] CRLF bytes CRLF
//	last    = "0" [ ";chunk-signature=" text ] CRLF
//	trailer = name ":" value CRLF
func (c *call) unchunk(raw []byte) error {
	r := bufio.NewReader(bytes.NewReader(raw))
	var data []byte
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return incomplete()
		}
		size, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ";")
		n, err := strconv.ParseUint(size, 16, 31)
		if err != nil {
			return invalidRequest("%q is no size of a chunk", size)
		}
		if n == 0 {
			break
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(r, chunk); err != nil || !bytes.HasSuffix(chunk, []byte("\r\n")) {
			return incomplete()
		}
		data = append(data, chunk[:n]...)
	}
	c.body = data
	if want := c.header.Get("X-Amz-Decoded-Content-Length"); want != strconv.Itoa(len(data)) {
		return incomplete()
	}
	return c.trailers(r)
}

func (c *call) trailers(r *bufio.Reader) error {
	given, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil && err != io.EOF {
		return fail(http.StatusBadRequest, "MalformedTrailerError", "The request contained trailing data that was not well-formed or did not conform to our published schema.")
	}
	for name := range strings.SplitSeq(c.header.Get("X-Amz-Trailer"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if given.Get(name) == "" {
			return fail(http.StatusBadRequest, "MalformedTrailerError", "A trailer that was announced is missing.")
		}
		c.header.Set(name, given.Get(name))
	}
	return nil
}

func incomplete() error {
	return fail(http.StatusBadRequest, "IncompleteBody", "The request body terminated unexpectedly")
}
