package s3test

import (
	"strings"
	"testing"
)

func TestUploadInParts(t *testing.T) {
	c := start(t, Options{})
	big := strings.Repeat("0123456789", 524288+1)
	up := c.create("k", "X-Amz-Meta-Token: T", "X-Amz-Tagging: a=b", "X-Amz-Storage-Class: STANDARD_IA", "X-Amz-Acl: private",
		"X-Amz-Expected-Bucket-Owner: 123", "X-Amz-Request-Payer: requester")
	two := c.part(up, "2", "tail")
	one := c.part(up, "1", big)
	if got := c.s.Uploads("b"); len(got) != 1 || got[0].Key != "k" || got[0].Parts[1] != len(big) || got[0].Options.Get("X-Amz-Acl") != "private" ||
		got[0].Options.Get("X-Amz-Expected-Bucket-Owner") != "123" || got[0].Options.Get("X-Amz-Request-Payer") != "requester" {
		t.Fatalf("uploads: %+v", got)
	}
	c.want(404, "", "HEAD", "/b/k", "")
	c.want(400, "InvalidPartOrder", "POST", up, document(two, one))
	c.want(400, "InvalidPart", "POST", up, document(one, strings.ReplaceAll(two, "<PartNumber>2", "<PartNumber>3")))
	c.want(400, "InvalidPart", "POST", up, document(one, "<Part><PartNumber>2</PartNumber><ETag>x</ETag></Part>"))
	c.want(400, "MalformedXML", "POST", up, document())
	c.want(400, "InvalidRequest", "POST", up, document(one, two), "X-Amz-Mp-Object-Size: 7")
	c.want(404, "NoSuchUpload", "POST", strings.Replace(up, "/b/k", "/b/other", 1), document(one, two))
	done := c.want(200, "", "POST", up, document(one, two), "If-None-Match: *")
	if !strings.HasSuffix(done.text("ETag"), `-2"`) || done.text("ChecksumType") != fullObject || done.text("ChecksumCRC64NVME") == "" {
		t.Fatal(done.body)
	}
	c.holds("k", big+"tail")
	if again := c.want(200, "", "POST", up, document(one, two), "If-None-Match: *"); again.text("ETag") != done.text("ETag") {
		t.Fatal(again.body)
	}
	c.want(200, "", "POST", up, strings.ReplaceAll(document(one, two), `"`, ""))
	c.want(404, "NoSuchUpload", "POST", up, document(one))
	c.want(404, "NoSuchUpload", "GET", up, "")
	c.want(404, "NoSuchUpload", "PUT", up+"&partNumber=3", "x")
	c.want(404, "NoSuchUpload", "DELETE", up, "")
	head := c.want(200, "", "HEAD", "/b/k", "", "X-Amz-Checksum-Mode: ENABLED").header
	for name, want := range map[string]string{"Etag": done.text("ETag"), "X-Amz-Meta-Token": "T", "X-Amz-Tagging-Count": "1", "X-Amz-Storage-Class": "STANDARD_IA",
		"X-Amz-Checksum-Crc64nvme": done.text("ChecksumCRC64NVME"), "Content-Length": "5242894", "X-Amz-Server-Side-Encryption": "AES256"} {
		if head.Get(name) != want {
			t.Errorf("%s: %q, not %q", name, head.Get(name), want)
		}
	}
	if part := c.want(206, "", "GET", "/b/k?partNumber=2", ""); part.body != "tail" || part.header.Get("X-Amz-Mp-Parts-Count") != "2" {
		t.Errorf("part 2: %q %v", part.body, part.header)
	}
}

func TestAbortUpload(t *testing.T) {
	c := start(t, Options{})
	up, doc := c.upload("k", "data")
	c.want(204, "", "DELETE", up, "")
	c.want(404, "NoSuchUpload", "DELETE", up, "")
	c.want(404, "NoSuchUpload", "POST", up, doc)
	c.holds("k", "")
}

func TestPartsTooSmall(t *testing.T) {
	c := start(t, Options{})
	up := c.create("k")
	doc := document(c.part(up, "1", "a"), c.part(up, "2", "b"))
	c.want(400, "EntityTooSmall", "POST", up, doc)
	c.fired(MinPart, 0)
	c.s.Set(MinPart, On{N: 1})
	c.want(200, "", "POST", up, doc)
	c.fired(MinPart, 1)
	c.holds("k", "ab")
	c.s.Unset(MinPart)
	c.s.Set(MinPart, On{N: 6 << 20})
	up = c.create("k")
	doc = document(c.part(up, "1", strings.Repeat("a", 5<<20)), c.part(up, "2", "b"))
	c.want(400, "EntityTooSmall", "POST", up, doc)
	c.fired(MinPart, 2)
}

func TestPartUploadedAgain(t *testing.T) {
	c := start(t, Options{})
	up := c.create("k")
	stale, fresh := c.part(up, "1", "old"), c.part(up, "1", "new")
	c.want(400, "InvalidPart", "POST", up, document(stale))
	c.want(200, "", "POST", up, document(fresh))
	c.holds("k", "new")
}

func TestConditionalComplete(t *testing.T) {
	c := start(t, Options{})
	c.s.PutObject("b", "k", []byte("theirs"), nil)
	theirs, _ := c.s.Object("b", "k")
	up, doc := c.upload("k", "ours")
	c.want(412, "PreconditionFailed", "POST", up, doc, "If-None-Match: *")
	c.want(412, "PreconditionFailed", "POST", up, doc, "If-Match: x")
	c.holds("k", "theirs")
	c.want(200, "", "GET", up, "")
	c.want(200, "", "POST", up, doc, "If-Match: "+quote(theirs.ETag))
	c.holds("k", "ours")
}

func TestListPartsByPages(t *testing.T) {
	c := start(t, Options{})
	up := c.create("k")
	for _, number := range []string{"7", "1", "10000"} {
		c.part(up, number, number)
	}
	page := c.want(200, "", "GET", up+"&max-parts=2", "")
	if page.text("IsTruncated") != "true" || page.text("NextPartNumberMarker") != "7" || strings.Count(page.body, "<Part>") != 2 {
		t.Fatal(page.body)
	}
	page = c.want(200, "", "GET", up+"&max-parts=2&part-number-marker=7", "")
	if page.text("IsTruncated") != "false" || page.text("PartNumber") != "10000" || page.text("Size") != "5" {
		t.Fatal(page.body)
	}
	c.want(400, "InvalidArgument", "PUT", up+"&partNumber=10001", "x")
	c.want(400, "InvalidArgument", "PUT", up+"&partNumber=0", "x")
}

func TestListUploadsByPages(t *testing.T) {
	c := start(t, Options{})
	for _, key := range []string{"p/b", "p/a", "p/b", "q"} {
		c.create(key)
	}
	query, seen := "/b?uploads&prefix=p/&max-uploads=1", ""
	for at := query; ; {
		page := c.want(200, "", "GET", at, "")
		seen += page.text("Key") + " "
		if page.text("IsTruncated") != "true" {
			break
		}
		at = query + "&key-marker=" + page.text("NextKeyMarker") + "&upload-id-marker=" + page.text("NextUploadIdMarker")
	}
	if seen != "p/a p/b p/b " {
		t.Errorf("listed: %s", seen)
	}
	if all := c.want(200, "", "GET", "/b?uploads&delimiter=/", ""); strings.Count(all.body, "<CommonPrefixes>") != 1 || all.text("Key") != "q" {
		t.Error(all.body)
	}
}
