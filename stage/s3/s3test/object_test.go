package s3test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestBuckets(t *testing.T) {
	c := start(t, Options{Region: "eu-west-1"})
	c.want(200, "", "PUT", "/new", "")
	c.want(409, "BucketAlreadyOwnedByYou", "PUT", "/new", "")
	c.want(404, "", "HEAD", "/none", "")
	if got := c.want(200, "", "HEAD", "/b", ""); got.header.Get("X-Amz-Bucket-Region") != "eu-west-1" {
		t.Error(got.header)
	}
	if got := c.want(200, "", "GET", "/", ""); strings.Count(got.body, "<Bucket>") != 2 {
		t.Error(got.body)
	}
	if got := c.want(200, "", "GET", "/b?location", ""); !strings.Contains(got.body, "eu-west-1") {
		t.Error(got.body)
	}
	c.want(200, "", "PUT", "/new/k", "x")
	c.want(409, "BucketNotEmpty", "DELETE", "/new", "")
	c.want(204, "", "DELETE", "/new/k", "")
	c.want(204, "", "DELETE", "/new", "")
	c.want(404, "NoSuchBucket", "PUT", "/new/k", "x")
	c.want(501, "NotImplemented", "GET", "/b?acl", "")
	c.want(501, "NotImplemented", "PUT", "/b/k", "", "X-Amz-Copy-Source: b/other")
}

func TestObjectIsReadBack(t *testing.T) {
	c := start(t, Options{})
	c.want(200, "", "PUT", "/b/k", "hello", "Content-Type: text/csv", "X-Amz-Meta-Token: T", "X-Amz-Storage-Class: STANDARD_IA",
		"X-Amz-Server-Side-Encryption: aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id: key", "X-Amz-Tagging: a=b&c=d")
	for _, method := range []string{"HEAD", "GET"} {
		h := c.want(200, "", method, "/b/k", "").header
		for name, want := range map[string]string{"Content-Type": "text/csv", "X-Amz-Meta-Token": "T", "X-Amz-Storage-Class": "STANDARD_IA",
			"X-Amz-Server-Side-Encryption": "aws:kms", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "key", "X-Amz-Tagging-Count": "2",
			"Etag": `"5d41402abc4b2a76b9719d911017c592"`, "Content-Length": "5", "Last-Modified": "Tue, 06 May 2031 07:08:09 GMT", "X-Amz-Version-Id": ""} {
			if h.Get(name) != want {
				t.Errorf("%s: %s: %q, not %q", method, name, h.Get(name), want)
			}
		}
	}
	if got := c.want(200, "", "GET", "/b/k?tagging", ""); strings.Count(got.body, "<Tag>") != 2 || got.text("Value") != "b" {
		t.Error(got.body)
	}
	o, ok := c.s.Object("b", "k")
	if !ok || o.Metadata["token"] != "T" || o.Tags.Get("c") != "d" || !o.FullObject || o.Algorithm != "CRC64NVME" {
		t.Errorf("%+v", o)
	}
	c.want(412, "PreconditionFailed", "GET", "/b/k", "", "If-Match: x")
	c.want(200, "", "GET", "/b/k", "", "If-Match: "+quote(o.ETag))
	c.want(304, "", "GET", "/b/k", "", "If-None-Match: "+quote(o.ETag))
	c.want(404, "NoSuchKey", "GET", "/b/other", "")
}

func TestRanges(t *testing.T) {
	c := start(t, Options{})
	c.s.PutObject("b", "k", []byte("hello"), nil)
	for asked, want := range map[string]string{"0-0": "h", "1-2": "el", "3-": "lo", "-2": "lo", "-9": "hello", "4-100": "o"} {
		if got := c.want(206, "", "GET", "/b/k", "", "Range: bytes="+asked); got.body != want {
			t.Errorf("%s: %q, not %q", asked, got.body, want)
		}
	}
	if got := c.want(206, "", "GET", "/b/k", "", "Range: bytes=1-2"); got.header.Get("Content-Range") != "bytes 1-2/5" {
		t.Error(got.header)
	}
	c.want(416, "InvalidRange", "GET", "/b/k", "", "Range: bytes=5-")
	c.want(416, "InvalidRange", "GET", "/b/k", "", "Range: bytes=-0")
	c.want(200, "", "GET", "/b/k", "", "Range: bytes=2-1")
}

func TestConditionalPut(t *testing.T) {
	c := start(t, Options{})
	c.want(404, "NoSuchKey", "PUT", "/b/k", "x", "If-Match: x")
	c.want(200, "", "PUT", "/b/k", "first", "If-None-Match: *")
	c.want(412, "PreconditionFailed", "PUT", "/b/k", "second", "If-None-Match: *")
	c.want(412, "PreconditionFailed", "PUT", "/b/k", "second", "If-Match: x")
	c.want(501, "NotImplemented", "PUT", "/b/k", "second", "If-None-Match: x")
	c.holds("k", "first")
	c.want(200, "", "PUT", "/b/k", "second", "If-Match: "+quote(etagOf([]byte("first"))))
	c.want(412, "PreconditionFailed", "DELETE", "/b/k", "", "If-Match: x")
	c.want(204, "", "DELETE", "/b/k", "", "If-Match: "+quote(etagOf([]byte("second"))))
	c.want(204, "", "DELETE", "/b/k", "")
}

func TestVersions(t *testing.T) {
	c := start(t, Options{})
	c.want(200, "", "PUT", "/b/k", "0")
	c.want(400, "MalformedXML", "PUT", "/b?versioning", "<VersioningConfiguration><Status>on</Status></VersioningConfiguration>")
	c.want(200, "", "PUT", "/b?versioning", "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
	if got := c.want(200, "", "GET", "/b?versioning", ""); got.text("Status") != "Enabled" {
		t.Error(got.body)
	}
	first := c.want(200, "", "PUT", "/b/k", "1").header.Get("X-Amz-Version-Id")
	up, doc := c.upload("k", "2")
	second := c.want(200, "", "POST", up, doc).header.Get("X-Amz-Version-Id")
	marker := c.want(204, "", "DELETE", "/b/k", "")
	if marker.header.Get("X-Amz-Delete-Marker") != "true" {
		t.Error(marker.header)
	}
	if got := c.want(404, "", "HEAD", "/b/k", ""); got.header.Get("X-Amz-Delete-Marker") != "true" {
		t.Error(got.header)
	}
	for version, want := range map[string]string{"null": "0", first: "1", second: "2"} {
		if got := c.want(200, "", "GET", "/b/k?versionId="+version, ""); got.body != want || got.header.Get("X-Amz-Version-Id") != version {
			t.Errorf("%s: %q %v", version, got.body, got.header)
		}
	}
	c.want(404, "NoSuchVersion", "GET", "/b/k?versionId=none", "")
	c.want(405, "MethodNotAllowed", "GET", "/b/k?versionId="+marker.header.Get("X-Amz-Version-Id"), "")
	c.want(204, "", "DELETE", "/b/k?versionId="+marker.header.Get("X-Amz-Version-Id"), "")
	c.holds("k", "2")
}

func TestDeleteObjects(t *testing.T) {
	c := start(t, Options{})
	c.s.PutObject("b", "a", []byte("x"), nil)
	body := "<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>"
	c.want(400, "InvalidRequest", "POST", "/b?delete", body)
	got := c.want(200, "", "POST", "/b?delete", body, "X-Amz-Checksum-Sha1: "+algorithmOf("SHA1").sum([]byte(body)))
	if strings.Count(got.body, "<Deleted>") != 2 || c.s.Keys("b") != nil {
		t.Error(got.body, c.s.Keys("b"))
	}
}

func TestListObjects(t *testing.T) {
	c := start(t, Options{})
	for _, key := range []string{"a", "d/1", "d/2", "d/e/3", "ü +&", "z"} {
		c.s.PutObject("b", key, []byte(key), nil)
	}
	c.create("d/open")
	for query, want := range map[string]string{
		"":                                 "a|d/1|d/2|d/e/3|z|ü +&",
		"&delimiter=/":                     "a|d/|z|ü +&",
		"&prefix=d/&delimiter=/":           "d/1|d/2|d/e/",
		"&prefix=d/":                       "d/1|d/2|d/e/3",
		"&start-after=d/1":                 "d/2|d/e/3|z|ü +&",
		"&encoding-type=url&prefix=%C3%BC": "%C3%BC%20%2B%26",
		"&prefix=none":                     "",
	} {
		for _, size := range []int{1, 2, 1000} {
			if got := strings.Join(c.list(query, size), "|"); got != want {
				t.Errorf("%q by %d: %s, not %s", query, size, got, want)
			}
		}
	}
	c.want(400, "InvalidArgument", "GET", "/b?list-type=2&continuation-token=!", "")
}

// list lists by pages.
func (c *client) list(query string, size int) (names []string) {
	c.Helper()
	at := fmt.Sprintf("/b?list-type=2&max-keys=%d%s", size, query)
	for token := ""; ; {
		page := c.want(200, "", "GET", at+token, "")
		var keys, groups []string
		for _, part := range strings.Split(page.body, "<Key>")[1:] {
			keys = append(keys, reply{body: "<Key>" + part}.text("Key"))
		}
		for _, part := range strings.Split(page.body, "<CommonPrefixes>")[1:] {
			groups = append(groups, reply{body: part}.text("Prefix"))
		}
		names = append(names, mergeSorted(keys, groups)...)
		if page.text("IsTruncated") != "true" {
			return names
		}
		token = "&continuation-token=" + url.QueryEscape(page.text("NextContinuationToken"))
	}
}

func mergeSorted(a, b []string) (all []string) {
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

func TestLifecycle(t *testing.T) {
	c := start(t, Options{})
	c.want(404, "NoSuchLifecycleConfiguration", "GET", "/b?lifecycle", "")
	c.s.SetLifecycle("b", LifecycleRule{ID: "off", Disabled: true, AbortIncompleteAfter: 1}, LifecycleRule{ID: "on", Prefix: "p/", AbortIncompleteAfter: 2, ExpireAfter: 9})
	got := c.want(200, "", "GET", "/b?lifecycle", "")
	if got.text("Status") != "Disabled" || got.text("DaysAfterInitiation") != "1" || got.text("Days") != "9" || strings.Count(got.body, "<Rule>") != 2 {
		t.Error(got.body)
	}
	header := c.want(200, "", "POST", "/b/p/k?uploads", "").header
	if header.Get("X-Amz-Abort-Date") != "Fri, 09 May 2031 00:00:00 GMT" || header.Get("X-Amz-Abort-Rule-Id") != "on" {
		t.Error(header)
	}
	if header := c.want(200, "", "POST", "/b/q?uploads", "").header; header.Get("X-Amz-Abort-Date") != "" {
		t.Error(header)
	}
}
