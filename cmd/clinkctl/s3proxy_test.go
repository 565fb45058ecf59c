package main

import (
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// proxy is a proxy that lets through who has its password, and connects everybody to one store.
type proxy struct {
	url      string
	password string // of the user "user"; "" where none is asked for
	store    string // host and port
	through  atomic.Int64
}

// newProxy starts a proxy before the world's store.
func (w *s3World) newProxy(password string) *proxy {
	w.t.Helper()
	p := &proxy{password: password, store: w.server.Listener.Addr().String()}
	server := httptest.NewServer(p)
	w.t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+p.password))
	if p.password != "" && r.Header.Get("Proxy-Authorization") != want {
		http.Error(w, "who are you, "+r.Header.Get("Proxy-Authorization")+"?", http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		http.Error(w, "CONNECT only", http.StatusBadRequest)
		return
	}
	store, err := net.Dial("tcp", p.store)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	p.through.Add(1)
	var wait sync.WaitGroup
	defer wait.Wait()
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n") // a client that has left notices nothing
	carry := func(to io.WriteCloser, from io.Reader) {
		_, _ = io.Copy(to, from) // either side may leave at any time
		_ = to.Close()
	}
	wait.Go(func() { carry(store, buffered) })
	wait.Go(func() { carry(client, store) })
}

// behindProxy makes the store one that only a proxy reaches, under the name that its certificate is for.
func (w *s3World) behindProxy(password string) *proxy {
	w.t.Helper()
	w.options["ca"] = w.overTLS()
	w.options["endpoint"] = "https://example.com"
	return w.newProxy(password)
}

// The option proxy, or what the environment names: every request goes through it, and TLS ends at the store.
func TestProxyOfOption(t *testing.T) {
	w := newS3World(t)
	p := w.behindProxy("")
	w.options["proxy"] = p.url
	w.run().exits(0, "")
	w.exactlyOnce()
	if p.through.Load() == 0 {
		t.Error("nothing went through the proxy")
	}
	w.options["proxy"] = "http://user:password@127.0.0.1:1"
	if e := w.run("--key", "k").exits(64, "").says("HTTPS_PROXY"); contains(e.out+e.err, "user:password") {
		t.Errorf("the password is told: %s", e.err)
	}
}

func TestProxyOfEnvironment(t *testing.T) {
	w := newS3World(t)
	p := w.behindProxy("pr0xy!secret")
	t.Setenv("HTTPS_PROXY", "http://user:pr0xy%21secret@"+p.url[len("http://"):])
	w.end(w.start("run", w.job())).exits(0, "")
	w.exactlyOnce()
	if p.through.Load() == 0 || w.store.Count(s3test.UploadPart) == 0 {
		t.Error("nothing went through the proxy")
	}
}

// A proxy whose address cannot be read is not gone past, and its password is not told.
func TestProxyThatCannotBeRead(t *testing.T) {
	for _, address := range []string{"http://user:p@ss:w/ord!&#% $x@proxy:3128", "http://user:hush%zz@proxy:3128", "http://user:hush@", "ftp://user:hush@proxy", "user:hush%zz@proxy:3128"} {
		for _, name := range []string{"HTTPS_PROXY", "http_proxy"} {
			w := newS3World(t)
			t.Setenv(name, address)
			e := w.run().exits(1, "").says("the variable " + name)
			if contains(e.err, "hush") || contains(e.err, "ord!") {
				t.Errorf("the password is told: %s", e.err)
			}
			t.Setenv(name, "")
			if n := len(w.store.Requests()); n != 0 {
				t.Errorf("%d requests went past the proxy", n)
			}
		}
	}
}
