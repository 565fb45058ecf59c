// Package s3 is the backend of object stores that speak the protocol of Amazon S3. A destination is a prefix of a bucket:
//
//	<prefix>/sub0-<run>-000001.parquet     published artifacts, manifests, the user's own objects
//	<prefix>/.clinkctl/id                  128 random bits: which destination this is
//	<prefix>/.clinkctl/key-<digest>.json   notes that only clinkctl reads
//	<prefix>/.clinkctl/probe-<run>         what a probe tries, for a moment
//
// An artifact is staged as a multipart upload to its own key: its parts are durable and nobody sees them. To complete the
// upload is to publish it. What a store answers proves little: a 200 may be a lie, a 404 may mean success, a 412 may be
// our own object. The only proof that an artifact is published is an object under its key that shows the token, of 128
// random bits, that the upload was created with, its size, and its checksum where it has one.
package s3

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Env is what the backend takes from its process.
type Env struct {
	Random io.Reader // must give bytes that nobody else gets
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Late   time.Duration // how long a completion of a dead process may still land; 0 is 10 s
	// Around, which may be nil, is laid around every request, for tests.
	Around func(http.RoundTripper) http.RoundTripper
}

// Backend is object stores as a backend.
func Backend(env Env) stage.Backend {
	env.Random = stage.Locked(env.Random)
	return stage.Backend{
		Name: scheme, Scheme: scheme, Expand: expand, Memory: memory,
		Open: func(ctx context.Context, at stage.Place, create bool) (stage.Sink, error) {
			s, err := open(ctx, env, at, create)
			if err != nil {
				return nil, fmt.Errorf("open destination %s: %w", at.To, err)
			}
			return s, nil
		},
		State: func(ctx context.Context, at stage.Place) (runstate.Objects, error) { return openState(ctx, env, at) },
		Store: func(ctx context.Context, at stage.Place) (stage.Store, error) { return openStore(ctx, env, at) },
	}
}

// sink is an open destination.
type sink struct {
	env      Env
	client   *client
	at       address
	id       string
	checksum checksum      // of what is staged from now on
	lists    atomic.Int32  // how the store lists uploads
	sending  chan struct{} // has a place for each part that may be on its way

	gate stage.Gate

	touchedMu sync.Mutex
	touched   map[string]bool   // keys that this process has seen to be of a run
	versions  map[string]string // of artifacts that were seen published, by key
}

var (
	_ stage.Sink      = (*sink)(nil)
	_ stage.Bytes     = (*sink)(nil)
	_ stage.Lister    = (*sink)(nil)
	_ stage.Sweeper   = (*sink)(nil)
	_ stage.Prober    = (*sink)(nil)
	_ stage.Versioned = (*sink)(nil)
	_ stage.Limited   = (*sink)(nil)
)

func open(ctx context.Context, env Env, at stage.Place, create bool) (*sink, error) {
	s, err := connect(ctx, env, at)
	if err != nil {
		return nil, err
	}
	if err := s.openID(ctx, create); errors.Is(err, errNoBucket) && !create {
		return nil, errors.Join(fs.ErrNotExist, err)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// connect makes a sink that knows of no destination yet. Nothing is sent.
func connect(ctx context.Context, env Env, at stage.Place) (*sink, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	address, err := parseAddress(at.To)
	if err != nil {
		return nil, err
	}
	set, err := settingsOf(at)
	if err != nil {
		return nil, err
	}
	c, err := newClient(ctx, set, env.Around)
	if err != nil {
		return nil, err
	}
	return &sink{env: env, client: c, at: address, checksum: c.chosen(), sending: make(chan struct{}, set.parallel), touched: map[string]bool{}, versions: map[string]string{}}, nil
}

// chosen is the checksum that artifacts get: unless it is said, the one that AWS has by itself, and none elsewhere.
func (c *client) chosen() checksum {
	switch {
	case c.settings.checksum != "auto":
		return checksum(c.settings.checksum)
	case c.custom:
		return noChecksum
	}
	return crc64NVME
}

const (
	idNote     = stage.IDNote
	tokenBytes = 16 // 128 bits
)

// openID learns which destination this is. Of two processes that make an id at the same time, the first wins.
func (s *sink) openID(ctx context.Context, create bool) error {
	id, err := s.readID(ctx)
	if create && errors.Is(err, fs.ErrNotExist) {
		fresh, err := s.token()
		if err != nil {
			return err
		}
		if err := s.put(ctx, idNote, []byte(fresh+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		id, err = s.readID(ctx)
		s.id = id
		return err
	}
	s.id = id
	return err
}

func (s *sink) readID(ctx context.Context) (string, error) {
	data, err := s.get(ctx, idNote)
	if err != nil {
		return "", err
	}
	if len(data) == 2*tokenBytes+1 && isID(string(data[:2*tokenBytes])) {
		return string(data[:2*tokenBytes]), nil
	}
	return "", fmt.Errorf("%s/%s does not hold an id: put the object back from a copy, its value is the \"id\" of the handles that `clinkctl journal show` prints", s.at, idNote)
}

// token gives 128 random bits in hex.
func (s *sink) token() (string, error) {
	var b [tokenBytes]byte
	if _, err := io.ReadFull(s.env.Random, b[:]); err != nil {
		return "", fmt.Errorf("random bits: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

func (s *sink) Identity() string { return scheme + ":" + s.id }

// Late is how long a Complete of a dead process may still land after nothing shows the artifact.
func (s *sink) Late() time.Duration {
	if s.env.Late != 0 {
		return s.env.Late
	}
	return defaultLate
}

const defaultLate = 10 * time.Second

// Wide is how many artifacts are finished at once: nothing of that is work for this machine.
func (s *sink) Wide() int { return 16 }

// enter begins a call. leave ends it; Close waits for that.
func (s *sink) enter(ctx context.Context) (leave func(), err error) {
	leave, err = s.gate.Enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("destination %s: %w", s.at, err)
	}
	return leave, nil
}

// Close waits for the calls that are in flight; those that come later are refused.
func (s *sink) Close() error { return s.gate.Close() }

// touch notes a key of a run, for the sweep of stores that list uploads by their exact keys only.
func (s *sink) touch(key string) {
	s.touchedMu.Lock()
	defer s.touchedMu.Unlock()
	s.touched[key] = true
}

func (s *sink) keysOf(run runstate.Token) []string {
	s.touchedMu.Lock()
	defer s.touchedMu.Unlock()
	var keys []string
	for key := range s.touched {
		if name, ok := s.at.name(key); ok && runOf(name) == run {
			keys = append(keys, key)
		}
	}
	return keys
}

// runOf is the run of an artifact's name, "" of another name.
func runOf(name string) runstate.Token {
	a, err := parseName(name)
	if err != nil {
		return ""
	}
	return a.Run
}
