package runstate

import "context"

// Objects is a store of small objects that a state can be kept in, instead of a local folder. It is strongly consistent: what
// is created is seen by every Get and List that begins later. Names are relative, with slashes.
type Objects interface {
	// Create makes an object if its name is free: fs.ErrExist if it is not. It is durable when Create returns nil; after any
	// other error nobody knows whether it was made.
	Create(ctx context.Context, name string, data []byte) error
	// Replace makes an object whatever was there. Nothing that is acted on is written so.
	Replace(ctx context.Context, name string, data []byte) error
	// Get gives an object's bytes, fs.ErrNotExist where there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// List gives the next elements of the names below a folder, sorted: of objects and of folders.
	List(ctx context.Context, folder string) ([]string, error)
}

// Claimer is a home of runs that processes on several hosts share without a lock: which run a key has is decided by who
// creates a claim first.
type Claimer interface {
	// Claim claims a name in a folder of claims for a run's first line: the first number that nobody has claimed, beyond
	// those that passed says are over. Where another run has it, *ClaimedError.
	Claim(folder string, line []byte, passed func(line []byte) (bool, error)) error
}

// ClaimedError says that another run was begun for a key.
type ClaimedError struct{ Line []byte } // its first line

func (e *ClaimedError) Error() string { return "another run has claimed the key" }
