package main

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// No request leaves without TLS verification, and none goes where it was not meant to.

// overTLS puts the store behind TLS, with a certificate that no system trusts. It gives the option ca that trusts it.
func (w *s3World) overTLS() (ca string) {
	w.t.Helper()
	w.server = httptest.NewUnstartedServer(http.HandlerFunc(w.serve))
	w.server.Config.ErrorLog = quiet()
	w.server.StartTLS()
	w.t.Cleanup(w.server.Close)
	w.options["endpoint"] = w.server.URL
	w.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw})))
	return w.path("ca.pem")
}

func TestTLSIsVerified(t *testing.T) {
	w := newS3World(t)
	ca := w.overTLS()
	w.options["retries"] = "5" // it is not asked again: trust does not come by waiting
	var tries atomic.Int64
	w.around = seeing(func(*http.Request) { tries.Add(1) })
	w.run().exits(1, "").says("certificate cannot be verified", "the option ca")
	if n := tries.Load(); n != 1 {
		t.Errorf("%d tries", n)
	}
	w.around = nil
	if n := len(w.store.Requests()); n != 0 {
		t.Fatalf("%d requests were answered", n)
	}
	w.options["ca"] = ca
	w.run().exits(0, "")
	w.exactlyOnce()
	for _, r := range w.store.Requests() {
		if !r.TLS {
			t.Errorf("%s came without TLS", r.Verb)
		}
	}
}

func TestTLSByAWSCABundle(t *testing.T) {
	w := newS3World(t)
	t.Setenv("AWS_CA_BUNDLE", w.overTLS())
	w.run().exits(0, "")
	w.exactlyOnce()
	w.options["ca"] = w.path("orders.csv")
	w.run("--key", "k").exits(1, "").says("holds no certificate")
}

// A certificate for another name proves nothing, however well it is signed.
func TestTLSOtherName(t *testing.T) {
	w := newS3World(t)
	w.options["ca"] = w.overTLS()
	w.options["endpoint"] = strings.Replace(w.server.URL, "127.0.0.1", "localhost", 1)
	w.run().exits(1, "").says("certificate cannot be verified")
	if n := len(w.store.Requests()); n != 0 {
		t.Errorf("%d requests were answered", n)
	}
}

func TestTLSOldVersion(t *testing.T) {
	w := newS3World(t)
	w.options["ca"] = w.overTLS()
	old := httptest.NewUnstartedServer(http.HandlerFunc(w.serve))
	old.Config.ErrorLog = quiet()
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	t.Cleanup(old.Close)
	w.options["endpoint"] = old.URL
	w.run().exits(1, "").says("protocol version")
}

// A store that sends elsewhere is not followed: no request, and no signature, reaches the other place. Neither does one
// leave https for http.
func TestRedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusMovedPermanently} {
		for _, verb := range []s3test.Verb{s3test.GetObject, s3test.CreateMultipartUpload, s3test.CompleteMultipartUpload, s3test.HeadObject} {
			t.Run(http.StatusText(status)+" "+string(verb), func(t *testing.T) {
				w := newS3World(t)
				w.options["ca"] = w.overTLS()
				var strayed atomic.Int64
				elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
				t.Cleanup(elsewhere.Close)
				w.around = httpsOnly(t)
				w.set(s3test.Redirect, s3test.On{Verb: verb, Status: status, Location: elsewhere.URL + "/lake", Region: "eu-north-1"})
				e := w.run()
				if e.code != 1 && e.code != 3 {
					t.Errorf("exit %d: %s", e.code, e.err)
				}
				if n := strayed.Load(); n != 0 {
					t.Errorf("%d requests went elsewhere", n)
				}
				w.unset()
				w.run().exits(0, "")
				w.exactlyOnce()
			})
		}
	}
}

// httpsOnly reports every request that leaves without TLS.
func httpsOnly(t *testing.T) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Scheme != "https" {
				t.Errorf("%s %s leaves without TLS", r.Method, r.URL)
			}
			return next.RoundTrip(r)
		})
	}
}
