package runstate

import "encoding/json"

// Handle is the journaled promise about one artifact: it is staged, durable and invisible, and any later process that has
// the configuration can publish or abort it. It holds no secret and no live object.
type Handle struct {
	Name       string          `json:"name"` // under which it is published, unique within its sink
	Sink       int             `json:"sink"` // index in the plan
	Attempt    int             `json:"attempt"`
	Subtask    int             `json:"subtask"`
	Checkpoint int             `json:"checkpoint"`
	Place      string          `json:"place"`            // destination, for people
	Rows       int64           `json:"rows"`             // records in it
	Nulled     int64           `json:"nulled,omitempty"` // values in it that are NULL because an option asks for it
	Bytes      int64           `json:"bytes"`            // size when published
	Digest     string          `json:"digest"`           // <algorithm>:<hex> of its bytes
	Backend    string          `json:"backend"`          // whose payload it is
	Payload    json.RawMessage `json:"payload"`          // the backend's own
}

// ID names a handle within its run.
func (h Handle) ID() HandleID { return HandleID{Sink: h.Sink, Name: h.Name} }

// HandleID names a handle within its run.
type HandleID struct {
	Sink int    `json:"sink"`
	Name string `json:"name"`
}
