package webhdfs

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/clinkctl/clinkctl/stage/namenode"
)

// remoteError is what a server has said went wrong. Its status tells next to nothing: most are 403.
type remoteError struct {
	host               string
	status             int
	namenode.Exception      // without a class where what answered is no WebHDFS
	stale              bool // our token is not good any more: the next call has another one
}

func (e *remoteError) Error() string {
	if e.Class == "" {
		text := fmt.Sprintf("%s answers %d %s, and not as WebHDFS does", e.host, e.status, http.StatusText(e.status))
		switch e.status {
		case http.StatusUnauthorized:
			text += ": it asks for a login; there are the options kerberos, delegation_token and basic"
		case http.StatusNotFound:
			text += ": is it the http address of a NameNode, and is dfs.webhdfs.enabled not false?"
		}
		return text
	}
	return fmt.Sprintf("%s answers %s: %s", e.host, e.Class, e.Message)
}

// isInvalidToken tells whether a token is not good. A NameNode says so in the text of another exception, a DataNode by class.
func (e *remoteError) isInvalidToken() bool {
	return e.Class == "InvalidToken" || strings.Contains(e.Message, "SecretManager$InvalidToken")
}

// Is knows by status what has no class, and a request that no other try makes better.
func (e *remoteError) Is(target error) bool {
	switch {
	case e.stale:
		return false
	case e.status == http.StatusUnauthorized && (target == fs.ErrPermission || target == namenode.ErrPermanent):
		return true
	case e.status == http.StatusBadRequest && e.Class != "" && target == namenode.ErrPermanent:
		return true
	}
	return e.Exception.Is(target)
}

func (e *remoteError) passing() bool {
	if e.Class == "" {
		return e.status >= 500 || e.status == http.StatusTooManyRequests || e.status == http.StatusRequestTimeout
	}
	return e.stale || e.Passing()
}

// failed makes an error of an answer.
func (c *client) failed(host string, status int, body []byte) error {
	var said struct {
		RemoteException struct{ Exception, JavaClassName, Message string }
	}
	e := &remoteError{host: host, status: status}
	if json.Unmarshal(body, &said) == nil {
		class := said.RemoteException.JavaClassName
		if class == "" {
			class = said.RemoteException.Exception
		}
		e.Exception = namenode.NewException(class, said.RemoteException.Message)
		e.Message = c.discreet(e.Message)
		if e.stale = c.session != nil && e.isInvalidToken(); e.stale {
			c.session.token.Store(nil)
		}
	}
	return e
}

// discreet takes secrets out of what servers say, in whichever way they were sent.
func (c *client) discreet(text string) string {
	secrets := []string{c.token}
	if c.session != nil {
		if t := c.session.token.Load(); t != nil {
			secrets = append(secrets, t.text)
		}
	}
	if c.login != nil {
		password, _ := c.login.Password()
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(c.login.Username()+":"+password)), password)
	}
	for _, secret := range secrets {
		for _, form := range []string{url.QueryEscape(secret), url.PathEscape(secret), secret} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "***")
			}
		}
	}
	return text
}

// networkError says that a request was not answered. It may have been done all the same, unless the server was not reached.
type networkError struct {
	host    string
	reached bool
	err     error
}

func (e *networkError) Error() string { return e.host + ": " + e.err.Error() }
func (e *networkError) Unwrap() error { return e.err }

func (e *networkError) Is(target error) bool { return target == namenode.ErrUnsent && !e.reached }

// unanswered makes an error of a request that has no answer. The URL, which may have a token in it, is left out.
func (c *client) unanswered(ctx context.Context, host string, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	op, dial := errors.AsType[*net.OpError](err)
	_, dns := errors.AsType[*net.DNSError](err)
	e := &networkError{host: host, reached: !(dial && op.Op == "dial") && !dns, err: err}
	switch {
	case untrusted(err):
		e.err = fmt.Errorf("its certificate cannot be verified; where it is of an authority of your own, give that in the option ca: %w", err)
	case !e.reached && !c.isNodeHost(host):
		e.err = fmt.Errorf("%w; the NameNode has named this DataNode, and the option host_map says how one is reached from here", err)
	}
	if text := c.discreet(e.err.Error()); text != e.err.Error() {
		e.err = errors.New(text)
	}
	return e
}

// passing tells whether a failure may be over when it is tried again.
func passing(err error) bool {
	if e, ok := errors.AsType[*remoteError](err); ok {
		return e.passing()
	}
	_, ok := errors.AsType[*networkError](err)
	return ok && !errors.Is(err, context.Canceled) && !untrusted(err)
}

// untrusted tells whether a server has not proved who it is. That does not come by waiting.
func untrusted(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

// elsewhere tells whether another NameNode is the one to ask.
func elsewhere(err error) bool {
	if e, ok := errors.AsType[*remoteError](err); ok {
		return e.Elsewhere() || e.Class == "" && e.passing()
	}
	_, ok := errors.AsType[*networkError](err)
	return ok
}
