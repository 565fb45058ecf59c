package s3test

import "testing"

// Three of the examples that AWS gives for signatures in headers:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
const (
	exampleAccess = "AKIAIOSFODNN7EXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	exampleScope  = exampleAccess + "/20130524/us-east-1/s3/aws4_request"
	emptyDigest   = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// example asks as one of the examples does.
func (c *client) example(status int, code, method, path, body, digest, signed, signature string, headers ...string) {
	c.Helper()
	c.want(status, code, method, path, body, append(headers, "Host: examplebucket.s3.amazonaws.com", "X-Amz-Date: 20130524T000000Z",
		"X-Amz-Content-Sha256: "+digest, "Authorization: AWS4-HMAC-SHA256 Credential="+exampleScope+",SignedHeaders="+signed+",Signature="+signature)...)
}

func TestSignaturesOfTheExamples(t *testing.T) {
	c := start(t, Options{Buckets: []string{"examplebucket"}, AccessKey: exampleAccess, SecretKey: exampleSecret, Region: "us-east-1"})
	const text = "Welcome to Amazon S3."
	c.s.PutObject("examplebucket", "test.txt", []byte(text), nil)
	c.example(206, "", "GET", "/test.txt", "", emptyDigest, "host;range;x-amz-content-sha256;x-amz-date",
		"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", "Range: bytes=0-9")
	c.example(200, "", "PUT", "/test$file.text", text, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
		"date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		"Date: Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class: REDUCED_REDUNDANCY")
	c.example(404, "NoSuchLifecycleConfiguration", "GET", "/?lifecycle", "", emptyDigest, "host;x-amz-content-sha256;x-amz-date",
		"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
	// The fourth is of the list that this store does not know. With one query more it is signed no longer.
	c.example(403, "SignatureDoesNotMatch", "GET", "/?list-type=2&max-keys=2&prefix=J", "", emptyDigest, "host;x-amz-content-sha256;x-amz-date",
		"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
}

func TestWhoMayAsk(t *testing.T) {
	c := start(t, Options{AccessKey: exampleAccess, SecretKey: exampleSecret, SessionToken: "T"})
	signed := func(access string) string {
		return "Authorization: AWS4-HMAC-SHA256 Credential=" + access + "/20130524/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00"
	}
	c.want(403, "AccessDenied", "GET", "/b?list-type=2", "")
	c.want(403, "InvalidAccessKeyId", "GET", "/b?list-type=2", "", signed("other"))
	c.want(400, "InvalidToken", "GET", "/b?list-type=2", "", signed(exampleAccess))
	c.want(403, "SignatureDoesNotMatch", "GET", "/b?list-type=2", "", signed(exampleAccess), "X-Amz-Security-Token: T")
	c.s.Rotate("new", "secret", "")
	c.want(400, "ExpiredToken", "GET", "/b?list-type=2", "", signed(exampleAccess), "X-Amz-Security-Token: T")
	c.fired(ExpiredToken, 1)
	c.want(403, "SignatureDoesNotMatch", "GET", "/b?list-type=2", "", signed("new"))
}

func TestRegionOfTheSignature(t *testing.T) {
	c := start(t, Options{Buckets: []string{"examplebucket"}, AccessKey: exampleAccess, SecretKey: exampleSecret, Region: "eu-west-1"})
	c.example(400, "AuthorizationHeaderMalformed", "GET", "/?lifecycle", "", emptyDigest, "host;x-amz-content-sha256;x-amz-date",
		"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
}

func TestExpectedOwner(t *testing.T) {
	c := start(t, Options{Owner: "123"})
	c.want(403, "AccessDenied", "PUT", "/b/k", "x", "X-Amz-Expected-Bucket-Owner: 456")
	c.want(200, "", "PUT", "/b/k", "x", "X-Amz-Expected-Bucket-Owner: 123")
}

func TestRequestLog(t *testing.T) {
	c := start(t, Options{})
	c.want(404, "NoSuchKey", "GET", "/b/a/k?versionId=", "", "Authorization: secret", "X-Amz-Request-Payer: requester")
	c.want(200, "", "PUT", "/b/a/k", "four")
	got := c.s.Requests()
	if len(got) != 2 || c.s.Count(GetObject) != 1 {
		t.Fatalf("%+v", got)
	}
	r := got[0]
	if r.Method != "GET" || r.Verb != GetObject || r.Bucket != "b" || r.Key != "a/k" || !r.Query.Has("versionId") || r.Status != 404 || r.TLS || r.Virtual ||
		r.Header.Get("Authorization") != "" || r.Header.Get("X-Amz-Request-Payer") != "requester" {
		t.Errorf("%+v", r)
	}
	if put := got[1]; put.Length != 4 || put.Status != 200 {
		t.Errorf("%+v", put)
	}
}
