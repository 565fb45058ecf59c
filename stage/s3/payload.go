package s3

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

// payload is what a handle says to this backend: which upload it is, and what shows that an object is made of it.
type payload struct {
	ID       string   `json:"id"` // of the destination
	Bucket   string   `json:"bucket"`
	Key      string   `json:"key"`
	Upload   string   `json:"upload"`
	Token    string   `json:"token"` // 128 random bits, in the object's metadata
	Checksum checksum `json:"checksum"`
	Sum      string   `json:"sum,omitempty"` // of the whole object, as the store shows it
	Parts    []part   `json:"parts"`
}

// part is a part that the store has acknowledged.
type part struct {
	Number int32  `json:"n"`
	Size   int64  `json:"size"` // bytes
	ETag   string `json:"etag"`
	Sum    string `json:"sum,omitempty"`
}

// promise is a handle that was found to be one of ours.
type promise struct {
	payload
	handle runstate.Handle
	run    runstate.Token
}

// read takes a handle apart. It answers an error unless what it names is what this sink gives.
func (s *sink) read(h runstate.Handle) (promise, error) {
	p := promise{handle: h}
	if h.Backend != scheme {
		return p, fmt.Errorf("handle of %s is of backend %q, not %q", h.Name, h.Backend, scheme)
	}
	if err := json.Unmarshal(h.Payload, &p.payload); err != nil {
		return p, fmt.Errorf("handle of %s: %w", h.Name, err)
	}
	a, err := parseName(h.Name)
	if err != nil {
		return p, fmt.Errorf("handle: %w", err)
	}
	p.run = a.Run
	if p.ID == "" || p.Upload == "" || !isID(p.Token) || !p.Checksum.known() {
		return p, fmt.Errorf("handle of %s: its upload, token or checksum is none of this backend's", h.Name)
	}
	if p.ID != s.id {
		return p, fmt.Errorf("%w: %s has the id %s, and %s was staged at %s", stage.ErrElsewhere, s.at, s.id, h.Name, p.ID)
	}
	if p.Bucket != s.at.bucket || p.Key != s.at.key(h.Name) {
		return p, fmt.Errorf("handle of %s: %s/%s is not where it would be published", h.Name, p.Bucket, p.Key)
	}
	return p, checkParts(p)
}

// checkParts compares a handle's parts with its size: what does not add up must not be completed.
func checkParts(p promise) error {
	var size int64
	for i, part := range p.Parts {
		if part.Number != int32(i+1) || part.ETag == "" || i > 0 && i < len(p.Parts)-1 && part.Size != p.Parts[0].Size {
			return fmt.Errorf("handle of %s: part %d of it is out of order, or another size than the others", p.handle.Name, i+1)
		}
		size += part.Size
	}
	if len(p.Parts) == 0 || size != p.handle.Bytes {
		return fmt.Errorf("handle of %s: its %d parts have %d bytes, and the artifact has %d", p.handle.Name, len(p.Parts), size, p.handle.Bytes)
	}
	return nil
}

// parseName reads the name of an artifact that is one element of a key.
func parseName(name string) (runstate.Artifact, error) {
	if strings.ContainsAny(name, "/\x00") {
		return runstate.Artifact{}, fmt.Errorf("%q is not the last element of a key", name)
	}
	return runstate.ParseName(name)
}

func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == tokenBytes && s == strings.ToLower(s)
}
