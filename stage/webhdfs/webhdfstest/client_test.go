package webhdfstest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// client asks a namespace over HTTP, as a program without any library would.
type client struct {
	*testing.T
	ns  *Namespace
	nn  *NameNode
	url string
	do  func(*http.Request) (*http.Response, error)
}

// start makes a namespace and a client of it. Every connection serves one request, so that the client does not repeat by
// itself what got no reply.
func start(t *testing.T, o Options) *client {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC) }
	}
	ns := New(o)
	c := &client{T: t, ns: ns}
	c.serve()
	return c
}

// serve gives the client another NameNode.
func (c *client) serve() {
	c.nn = c.ns.NameNode()
	server := httptest.NewServer(c.nn)
	c.Cleanup(server.Close)
	c.Cleanup(c.ns.Close)
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.url, c.do = server.URL, (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: follow}).Do
}

// reply is an answer with its body read. A connection that broke is the status 0.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

func (c *client) ask(method, url string, body io.Reader, headers ...string) reply {
	if strings.HasPrefix(url, "/") {
		url = c.url + prefix + url
	}
	r, err := http.NewRequestWithContext(c.Context(), method, url, body)
	if err != nil {
		return reply{err: err}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	got, err := c.do(r)
	if err != nil {
		return reply{err: err}
	}
	defer got.Body.Close()
	var text bytes.Buffer
	_, err = io.Copy(&text, got.Body)
	return reply{got.StatusCode, got.Header, text.String(), err}
}

// want asks, and compares the status and what the body contains.
func (c *client) want(status int, part, method, url string, headers ...string) reply {
	c.Helper()
	return c.check(c.ask(method, url, nil, headers...), status, part)
}

func (c *client) check(got reply, status int, part string) reply {
	c.Helper()
	if got.status != status || !strings.Contains(got.body, part) {
		c.Errorf("%d %s %v; want %d with %q", got.status, got.body, got.err, status, part)
	}
	return got
}

// place asks for the address of the second step.
func (c *client) place(method, url string) string {
	c.Helper()
	got := c.want(200, "Location", method, url+"&noredirect=true")
	var x struct{ Location string }
	if err := json.Unmarshal([]byte(got.body), &x); err != nil {
		c.Error(err)
	}
	return x.Location
}

// create uploads a file in both steps.
func (c *client) create(status int, part, path, query, body string) reply {
	c.Helper()
	return c.check(c.ask("PUT", c.place("PUT", path+"?op=CREATE"+query), strings.NewReader(body)), status, part)
}

// read reads in both steps.
func (c *client) read(status int, part, url string) reply {
	c.Helper()
	got := c.want(307, "", "GET", url)
	return c.want(status, part, "GET", got.header.Get("Location"))
}

// holds compares a file; "-" is none.
func (c *client) holds(path, want string) {
	c.Helper()
	got := "-"
	if data, ok := c.ns.Files()[path]; ok {
		got = string(data)
	}
	if got != want {
		c.Errorf("%s: %q, want %q", path, got, want)
	}
}

func (c *client) broken(got reply) {
	c.Helper()
	if got.err == nil {
		c.Errorf("%d %s", got.status, got.body)
	}
}
