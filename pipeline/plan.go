// Package pipeline is the export itself: a plan is made from a job, the source is cut into splits, subtasks read them and
// stage units, and what was staged is decided and finished by package publish. `run` and `resume` have the same code.
package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// Plan is a job with every default expanded. It is journaled whole, so that any later process can go on with the run.
type Plan struct {
	Name        string            `json:"name"`
	Source      SourcePlan        `json:"source"`
	Columns     []runstate.Column `json:"columns"`         // none: records are copied unparsed
	Infer       bool              `json:"infer,omitempty"` // nobody has declared the columns: they are inferred
	Sinks       []SinkPlan        `json:"sinks"`
	Subtasks    int               `json:"subtasks"`
	Checkpoint  Checkpoint        `json:"checkpoint"`
	OnEmpty     OnEmpty           `json:"on_empty"`
	MaxRejects  int64             `json:"max_rejects,omitempty"` // how many records may be refused and put aside
	OnPending   OnPending         `json:"on_pending"`
	ExactlyOnce bool              `json:"exactly_once,omitempty"` // the job asks for it by name
	CommitWait  Duration          `json:"commit_wait"`
	MaxRun      Duration          `json:"max_run,omitempty"`      // how long a run may take
	MaxDowntime Duration          `json:"max_downtime,omitempty"` // how long it may lie still after a failure before it is carried on
	Vars        map[string]string `json:"-"`                      // what {key} and the like stand for in columns, of the run at hand
}

// SourcePlan is where the rows come from.
type SourcePlan struct {
	Path       string         `json:"path"` // absolute; may have wildcards
	Format     string         `json:"format"`
	Options    map[string]any `json:"options,omitempty"`     // of the format
	SplitBytes int64          `json:"split_bytes,omitempty"` // larger files are cut; 0: by the number of subtasks
	SampleRows int64          `json:"sample_rows,omitempty"` // how many rows columns are inferred from
	Reach      map[string]any `json:"reach,omitempty"`       // options that say how the store is reached
}

// DefaultSampleRows is how many rows columns are inferred from unless the job says otherwise.
const DefaultSampleRows = 20_000

// SinkPlan is one destination.
type SinkPlan struct {
	To      string         `json:"to"`
	Format  string         `json:"format"`
	Options map[string]any `json:"options,omitempty"` // of the format
	Ext     string         `json:"ext"`               // of the artifacts, without dot
	Reach   map[string]any `json:"reach,omitempty"`   // options of the backend that change nothing of what is written
	Shape   map[string]any `json:"shape,omitempty"`   // options of the backend that do
	Rejects bool           `json:"rejects,omitempty"` // it gets the records that are refused, and not the rows
}

// Place is where the backend finds the destination.
func (s SinkPlan) Place() stage.Place {
	return stage.Place{To: s.To, Reach: s.Reach, Shape: s.Shape}
}

// Place is where the store finds the source.
func (s SourcePlan) Place() stage.Place { return stage.Place{To: s.Path, Reach: s.Reach} }

// Rejects tells whether records that are refused are put aside; otherwise the first one ends the run.
func (p Plan) Rejects() bool {
	return slices.ContainsFunc(p.Sinks, func(s SinkPlan) bool { return s.Rejects })
}

// Checkpoint bounds a unit: whichever comes first ends it.
type Checkpoint struct {
	Bytes int64 `json:"bytes"`          // of source
	Rows  int64 `json:"rows,omitempty"` // 0: no bound
}

// OnEmpty is what a source without rows means.
type OnEmpty string

// The values of on_empty.
const (
	EmptySkip  OnEmpty = "skip"  // a manifest that says 0 rows
	EmptyWrite OnEmpty = "write" // one artifact without rows, and the manifest
	EmptyFail  OnEmpty = "fail"  // the run is aborted
)

// OnPending is what a new run does with undecided runs of the job whose process is dead.
type OnPending string

// The values of on_pending.
const (
	PendingResume OnPending = "resume" // carries them to their end
	PendingAbort  OnPending = "abort"  // abandons them
)

// Duration is a duration that is written as text: "30s".
type Duration time.Duration

// MarshalText writes it as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Digest is the digest of what of the plan shapes the output. How long anybody waits, how a destination is reached, and what
// becomes of other runs, does not; nor does the order of the sinks, nor what columns are inferred.
func (p Plan) Digest() (string, error) {
	if p.Infer {
		p.Columns = nil
	}
	p.OnPending, p.CommitWait, p.ExactlyOnce, p.MaxRejects, p.MaxRun, p.MaxDowntime = "", 0, false, 0, 0, 0
	p = p.unreached()
	slices.SortFunc(p.Sinks, func(a, b SinkPlan) int { return cmp.Compare(a.To, b.To) })
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the plan: %w", err)
	}
	return runstate.DigestOf(text), nil
}

// unreached gives the plan without how source and destinations are reached.
func (p Plan) unreached() Plan {
	p.Source.Reach = nil
	p.Sinks = slices.Clone(p.Sinks)
	for i := range p.Sinks {
		p.Sinks[i].Reach = nil
	}
	return p
}

// Differences names what differs between two plans that should be one, as `path: ours, theirs` lines.
func (p Plan) Differences(o Plan) []string {
	var diff []string
	p.OnPending, p.CommitWait, p.ExactlyOnce, p.MaxRejects, p.MaxRun, p.MaxDowntime = o.OnPending, o.CommitWait, o.ExactlyOnce, o.MaxRejects, o.MaxRun, o.MaxDowntime
	if p.Infer && o.Infer {
		p.Columns = o.Columns
	}
	a, b := flat(p.unreached()), flat(o.unreached())
	for _, k := range sortedKeys(a, b) {
		if a[k] != b[k] {
			diff = append(diff, fmt.Sprintf("%s: %s now, %s then", k, orNone(a[k]), orNone(b[k])))
		}
	}
	return diff
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// flat gives every value of a plan under its path.
func flat(p Plan) map[string]string {
	text, err := json.Marshal(p)
	if err != nil {
		return nil
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil
	}
	out := map[string]string{}
	flatten(out, "", tree)
	return out
}

func flatten(out map[string]string, path string, tree any) {
	switch v := tree.(type) {
	case map[string]any:
		for k, x := range v {
			flatten(out, join(path, k), x)
		}
	case []any:
		for i, x := range v {
			flatten(out, join(path, fmt.Sprint(i)), x)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}

func join(path, k string) string {
	if path == "" {
		return k
	}
	return path + "." + k
}

func sortedKeys(maps ...map[string]string) []string {
	seen := map[string]bool{}
	for _, m := range maps {
		for k := range m {
			seen[k] = true
		}
	}
	keys := make([]string, 0, len(seen))
	for k := range seen {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
