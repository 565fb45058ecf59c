package publish

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// MarkFormat is the newest format of key marks that this version writes and reads.
const MarkFormat = 1

// Mark is the decision of a run that has a key, where every other process can find it: the journal up to what the decision
// rests on, and the manifests that whoever finishes the run publishes.
type Mark struct {
	Format     int            `json:"clinkctl_mark"`
	Run        runstate.Token `json:"run"`
	Key        string         `json:"key"`
	Again      int            `json:"again,omitempty"`
	PlanDigest string         `json:"plan_digest"`
	Journal    string         `json:"journal"`   // lines
	Manifests  []string       `json:"manifests"` // by sink of the plan

	state *runstate.State // fold of Journal
}

// State is the fold of the mark's journal: an undecided run that the gate lets through.
func (m *Mark) State() *runstate.State { return m.state }

// RowSinks gives the sinks of a run that get its rows. They alone name a key and keep its mark: the folder of records that are refused
// is one that people clear.
func RowSinks(sinks []stage.Sink, ids []runstate.SinkID) []stage.Sink {
	var rows []stage.Sink
	for i, s := range sinks {
		if !ids[i].Rejects {
			rows = append(rows, s)
		}
	}
	return rows
}

// MarkName gives the name of the note that holds the mark of a key at some destinations of rows, which are named by their
// identities, in any order.
func MarkName(key string, again int, sinks []stage.Sink) string {
	var ids []string
	for _, s := range sinks {
		ids = append(ids, s.Identity())
	}
	slices.Sort(ids)
	text := fmt.Sprintf("%q %d %q", key, again, ids)
	_, hex, _ := strings.Cut(runstate.DigestOf([]byte(text)), ":")
	return stage.MarkNote(hex)
}

// home is the sink that keeps the mark: the one whose identity sorts first, whatever order the job lists them in.
func home(sinks []stage.Sink) stage.Sink {
	return slices.MinFunc(sinks, func(a, b stage.Sink) int { return cmp.Compare(a.Identity(), b.Identity()) })
}

// FindMark looks for the mark of a key at its destinations of rows. There is none if both results are nil. What it returns is
// durable, and its journal passes the gate.
func FindMark(ctx context.Context, key string, again int, sinks []stage.Sink) (*Mark, error) {
	name := MarkName(key, again, sinks)
	data, err := home(sinks).Note(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the key's mark: %w", err)
	}
	m, err := readMark(name, data)
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, id := range m.state.Begun.Sinks {
		if !id.Rejects {
			rows++
		}
	}
	if m.Key != key || m.Again != again || rows != len(sinks) {
		return nil, &BadMarkError{Name: name, Err: fmt.Errorf("it is of key %q, of %d sinks", m.Key, rows)}
	}
	return m, nil
}

// BadMarkError says that a key's mark at the destination cannot be read: whether the key is committed is unknown.
type BadMarkError struct {
	Name string
	Err  error
}

func (e *BadMarkError) Error() string {
	return fmt.Sprintf("the key's mark %s: %v: whether the key is committed cannot be told; put the mark back from a copy, or move it away if nothing of the key's run is at the destinations",
		e.Name, e.Err)
}

func (e *BadMarkError) Unwrap() error { return e.Err }

func readMark(name string, data []byte) (*Mark, error) {
	var m Mark
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&m); err != nil {
		return nil, &BadMarkError{name, err}
	}
	if m.Format < 1 || m.Format > MarkFormat {
		return nil, &BadMarkError{name, fmt.Errorf("it has format %d, and this clinkctl knows up to %d", m.Format, MarkFormat)}
	}
	state, err := runstate.ParseLines(name, []byte(m.Journal))
	if err != nil {
		return nil, &BadMarkError{name, err}
	}
	if err := Gate(state); err != nil {
		return nil, &BadMarkError{name, err}
	}
	m.state = state
	if err := m.check(); err != nil {
		return nil, &BadMarkError{name, err}
	}
	return &m, nil
}

// check tells whether what the mark says is what its journal says.
func (m *Mark) check() error {
	b := m.state.Begun
	if b.Run != m.Run || b.Key != m.Key || b.Again != m.Again || b.PlanDigest != m.PlanDigest {
		return fmt.Errorf("it is of run %s and key %q, and holds the journal of run %s and key %q, or of another plan", m.Run, m.Key, b.Run, b.Key)
	}
	if len(m.Manifests) != len(b.Sinks) {
		return fmt.Errorf("it has %d manifests for %d sinks", len(m.Manifests), len(b.Sinks))
	}
	for _, text := range m.Manifests {
		manifest, err := ReadManifest([]byte(text))
		if err != nil {
			return err
		}
		if manifest.Run != m.Run || manifest.Outcome != runstate.Done {
			return fmt.Errorf("it has a manifest of run %s, outcome %s", manifest.Run, manifest.Outcome)
		}
	}
	return nil
}

// Gate is the one rule that lets a run be committed: what is prepared tiles the source, in every sink. It is a pure
// function of the fold.
func Gate(s *runstate.State) error {
	if s.Decision == runstate.Abort {
		return errors.New("the run is decided to abort")
	}
	return s.Tiled()
}

var errMarkThere = errors.New("a mark of the key is there already")

// putMark makes the run's mark at its home, whole and durable, or finds that one is there.
func (s *Settler) putMark(ctx context.Context) error {
	b := s.state().Begun
	lines, err := s.Journal.Lines()
	if err != nil {
		return err
	}
	m := Mark{Format: MarkFormat, Run: b.Run, Key: b.Key, Again: b.Again, PlanDigest: b.PlanDigest, Journal: string(lines)}
	for i := range b.Sinks {
		_, text, err := manifest(s.state(), i)
		if err != nil {
			return err
		}
		m.Manifests = append(m.Manifests, string(text))
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	rows := RowSinks(s.Sinks, b.Sinks)
	err = home(rows).PutNote(ctx, MarkName(b.Key, b.Again, rows), append(data, '\n'))
	if errors.Is(err, fs.ErrExist) {
		return errMarkThere
	}
	if err != nil {
		return fmt.Errorf("make the key's mark: %w", err)
	}
	return nil
}
