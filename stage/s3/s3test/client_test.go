package s3test

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// client asks a store over HTTP, as a program without any library would.
type client struct {
	*testing.T
	s   *Server
	url string
	do  func(*http.Request) (*http.Response, error)
}

// start makes a store with a bucket b and a client of it. Every connection serves one request, so that the client does
// not repeat by itself what got no reply.
func start(t *testing.T, o Options) *client {
	t.Helper()
	if o.Buckets == nil {
		o.Buckets = []string{"b"}
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC) }
	}
	s := New(o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(s.Close)
	transport := &http.Transport{DisableKeepAlives: true}
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{T: t, s: s, url: server.URL, do: (&http.Client{Transport: transport, CheckRedirect: follow}).Do}
}

// reply is an answer with its body read. A connection that broke is the status 0, or an err in the body.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

// code is that of the error document, whatever the status.
func (r reply) code() string {
	var x struct {
		XMLName xml.Name
		Code    string
	}
	if xml.Unmarshal([]byte(r.body), &x) != nil || x.XMLName.Local != "Error" {
		return ""
	}
	return x.Code
}

// text gives what is inside the first element of a name.
func (r reply) text(element string) string {
	_, rest, _ := strings.Cut(r.body, "<"+element+">")
	inside, _, _ := strings.Cut(rest, "</"+element+">")
	return strings.NewReplacer("&#34;", `"`, "&amp;", "&").Replace(inside)
}

// ask sends a request. Headers are "Name: value".
func (c *client) ask(method, path, body string, headers ...string) reply {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	setHeaders(r, headers)
	return c.send(r)
}

func setHeaders(r *http.Request, headers []string) {
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
}

func (c *client) send(r *http.Request) reply {
	got, err := c.do(r)
	if err != nil {
		return reply{err: err}
	}
	defer got.Body.Close()
	var body bytes.Buffer
	_, err = io.Copy(&body, got.Body)
	return reply{got.StatusCode, got.Header, body.String(), err}
}

// want asks, and compares the status, and the error's code if there is to be one.
func (c *client) want(status int, code, method, path, body string, headers ...string) reply {
	c.Helper()
	got := c.ask(method, path, body, headers...)
	if got.status != status || got.code() != code && method != http.MethodHead {
		c.Fatalf("%s %s: %d %s %v, not %d %s\n%s", method, path, got.status, got.code(), got.err, status, code, got.body)
	}
	return got
}

// create opens an upload, and gives the path of all that is about it.
func (c *client) create(key string, headers ...string) string {
	c.Helper()
	return "/b/" + key + "?uploadId=" + c.want(200, "", "POST", "/b/"+key+"?uploads", "", headers...).text("UploadId")
}

// part uploads a part, and gives it as a Complete names it.
func (c *client) part(upload, number, data string, headers ...string) string {
	c.Helper()
	got := c.want(200, "", "PUT", upload+"&partNumber="+number, data, headers...)
	named := "<Part><PartNumber>" + number + "</PartNumber><ETag>" + got.header.Get("Etag") + "</ETag>"
	for _, a := range algorithms {
		if sum := got.header.Get(a.header()); sum != "" {
			named += "<Checksum" + a.name + ">" + sum + "</Checksum" + a.name + ">"
		}
	}
	return named + "</Part>"
}

func document(parts ...string) string {
	return "<CompleteMultipartUpload>" + strings.Join(parts, "") + "</CompleteMultipartUpload>"
}

// upload puts one small part up, and gives the path of the upload and the document that completes it.
func (c *client) upload(key, data string, headers ...string) (upload, complete string) {
	c.Helper()
	upload = c.create(key, headers...)
	return upload, document(c.part(upload, "1", data))
}

// holds compares what is at a key, past all switches; "" is nothing.
func (c *client) holds(key, want string) {
	c.Helper()
	o, ok := c.s.Object("b", key)
	if ok != (want != "") || string(o.Data) != want {
		c.Fatalf("at %s is %.100q (%v), not %.100q", key, o.Data, ok, want)
	}
}

// fired compares how often a switch has fired.
func (c *client) fired(sw Switch, want int) {
	c.Helper()
	if got := c.s.Fired(sw); got != want {
		c.Fatalf("%s fired %d times, not %d", sw, got, want)
	}
}
