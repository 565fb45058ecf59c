package runstate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// Format is the newest format of journals that this version writes and reads. A journal of an older format is continued in
// its own.
//
//	1  the first
//	2  records that are refused can be put aside; columns can be renamed, cast and made; the positions of a split can be rows, and
//	   its end unknown
const Format = 2

// Record is one line of a journal: when it was written, and exactly one of the others.
type Record struct {
	At       time.Time       `json:"at"`
	Begun    *Begun          `json:"begun,omitempty"`
	Attempt  *Attempt        `json:"attempt,omitempty"`
	Prepared *Unit           `json:"prepared,omitempty"`
	Dropped  *Dropped        `json:"dropped,omitempty"`
	Decided  *Decided        `json:"decided,omitempty"`
	Finished *HandleID       `json:"finished,omitempty"`
	Resolved *Resolved       `json:"resolved,omitempty"`
	Manifest *ManifestRecord `json:"manifest,omitempty"`
	Ended    *Ended          `json:"ended,omitempty"`
}

// Begun is a journal's first record: what the run is, whole.
type Begun struct {
	Journal     int             `json:"journal"` // format of this journal
	Run         Token           `json:"run"`
	Job         string          `json:"job"`
	Key         string          `json:"key,omitempty"`   // the caller's; "" if none was given
	Again       int             `json:"again,omitempty"` // part of the key
	Plan        json.RawMessage `json:"plan"`            // the pipeline's
	PlanDigest  string          `json:"plan_digest"`     // of what of the plan shapes the output
	Splits      []Split         `json:"splits"`
	Source      json.RawMessage `json:"source"`      // the source's fingerprint, its own
	Fingerprint string          `json:"fingerprint"` // digest of what of it makes the default key
	Content     string          `json:"content"`     // the same, of what a touch does not change
	Columns     []Column        `json:"columns"`     // of what is written; none where records are copied unparsed
	Sinks       []SinkID        `json:"sinks"`       // in the plan's order
	Made        Versions        `json:"made_by"`     // for people
	Guarantee   string          `json:"guarantee"`   // label of the run
}

// Versions names what wrote a journal.
type Versions struct {
	Clinkctl string `json:"clinkctl"`
	Go       string `json:"go"`
}

// Column is a column of what a run writes.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	From     string `json:"from,omitempty"`   // its name in the source, if that is another one
	Cast     string `json:"cast,omitempty"`   // what may be done to the source's values: exact, lossy; "" is what cannot lose
	Value    string `json:"value,omitempty"`  // text of a column that is not in the source; may have {key} and the like
	Unseen   bool   `json:"unseen,omitempty"` // it was inferred from no value
}

// SinkID is a destination.
type SinkID struct {
	To       string `json:"to"`
	Identity string `json:"identity"`
	Rejects  bool   `json:"rejects,omitempty"` // it gets the records that are refused, and not the rows
}

// Split is a piece of the source that can be read again: positions [From, To) of a source's part.
type Split struct {
	Part string `json:"part"`
	From int64  `json:"from"`
	To   int64  `json:"to"`             // Unknown until a range has reached the end
	Unit string `json:"unit,omitempty"` // of positions; "" is bytes
}

// Unknown is the end of a split whose length is known only when it has been read. What is still to be read of it ends at
// Endless.
const (
	Unknown = -1
	Endless = math.MaxInt64
)

// Units gives the unit of positions, for people.
func (s Split) Units() string {
	if s.Unit == "" {
		return "bytes"
	}
	return s.Unit
}

// Attempt is one process that works on the run.
type Attempt struct {
	Number     int    `json:"number"` // from 1
	Host       string `json:"host"`
	Process    int    `json:"process"`
	ID         string `json:"id"` // 128 random bits, hex
	Subtasks   int    `json:"subtasks"`
	MaxRejects *int64 `json:"max_rejects,omitempty"` // records of the run that may be refused; nil where none may
}

// Unit is what one subtask prepared at one checkpoint: ranges of splits, their artifact in every sink if they held rows, and in the
// one for rejects if records were refused.
type Unit struct {
	Attempt    int      `json:"attempt"`
	Subtask    int      `json:"subtask"`
	Checkpoint int      `json:"checkpoint"`
	Ranges     []Range  `json:"ranges"`
	Rows       int64    `json:"rows"`
	Rejected   int64    `json:"rejected,omitempty"` // records that were refused
	Handles    []Handle `json:"handles"`
}

// Range is positions [From, To) of a split, with the digest of the source's bytes there.
type Range struct {
	Split  int    `json:"split"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Digest string `json:"digest"`
	End    bool   `json:"end,omitempty"` // it reaches the split's end
}

// UnitID names a unit within its run.
type UnitID struct {
	Subtask    int `json:"subtask"`
	Checkpoint int `json:"checkpoint"`
}

// ID names the unit.
func (u Unit) ID() UnitID { return UnitID{u.Subtask, u.Checkpoint} }

// Dropped takes a unit back: its stage was found gone before the decision.
type Dropped struct {
	UnitID
	Why string `json:"why"`
}

// Decision is what is decided of a run.
type Decision string

// The decisions; a run without one is undecided.
const (
	Undecided Decision = ""
	Commit    Decision = "commit"
	Abort     Decision = "abort"
)

// Decided decides the whole run.
type Decided struct {
	Decision  Decision `json:"decision"`
	Why       string   `json:"why,omitempty"`
	Manifests []string `json:"manifests,omitempty"` // of outcome done, by sink, where a key mark has fixed their bytes
}

// Verdict is a person's word about an artifact.
type Verdict string

// The verdicts.
const (
	AsPublished Verdict = "published"
	AsLost      Verdict = "lost"
)

// Resolved is a person's word about a handle whose fate no look can prove.
type Resolved struct {
	HandleID
	As  Verdict `json:"as"`
	Why string  `json:"why"`
}

// ManifestRecord fixes the bytes of a sink's manifest before it is published, or after it was found there: the last one
// of a sink holds.
type ManifestRecord struct {
	Sink    int     `json:"sink"`
	Outcome Outcome `json:"outcome"`
	Digest  string  `json:"digest"`
	Bytes   string  `json:"bytes"` // the manifest itself, JSON
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"    // everything is published
	Partial Outcome = "partial" // decided, but something was lost
	Aborted Outcome = "aborted" // nothing is published
)

// Ended is a journal's last record.
type Ended struct {
	Outcome  Outcome  `json:"outcome"`
	Warnings []string `json:"warnings,omitempty"`
}

// encode gives the record's JSON, without line end.
func (r Record) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func decodeRecord(line []byte) (Record, error) {
	var r Record
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Record{}, fmt.Errorf("something follows the record")
	}
	return r, nil
}
