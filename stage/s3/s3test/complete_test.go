package s3test

import (
	"net/http"
	"strings"
	"testing"
)

var completeScenes = map[Switch]func(*client){
	ErrorIn200: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(ErrorIn200, On{Times: 1})
		c.want(200, "InternalError", "POST", up, doc)
		c.holds("k", "")
		c.want(200, "", "POST", up, doc)
		c.holds("k", "data")
	},
	ErrorIn200Done: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(ErrorIn200Done, On{Times: 1})
		c.want(200, "InternalError", "POST", up, doc)
		c.holds("k", "data")
		c.want(404, "NoSuchUpload", "GET", up, "")
	},
	NoSuchUploadAfterComplete: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(NoSuchUploadAfterComplete, On{From: 2})
		c.want(200, "", "POST", up, doc)
		c.want(200, "", "POST", up, doc)
		c.want(404, "NoSuchUpload", "POST", up, doc)
		c.fired(NoSuchUploadAfterComplete, 1)
	},
	ConditionBeforeReplay: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(ConditionBeforeReplay, On{})
		c.want(200, "", "POST", up, doc, "If-None-Match: *")
		c.want(200, "", "POST", up, doc)
		c.want(412, "PreconditionFailed", "POST", up, doc, "If-None-Match: *")
	},
	ReplayNeedsObject: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(ReplayNeedsObject, On{})
		c.want(200, "", "POST", up, doc)
		c.want(200, "", "POST", up, doc)
		c.s.PutObject("b", "k", []byte("data"), nil)
		c.want(404, "NoSuchUpload", "POST", up, doc)
		c.s.DeleteObject("b", "k")
		c.want(404, "NoSuchUpload", "POST", up, doc)
	},
	UnknownUploadCompletes: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(UnknownUploadCompletes, On{})
		c.want(204, "", "DELETE", up, "")
		c.want(404, "NoSuchUpload", "POST", up, doc)
		c.s.PutObject("b", "k", []byte("theirs"), nil)
		invented := c.want(200, "", "POST", up, doc, "If-None-Match: *").text("ETag")
		c.holds("k", "theirs")
		up, doc = c.upload("other", "data")
		if real := c.want(200, "", "POST", up, doc).text("ETag"); invented != real {
			c.Errorf("%s is not %s", invented, real)
		}
	},
	IgnoreIfNoneMatch: func(c *client) {
		c.s.PutObject("b", "k", []byte("theirs"), nil)
		c.s.Set(IgnoreIfNoneMatch, On{Verb: CompleteMultipartUpload})
		c.want(412, "PreconditionFailed", "PUT", "/b/k", "ours", "If-None-Match: *")
		up, doc := c.upload("k", "ours")
		c.want(200, "", "POST", up, doc, "If-None-Match: *")
		c.holds("k", "ours")
		c.s.Set(IgnoreIfNoneMatch, On{Verb: PutObject})
		c.want(200, "", "PUT", "/b/k", "put", "If-None-Match: *")
		c.want(200, "", "PUT", "/b/new", "put", "If-None-Match: *")
		c.fired(IgnoreIfNoneMatch, 2)
	},
	ConditionalConflict: func(c *client) {
		c.s.Set(ConditionalConflict, On{Times: 2})
		c.want(200, "", "PUT", "/b/other", "x")
		c.want(409, "ConditionalRequestConflict", "PUT", "/b/k", "x", "If-None-Match: *")
		up, doc := c.upload("k", "data")
		c.want(409, "ConditionalRequestConflict", "POST", up, doc, "If-None-Match: *")
		c.want(200, "", "POST", up, doc, "If-None-Match: *")
	},
	AbortAlways204: func(c *client) {
		up, doc := c.upload("k", "data")
		c.want(200, "", "POST", up, doc)
		c.s.Set(AbortAlways204, On{})
		c.want(204, "", "DELETE", up, "")
		c.holds("k", "data")
	},
	IgnoreObjectSize: func(c *client) {
		up, doc := c.upload("k", "data")
		c.s.Set(IgnoreObjectSize, On{})
		c.want(200, "", "POST", up, doc, "X-Amz-Mp-Object-Size: 7")
	},
	OpaqueETag: func(c *client) {
		c.s.Set(OpaqueETag, On{})
		put := c.want(200, "", "PUT", "/b/put", "hello").header.Get("Etag")
		if put == quote(etagOf([]byte("hello"))) || put != c.want(200, "", "HEAD", "/b/put", "").header.Get("Etag") {
			c.Error(put)
		}
		up, doc := c.upload("k", "hello")
		if !strings.Contains(doc, put) {
			c.Error(doc)
		}
		c.want(200, "", "POST", up, doc)
	},
	PlainETag: func(c *client) {
		up, doc := c.upload("k", "hello")
		c.s.Set(PlainETag, On{})
		if got := c.want(200, "", "POST", up, doc); got.text("ETag") != `"5d41402abc4b2a76b9719d911017c592"` {
			c.Error(got.body)
		}
	},
}

var lateScenes = map[Switch]func(*client){
	LateComplete: func(c *client) {
		c.s.Set(LateComplete, On{N: 2, Times: 1})
		up, doc := c.upload("k", "data")
		if got := c.ask("POST", up, doc); got.err == nil {
			c.Error(got)
		}
		c.want(404, "", "HEAD", "/b/k", "")
		c.want(200, "", "GET", up, "")
		c.want(200, "", "HEAD", "/b/k", "")
		c.holds("k", "data")
	},
	InvisibleWhileCompleting: func(c *client) {
		c.s.Set(InvisibleWhileCompleting, On{N: 2, Times: 1})
		up, doc := c.upload("k", "data")
		got := c.meanwhile(c.Context(), "POST", up, doc)
		c.await(InvisibleWhileCompleting, 1)
		c.want(404, "NoSuchUpload", "GET", up, "")
		c.want(404, "", "HEAD", "/b/k", "")
		c.want(404, "NoSuchUpload", "DELETE", up, "")
		if list := c.want(200, "", "GET", "/b?uploads", ""); strings.Contains(list.body, "<Upload>") {
			c.Error(list.body)
		}
		c.want(200, "", "HEAD", "/b/k", "")
		if got := got(); got.status != 200 || got.text("Key") != "k" {
			c.Error(got)
		}
	},
}

// A late Complete is done as things are then: an abort, or what somebody has put there, comes first.
func TestLateCompleteLoses(t *testing.T) {
	c := start(t, Options{})
	c.s.Set(LateComplete, On{})
	up, doc := c.upload("aborted", "data")
	c.ask("POST", up, doc)
	c.want(204, "", "DELETE", up, "")
	up, doc = c.upload("taken", "data")
	c.ask("POST", up, doc, "If-None-Match: *")
	c.want(200, "", "PUT", "/b/taken", "theirs")
	c.fired(LateComplete, 2)
	c.s.Release()
	c.holds("aborted", "")
	c.holds("taken", "theirs")
}

// A proxy may give up on a Complete that the store goes on with.
func TestLateCompleteWithStatus(t *testing.T) {
	c := start(t, Options{})
	c.s.Set(LateComplete, On{Times: 1, Status: http.StatusGatewayTimeout})
	c.s.Set(LateComplete, On{Times: 1, Status: http.StatusOK})
	up, doc := c.upload("k", "data")
	c.want(504, "GatewayTimeout", "POST", up, doc)
	c.want(200, "InternalError", "POST", up, doc)
	c.holds("k", "")
	c.s.Release()
	c.holds("k", "data")
}

// The connection of a Complete may be gone, and the upload invisible, and the object still come.
func TestLateAndInvisible(t *testing.T) {
	c := start(t, Options{})
	c.s.Set(LateComplete, On{})
	c.s.Set(InvisibleWhileCompleting, On{})
	up, doc := c.upload("k", "data")
	if got := c.ask("POST", up, doc); got.err == nil {
		t.Error(got)
	}
	c.want(404, "NoSuchUpload", "POST", up, doc)
	c.want(404, "", "HEAD", "/b/k", "")
	c.s.Release()
	c.holds("k", "data")
	if got := c.s.Count(HeadObject); got != 1 {
		t.Errorf("%d HEADs", got)
	}
}

// A store like versitygw does not know lifecycle rules, and takes a Complete of anything where an object is.
func TestLike(t *testing.T) {
	c := start(t, Options{})
	c.s.Like(Versitygw)
	c.want(http.StatusNotImplemented, "NotImplemented", "GET", "/b?lifecycle", "")
	c.s.PutObject("b", "k", []byte("theirs"), nil)
	c.want(200, "", "POST", "/b/k?uploadId=invented", document("<Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>"))
	for _, k := range []Kind{Versitygw, SeaweedFS, Rclone, Gofakes3, MinIO, R2} {
		if len(settingsOf(k)) == 0 {
			t.Errorf("nothing is known of %s", k)
		}
	}
	c.s.Unset()
	c.want(404, "NoSuchUpload", "POST", "/b/k?uploadId=invented", document("<Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>"))
}
