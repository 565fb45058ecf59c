package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/clinkctl/clinkctl/runstate"
)

// ErrClosed is the answer of a sink that is closed.
var ErrClosed = errors.New("the destination is closed")

// Gate lets the calls of a sink in until it is closed. The zero Gate is open.
type Gate struct {
	mu     sync.RWMutex // held for reading by every call, for writing by Close
	closed bool
}

// Enter begins a call. leave ends it; Close waits for that.
func (g *Gate) Enter(ctx context.Context) (leave func(), err error) {
	g.mu.RLock()
	err = ctx.Err()
	if g.closed {
		err = ErrClosed
	}
	if err != nil {
		g.mu.RUnlock()
		return nil, err
	}
	return g.mu.RUnlock, nil
}

// Close waits for the calls that are in flight; those that come later are refused.
func (g *Gate) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	return nil
}

// CheckNote refuses names that are not notes' names, or that something else has: artifacts, runs, what begins with one of the
// backend's own prefixes.
func CheckNote(name string, own ...string) error {
	base := strings.TrimPrefix(name, Hidden+"/")
	_, artifact := runstate.ParseName(base)
	_, token := runstate.ParseToken(base)
	bad := base == "" || base == "." || base == ".." || base == Hidden || strings.ContainsAny(base, "/\x00") || artifact == nil || token == nil
	for _, prefix := range own {
		bad = bad || strings.HasPrefix(base, prefix)
	}
	if bad || name == IDNote {
		return fmt.Errorf("%q cannot be the name of a note", name)
	}
	return nil
}

// IDNote is where a destination keeps its identity.
const IDNote = Hidden + "/id"
