package stagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

const memoryName = "mem"

var errMemoryClosed = errors.New("the destination of memory is closed")

// memorySink is an open destination of a World.
type memorySink struct {
	world  *World
	to, id string

	mu     sync.RWMutex // held for reading by every call, for writing by Close
	closed bool
}

var (
	_ stage.Sink    = (*memorySink)(nil)
	_ stage.Bytes   = (*memorySink)(nil)
	_ stage.Lister  = (*memorySink)(nil)
	_ stage.Sweeper = (*memorySink)(nil)
	_ stage.Prober  = (*memorySink)(nil)
)

// memoryPayload is what a handle says to this backend.
type memoryPayload struct {
	Place  string `json:"place"`
	Staged string `json:"staged"`
}

func (s *memorySink) Identity() string { return memoryName + ":" + s.id }

func (s *memorySink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// call runs f on the destination, if it is the one with this id.
func (s *memorySink) call(ctx context.Context, id string, f func(p *place) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errMemoryClosed
	}
	return s.world.look(ctx, func(places map[string]*place) error {
		if p := places[s.to]; p != nil && p.ID == id {
			return f(p)
		}
		return fmt.Errorf("%s: %w", s.to, stage.ErrElsewhere)
	})
}

// finish is call for a handle, with the key of its stage.
func (s *memorySink) finish(ctx context.Context, h runstate.Handle, f func(p *place, key string) error) error {
	var payload memoryPayload
	a, err := runstate.ParseName(h.Name)
	if err == nil {
		err = json.Unmarshal(h.Payload, &payload)
	}
	if a.Attempt = h.Attempt; err != nil || h.Backend != memoryName || payload.Staged != memoryKey(a) ||
		strings.Contains(h.Name, "/") {
		return fmt.Errorf("%s is no artifact of memory: %w", h.Name, errors.Join(err, errors.ErrUnsupported))
	}
	return s.call(ctx, payload.Place, func(p *place) error { return f(p, payload.Staged) })
}

func memoryKey(a runstate.Artifact) string {
	return string(a.Run) + "/" + a.Stem() + ".a" + strconv.Itoa(a.Attempt)
}

// isArtifact tells whether some bytes are the handle's artifact.
func isArtifact(h runstate.Handle, data []byte, there bool) bool {
	return there && int64(len(data)) == h.Bytes && runstate.DigestOf(data) == h.Digest
}

func (s *memorySink) Inspect(ctx context.Context, h runstate.Handle) (e stage.Evidence, err error) {
	err = s.finish(ctx, h, func(p *place, key string) error {
		object, visible := p.Objects[h.Name]
		data, staged := p.Staged[key]
		e.Detail = fmt.Sprintf("%s: visible %t, staged %t", h.Name, visible, staged)
		switch {
		case isArtifact(h, object, visible):
			e.State = stage.Published
		case visible:
			e.State = stage.Foreign
		case isArtifact(h, data, staged):
			e.State = stage.Staged
		default:
			e.State = stage.Gone
		}
		return nil
	})
	return e, err
}

func (s *memorySink) Publish(ctx context.Context, h runstate.Handle) error {
	return s.finish(ctx, h, func(p *place, key string) error {
		s.world.held()
		object, visible := p.Objects[h.Name]
		data, staged := p.Staged[key]
		switch {
		case isArtifact(h, object, visible):
		case visible:
			return fmt.Errorf("publish %s: %w", h.Name, stage.ErrForeign)
		case isArtifact(h, data, staged):
			p.Objects[h.Name] = data
		default:
			return fmt.Errorf("publish %s: nothing is staged", h.Name)
		}
		delete(p.Staged, key)
		return nil
	})
}

func (s *memorySink) Abort(ctx context.Context, h runstate.Handle) error {
	return s.finish(ctx, h, func(p *place, key string) error {
		if object, visible := p.Objects[h.Name]; isArtifact(h, object, visible) {
			return fmt.Errorf("abort %s: %w", h.Name, stage.ErrPublished)
		}
		delete(p.Staged, key)
		return nil
	})
}

// note gives the objects among which a note is.
func (s *memorySink) note(p *place, name string) (among map[string][]byte, base string, err error) {
	among, base = p.Objects, name
	if rest, ok := strings.CutPrefix(name, stage.Hidden+"/"); ok {
		among, base = p.Hidden, rest
	}
	_, artifact := runstate.ParseName(base)
	if base == "" || base == "." || base == ".." || base == stage.Hidden || strings.Contains(base, "/") || artifact == nil {
		return nil, "", fmt.Errorf("%q cannot be the name of a note", name)
	}
	return among, base, nil
}

func (s *memorySink) PutNote(ctx context.Context, name string, data []byte) error {
	return s.call(ctx, s.id, func(p *place) error {
		among, base, err := s.note(p, name)
		if err != nil {
			return err
		}
		if _, taken := among[base]; taken {
			return &fs.PathError{Op: "put note", Path: name, Err: fs.ErrExist}
		}
		among[base] = bytes.Clone(data)
		return nil
	})
}

func (s *memorySink) Note(ctx context.Context, name string) (data []byte, err error) {
	err = s.call(ctx, s.id, func(p *place) error {
		among, base, err := s.note(p, name)
		if err != nil {
			return err
		}
		is, there := among[base]
		if !there {
			return &fs.PathError{Op: "note", Path: name, Err: fs.ErrNotExist}
		}
		data = bytes.Clone(is)
		return nil
	})
	return data, err
}

// Probe has nothing to try.
func (s *memorySink) Probe(ctx context.Context, run runstate.Token) error {
	return s.call(ctx, s.id, func(*place) error { return nil })
}

func (s *memorySink) Visible(ctx context.Context, run runstate.Token) (names []string, err error) {
	err = s.call(ctx, s.id, func(p *place) error {
		for _, name := range slices.Sorted(maps.Keys(p.Objects)) {
			if a, err := runstate.ParseName(name); err == nil && a.Run == run {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

func (s *memorySink) Sweep(ctx context.Context, run runstate.Token, live []runstate.Handle) error {
	if _, err := runstate.ParseToken(string(run)); err != nil {
		return err
	}
	return s.call(ctx, s.id, func(p *place) error {
		keep := map[string]bool{}
		for _, h := range live {
			var payload memoryPayload
			if err := json.Unmarshal(h.Payload, &payload); err != nil {
				return err
			}
			keep[payload.Staged] = true
		}
		maps.DeleteFunc(p.Staged, func(key string, _ []byte) bool { return isStagedOf(run, key) && !keep[key] })
		return nil
	})
}

// isStagedOf tells whether a key is one that this backend gives to what is staged of a run.
func isStagedOf(run runstate.Token, key string) bool {
	name, ok := strings.CutPrefix(key, string(run)+"/")
	if !ok || strings.Contains(name, "/") {
		return false
	}
	a, err := runstate.ParseName(name)
	if err != nil || a.Run != run {
		return false
	}
	a.Attempt, err = strconv.Atoi(strings.TrimPrefix(a.Ext, "a"))
	return err == nil && a.Attempt > 0 && memoryKey(a) == key
}

func (s *memorySink) Create(ctx context.Context, a runstate.Artifact) (stage.ByteWriter, error) {
	err := s.call(ctx, s.id, func(p *place) error {
		if _, taken := p.Staged[memoryKey(a)]; taken {
			return &fs.PathError{Op: "create", Path: memoryKey(a), Err: fs.ErrExist}
		}
		p.Staged[memoryKey(a)] = nil // as a file of which nothing is written yet
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &memoryWriter{sink: s, artifact: a}, nil
}

// memoryWriter stages one artifact.
type memoryWriter struct {
	sink     *memorySink
	artifact runstate.Artifact
	data     bytes.Buffer
	ended    bool
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	if w.ended {
		return 0, errors.New("the writer has ended")
	}
	return w.data.Write(p)
}

// ReadBack shows what was written.
func (w *memoryWriter) ReadBack() (io.ReaderAt, int64, error) {
	return bytes.NewReader(w.data.Bytes()), int64(w.data.Len()), nil
}

func (w *memoryWriter) Prepare(ctx context.Context, rows int64, digest string) (h runstate.Handle, err error) {
	if w.ended {
		return h, errors.New("the writer has ended")
	}
	a, s := w.artifact, w.sink
	payload, err := json.Marshal(memoryPayload{Place: s.id, Staged: memoryKey(a)})
	if err != nil {
		return h, err
	}
	err = s.call(ctx, s.id, func(p *place) error {
		p.Staged[memoryKey(a)] = bytes.Clone(w.data.Bytes())
		return nil
	})
	if err != nil {
		return h, err
	}
	w.ended = true
	return runstate.Handle{Name: a.Name(), Sink: a.Sink, Attempt: a.Attempt, Subtask: a.Subtask, Checkpoint: a.Checkpoint,
		Place: s.to, Rows: rows, Bytes: int64(w.data.Len()), Digest: digest, Backend: memoryName, Payload: payload}, nil
}

func (w *memoryWriter) Discard(ctx context.Context) error {
	w.ended = true
	return w.sink.call(ctx, w.sink.id, func(p *place) error {
		delete(p.Staged, memoryKey(w.artifact))
		return nil
	})
}
