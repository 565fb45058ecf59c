package publish

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// ManifestFormat is the newest format of manifests that this version writes and reads.
const ManifestFormat = 1

// Manifest is what a run leaves at each of its sinks, last: what was published there, checkable by a stranger. The sums of
// the artifacts can be checked with `xxhsum -H128`.
type Manifest struct {
	Format      int                `json:"clinkctl_manifest"`
	Outcome     runstate.Outcome   `json:"outcome"`
	Run         runstate.Token     `json:"run"`
	Job         string             `json:"job"`
	Key         string             `json:"key,omitempty"`
	Again       int                `json:"again,omitempty"`
	Attempts    int                `json:"attempts"` // number of the last one that staged an artifact of the run
	Guarantee   string             `json:"guarantee"`
	Fingerprint string             `json:"fingerprint"`       // of the source
	Rejects     bool               `json:"rejects,omitempty"` // the artifacts hold the records that were refused, and not the rows
	Columns     []runstate.Column  `json:"columns"`           // of the rows; none of rejects
	Rows        int64              `json:"rows"`
	Rejected    int64              `json:"rejected,omitempty"` // records of the run that were refused, and put aside
	Nulled      int64              `json:"nulled,omitempty"`   // values that are NULL because an option asks for it
	Bytes       int64              `json:"bytes"`
	Artifacts   []ManifestArtifact `json:"artifacts"`
	Lost        []LostArtifact     `json:"lost,omitempty"` // of outcome partial
}

// ManifestArtifact is one artifact of a manifest.
type ManifestArtifact struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Nulled int64  `json:"nulled,omitempty"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
	// Version is the artifact's at a destination that keeps versions, as the destination names it.
	Version string `json:"version,omitempty"`
}

// LostArtifact is an artifact that was declared lost, and the ranges of the source that are missing with it.
type LostArtifact struct {
	ManifestArtifact
	Why    string      `json:"why"`
	Ranges []LostRange `json:"ranges"`
}

// LostRange is a piece of the source that is missing.
type LostRange struct {
	Part string `json:"part"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Unit string `json:"unit,omitempty"` // "" is bytes
}

// manifest gives the manifest of a sink, as bytes. It is a pure function of begun, the kept units and what is resolved, so
// that every process that finishes a run makes the same one.
func manifest(s *runstate.State, sink int) (runstate.Outcome, []byte, error) {
	b := s.Begun
	m := Manifest{Format: ManifestFormat, Outcome: runstate.Done, Run: b.Run, Job: b.Job, Key: b.Key, Again: b.Again,
		Guarantee: b.Guarantee, Fingerprint: b.Fingerprint, Columns: b.Columns, Artifacts: []ManifestArtifact{}}
	if b.Sinks[sink].Rejects {
		m.Rejects, m.Columns = true, []runstate.Column{}
	}
	if len(s.Lost()) > 0 { // at any sink: the set is decided together
		m.Outcome = runstate.Partial
	}
	if len(s.Resolved) > 0 {
		m.Guarantee += ", but for what a person has resolved"
	}
	for _, u := range s.Units {
		if u.Dropped {
			continue
		}
		m.Attempts = max(m.Attempts, u.Attempt)
		m.Rejected += u.Rejected
		for _, h := range u.Handles {
			if h.Sink == sink {
				m.add(s, u.Unit, h)
			}
		}
	}
	data, err := json.MarshalIndent(m, "", "  ")
	return m.Outcome, append(data, '\n'), err
}

func (m *Manifest) add(s *runstate.State, u runstate.Unit, h runstate.Handle) {
	a := ManifestArtifact{Name: h.Name, Rows: h.Rows, Nulled: h.Nulled, Bytes: h.Bytes, Digest: h.Digest}
	if r := s.Resolved[h.ID()]; r.As == runstate.AsLost {
		lost := LostArtifact{ManifestArtifact: a, Why: r.Why}
		for _, r := range u.Ranges {
			lost.Ranges = append(lost.Ranges, LostRange{s.Begun.Splits[r.Split].Part, r.From, r.To, s.Begun.Splits[r.Split].Unit})
		}
		m.Lost = append(m.Lost, lost)
		return
	}
	m.Artifacts = append(m.Artifacts, a)
	m.Rows += h.Rows
	m.Nulled += h.Nulled
	m.Bytes += h.Bytes
}

// withVersions gives a manifest that names the version of each artifact, where the sink keeps versions. They are known only
// once everything is published, so that no key mark has them.
func withVersions(ctx context.Context, sink stage.Sink, text []byte, handles []runstate.Handle) ([]byte, error) {
	versioned, ok := sink.(stage.Versioned)
	if !ok {
		return text, nil
	}
	m, err := ReadManifest(text)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, h := range handles {
		if versions[h.Name], err = versioned.Version(ctx, h); err != nil {
			return nil, fmt.Errorf("the version of %s: %w", h.Name, err)
		}
	}
	some := false
	for i := range m.Artifacts {
		m.Artifacts[i].Version = versions[m.Artifacts[i].Name]
		some = some || m.Artifacts[i].Version != ""
	}
	if !some {
		return text, nil
	}
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// ReadManifest reads a manifest, which may be of any version that wrote one.
func ReadManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("it is not a manifest: %w", err)
	}
	switch {
	case m.Format < 1:
		return nil, fmt.Errorf("it is not a manifest of clinkctl")
	case m.Format > ManifestFormat:
		return nil, fmt.Errorf("it is a manifest of format %d, and this clinkctl knows up to %d", m.Format, ManifestFormat)
	}
	return &m, nil
}
