package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Report B98: no secret reaches a log, a result, a journal, a manifest or an object, whatever is in it and whatever happens.

const (
	sessionToken  = "T0ken/with+signs=&<more>"
	customerKey   = "0123456789&bcdef<123456789abc:ef" // 32 bytes
	proxyPassword = "pr0xy!&secret"
)

// secretWorld is a machine whose store is reached with every secret there is.
func secretWorld(t *testing.T) (*s3World, *proxy) {
	w := newS3World(t)
	p := w.behindProxy(proxyPassword)
	w.store.Rotate(s3Access, s3Secret, sessionToken)
	t.Setenv("AWS_SESSION_TOKEN", sessionToken)
	t.Setenv("SSE_KEY", base64.StdEncoding.EncodeToString([]byte(customerKey)))
	w.options["customer_key"] = "env:SSE_KEY"
	t.Setenv("HTTPS_PROXY", "http://user:"+url.QueryEscape(proxyPassword)+"@"+p.url[len("http://"):])
	return w, p
}

// discloses tells which secret a text has, in any way to write it.
func discloses(text string) string {
	for _, secret := range []string{s3Secret, sessionToken, customerKey, base64.StdEncoding.EncodeToString([]byte(customerKey)), proxyPassword,
		base64.StdEncoding.EncodeToString([]byte("user:" + proxyPassword))} {
		quoted, _ := json.Marshal(secret)
		forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`), strings.Trim(fmt.Sprintf("%q", secret), `"`),
			strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(secret)}
		for _, form := range forms {
			if strings.Contains(text, form) {
				return form
			}
		}
	}
	return ""
}

func contains(text, part string) bool { return strings.Contains(text, part) }

// discreet checks that nothing that stays, or that anybody sees, has a secret.
func (w *s3World) discreet(e ended) {
	w.t.Helper()
	texts := map[string]string{"stdout": e.out, "stderr": e.err, "the command line": strings.Join(e.args, " ")}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, key := range w.store.Keys(bucket) {
		o, _ := w.store.Object(bucket, key)
		texts[key] = key + string(o.Data) + fmt.Sprint(o.Header, o.Metadata, o.Tags)
	}
	for i, r := range w.store.Requests() {
		r.Header.Del("X-Amz-Server-Side-Encryption-Customer-Key")
		r.Header.Del("X-Amz-Security-Token")
		texts[fmt.Sprint("request ", i)] = fmt.Sprint(r.Method, r.Host, r.Key, r.Query, r.Header)
	}
	for where, text := range texts {
		if form := discloses(text); form != "" {
			w.t.Errorf("%s has %q: %.2000s", where, form, text)
		}
	}
}

// echo is a server between that answers with all that it got.
func echo(status int, document bool) func(w *s3World) {
	return func(w *s3World) {
		handle := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			text := fmt.Sprint(r.Header)
			if document {
				text = "<Error><Code>Debug</Code><Message>" + strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(text) + "</Message></Error>"
			}
			http.Error(rw, text, status)
		})
		w.handle.Store(&handle)
	}
}

func TestB98SecretsAreNotTold(t *testing.T) {
	on := func(sw s3test.Switch, on s3test.On) func(w *s3World) { return func(w *s3World) { w.set(sw, on) } }
	complete := s3test.CompleteMultipartUpload
	for _, c := range []struct {
		name  string
		code  int
		fault func(w *s3World)
	}{
		{"success", 0, func(*s3World) {}},
		{"denied", 1, on(s3test.Deny, s3test.On{})},
		{"denied in the end", 3, on(s3test.Deny, s3test.On{Verb: complete})},
		{"dropped", 1, on(s3test.DropRequest, s3test.On{})},
		{"dropped in the end", 3, on(s3test.DropRequest, s3test.On{Verb: complete})},
		{"error in 200", 3, on(s3test.ErrorIn200, s3test.On{})},
		{"cut", 1, on(s3test.CutReply, s3test.On{})},
		{"expired", 1, on(s3test.ExpiredToken, s3test.On{})},
		{"skewed", 1, on(s3test.ClockSkew, s3test.On{})},
		{"another key", 1, func(w *s3World) { w.store.Rotate("OTHER", "x", sessionToken) }},
		{"another secret", 1, func(w *s3World) { w.store.Rotate(s3Access, "x", sessionToken+"2") }},
		{"echo of a document", 1, echo(http.StatusForbidden, true)},
		{"echo of text", 1, echo(http.StatusBadGateway, false)},
		{"not trusted", 1, func(w *s3World) { delete(w.options, "ca") }},
		{"proxy refuses", 1, func(*s3World) {}}, // below
		{"proxy is not there", 1, func(w *s3World) {
			w.t.Setenv("HTTPS_PROXY", "http://user:"+url.QueryEscape(proxyPassword)+"@127.0.0.1:1")
		}},
		{"proxy is no address", 1, func(w *s3World) { w.t.Setenv("HTTPS_PROXY", "http://user:"+proxyPassword+"%zz@127.0.0.1:1") }},
		{"key is too short", 1, func(w *s3World) { w.t.Setenv("SSE_KEY", customerKey[:31]) }},
	} {
		for _, format := range []string{"text", "json"} {
			t.Run(c.name+" "+format, func(t *testing.T) {
				w, p := secretWorld(t)
				c.fault(w)
				if c.name == "proxy refuses" {
					w.t.Setenv("HTTPS_PROXY", "http://user:wrong@"+p.url[len("http://"):])
				}
				e := w.end(w.start("run", w.job(), "--log-format", format, "--json"))
				if e.code != c.code {
					t.Errorf("exit %d and not %d: %s", e.code, c.code, e.err)
				}
				w.discreet(e)
				w.discreet(w.end(w.start("status", "--json")))
				for _, dir := range w.runs() {
					w.discreet(w.end(w.start("journal", "show", filepath.Base(dir))))
				}
			})
		}
	}
}

// A key of the user's own would be read by all on its way without TLS.
func TestB98CustomerKeyNeedsTLS(t *testing.T) {
	w := newS3World(t)
	t.Setenv("SSE_KEY", customerKey)
	w.options["customer_key"] = "env:SSE_KEY"
	w.discreet(w.run().exits(1, "").says("https"))
	w.options["customer_key"] = customerKey
	if e := w.run().exits(64, ""); strings.Contains(e.err, customerKey) {
		t.Errorf("the key is told: %s", e.err)
	}
	if n := len(w.store.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}
