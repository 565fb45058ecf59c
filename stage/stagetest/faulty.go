package stagetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clinkctl/clinkctl/stage"
)

// Faults makes backends and stores misbehave on purpose, as a text says:
//
//	rules  = rule *( "," rule )
//	rule   = call [ "[" to "]" ] [ "@" n [ "+" ] ] "=" action
//	call   = open | create | write | prepare | discard | inspect | publish | abort | put-note | note | visible | sweep |
//	         probe | close | store-list | store-stat | store-fingerprint | store-open | store-read
//	action = deny             fails with EACCES, and nothing happens
//	       | full             fails with ENOSPC, and nothing happens
//	       | fail             fails, and nothing happens
//	       | lost-reply       happens, and fails
//	       | delay:<duration> happens later
//	       | hang             happens after Release
//	       | hang:<path>      makes the file <path>.entered, and happens after a file <path> is there
//	       | kill             kills this process instead
//	       | kill-after       happens, and kills this process
//
// "@2" is the second such call that the rule sees, "@2+" that and all later ones; without it every one is meant. "[to]" is
// for destinations, or paths of a store, that contain this text. Of several rules for one call the first decides.
//
//	abort=deny,publish[audit]@2=lost-reply
//
// Calls are counted over everything that one Faults has wrapped. A fault that never fired is in Unused, so that a test
// can notice.
type Faults struct {
	mu       sync.Mutex
	rules    []*rule
	released chan struct{}
}

type rule struct {
	text       string
	call, to   string
	n          int // 0: every call
	andLater   bool
	action     string
	path       string        // of hang
	wait       time.Duration // of delay
	seen, used int
}

var (
	faultyCalls = []string{"open", "create", "write", "prepare", "discard", "inspect", "publish", "abort", "put-note", "note",
		"visible", "sweep", "probe", "close", "store-list", "store-stat", "store-fingerprint", "store-open", "store-read"}
	faultyActions = []string{"deny", "full", "fail", "lost-reply", "delay", "hang", "kill", "kill-after"}
)

// ErrFault is what calls fail with that a rule has made fail.
var ErrFault = errors.New("fault on purpose")

// ParseFaults reads rules. No text is no rules.
func ParseFaults(spec string) (*Faults, error) {
	f := &Faults{released: make(chan struct{})}
	for text := range strings.SplitSeq(spec, ",") {
		if text == "" {
			continue
		}
		r, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("fault %q: %w", text, err)
		}
		f.rules = append(f.rules, r)
	}
	return f, nil
}

func parseRule(text string) (r *rule, err error) {
	r = &rule{text: text}
	left, action, ok := strings.Cut(text, "=")
	if !ok {
		return nil, errors.New("it has no =")
	}
	left, n, counted := strings.Cut(left, "@")
	if counted {
		n, r.andLater = strings.CutSuffix(n, "+")
		if r.n, err = strconv.Atoi(n); err != nil || r.n < 1 {
			return nil, fmt.Errorf("%q is no number of a call", n)
		}
	}
	r.call = left
	if name, to, ok := strings.Cut(left, "["); ok {
		r.call = name
		if r.to, ok = strings.CutSuffix(to, "]"); !ok {
			return nil, errors.New("[ is not closed")
		}
	}
	if !slices.Contains(faultyCalls, r.call) {
		return nil, fmt.Errorf("%q is no call; calls are %s", r.call, strings.Join(faultyCalls, ", "))
	}
	action, argument, _ := strings.Cut(action, ":")
	r.action = action
	switch {
	case !slices.Contains(faultyActions, action):
		return nil, fmt.Errorf("%q is no action; actions are %s", action, strings.Join(faultyActions, ", "))
	case action == "delay":
		r.wait, err = time.ParseDuration(argument)
	case action == "hang":
		r.path = argument
	case argument != "":
		err = fmt.Errorf("%s takes no argument", action)
	}
	return r, err
}

// Unused gives the rules that have not fired.
func (f *Faults) Unused() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var unused []string
	for _, r := range f.rules {
		if r.used == 0 {
			unused = append(unused, r.text)
		}
	}
	return unused
}

// Release lets go on whatever hangs, now and later. It is called once.
func (f *Faults) Release() { close(f.released) }

// match finds the rule for a call that is being made.
func (f *Faults) match(call, to string) *rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found *rule
	for _, r := range f.rules {
		if r.call != call || !strings.Contains(to, r.to) {
			continue
		}
		r.seen++
		if found == nil && (r.n == 0 || r.seen == r.n || r.andLater && r.seen > r.n) {
			r.used++
			found = r
		}
	}
	return found
}

// do makes a call, or what a rule makes of it.
func (f *Faults) do(ctx context.Context, call, to string, happen func() error) error {
	r := f.match(call, to)
	if r == nil {
		return happen()
	}
	fault := func(cause error) error { return errors.Join(fmt.Errorf("%w: %s", ErrFault, r.text), cause) }
	switch r.action {
	case "deny":
		return fault(&fs.PathError{Op: call, Path: to, Err: syscall.EACCES})
	case "full":
		return fault(&fs.PathError{Op: call, Path: to, Err: syscall.ENOSPC})
	case "fail":
		return fault(nil)
	case "lost-reply":
		return fault(happen())
	case "kill":
		return errors.Join(fault(kill()), ctx.Err())
	case "kill-after":
		return errors.Join(happen(), kill())
	}
	if err := f.wait(ctx, r); err != nil {
		return err
	}
	return happen()
}

// kill is kill -9 of this very process; it does not come back.
func kill() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		select {}
	}
	return err
}

// wait is for rules that delay. A rule of a file looks for it every few milliseconds.
func (f *Faults) wait(ctx context.Context, r *rule) error {
	if r.action == "hang" && r.path == "" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.released:
			return nil
		}
	}
	pause := r.wait
	if r.action == "hang" {
		pause = 5 * time.Millisecond
		if err := os.WriteFile(r.path+".entered", nil, 0o600); err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		if r.action == "delay" {
			return nil
		}
		if _, err := os.Stat(r.path); err == nil {
			return nil
		}
	}
}

// Backend wraps a backend, and with it the sinks and stores that it opens.
func (f *Faults) Backend(b stage.Backend) stage.Backend {
	open := b.Open
	b.Open = func(ctx context.Context, at stage.Place, create bool) (s stage.Sink, err error) {
		err = f.do(ctx, "open", at.To, func() error {
			s, err = open(ctx, at, create)
			return err
		})
		if err != nil {
			return nil, err
		}
		return f.Sink(s, at.To), nil
	}
	if read := b.Store; read != nil {
		b.Store = func(ctx context.Context, at stage.Place) (stage.Store, error) {
			s, err := read(ctx, at)
			if err != nil {
				return nil, err
			}
			return f.Store(s), nil
		}
	}
	return b
}
