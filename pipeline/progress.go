package pipeline

import "sync/atomic"

// Progress counts what a process has done. Anybody may read it at any time.
type Progress struct {
	Total     atomic.Int64 // bytes of source that are to be read, of the run at hand
	Bytes     atomic.Int64 // of source read
	Rows      atomic.Int64 // written to the stage
	Units     atomic.Int64 // prepared
	Published atomic.Int64 // artifacts
}

// Snapshot is Progress at one moment.
type Snapshot struct {
	Total     int64 `json:"source_bytes"`
	Bytes     int64 `json:"bytes"`
	Rows      int64 `json:"rows"`
	Units     int64 `json:"units"`
	Published int64 `json:"published"`
}

// Snapshot reads all counters.
func (p *Progress) Snapshot() Snapshot {
	return Snapshot{p.Total.Load(), p.Bytes.Load(), p.Rows.Load(), p.Units.Load(), p.Published.Load()}
}
