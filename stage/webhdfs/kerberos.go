package webhdfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clinkctl/clinkctl/stage/kerberos"
	"github.com/clinkctl/clinkctl/stage/namenode"
)

// tokenAge is how long a token is used. NameNodes give them for a day, in which an upload must end that has begun with one.
const tokenAge = time.Hour

// endTime is how long the end of a token may take.
const endTime = 5 * time.Second

// session is a delegation token that a NameNode has given for a Kerberos login. All calls have it: where they had a ticket, the
// NameNode would make a token of its own at each redirect, and keep it.
type session struct {
	login *kerberos.Login
	mu    sync.Mutex // held while a NameNode is asked for a token
	token atomic.Pointer[token]
}

type token struct {
	text  string
	since time.Time
}

// identity is the parameter of a call that says who we are; its name is empty where nothing does. It may ask a NameNode.
func (c *client) identity(ctx context.Context, base string) (name, value string, err error) {
	switch {
	case c.session != nil:
		token, err := c.session.get(ctx, c, base)
		return "delegation", token, err
	case c.token != "":
		return "delegation", c.token, nil
	case c.user != "":
		return "user.name", c.user, nil
	}
	return "", "", nil
}

// get gives the token, and asks a NameNode for one where there is none, or an old one.
func (s *session) get(ctx context.Context, c *client, base string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.token.Load(); t != nil && time.Since(t.since) < tokenAge {
		return t.text, nil
	}
	since := time.Now()
	a, err := c.negotiate(ctx, http.MethodGet, base+"/?op=GETDELEGATIONTOKEN")
	if err != nil {
		return "", fmt.Errorf("GETDELEGATIONTOKEN: %w", err)
	}
	var said struct{ Token *struct{ URLString string } }
	if json.Unmarshal(a.body, &said) != nil || said.Token == nil || said.Token.URLString == "" {
		return "", fmt.Errorf("GETDELEGATIONTOKEN: %w", &loginError{errors.New("the NameNode gives no token: does it ask for Kerberos?")})
	}
	s.token.Store(&token{said.Token.URLString, since})
	return said.Token.URLString, nil
}

// end asks the NameNode to forget the token, which does not wait for it: tokens end by themselves.
func (s *session) end(c *client) {
	if t := s.token.Swap(nil); t != nil {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		base := c.bases[int(c.active.Load())%len(c.bases)]
		_, _ = c.negotiate(ctx, http.MethodPut, base+"/?op=CANCELDELEGATIONTOKEN&token="+url.QueryEscape(t.text))
	}
	s.login.Close()
}

// negotiate makes a call of a NameNode with a ticket.
func (c *client) negotiate(ctx context.Context, method, target string) (answer, error) {
	u, err := url.Parse(target)
	if err != nil {
		return answer{}, err
	}
	header, err := c.session.login.Negotiate(u.Hostname())
	if errors.Is(err, kerberos.ErrUnreached) {
		return answer{}, &networkError{host: u.Host, err: err}
	}
	if err != nil {
		return answer{}, &loginError{err}
	}
	return c.once(ctx, method, target, header)
}

// loginError says that a login has failed, and not that nobody answered.
type loginError struct{ err error }

func (e *loginError) Error() string { return e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

func (e *loginError) Is(target error) bool {
	return target == fs.ErrPermission || target == namenode.ErrPermanent
}
