package webhdfs

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/kerberos"
	"github.com/clinkctl/clinkctl/stage/namenode"
	"github.com/clinkctl/clinkctl/stage/options"
)

const (
	bufferSize = 256 << 10 // bytes, of a connection
	maxAnswer  = 64 << 20  // bytes; a page of a list has about a thousand entries
)

// client speaks WebHDFS with the NameNodes of one cluster.
type client struct {
	settings
	at     namenode.Address
	env    Env
	http   *http.Client
	bases  []string     // of the NameNodes
	active atomic.Int64 // the one that was last heard of to be active
	token  string       // of delegation
	login  *url.Userinfo
	// session, where the login is Kerberos', has a token of its own.
	session *session
}

var _ namenode.Client = (*client)(nil)

// connect makes a client. Nothing is sent.
func connect(env Env, at stage.Place) (*client, error) {
	set, err := settingsOf(at)
	if err != nil {
		return nil, err
	}
	address, err := namenode.ParseAddress(scheme, at.To)
	if err != nil {
		return nil, err
	}
	c := &client{settings: set, at: address, env: env}
	if err := c.readSecrets(); err != nil {
		return nil, err
	}
	if set.kerberos.Use {
		login, err := kerberos.New(set.kerberos)
		if err != nil {
			return nil, err
		}
		c.session = &session{login: login}
	}
	hosts := set.namenodes
	if len(hosts) == 0 {
		hosts = []string{address.Host}
	}
	for _, host := range hosts {
		c.bases = append(c.bases, set.base(host))
	}
	transport, err := set.transport()
	if err != nil {
		return nil, err
	}
	if env.Around != nil {
		transport = env.Around(transport)
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

func (c *client) readSecrets() error {
	if c.delegationToken != "" {
		token, err := options.Secret(c.delegationToken)
		if err != nil {
			return fmt.Errorf("webhdfs option delegation_token: %w", err)
		}
		c.token = strings.TrimSpace(string(token))
	}
	if c.basic != "" {
		login, err := options.Secret(c.basic)
		if err != nil {
			return fmt.Errorf("webhdfs option basic: %w", err)
		}
		user, password, ok := strings.Cut(strings.TrimRight(string(login), "\r\n"), ":")
		if !ok {
			return errors.New("webhdfs option basic: it does not say user:password")
		}
		c.login = url.UserPassword(user, password)
	}
	return nil
}

// transport is how requests travel.
func (s settings) transport() (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	t.ForceAttemptHTTP2 = false
	t.WriteBufferSize, t.ReadBufferSize = bufferSize, bufferSize
	t.MaxIdleConnsPerHost = 64
	t.DisableCompression = true
	if s.ca != "" {
		roots, err := options.Roots("webhdfs option ca", s.ca)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.RootCAs = roots
	}
	if s.proxy != "" {
		proxy, err := url.Parse(s.proxy)
		if err != nil {
			return nil, fmt.Errorf("webhdfs option proxy: %w", err)
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	return t, nil
}

func (c *client) Close() error {
	if c.session != nil {
		c.session.end(c)
	}
	c.http.CloseIdleConnections()
	return nil
}

// answer is a whole answer of a server.
type answer struct {
	status   int
	location string // of a redirect, in whichever way it was given
	body     []byte
}

// ask asks the active NameNode, and again as long as the answer says that it may be another one later, or that another one
// is active.
func (c *client) ask(ctx context.Context, method, name, op string, params ...string) (a answer, err error) {
	err = c.again(ctx, func() error {
		a, err = c.askOnce(ctx, method, name, op, params...)
		return err
	})
	if err != nil {
		return a, fmt.Errorf("%s %s: %w", op, name, err)
	}
	return a, nil
}

// askOnce is one try of ask.
func (c *client) askOnce(ctx context.Context, method, name, op string, params ...string) (answer, error) {
	query := url.Values{"op": {op}}
	for i := 0; i+1 < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	node := int(c.active.Load()) % len(c.bases)
	as, who, err := c.identity(ctx, c.bases[node])
	var a answer
	if err == nil {
		if as != "" {
			query.Set(as, who)
		}
		a, err = c.once(ctx, method, c.bases[node]+escape(name)+"?"+query.Encode(), "")
	}
	if elsewhere(err) {
		c.active.CompareAndSwap(int64(node), int64((node+1)%len(c.bases)))
	}
	return a, err
}

// again repeats what fails in a way that may pass. There is no pause before another NameNode is asked for the first time.
func (c *client) again(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || !passing(err) || try >= max(c.retries, len(c.bases)) || ctx.Err() != nil {
			return err
		}
		if elsewhere(err) && try < len(c.bases) {
			continue
		}
		if sleepErr := c.env.Sleep(ctx, min(100*time.Millisecond<<min(try-1, 10), 5*time.Second)); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
	}
}

// escape is a path as a URL has it.
func escape(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// once asks one server once. authorization is a header, and "" for none but a password's.
func (c *client) once(ctx context.Context, method, target, authorization string) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no answer within %s", c.timeout))
	defer cancel()
	r, err := c.send(ctx, method, target, authorization, nil)
	if err != nil {
		return answer{}, err
	}
	return c.receive(ctx, r)
}

// send sends a request, and gives the answer's beginning. Only what asks a NameNode, or the gateway before it, has a password.
func (c *client) send(ctx context.Context, method, target, authorization string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, errors.New("the address of a server cannot be read") // it may have a token in it
	}
	if body != nil || method == http.MethodPut {
		r.Header.Set("Content-Type", "application/octet-stream") // HttpFS asks for it
	}
	switch {
	case authorization != "":
		r.Header.Set("Authorization", authorization)
	case c.login != nil && c.isNode(r.URL):
		password, _ := c.login.Password()
		r.SetBasicAuth(c.login.Username(), password)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.unanswered(ctx, r.URL.Host, err)
	}
	return response, nil
}

// isNode tells whether a URL leads to a NameNode that the job names.
func (c *client) isNode(u *url.URL) bool {
	for _, base := range c.bases {
		if b, err := url.Parse(base); err == nil && b.Scheme == u.Scheme && b.Host == u.Host {
			return true
		}
	}
	return false
}

// isNodeHost tells whether a host and port are those of a NameNode that the job names.
func (c *client) isNodeHost(host string) bool {
	scheme := "http"
	if c.settings.tls {
		scheme = "https"
	}
	return c.isNode(&url.URL{Scheme: scheme, Host: host})
}

// receive reads an answer, and makes an error of one that is none of success.
func (c *client) receive(ctx context.Context, r *http.Response) (a answer, err error) {
	defer func() { err = errors.Join(err, r.Body.Close()) }()
	a.status = r.StatusCode
	var body bytes.Buffer
	if _, err := body.ReadFrom(io.LimitReader(r.Body, maxAnswer)); err != nil {
		return a, c.unanswered(ctx, r.Request.URL.Host, err)
	}
	a.body = body.Bytes()
	switch {
	case a.status == http.StatusTemporaryRedirect:
		a.location = r.Header.Get("Location")
		return a, nil
	case a.status/100 == 2:
		return a, nil
	}
	return a, c.failed(r.Request.URL.Host, r.StatusCode, a.body)
}

// parse reads the JSON of an answer.
func (a answer) parse(into any) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w; is it WebHDFS that answers?", err)
	}
	return nil
}

// redirect is where a NameNode sends a request on to, as the client reaches it.
func (c *client) redirect(a answer) (*url.URL, error) {
	at := a.location
	if at == "" {
		var said struct{ Location string }
		if err := a.parse(&said); err != nil {
			return nil, err
		}
		at = said.Location
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the server's answer names no server to go on with; is it WebHDFS that answers?")
	}
	if c.tls && u.Scheme != "https" {
		return nil, fmt.Errorf("the server sends on to %s without TLS, and tls is true: neither data nor a token goes there; dfs.http.policy of the cluster must give its DataNodes https", u.Host)
	}
	c.mapped(u)
	return u, nil
}

// noRedirect asks for a redirect as an answer's body. A gateway rewrites only those in the header.
func (c *client) noRedirect(params ...string) []string {
	if c.context != "" {
		return params
	}
	return append(params, "noredirect", "true")
}
