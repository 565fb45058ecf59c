package webhdfstest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

const prefix = "/webhdfs/v1"

// call is a request that is being answered.
type call struct {
	r      *http.Request
	node   *NameNode
	number int // in the log
	verb   Verb
	path   string     // of the file
	query  url.Values // with the names in lower case, as a NameNode reads them
	body   *bytes.Buffer
	given  parameters
	httpFS bool
}

// arrive takes a request in, before its body is read.
func (n *NameNode) arrive(r *http.Request) *call {
	ns := n.ns
	ns.mu.Lock()
	defer ns.mu.Unlock()
	c := &call{r: r, node: n, number: len(ns.log), query: url.Values{}}
	for name, values := range r.URL.Query() {
		c.query[strings.ToLower(name)] = values
	}
	if file, ok := strings.CutPrefix(r.URL.Path, prefix); ok && (file == "" || file[0] == '/') {
		c.path = "/" + strings.Trim(file, "/")
		c.verb = verbOf(r.Method, c.query.Get("op"))
	}
	ns.step(c)
	ns.record(c)
	ns.landDue()
	return c
}

// step finds out whether the request is the second step of its operation.
func (ns *Namespace) step(c *call) {
	data := c.verb.data()
	if c.httpFS = c.verb != "" && ns.fires(HttpFS, c) != nil; !c.httpFS {
		if data != "" && c.query.Get("datanode") == "true" {
			c.verb = data
		}
		return
	}
	direct := c.verb != Create && c.query.Get("noredirect") != "true"
	if data != "" && (direct || c.query.Get("data") == "true") {
		c.verb = data
	}
}

// readAll reads the body, once.
func (c *call) readAll() error {
	if c.body != nil {
		return nil
	}
	c.body = &bytes.Buffer{}
	_, err := c.body.ReadFrom(c.r.Body)
	return err
}

// reader gives the body, from memory if it is there.
func (c *call) reader() io.Reader {
	if c.body != nil {
		return c.body
	}
	return c.r.Body
}

// user is who asks.
func (c *call) user() string {
	if user := c.query.Get("user.name"); user != "" {
		return user
	}
	return c.node.ns.o.User
}

// is says whether a parameter is true.
func (c *call) is(name string) bool { return strings.EqualFold(c.query.Get(name), "true") }

// answer is what goes back.
type answer struct {
	status int
	header http.Header
	body   []byte
	drop   bool    // nothing goes back: the connection is closed
	upload *upload // the body is still to be read
}

func (a answer) write(w http.ResponseWriter, c *call) {
	if a.drop {
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/octet-stream")
	}
	if c.verb.atDataNode() && !c.httpFS {
		h.Set("Connection", "close")
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	// A client that has left notices nothing of this, and no more does the namespace.
	_, _ = w.Write(a.body)
}

// answerJSON is an answer with a document.
func answerJSON(status int, document any) answer {
	body, err := json.Marshal(document)
	if err != nil {
		// Every document here is of fixed types that JSON can hold.
		panic(err)
	}
	return answer{status: status, body: body, header: http.Header{"Content-Type": {"application/json"}}}
}

func answerBool(b bool) answer { return answerJSON(http.StatusOK, map[string]bool{"boolean": b}) }

// canonical says whether the path is written as a path must be at which something is created.
func (c *call) canonical() bool {
	return path.Clean(c.path) == c.path && !strings.Contains(c.path, ":")
}
