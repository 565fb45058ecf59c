package pipeline

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/runstate"
)

// ErrSourceChanged says that the source is not what the run has begun to read: what was kept and what would be read now do
// not belong together.
var ErrSourceChanged = errors.New("the source has changed")

// Fingerprint is what a source is recognised by.
type Fingerprint struct {
	Digest  string          // of what makes the default key
	Content string          // the same, of what a touch does not change
	Own     json.RawMessage // the source's own, journaled for Reopen
	Bytes   int64           // size of the source
}

// Sources opens sources. It holds no files open.
type Sources interface {
	// Find looks a source up and fingerprints it. A source that is not there is fs.ErrNotExist.
	Find(ctx context.Context, p Plan) (Source, Fingerprint, error)
	// Reopen is the source of a run that was begun: by what was journaled, not by what a glob matches now. If anything about
	// it raises suspicion, what is kept is compared with the bytes there now: ErrSourceChanged where they differ. It returns
	// what a person should know, too.
	Reopen(ctx context.Context, p Plan, own json.RawMessage, splits []runstate.Split, kept []runstate.Range) (Source, []string, error)
}

// Source is a source whose parts are known. Its methods may be called from several goroutines.
type Source interface {
	// Split cuts the source into pieces that can be read again, from source and plan alone. It is called once for a run.
	Split(ctx context.Context) ([]runstate.Split, error)
	// Head is what stands before the first record, for records that are copied unparsed. It fails where the source does not
	// have the plan's columns.
	Head(ctx context.Context) ([]byte, error)
	// Infer gives the columns of a source that nobody has declared, from what it says of itself or from its first rows. None:
	// it has no columns.
	Infer(ctx context.Context) ([]columnar.Column, error)
	// Size is about how many bytes a range takes where it is kept. It is for progress and fair shares.
	Size(r runstate.Range) int64
	// Open reads a range of a split.
	Open(ctx context.Context, r runstate.Range) (Reader, error)
	// Check is Reopen's comparison again, for ranges that were kept or read since: it reads nothing of them unless the source
	// is not as it was when it was found or reopened.
	Check(ctx context.Context, ranges []runstate.Range) (warnings []string, err error)
	// Unmatched names what the source's pattern matches now and the run will not read.
	Unmatched(ctx context.Context) []string
}

// Step is what one call of Reader.Next has passed.
type Step struct {
	To       int64 // position after it
	Bytes    int64 // of source, as a checkpoint counts them
	Read     int64 // of what Source.Size counts
	Rejected []Rejected
}

// Rejected is a record that was refused and left out. It is only where the plan has a sink for them.
type Rejected struct {
	Err *format.DataError // with file and line, or row
	Raw []byte            // the record as it stands in the source; nil for formats that are no text
}

// Reader reads one range of a split. It is used by one goroutine at a time.
type Reader interface {
	// Next fills b with the next records, as rows of the plan's columns, as many as the limit lets in. At the end of the range it
	// gives io.EOF.
	Next(ctx context.Context, limit format.Limit, b *columnar.Batch) (Step, error)
	// Place adds to a data error that names a row of the batch that Next has filled last where the row stands in the source.
	// Other errors pass unchanged.
	Place(ctx context.Context, err error) error
	// Digest gives the digest of the source's bytes that Next has passed since Open or the last call of Digest.
	Digest() string
	Close() error
}
