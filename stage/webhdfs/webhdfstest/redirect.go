package webhdfstest

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// locateCreate is the first step of CREATE: it says where, and looks at nothing.
func (ns *Namespace) locateCreate(c *call) (answer, error) {
	if !c.canonical() {
		return answer{}, fail("InvalidPathException", "Invalid path name %s", c.path)
	}
	return ns.locate(c)
}

// locateRead is the first step of OPEN and GETFILECHECKSUM.
func (ns *Namespace) locateRead(c *call) (answer, error) {
	n := ns.find(c.path)
	switch {
	case n == nil || n.isDir() && c.verb == Open:
		return answer{}, fail("FileNotFoundException", "File %s not found.", c.path)
	case c.verb == Open && outOfRange(n, c):
		return answer{}, fail("IOException", "Offset=%d out of the range [0, %d); OPEN, path=%s", c.given.offset, len(n.data), c.path)
	}
	return ns.locate(c)
}

func outOfRange(n *node, c *call) bool {
	return c.given.offset >= int64(len(n.data)) && c.given.offset > 0
}

// locate sends the client to a DataNode.
func (ns *Namespace) locate(c *call) (answer, error) {
	if on := ns.fires(NoDataNode, c); on != nil {
		return answer{}, on.fail("IOException", "Failed to find datanode, suggest to check cluster health. excludeDatanodes=null")
	}
	to := url.URL{Scheme: "http", Host: c.r.Host, Path: path.Join(prefix, c.path), RawQuery: c.dataQuery()}
	if c.r.TLS != nil {
		to.Scheme = "https"
	}
	switch {
	case ns.fires(RedirectNowhere, c) != nil:
		to.Host = "dn1.invalid:9864"
	case ns.fires(RedirectRefused, c) != nil:
		to.Host = "127.0.0.1:1"
	}
	if c.is("noredirect") {
		return answerJSON(http.StatusOK, map[string]string{"Location": to.String()}), nil
	}
	return answer{status: http.StatusTemporaryRedirect, header: http.Header{"Location": {to.String()}}}, nil
}

// dataQuery is the query of the second step. As a NameNode does, it escapes the commas of createflag twice.
func (c *call) dataQuery() string {
	query := url.Values{}
	for name, values := range c.query {
		query[name] = values
	}
	query.Del("noredirect")
	if flags := c.unescaped("createflag"); flags != "" {
		query.Set("createflag", strings.ReplaceAll(flags, ",", "%2C"))
	}
	switch {
	case !c.httpFS:
		query.Set("datanode", "true")
		query.Set("namenoderpcaddress", c.r.Host)
	case c.verb == Create:
		query.Set("data", "true")
	}
	return query.Encode()
}
