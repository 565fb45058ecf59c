package s3test

import (
	"strings"
	"testing"
)

var listScenes = map[Switch]func(*client){
	ListUploadsByExactKeyOnly: func(c *client) {
		c.create("p/k")
		c.s.Set(ListUploadsByExactKeyOnly, On{})
		if got := c.want(200, "", "GET", "/b?uploads&prefix=p/k", ""); got.text("Key") != "p/k" {
			c.Error(got.body)
		}
		c.fired(ListUploadsByExactKeyOnly, 0)
		if got := c.want(200, "", "GET", "/b?uploads&prefix=p/", ""); strings.Contains(got.body, "<Upload>") {
			c.Error(got.body)
		}
	},
	ListUploadsNothing: func(c *client) {
		c.create("p/k")
		c.s.Set(ListUploadsNothing, On{})
		if got := c.want(200, "", "GET", "/b?uploads&prefix=p/k", ""); strings.Contains(got.body, "<Upload>") {
			c.Error(got.body)
		}
	},
	RefuseUploadMarker: func(c *client) {
		c.s.Set(RefuseUploadMarker, On{})
		c.want(400, "InvalidArgument", "GET", "/b?uploads&key-marker=k&upload-id-marker=i", "")
	},
}

var partScenes = map[Switch]func(*client){
	EqualParts: func(c *client) {
		c.s.Set(MinPart, On{N: 1})
		c.s.Set(EqualParts, On{})
		for _, bad := range [][]string{{"aa", "b", "c"}, {"a", "bb"}} {
			up, doc := c.uploadAll("k", bad...)
			c.want(400, "InvalidPart", "POST", up, doc)
		}
		for _, good := range [][]string{{"aa", "bb", "c"}, {"aa", "bb"}, {"a"}} {
			up, doc := c.uploadAll("k", good...)
			c.want(200, "", "POST", up, doc)
		}
		c.fired(EqualParts, 2)
	},
	MinPart: func(c *client) {
		c.s.Set(MinPart, On{N: 3})
		up, doc := c.uploadAll("k", "aa", "b")
		c.want(400, "EntityTooSmall", "POST", up, doc)
		up, doc = c.uploadAll("k", "aaa", "b")
		c.want(200, "", "POST", up, doc)
	},
	MaxParts: func(c *client) {
		c.s.Set(MaxParts, On{N: 2})
		up, _ := c.uploadAll("k", "a", "b")
		c.want(400, "InvalidArgument", "PUT", up+"&partNumber=3", "c")
	},
	StaleETagOnRepart: func(c *client) {
		c.s.Set(StaleETagOnRepart, On{})
		up := c.create("k")
		stale, _ := c.part(up, "1", "old"), c.part(up, "1", "new")
		if got := c.want(200, "", "GET", up, ""); strings.Count(got.body, "<Part>") != 2 {
			c.Error(got.body)
		}
		c.want(200, "", "POST", up, document(stale))
		c.holds("k", "old")
	},
	RefuseRepart: func(c *client) {
		c.s.Set(RefuseRepart, On{})
		up := c.create("k")
		c.part(up, "1", "old")
		c.part(up, "1", "old")
		c.want(501, "NotImplemented", "PUT", up+"&partNumber=1", "new")
	},
	CorruptPart: func(c *client) {
		c.s.Set(MinPart, On{N: 1})
		c.s.Set(CorruptPart, On{From: 2, Times: 1})
		up, doc := c.uploadAll("k", "aaa", "bbb", "ccc")
		done := c.want(200, "", "POST", up, doc)
		c.holds("k", "aaabcbccc")
		if sum := algorithmOf("CRC64NVME").sum([]byte("aaabbbccc")); done.text("ChecksumCRC64NVME") != sum {
			c.Error(done.body)
		}
	},
}

// uploadAll uploads parts, and gives the path of the upload and the document that completes it.
func (c *client) uploadAll(key string, data ...string) (upload, complete string) {
	c.Helper()
	upload = c.create(key)
	var parts []string
	for i, d := range data {
		parts = append(parts, c.part(upload, string(rune('1'+i)), d))
	}
	return upload, document(parts...)
}

func TestForgetUpload(t *testing.T) {
	c := start(t, Options{})
	up, doc := c.upload("k", "data")
	done, doneDoc := c.upload("done", "data")
	c.want(200, "", "POST", done, doneDoc)
	if n := c.s.ForgetUpload("b", "k"); n != 1 {
		t.Errorf("%d uploads of k", n)
	}
	if n := c.s.ForgetUpload("b", strings.TrimPrefix(done, "/b/done?uploadId=")); n != 1 {
		t.Errorf("%d uploads of the id", n)
	}
	c.want(404, "NoSuchUpload", "POST", up, doc)
	c.want(404, "NoSuchUpload", "POST", done, doneDoc)
	c.holds("done", "data")
}

func TestCorruptObject(t *testing.T) {
	c := start(t, Options{})
	c.want(200, "", "PUT", "/b/k", "abc")
	c.s.CorruptObject("b", "k")
	c.holds("k", "acc")
}

// The n-th request that a switch is about is counted without those that it is not about.
func TestFromAndTimes(t *testing.T) {
	c := start(t, Options{})
	c.s.Set(DropMetadata, On{Key: "a", From: 2, Times: 1})
	for _, key := range []string{"a1", "b", "a2", "a3"} {
		c.want(200, "", "PUT", "/b/"+key, "x", "X-Amz-Meta-Token: T")
		c.want(200, "", "PUT", "/b/a-without", "x")
		if o, _ := c.s.Object("b", key); (o.Metadata["token"] == "T") == (key == "a2") {
			t.Errorf("%s: %v", key, o.Metadata)
		}
	}
	c.s.Set(MinPart, On{N: 1, From: 2})
	up, doc := c.uploadAll("k", "a", "b")
	c.want(400, "EntityTooSmall", "POST", up, doc)
	c.want(200, "", "POST", up, doc)
	c.s.Set(MaxParts, On{N: 2, From: 2})
	up = c.create("k")
	c.part(up, "2", "x")
	c.part(up, "3", "x")
	c.want(400, "InvalidArgument", "PUT", up+"&partNumber=3", "x")
	c.s.Set(PathStyleOnly, On{Verb: PutObject, From: 2})
	c.want(200, "", "PUT", "/v", "x", "Host: b.localhost")
	c.want(404, "NoSuchBucket", "PUT", "/v/w", "x", "Host: b.localhost")
	c.s.Set(ErrorAfter, On{Verb: DeleteObject, From: 2, Times: 1})
	for _, status := range []int{204, 500, 204} {
		c.ask("DELETE", "/b/none", "")
		if all := c.s.Requests(DeleteObject); all[len(all)-1].Status != status {
			t.Errorf("%d, not %d", all[len(all)-1].Status, status)
		}
	}
}
