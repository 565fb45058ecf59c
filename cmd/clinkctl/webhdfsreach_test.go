package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	hdfs "github.com/clinkctl/clinkctl/stage/webhdfs/webhdfstest"
)

// How HDFS is reached: which NameNode, which DataNode, over TLS, and who sees what is secret.

// A DataNode that cannot be reached is said to be one, with the option that says how to reach it.
func TestB41DataNodeOutOfReach(t *testing.T) {
	for _, sw := range []hdfs.Switch{hdfs.RedirectNowhere, hdfs.RedirectRefused} {
		t.Run(string(sw), func(t *testing.T) {
			w := newHDFSWorld(t)
			host := map[hdfs.Switch]string{hdfs.RedirectNowhere: "dn1.invalid:9864", hdfs.RedirectRefused: "127.0.0.1:1"}[sw]
			w.set(sw, hdfs.On{})
			w.run().exits(1, "").says(host, "option host_map")
			w.shows(0, 0)
			w.options["host_map"] = "[" + host + "=" + w.host() + "]"
			w.run().exits(0, "")
			w.exactlyOnce()
			w.unset()
		})
	}
}

func TestB41NameNodeOutOfReach(t *testing.T) {
	w := newHDFSWorld(t)
	w.server.Close()
	if e := w.run().exits(1, ""); strings.Contains(e.err, "host_map") {
		t.Errorf("the NameNode is taken for a DataNode: %s", e.err)
	}
}

// The map of a name keeps its port, and the map of a host and port goes before it.
func TestB41HostMap(t *testing.T) {
	for hosts, want := range map[string]string{
		"dn1.invalid=dn.example":                                   "dn.example:9864",
		"dn1.invalid:9864=dn.example:1":                            "dn.example:1",
		"dn1.invalid:9864=dn.example":                              "dn.example:9864",
		"dn1.invalid:9864=dn.example:2, dn1.invalid=dn.example":    "dn.example:2",
		"dn1.invalid:9865=dn.example:2, dn2.invalid=other.invalid": "dn1.invalid:9864",
	} {
		t.Run(hosts, func(t *testing.T) {
			w := newHDFSWorld(t)
			w.options["host_map"] = "[" + hosts + "]"
			w.set(hdfs.RedirectNowhere, hdfs.On{})
			at, strayed := w.host(), ""
			w.around = func(next http.RoundTripper) http.RoundTripper {
				return closing(roundTrip(func(r *http.Request) (*http.Response, error) {
					if r.URL.Host != at {
						if r.URL.Host != want {
							strayed = r.URL.Host
						}
						r.Host, r.URL.Host = r.URL.Host, at
					}
					return next.RoundTrip(r)
				}))
			}
			w.run().exits(0, "")
			w.exactlyOnce()
			if strayed != "" {
				t.Errorf("a request goes to %s, and not to %s", strayed, want)
			}
		})
	}
}

// pair gives a world a second NameNode, and names both in the option.
func (w *hdfsWorld) pair() *hdfs.NameNode {
	w.t.Helper()
	second := w.ns.NameNode()
	s := w.another(second, false)
	w.options["namenodes"] = "[" + w.host() + ", " + hostOf(s) + "]"
	return second
}

func TestHDFSStandby(t *testing.T) {
	w := newHDFSWorld(t)
	w.pair()
	w.node.SetStandby(true)
	w.run().exits(0, "")
	w.exactlyOnce()
}

func TestHDFSFirstNameNodeIsGone(t *testing.T) {
	w := newHDFSWorld(t)
	w.pair()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	w.options["namenodes"] = strings.Replace(w.options["namenodes"], w.host(), hostOf(gone), 1)
	w.run().exits(0, "")
	w.exactlyOnce()
}

func TestHDFSNoActiveNameNode(t *testing.T) {
	w := newHDFSWorld(t)
	second := w.pair()
	w.decided()
	w.node.SetStandby(true)
	second.SetStandby(true)
	w.resume().exits(3, w.resumes()).says("StandbyException")
	w.shows(0, 2)
	second.SetStandby(false)
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// The active NameNode changes at each request of a run, before it is answered or after it was done and the reply was lost.
func TestHDFSFailover(t *testing.T) {
	clean := newHDFSWorld(t)
	clean.run().exits(0, "")
	n := len(clean.ns.Requests())
	for step, lost := range []bool{false, true} {
		for i := 1 + step; i <= n; i += 5 * every() {
			t.Run(fmt.Sprint("lost ", lost, i), func(t *testing.T) {
				w := newHDFSWorld(t)
				second := w.pair()
				second.SetStandby(true)
				var seen atomic.Int64
				handle := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if seen.Add(1) != int64(i) {
						w.node.ServeHTTP(rw, r)
						return
					}
					if lost {
						w.node.ServeHTTP(httptest.NewRecorder(), r)
					}
					w.node.SetStandby(true)
					second.SetStandby(false)
					if lost {
						panic(http.ErrAbortHandler)
					}
					w.node.ServeHTTP(rw, r)
				})
				w.handle.Store(&handle)
				if e := w.run(); e.code == 1 || e.code == 3 {
					w.run().exits(0, "")
				} else {
					e.exits(0, "")
				}
				w.once()
			})
		}
	}
}

// Another NameNode is active when the run is carried on.
func TestHDFSFailoverBetweenRuns(t *testing.T) {
	for name, stop := range map[string]func(*hdfsWorld){"prepared": (*hdfsWorld).prepared, "decided": (*hdfsWorld).decided, "published": (*hdfsWorld).published} {
		t.Run(name, func(t *testing.T) {
			w := newHDFSWorld(t)
			second := w.pair()
			second.SetStandby(true)
			stop(w)
			w.node.SetStandby(true)
			second.SetStandby(false)
			w.resume().exits(0, "")
			w.exactlyOnce()
		})
	}
}

const (
	hdfsToken    = "KgAEcm9vdA/+T0k3n=&<secret>"
	hdfsPassword = "p@ss:w/ord!&#% $x+topsecret"
)

// hdfsDiscloses tells which secret a text has, in any way to write it.
func hdfsDiscloses(text string) string {
	for _, secret := range []string{hdfsToken, hdfsPassword, base64.StdEncoding.EncodeToString([]byte("joe:" + hdfsPassword))} {
		quoted, _ := json.Marshal(secret)
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`)} {
			if strings.Contains(text, form) {
				return form
			}
		}
	}
	return ""
}

// discreet checks that nothing that stays, or that anybody sees, has a secret.
func (w *hdfsWorld) discreet(e ended) {
	w.t.Helper()
	texts := map[string]string{"stdout": e.out, "stderr": e.err}
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
	for at, data := range w.ns.Files() {
		texts[at] = at + string(data)
	}
	for where, text := range texts {
		if form := hdfsDiscloses(text); form != "" {
			w.t.Errorf("%s has %q: %.2000s", where, form, text)
		}
	}
}

// overTLS puts the NameNode behind TLS, with a certificate that no system trusts, and gives its file.
func (w *hdfsWorld) overTLS() string {
	w.t.Helper()
	w.server = w.another(http.HandlerFunc(w.serve), true)
	w.options["tls"] = "true"
	w.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw})))
	return w.path("ca.pem")
}

// hdfsEcho is a server between that answers with all that it got.
func hdfsEcho(class string, status int) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		text := r.URL.String() + " " + r.URL.Query().Get("delegation") + " " + r.Header.Get("Authorization")
		if user, password, ok := r.BasicAuth(); ok {
			text += user + ":" + password
		}
		if class == "" {
			http.Error(rw, text, status)
			return
		}
		rw.WriteHeader(status)
		_ = json.NewEncoder(rw).Encode(map[string]any{"RemoteException": map[string]string{"exception": class, "javaClassName": class + text, "message": text}})
	}
}

func TestB98HDFSSecretsAreNotTold(t *testing.T) {
	for _, kind := range []string{"delegation_token", "basic"} {
		for name, handle := range map[string]http.HandlerFunc{
			"success": nil,
			"denied":  hdfsEcho("AccessControlException", 403),
			"later":   hdfsEcho("RetriableException", 403),
			"page":    hdfsEcho("", 502),
			"ok page": hdfsEcho("", 200),
			"redirect": func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "http://127.0.0.1:1"+r.URL.String(), http.StatusTemporaryRedirect)
			},
			"odd redirect": func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "ftp://"+url.QueryEscape(r.URL.Query().Get("delegation")), http.StatusTemporaryRedirect)
			},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				o := hdfs.Options{}
				if kind == "basic" {
					o.BasicUser, o.BasicPassword = "joe", hdfsPassword
				}
				w := hdfsWorldWith(t, o)
				w.options["ca"] = w.overTLS()
				t.Setenv("HDFS_SECRET", map[string]string{"delegation_token": hdfsToken, "basic": "joe:" + hdfsPassword}[kind])
				w.options[kind] = "env:HDFS_SECRET"
				if name != "success" {
					w.handle.Store(&handle)
				}
				e := w.run()
				if (e.code == 0) != (name == "success") {
					t.Errorf("exit %d: %s", e.code, e.err)
				}
				w.discreet(e)
				w.discreet(w.call("status", "--json"))
				if name == "success" {
					w.exactlyOnce()
					for _, r := range w.ns.Requests() {
						if kind == "basic" && r.BasicUser != "joe" || kind != "basic" && r.Delegation != hdfsToken || r.User != "" || !r.TLS {
							t.Errorf("%s came with %+v", r.Verb, r)
						}
					}
				}
			})
		}
	}
}

// The password is the NameNode's, and no DataNode gets it.
func TestHDFSBasicIsNotForDataNodes(t *testing.T) {
	w := newHDFSWorld(t)
	var asked, told atomic.Int64
	data := w.another(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "" {
			told.Add(1)
		}
		w.node.ServeHTTP(rw, r)
	}), true)
	w.options["ca"] = w.overTLS()
	w.options["host_map"] = "[dn1.invalid:9864=" + hostOf(data) + "]"
	t.Setenv("HDFS_SECRET", "joe:"+hdfsPassword)
	w.options["basic"] = "env:HDFS_SECRET"
	w.set(hdfs.RedirectNowhere, hdfs.On{})
	w.run().exits(0, "")
	w.exactlyOnce()
	if asked.Load() == 0 || told.Load() > 0 {
		t.Errorf("%d of %d requests to the DataNode have the password", told.Load(), asked.Load())
	}
}

func TestHDFSBasicNeedsTLS(t *testing.T) {
	w := newHDFSWorld(t)
	t.Setenv("HDFS_SECRET", "joe:"+hdfsPassword)
	w.options["basic"] = "env:HDFS_SECRET"
	w.discreet(w.run().exits(64, "").says("tls: true"))
	for _, name := range []string{"basic", "delegation_token"} {
		w.options = map[string]string{"tls": "true", name: "\"joe:secretsecret\""}
		if e := w.run().exits(64, ""); strings.Contains(e.err, "secretsecret") {
			t.Errorf("the secret is told: %s", e.err)
		}
	}
	if n := len(w.ns.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestHDFSTLS(t *testing.T) {
	w := newHDFSWorld(t)
	ca := w.overTLS()
	w.options["retries"] = "5" // it is not asked again: trust does not come by waiting
	var tries atomic.Int64
	w.around = seeing(func(*http.Request) { tries.Add(1) })
	w.run().exits(1, "").says("certificate cannot be verified", "the option ca")
	if n := tries.Load(); n != 1 {
		t.Errorf("%d tries", n)
	}
	if n := len(w.ns.Requests()); n != 0 {
		t.Fatalf("%d requests were answered", n)
	}
	w.around = httpsOnly(t)
	w.options["ca"] = ca
	w.run().exits(0, "")
	w.exactlyOnce()
}

// A NameNode that is reached over TLS sends to a DataNode without: neither data nor the token in the address go there.
func TestHDFSTLSIsNotLeft(t *testing.T) {
	w := newHDFSWorld(t)
	w.options["ca"] = w.overTLS()
	var strayed atomic.Int64
	data := w.another(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		strayed.Add(1)
		w.node.ServeHTTP(rw, r)
	}), false)
	w.options["host_map"] = "[dn1.invalid:9864=" + hostOf(data) + "]"
	handle := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.TLS = nil // for which the redirect is made
		w.node.ServeHTTP(rw, r)
	})
	w.handle.Store(&handle)
	w.set(hdfs.RedirectNowhere, hdfs.On{})
	w.run().exits(1, "").says("https")
	if n := strayed.Load(); n != 0 {
		t.Errorf("%d requests went without TLS", n)
	}
}
