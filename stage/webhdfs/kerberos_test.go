package webhdfs_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/kerberos"
	"github.com/clinkctl/clinkctl/stage/options"
	"github.com/clinkctl/clinkctl/stage/stagetest"
	"github.com/clinkctl/clinkctl/stage/webhdfs"
)

// kerberosCluster is the one that CLINKCTL_TEST_KERBEROS_WEBHDFS names, where everybody logs in and all is https.
func kerberosCluster(t *testing.T) *cluster {
	t.Helper()
	host, dir := os.Getenv("CLINKCTL_TEST_KERBEROS_WEBHDFS"), os.Getenv("CLINKCTL_TEST_KERBEROS_DIR")
	if host == "" {
		t.Skip(`CLINKCTL_TEST_KERBEROS_WEBHDFS names no NameNode: eval "$(CLINKCTL_TEST_KERBEROS=1 scripts/services/hdfs start DIR)"`)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	login, err := kerberos.New(kerberos.Options{Use: true, Keytab: in("etl.keytab"), Principal: "etl", Config: in("krb5.conf")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(login.Close)
	roots, err := options.Roots("ca", in("ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, host)
	c.outside.base = "https://" + host + "/webhdfs/v1"
	c.outside.login = login
	c.outside.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	c.reach = map[string]any{"tls": true, "ca": in("ca.pem"), "kerberos": true, "principal": "etl", "keytab": in("etl.keytab"), "krb5_conf": in("krb5.conf")}
	return c
}

// The laws where everybody logs in.
func TestLawsWithKerberos(t *testing.T) {
	c := kerberosCluster(t)
	stagetest.Laws(t, func(t *testing.T, name string) stagetest.Place { return c.place(t, name, nil) })
}

// TestStaleToken takes the token away that a sink has, in the middle: it gets another one.
func TestStaleToken(t *testing.T) {
	c := kerberosCluster(t)
	seen := &tokens{}
	sink, err := webhdfs.Backend(c.env(seen.around)).Open(t.Context(), c.at("stale", nil), true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sink.Close(); err != nil {
			t.Error(err)
		}
	}()
	for round := 1; round <= 2; round++ {
		if got := seen.all(); len(got) != round {
			t.Fatalf("round %d: %d tokens", round, len(got))
		}
		c.outside.root = ""
		c.must("PUT", "", "CANCELDELEGATIONTOKEN", nil, "token", seen.all()[round-1])
		if _, err := sink.(stage.Finder).Marks(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// tokens are those that are seen in requests.
type tokens struct {
	mu    sync.Mutex
	order []string
}

func (k *tokens) all() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.order...)
}

func (k *tokens) around(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		token := r.URL.Query().Get("delegation")
		k.mu.Lock()
		if token != "" && (len(k.order) == 0 || k.order[len(k.order)-1] != token) {
			k.order = append(k.order, token)
		}
		k.mu.Unlock()
		return next.RoundTrip(r)
	})
}

// TestTokenIsNotTold fails a request with a text that has all of it.
func TestTokenIsNotTold(t *testing.T) {
	c := kerberosCluster(t)
	seen := &tokens{}
	around := func(next http.RoundTripper) http.RoundTripper {
		next = seen.around(next)
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("op") == "MKDIRS" {
				return answer(r, http.StatusForbidden, "java.io.IOException", r.URL.String()+" "+r.URL.Query().Get("delegation")), nil
			}
			return next.RoundTrip(r)
		})
	}
	_, err := webhdfs.Backend(c.env(around)).Open(t.Context(), c.at("secret", nil), true)
	if err == nil || !strings.Contains(err.Error(), "***") {
		t.Fatalf("opened with %v", err)
	}
	for _, token := range seen.all() {
		if strings.Contains(err.Error(), token) {
			t.Fatalf("the token is told: %v", err)
		}
	}
	if len(seen.all()) == 0 {
		t.Fatal("no token was seen")
	}
}

func TestTicketCache(t *testing.T) {
	c := kerberosCluster(t)
	dir := os.Getenv("CLINKCTL_TEST_KERBEROS_DIR")
	cache := filepath.Join(t.TempDir(), "tickets")
	delete(c.reach, "keytab")
	delete(c.reach, "principal")
	t.Setenv("KRB5CCNAME", "FILE:"+cache)
	open := func() error {
		sink, err := webhdfs.Backend(c.env(nil)).Open(t.Context(), c.at("cache", nil), true)
		if err == nil {
			err = sink.Close()
		}
		return err
	}
	if err := open(); err == nil || !strings.Contains(err.Error(), "kinit") {
		t.Fatalf("without tickets: %v", err)
	}
	kinit := exec.Command("kinit", "-k", "-t", filepath.Join(dir, "etl.keytab"), "etl")
	kinit.Env = append(os.Environ(), "KRB5_CONFIG="+filepath.Join(dir, "krb5.conf"))
	if out, err := kinit.CombinedOutput(); err != nil {
		t.Fatalf("kinit: %v: %s", err, out)
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KRB5CCNAME", "KEYRING:persistent:0")
	if err := open(); err == nil || !strings.Contains(err.Error(), "ticket_cache") {
		t.Fatalf("with a keyring: %v", err)
	}
}

// TestLoginRefused fails to log in, and is told why.
func TestLoginRefused(t *testing.T) {
	c := kerberosCluster(t)
	dir := t.TempDir()
	noKDC := filepath.Join(dir, "krb5.conf")
	text, err := os.ReadFile(c.reach["krb5_conf"].(string))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.Contains(line, "kdc =") {
			lines[i] = "    kdc = 127.0.0.1:1"
		}
	}
	if err := os.WriteFile(noKDC, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		options map[string]any
		says    string
		denied  bool
	}{
		{"nobody of the realm", map[string]any{"principal": "nobody"}, "nobody", true},
		{"no keytab", map[string]any{"keytab": filepath.Join(dir, "none")}, "none: no such file", true},
		{"no krb5.conf", map[string]any{"krb5_conf": filepath.Join(dir, "none")}, "krb5_conf", false},
		{"no KDC", map[string]any{"krb5_conf": noKDC, "retries": 1}, "no KDC has answered", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := webhdfs.Backend(webhdfs.Env{Random: rand.Reader, Sleep: noSleep}).Open(t.Context(), c.at("x", test.options), true)
			if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, fs.ErrPermission) != test.denied {
				t.Fatalf("want %q (denied %v): %v", test.says, test.denied, err)
			}
		})
	}
	t.Run("nobody asks for it", func(t *testing.T) {
		simple := realCluster(t)
		at := simple.at("x", c.reach)
		delete(at.Reach, "tls")
		delete(at.Reach, "ca")
		delete(at.Reach, "user")
		at.To = strings.Replace(at.To, "127.0.0.1", "localhost", 1)
		_, err := webhdfs.Backend(simple.env(nil)).Open(t.Context(), at, true)
		if err == nil || !strings.Contains(err.Error(), "does it ask for Kerberos?") {
			t.Fatal(fmt.Sprint(err))
		}
	})
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }
