package s3test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The values are those that RFC 1321 and the catalogues of CRCs give for these nine digits.
func TestChecksumValues(t *testing.T) {
	for name, want := range map[string]string{"CRC32": "cbf43926", "CRC32C": "e3069283", "CRC64NVME": "ae8b14860a799888",
		"SHA1": "f7c3bc1d808e04732adf679965ccc34ca7ae3441", "SHA256": "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"} {
		if got := fmt.Sprintf("%x", algorithmOf(name).digest([]byte("1234"), []byte("56789"))); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
}

func TestPutVerifiesChecksums(t *testing.T) {
	c := start(t, Options{})
	for _, a := range algorithms {
		c.want(400, "BadDigest", "PUT", "/b/bad", "x", a.header()+": "+a.sum([]byte("y")))
		got := c.want(200, "", "PUT", "/b/"+a.name, "x", a.header()+": "+a.sum([]byte("x")))
		if got.header.Get(a.header()) != a.sum([]byte("x")) || got.header.Get("X-Amz-Checksum-Type") != fullObject {
			t.Errorf("%s: %v", a.name, got.header)
		}
	}
	c.want(400, "InvalidDigest", "PUT", "/b/bad", "x", "Content-Md5: AAAA")
	c.want(400, "BadDigest", "PUT", "/b/bad", "x", "Content-Md5: 1B2M2Y8AsgTpgAmY7PhCfg==")
	c.want(400, "InvalidRequest", "PUT", "/b/bad", "x", "X-Amz-Sdk-Checksum-Algorithm: CRC32")
	c.want(400, "InvalidRequest", "PUT", "/b/bad", "x", "X-Amz-Checksum-Crc32: a", "X-Amz-Checksum-Sha1: a")
	c.want(400, "XAmzContentSHA256Mismatch", "PUT", "/b/bad", "x", "X-Amz-Content-Sha256: "+strings.Repeat("0", 64))
	c.holds("bad", "")
}

func TestUploadVerifiesChecksums(t *testing.T) {
	for _, a := range algorithms {
		for _, kind := range a.kinds {
			t.Run(a.name+" "+kind, func(t *testing.T) {
				c := start(t, Options{})
				c.s.Set(MinPart, On{N: 1})
				uploadWithChecksums(c, a, kind)
			})
		}
	}
}

func uploadWithChecksums(c *client, a *algorithm, kind string) {
	c.Helper()
	sum := func(data string) string { return a.header() + ": " + a.sum([]byte(data)) }
	up := c.create("k", "X-Amz-Checksum-Algorithm: "+a.name, "X-Amz-Checksum-Type: "+kind)
	c.want(400, "BadDigest", "PUT", up+"&partNumber=1", "one", sum("two"))
	one, two := c.part(up, "1", "one", sum("one")), c.part(up, "2", "two", sum("two"))
	whole := a.sum([]byte("onetwo"))
	if kind == composite {
		c.want(400, "InvalidRequest", "PUT", up+"&partNumber=3", "x")
		c.want(400, "InvalidRequest", "POST", up, document(strings.Split(one, "<Checksum")[0]+"</Part>", two))
		whole = a.sum(a.digest([]byte("one")), a.digest([]byte("two"))) + "-2"
	}
	list := c.want(200, "", "GET", up, "")
	if list.text("Checksum"+a.name) != a.sum([]byte("one")) || list.text("ChecksumAlgorithm") != a.name || list.text("ChecksumType") != kind {
		c.Error(list.body)
	}
	c.want(400, "InvalidPart", "POST", up, document(one, strings.ReplaceAll(two, a.sum([]byte("two")), a.sum([]byte("one")))))
	c.want(400, "BadDigest", "POST", up, document(one, two), sum("other"))
	done := c.want(200, "", "POST", up, document(one, two), a.header()+": "+whole, "X-Amz-Checksum-Type: "+kind)
	if done.text("Checksum"+a.name) != whole || done.text("ChecksumType") != kind {
		c.Errorf("not %s: %s", whole, done.body)
	}
	head := c.want(200, "", "HEAD", "/b/k", "", "X-Amz-Checksum-Mode: ENABLED")
	if head.header.Get(a.header()) != whole || head.header.Get("X-Amz-Checksum-Type") != kind {
		c.Error(head.header)
	}
}

func TestChunkedBodies(t *testing.T) {
	const sum = "NhCmhg==" // the CRC32 of hello
	for name, form := range map[string]struct{ coding, body string }{
		"unsigned with trailer": {"STREAMING-UNSIGNED-PAYLOAD-TRAILER", "3\r\nhel\r\n2\r\nlo\r\n0\r\nx-amz-checksum-crc32:" + sum + "\r\n\r\n"},
		"signed with trailer": {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "5;chunk-signature=a\r\nhello\r\n0;chunk-signature=b\r\nx-amz-checksum-crc32:" +
			sum + "\r\nx-amz-trailer-signature:c\r\n\r\n"},
		"signed": {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "5;chunk-signature=a\r\nhello\r\n0;chunk-signature=b\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, Options{})
			headers := []string{"Content-Encoding: gzip, aws-chunked", "X-Amz-Content-Sha256: " + form.coding, "X-Amz-Decoded-Content-Length: 5"}
			if strings.Contains(name, "trailer") {
				headers = append(headers, "X-Amz-Trailer: x-amz-checksum-crc32")
				c.want(400, "BadDigest", "PUT", "/b/bad", strings.ReplaceAll(form.body, sum, "AAAAAA=="), headers...)
				c.want(400, "MalformedTrailerError", "PUT", "/b/bad", strings.ReplaceAll(form.body, "checksum", "other"), headers...)
			}
			c.want(400, "IncompleteBody", "PUT", "/b/bad", form.body[:9], headers...)
			c.want(400, "IncompleteBody", "PUT", "/b/bad", form.body, append(headers, "X-Amz-Decoded-Content-Length: 6")...)
			c.want(400, "InvalidRequest", "PUT", "/b/bad", "z"+form.body, headers...)
			c.holds("bad", "")
			c.want(200, "", "PUT", "/b/k", form.body, headers...)
			c.holds("k", "hello")
			if o, _ := c.s.Object("b", "k"); o.Header.Get("Content-Encoding") != "gzip" {
				t.Error(o.Header)
			}
		})
	}
}

var checksumScenes = map[Switch]func(*client){
	RejectChecksums: func(c *client) {
		c.s.Set(RejectChecksums, On{Verb: UploadPart})
		crc := "X-Amz-Checksum-Crc32: " + algorithmOf("CRC32").sum([]byte("x"))
		c.want(200, "", "PUT", "/b/k", "x", crc)
		up := c.create("k")
		c.want(400, "InvalidArgument", "PUT", up+"&partNumber=1", "x", crc)
		c.want(400, "InvalidArgument", "PUT", up+"&partNumber=1", "1\r\nx\r\n0\r\n\r\n", "Content-Encoding: aws-chunked",
			"X-Amz-Content-Sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Decoded-Content-Length: 1")
		c.part(up, "1", "x")
		c.s.Set(RejectChecksums, On{Status: http.StatusNotImplemented, Code: "NotImplemented"})
		c.want(501, "NotImplemented", "PUT", "/b/k", "x", "X-Amz-Sdk-Checksum-Algorithm: CRC32")
	},
	IgnoreChecksums: func(c *client) {
		c.s.Set(IgnoreChecksums, On{})
		c.want(200, "", "PUT", "/b/k", "x", "X-Amz-Checksum-Crc32: wrong")
		if got := c.want(200, "", "HEAD", "/b/k", "", "X-Amz-Checksum-Mode: ENABLED"); got.header.Get("X-Amz-Checksum-Crc32") != "" {
			c.Error(got.header)
		}
		up := c.create("k", "X-Amz-Checksum-Algorithm: SHA256")
		part := c.part(up, "1", "data", "X-Amz-Checksum-Sha256: wrong")
		if got := c.want(200, "", "POST", up, document(part)); strings.Contains(got.body, "Checksum") {
			c.Error(got.body)
		}
	},
	StrictChecksums: func(c *client) {
		crc := "X-Amz-Checksum-Crc32: " + algorithmOf("CRC32").sum([]byte("x"))
		up := c.create("k", "X-Amz-Checksum-Algorithm: CRC32", "X-Amz-Checksum-Type: FULL_OBJECT")
		c.part(up, "1", "x")
		c.s.Set(StrictChecksums, On{})
		c.want(400, "InvalidRequest", "PUT", up+"&partNumber=1", "x")
		part := c.part(up, "1", "x", crc)
		c.want(400, "InvalidRequest", "POST", up, document(strings.Split(part, "<Checksum")[0]+"</Part>"))
		c.want(200, "", "POST", up, document(part))
		c.want(400, "InvalidRequest", "PUT", c.create("k")+"&partNumber=1", "x", crc)
	},
	UnaskedPartSums: func(c *client) {
		c.s.Set(UnaskedPartSums, On{})
		up := c.create("k")
		part := c.part(up, "1", "x", "X-Amz-Checksum-Crc32: "+algorithmOf("CRC32").sum([]byte("x")))
		c.want(400, "InvalidPart", "POST", up, document(part))
		c.want(200, "", "POST", up, document(strings.Split(part, "<Checksum")[0]+"</Part>"))
	},
}
