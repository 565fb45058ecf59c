// Package kerberos logs in where the servers of a destination ask for Kerberos: with a keytab, or with the tickets that kinit has
// left. The protocol is github.com/jcmturner/gokrb5's.
package kerberos

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/krberror"
	"github.com/jcmturner/gokrb5/v8/spnego"

	"github.com/clinkctl/clinkctl/stage/options"
)

// Options say whether there is a login, and whose.
type Options struct {
	Use       bool
	Principal string // user@REALM, user or user/host: of the keytab
	Keytab    string // its file
	Cache     string // file of tickets, where there is no keytab
	Config    string // krb5.conf
}

// Known are the options of Kerberos that a backend has among its own.
func Known[S any](of func(s *S) *Options) []options.Option[S] {
	text := func(name string, to func(o *Options) *string) options.Option[S] {
		return options.Option[S]{Name: name, Read: options.Text(func(s *S) *string { return to(of(s)) }, nil)}
	}
	return []options.Option[S]{
		{Name: "kerberos", Read: options.Truth(func(s *S) *bool { return &of(s).Use })},
		text("principal", func(o *Options) *string { return &o.Principal }),
		text("keytab", func(o *Options) *string { return &o.Keytab }),
		text("ticket_cache", func(o *Options) *string { return &o.Cache }),
		text("krb5_conf", func(o *Options) *string { return &o.Config }),
	}
}

// Check compares options with each other. Errors begin with the backend's name.
func (o Options) Check(backend string) error {
	switch {
	case !o.Use && o != Options{}:
		return fmt.Errorf("%s options principal, keytab, ticket_cache and krb5_conf need kerberos: true", backend)
	case (o.Keytab == "") != (o.Principal == ""):
		return fmt.Errorf("%s options keytab and principal need each other", backend)
	case o.Keytab != "" && o.Cache != "":
		return fmt.Errorf("%s options keytab and ticket_cache exclude each other", backend)
	}
	return nil
}

// Login is somebody who has logged in, or will.
type Login struct {
	options Options
	config  *config.Config

	mu     sync.Mutex
	client *client.Client
	read   time.Time // when the file of tickets was written that the client has
}

// New reads krb5.conf. No KDC is asked yet.
func New(o Options) (*Login, error) {
	name := first(o.Config, os.Getenv("KRB5_CONFIG"), "/etc/krb5.conf")
	c, err := config.Load(name)
	if _, minor := errors.AsType[config.UnsupportedDirective](err); err != nil && !minor {
		return nil, fmt.Errorf("kerberos: read %s, which the option krb5_conf or KRB5_CONFIG can name: %w", name, err)
	}
	return &Login{options: o, config: c}, nil
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Client is a client of the library that has a ticket. Tickets of a file are read again when somebody has renewed them.
func (l *Login) Client() (*client.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.options.Keytab != "" {
		err = l.fromKeytab()
	} else {
		err = l.fromCache()
	}
	if err != nil {
		return nil, err
	}
	if err := l.client.AffirmLogin(); err != nil {
		what := "log in as " + l.who()
		if l.options.Keytab == "" {
			what += " with the tickets of kinit, which may be over"
		}
		return nil, failed(what, err)
	}
	return l.client, nil
}

func (l *Login) who() string {
	return l.client.Credentials.CName().PrincipalNameString() + "@" + l.client.Credentials.Domain()
}

func (l *Login) fromKeytab() error {
	if l.client != nil {
		return nil
	}
	k, err := keytab.Load(l.options.Keytab)
	if err != nil {
		return fmt.Errorf("kerberos: read the keytab %s: %w", l.options.Keytab, err)
	}
	user, realm, ok := strings.Cut(l.options.Principal, "@")
	if !ok {
		realm = l.config.LibDefaults.DefaultRealm
	}
	l.client = client.NewWithKeytab(user, realm, k, l.config)
	return nil
}

func (l *Login) fromCache() error {
	name := first(l.options.Cache, os.Getenv("KRB5CCNAME"), fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()))
	file := strings.TrimPrefix(name, "FILE:")
	if kind, _, ok := strings.Cut(file, ":"); ok && strings.ToUpper(kind) == kind {
		return fmt.Errorf("kerberos: tickets are in %s, and only those in a file can be read: kinit -c FILE:/path, and the option ticket_cache, or a keytab", name)
	}
	is, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("kerberos: there are no tickets in %s: kinit makes them, or give the options keytab and principal", file)
	}
	if err != nil {
		return fmt.Errorf("kerberos: %w", err)
	}
	if l.client != nil && is.ModTime().Equal(l.read) {
		return nil
	}
	tickets, err := credentials.LoadCCache(file)
	if err != nil {
		return fmt.Errorf("kerberos: read the tickets in %s: %w", file, err)
	}
	c, err := client.NewFromCCache(tickets, l.config)
	if err != nil {
		return fmt.Errorf("kerberos: read the tickets in %s: %w", file, err)
	}
	l.client, l.read = c, is.ModTime()
	return nil
}

// Negotiate is the value of an Authorization header for one request of the service HTTP of a host.
// https://www.rfc-editor.org/rfc/rfc4559
func (l *Login) Negotiate(host string) (string, error) {
	c, err := l.Client()
	if err != nil {
		return "", err
	}
	s := spnego.SPNEGOClient(c, "HTTP/"+host)
	token, err := s.InitSecContext()
	if err != nil {
		return "", failed("get a ticket for HTTP/"+host, err)
	}
	b, err := token.Marshal()
	if err != nil {
		return "", fmt.Errorf("kerberos: %w", err)
	}
	return "Negotiate " + base64.StdEncoding.EncodeToString(b), nil
}

// Close ends what renews tickets.
func (l *Login) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil && l.options.Keytab != "" {
		l.client.Destroy()
		l.client = nil
	}
}

// ErrUnreached says that no KDC has answered: it may later.
var ErrUnreached = errors.New("no KDC has answered")

// failed makes an error of the library's.
func failed(what string, err error) error {
	if k, ok := errors.AsType[krberror.Krberror](err); ok && k.RootCause == krberror.NetworkingError || err != nil && strings.Contains(err.Error(), krberror.NetworkingError) {
		return fmt.Errorf("kerberos: %s: %w: %w", what, ErrUnreached, err)
	}
	return fmt.Errorf("kerberos: %s: %w", what, err)
}
