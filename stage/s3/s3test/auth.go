package s3test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

type credentials struct{ access, secret, token string }

// Rotate sets other credentials. Requests that use the ones before are answered with ExpiredToken, which counts as the
// switch of that name.
func (s *Server) Rotate(access, secret, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired = append(s.expired, s.valid)
	s.valid = credentials{access, secret, token}
}

// authorize compares who asks with who may. The lock is held.
func (s *Server) authorize(c *call) error {
	if want := c.header.Get("X-Amz-Expected-Bucket-Owner"); s.owner != "" && want != "" && want != s.owner {
		return fail(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	if s.valid.secret == "" {
		return nil
	}
	const scheme = "AWS4-HMAC-SHA256 "
	fields, ok := strings.CutPrefix(c.header.Get("Authorization"), scheme)
	if !ok {
		return fail(http.StatusForbidden, "AccessDenied", "Access Denied")
	}
	given := map[string]string{}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		given[name] = value
	}
	access, scope, _ := strings.Cut(given["Credential"], "/")
	token := c.header.Get("X-Amz-Security-Token")
	for _, old := range s.expired {
		if old.access == access && old.token == token {
			s.count(ExpiredToken)
			return fail(http.StatusBadRequest, "ExpiredToken", "The provided token has expired.")
		}
	}
	switch {
	case access != s.valid.access && s.fires(UnknownKeyIs404, c) != nil:
		return fail(http.StatusNotFound, "XAdminUserNotFound", "No such user.")
	case access != s.valid.access:
		return fail(http.StatusForbidden, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
	case token != s.valid.token:
		return fail(http.StatusBadRequest, "InvalidToken", "The provided token is malformed or otherwise invalid.")
	}
	if scoped := strings.Split(scope, "/"); s.strictRegion && (len(scoped) < 2 || scoped[1] != s.region) {
		return &apiError{status: http.StatusBadRequest, code: "AuthorizationHeaderMalformed", header: http.Header{"X-Amz-Bucket-Region": {s.region}},
			message: "The authorization header is malformed; the region is wrong; expecting '" + s.region + "'"}
	}
	want := c.signature(s.valid.secret, scope, given["SignedHeaders"])
	if !hmac.Equal([]byte(want), []byte(given["Signature"])) {
		return fail(http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. Check your key and signing method.")
	}
	return nil
}

// signature is what the request would be signed with by the owner of the secret, in signature version 4:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
func (c *call) signature(secret, scope, signed string) string {
	request := strings.Join([]string{c.r.Method, escape(c.r.URL.Path, true), c.canonicalQuery(), c.canonicalHeaders(signed), signed,
		c.header.Get("X-Amz-Content-Sha256")}, "\n")
	digest := sha256.Sum256([]byte(request))
	text := fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", c.header.Get("X-Amz-Date"), scope, digest)
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, text))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func (c *call) canonicalQuery() string {
	var pairs []string
	for name, values := range c.query {
		for _, value := range values {
			pairs = append(pairs, escape(name, false)+"="+escape(value, false))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

func (c *call) canonicalHeaders(signed string) string {
	var text strings.Builder
	for name := range strings.SplitSeq(signed, ";") {
		value := strings.Join(c.r.Header.Values(name), ",")
		switch name {
		case "host":
			value = c.r.Host
		case "content-length":
			value = fmt.Sprint(c.r.ContentLength)
		}
		fmt.Fprintf(&text, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	return text.String()
}

// escape writes all but A-Z, a-z, 0-9 and "-._~" as %XX, and "/" too unless it is to stay.
func escape(text string, slash bool) string {
	text = strings.NewReplacer("+", "%20", "%7E", "~", "*", "%2A").Replace(url.QueryEscape(text))
	if slash {
		text = strings.ReplaceAll(text, "%2F", "/")
	}
	return text
}
