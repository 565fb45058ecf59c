package s3test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// scenes show what each switch does, to a store in which it has not been set yet.
func scenes() map[Switch]func(*client) {
	all := map[Switch]func(*client){}
	for _, some := range []map[Switch]func(*client){networkScenes, refusalScenes, completeScenes, lateScenes, listScenes, partScenes, checksumScenes, storeScenes} {
		maps.Copy(all, some)
	}
	return all
}

func TestEverySwitch(t *testing.T) {
	all := scenes()
	for _, sw := range declared(t) {
		t.Run(string(sw), func(t *testing.T) {
			show := all[sw]
			if show == nil {
				t.Fatal("no scene shows it")
			}
			c := start(t, Options{})
			show(c)
			if c.s.Fired(sw) == 0 {
				t.Error("it has not fired")
			}
			if unused := c.s.Unused(); len(unused) > 0 {
				t.Errorf("never fired: %v", unused)
			}
		})
	}
}

// declared reads the switches that there are.
func declared(t *testing.T) []Switch {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "switch.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []Switch
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Switch" {
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil || text != v.Names[0].Name {
				t.Errorf("%s is called %q: %v", v.Names[0], text, err)
			}
			found = append(found, Switch(text))
		}
		return true
	})
	if len(found) < 40 {
		t.Fatalf("only %d switches were found", len(found))
	}
	return found
}

var refusalScenes = map[Switch]func(*client){
	SlowDown: func(c *client) {
		c.s.Set(SlowDown, On{Verb: PutObject, Times: 2})
		c.want(503, "SlowDown", "PUT", "/b/k", "x")
		c.want(503, "SlowDown", "PUT", "/b/k", "x")
		c.holds("k", "")
		c.want(200, "", "PUT", "/b/k", "x")
		c.fired(SlowDown, 2)
	},
	Internal: func(c *client) {
		c.s.Set(Internal, On{From: 2, Times: 1})
		c.want(200, "", "PUT", "/b/k", "x")
		c.want(500, "InternalError", "DELETE", "/b/k", "")
		c.holds("k", "x")
		c.want(204, "", "DELETE", "/b/k", "")
	},
	Deny: func(c *client) {
		c.s.PutObject("b", "k", []byte("x"), nil)
		c.s.Set(Deny, On{Verb: GetObject, Key: "k"})
		c.want(403, "AccessDenied", "GET", "/b/k", "")
		c.want(404, "NoSuchKey", "GET", "/b/other", "")
	},
	DenyHead: func(c *client) {
		c.s.PutObject("b", "k", []byte("x"), nil)
		c.s.Set(DenyHead, On{Times: 1})
		c.s.Set(DenyHead, On{Times: 2, Status: http.StatusServiceUnavailable})
		for _, status := range []int{403, 503, 503, 200} {
			c.want(status, "", "HEAD", "/b/k", "")
		}
		c.want(200, "", "GET", "/b/k", "")
	},
	DenyList: func(c *client) {
		c.s.Set(DenyList, On{})
		c.want(403, "AccessDenied", "GET", "/b?list-type=2", "")
		c.want(403, "AccessDenied", "GET", "/b?uploads", "")
		c.want(200, "", "GET", "/", "")
	},
	Unsupported: func(c *client) {
		c.s.Set(Unsupported, On{Verb: GetBucketVersioning})
		c.want(501, "NotImplemented", "GET", "/b?versioning", "")
	},
	ExpiredToken: func(c *client) {
		c.s.Set(ExpiredToken, On{Times: 1})
		c.want(400, "ExpiredToken", "PUT", "/b/k", "x")
		c.want(200, "", "PUT", "/b/k", "x")
	},
	ClockSkew: func(c *client) {
		c.s.Set(ClockSkew, On{})
		c.want(403, "RequestTimeTooSkewed", "PUT", "/b/k", "x")
	},
	Redirect: func(c *client) {
		c.s.Set(Redirect, On{Location: "http://elsewhere.invalid/b/k", Region: "eu-west-1", Times: 1})
		c.s.Set(Redirect, On{Status: http.StatusMovedPermanently, Region: "eu-west-1"})
		got := c.want(307, "TemporaryRedirect", "PUT", "/b/k", "x")
		if got.header.Get("Location") != "http://elsewhere.invalid/b/k" || got.header.Get("X-Amz-Bucket-Region") != "eu-west-1" {
			c.Error(got.header)
		}
		c.want(301, "PermanentRedirect", "PUT", "/b/k", "x")
		c.holds("k", "")
	},
	RequesterPays: func(c *client) {
		c.s.Set(RequesterPays, On{})
		c.want(403, "AccessDenied", "PUT", "/b/k", "x")
		c.want(200, "", "PUT", "/b/k", "x", "X-Amz-Request-Payer: requester")
	},
	MissingIs403: func(c *client) {
		c.s.Set(MissingIs403, On{})
		c.want(403, "", "HEAD", "/b/k", "")
		c.want(403, "AccessDenied", "GET", "/b/k", "")
		c.want(200, "", "PUT", "/b/k", "x")
		c.want(200, "", "HEAD", "/b/k", "")
	},
	PathStyleOnly: func(c *client) {
		c.want(200, "", "PUT", "/k", "x", "Host: b.localhost:1")
		c.want(200, "", "PUT", "/k", "x", "Host: b.s3.eu-west-1.amazonaws.com")
		c.holds("k", "x")
		c.s.Set(PathStyleOnly, On{})
		c.want(404, "NoSuchBucket", "PUT", "/k/l", "x", "Host: b.localhost:1")
		c.want(200, "", "PUT", "/b/k", "x")
	},
	VirtualStyleOnly: func(c *client) {
		c.s.Set(VirtualStyleOnly, On{})
		c.want(403, "SecondLevelDomainForbidden", "PUT", "/b/k", "x")
		c.want(200, "", "PUT", "/b/k", "x", "Host: b.localhost")
		c.holds("b/k", "x")
		if last := c.s.Requests(PutObject)[1]; !last.Virtual || last.Bucket != "b" || last.Key != "b/k" {
			c.Errorf("%+v", last)
		}
		c.want(200, "", "GET", "/", "")
	},
}

var storeScenes = map[Switch]func(*client){
	DropMetadata: func(c *client) {
		c.s.Set(DropMetadata, On{})
		up, doc := c.upload("k", "x", "X-Amz-Meta-Token: T", "Content-Type: text/csv")
		c.want(200, "", "POST", up, doc)
		if got := c.want(200, "", "HEAD", "/b/k", "").header; got.Get("X-Amz-Meta-Token") != "" || got.Get("Content-Type") != "text/csv" {
			c.Error(got)
		}
		c.fired(DropMetadata, 1)
	},
	DropTags: func(c *client) {
		c.s.Set(DropTags, On{})
		c.want(200, "", "PUT", "/b/k", "x", "X-Amz-Tagging: a=b")
		if got := c.want(200, "", "GET", "/b/k?tagging", ""); strings.Contains(got.body, "<Key>") {
			c.Error(got.body)
		}
	},
	CreatesBuckets: func(c *client) {
		c.want(404, "NoSuchBucket", "PUT", "/new/k", "x")
		c.s.Set(CreatesBuckets, On{})
		c.want(404, "NoSuchBucket", "GET", "/new/k", "")
		c.want(200, "", "PUT", "/new/k", "x")
		c.want(200, "", "GET", "/new/k", "")
	},
	UnknownKeyIs404: func(c *client) {
		c.s.Rotate("AK", "SK", "")
		c.s.Set(UnknownKeyIs404, On{})
		c.want(404, "XAdminUserNotFound", "GET", "/", "", "Authorization: AWS4-HMAC-SHA256 Credential=other/20310506/r/s3/aws4_request, SignedHeaders=host, Signature=0")
	},
}
