// Package stage is the contract of a sink: a place that can hold a durable, invisible, later-committable write.
//
// The protocol that a backend serves: an artifact is staged (Open, Write, Prepare), its handle is journaled, the run is
// decided, and only then is the artifact published (Publish) or thrown away (Abort). The process may die between any two
// steps; another one goes on with nothing but the handle. A backend is a folder with the laws of stagetest run against it,
// and one line of wiring.
package stage

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/runstate"
)

// Stager stages artifacts of rows.
type Stager interface {
	// Open begins an artifact. Nothing of it is visible at the destination.
	Open(ctx context.Context, a runstate.Artifact, schema *columnar.Schema) (Writer, error)
}

// Writer stages one artifact. It is used by one goroutine at a time, and ends with one call of Prepare or Discard;
// Discard may also follow a Prepare that failed.
type Writer interface {
	// Write adds rows. It does not keep the batch.
	Write(ctx context.Context, b *columnar.Batch) error
	// Prepare makes what was written durable, still invisible, and promises that it can be published later by anybody who
	// has the handle. After an error there is no promise, and Discard is called.
	Prepare(ctx context.Context) (runstate.Handle, error)
	// Discard throws away what was staged. What it could not remove is left for Sweep.
	Discard(ctx context.Context) error
}

// Bytes is a backend that stages files of bytes, whatever their format.
type Bytes interface {
	Create(ctx context.Context, a runstate.Artifact) (ByteWriter, error)
}

// ByteWriter stages one file of bytes, as Writer does for rows. Write is called from one goroutine at a time; a short
// write is an error.
type ByteWriter interface {
	io.Writer
	// Prepare is as Writer's. The digest is of all bytes written, rows is how many records they hold.
	Prepare(ctx context.Context, rows int64, digest string) (runstate.Handle, error)
	Discard(ctx context.Context) error
}

// ReadBack is a ByteWriter that can show what it has written, before Prepare. Reads of what it cannot show any more are
// errors.ErrUnsupported.
type ReadBack interface {
	ReadBack() (r io.ReaderAt, size int64, err error)
}

// State is what the world shows of an artifact.
type State int

// The states that Inspect can tell apart.
const (
	Staged    State = iota + 1 // whole and invisible; not published
	Published                  // at its destination, whole, and ours by token, size and digest; a rest may still be staged
	Gone                       // stage and destination both answered, both without our artifact
	Foreign                    // the destination has something else under the artifact's name
)

func (s State) String() string {
	return [...]string{"unknown", "staged", "published", "gone", "foreign"}[s]
}

// Evidence is what was seen of an artifact.
type Evidence struct {
	State  State
	Detail string // for people: what was found, where
}

// Inspector looks, and changes nothing.
type Inspector interface {
	// Inspect tells the state of an artifact by looking at stage and destination. Any look that was not answered, and a
	// destination that is not the one the artifact was staged for, is an error: the state is unknown then, never Gone.
	Inspect(ctx context.Context, h runstate.Handle) (Evidence, error)
}

// Publisher finishes artifacts. Both its methods may be called any number of times, after a crash in either, and by two
// processes at once.
type Publisher interface {
	// Publish makes a staged artifact visible under its name, durably, and removes what is staged of it. It looks at the name
	// before it acts, and never replaces anything. Of an artifact that is published already it makes the same durable and clears the same away. Its nil is no
	// evidence: Inspect gives that.
	Publish(ctx context.Context, h runstate.Handle) error
	// Abort makes sure that a staged artifact can never be published: when it returns nil nothing of it is left. It never
	// unpublishes: an artifact found published is ErrPublished, and nothing is changed.
	Abort(ctx context.Context, h runstate.Handle) error
}

// Notes is a sink's place for small whole files of ours: manifests, key marks.
type Notes interface {
	// PutNote makes a note with exactly these bytes, whole and durable before it is visible. A name that is taken is
	// fs.ErrExist, and what it holds is unchanged.
	PutNote(ctx context.Context, name string, data []byte) error
	// Note gives a note's bytes, after making them as durable as PutNote does: what is read may be acted on. A name that is
	// not there is fs.ErrNotExist; a destination that does not answer is another error.
	Note(ctx context.Context, name string) ([]byte, error)
}

// Sink is a destination that is open. Its methods may be called from several goroutines. No Publish or Abort overlaps
// Close or follows it: whoever closes waits.
type Sink interface {
	Inspector
	Publisher
	Notes
	// Identity names the destination so that no other place has the same name: a random id kept there, else a URL.
	Identity() string
	io.Closer
}

// Optional abilities, found by type assertion.
type (
	// Lister is a Sink that can list what is visible of a run.
	Lister interface {
		// Visible gives the names at the destination that are artifacts of the run, sorted.
		Visible(ctx context.Context, run runstate.Token) ([]string, error)
	}
	// Sweeper is a Sink where a crash can leave staged files that no handle names.
	Sweeper interface {
		// Sweep removes whatever is staged of the run but the live handles' artifacts. It touches nothing of other runs.
		Sweep(ctx context.Context, run runstate.Token, live []runstate.Handle) error
	}
	// Finder is a Sink that shows what is staged in it of runs that nobody may know any more. It is for people.
	Finder interface {
		Found(ctx context.Context) ([]Found, error)
		// Marks gives the names of all notes that are key marks.
		Marks(ctx context.Context) ([]string, error)
	}
	// Versioned is a Sink that may keep every version of what has a name.
	Versioned interface {
		// Version names the version that a published artifact is, "" where the destination keeps none.
		Version(ctx context.Context, h runstate.Handle) (string, error)
	}
	// Limited is a Sink where something runs out with time.
	Limited interface {
		// Limits asks the destination. Its error is a refusal: a promise with an end that nobody knows is none.
		Limits(ctx context.Context) (Limits, error)
	}
	// Prober is a Sink that must try something at the destination before it can promise.
	Prober interface {
		// Probe tries what the backend relies on, under a name of the run's, and removes it. Its error is a refusal.
		Probe(ctx context.Context, run runstate.Token) error
	}
)

// Found is something that is staged.
type Found struct {
	Run   runstate.Token
	Name  string // of the artifact
	Since time.Time
	Parts int
	Bytes int64
}

// Limits are the times that a run must keep to.
type Limits struct {
	Hold   time.Duration // how long what is staged is kept, at least; 0: until it is published or aborted
	HoldBy string        // what says so, for people
	Access time.Time     // when the right to write ends and is not renewed; zero: it does not, or nothing tells
}

// Hidden is the folder at a destination that readers do not look into: what is staged lives there, and the notes that are
// only for clinkctl. A note's name is a file name, or a file name under Hidden.
const Hidden = ".clinkctl"

// MarkNote gives the note's name for a key mark.
func MarkNote(digest string) string { return Hidden + "/key-" + digest + ".json" }

// Errors that tell the protocol what happened.
var (
	// ErrPublished: an artifact that should be aborted is published.
	ErrPublished = errors.New("it is published already")
	// ErrForeign: something that is not ours stands where an artifact belongs.
	ErrForeign = errors.New("something else has its name")
	// ErrElsewhere: the destination is not the one that the handle speaks of, such as an unmounted volume's mount point.
	ErrElsewhere = errors.New("this is not the destination that the run began with")
	// ErrRefused: the destination cannot hold what the contract asks for; the text says what it lacks.
	ErrRefused = errors.New("the destination is refused")
)

// Backend is an entry of the list of backends that a binary knows.
type Backend struct {
	Name   string // as handles have it
	Scheme string // of `to`: "s3" of s3://bucket/prefix, "" for a path of the local file system
	// Barring is what can void what a run promises here, "" where nothing can; Instead is the scheme of a backend for the same
	// place where it cannot.
	Barring, Instead string
	// Expand checks what a job says of a destination: its address, and the options that stand under the backend's name. What
	// depends on the job is filled in: checkpoint is the bytes of source in an artifact. Errors about an option say so:
	// "s3 option region is ...". It looks at nothing. Nil where there are no options.
	Expand func(to string, options map[string]any, checkpoint int64) (Place, error)
	// Open opens a destination. create makes it if it is absent; otherwise an absent one is fs.ErrNotExist.
	Open func(ctx context.Context, at Place, create bool) (Sink, error)
	// State opens a place that a state can be kept in, where the backend has such; nil where it has not.
	State func(ctx context.Context, at Place) (runstate.Objects, error)
	// Memory is the most that the sink's buffers take, in bytes, where so many subtasks write; nil where there are none.
	Memory func(at Place, subtasks int) (int64, error)
	// Store opens the same kind of place to read from; nil where nothing is read from it. Patterns and paths have the scheme.
	Store func(ctx context.Context, at Place) (Store, error)
}

// Place is a destination as a plan has it. It is journaled: no secret is in it.
type Place struct {
	To    string         // its address
	Reach map[string]any // options that say how it is reached, and change nothing of what is written
	Shape map[string]any // options that shape what is written
}
