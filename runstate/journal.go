package runstate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"syscall"
	"time"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// The files of a run's folder.
const (
	journalFile = "journal"
	newFile     = "journal.new" // a copy that is not yet the journal
	tornFile    = "journal.torn-%d"
	reserveFile = "reserve"
	lockFile    = "lock"
	// ProgressFile is written while a run works, unsynced, for whoever watches.
	ProgressFile = "progress.json"
)

var (
	// ErrNoRun says that a folder holds no whole begun record: nothing was ever staged for it.
	ErrNoRun = errors.New("no run was begun there")
	// ErrRefused says that a journal takes no more records since a write or fsync of it failed: what is durable of the
	// last record is unknown until the journal is opened again.
	ErrRefused = errors.New("the journal takes no more records after a failed write")
	// ErrReplaced says that the state directory is another one than the one that the run's lock is held in.
	ErrReplaced = errors.New("the run's folder was removed or replaced while it was in use")
)

// Journal is a run's journal, open for work. Its methods may be called from several goroutines. Whoever opens one holds
// the run's lock until after Close.
type Journal struct {
	fsys vfs.FS
	dir  string
	now  func() time.Time

	mu      sync.Mutex
	file    vfs.File
	state   *State
	size    int64
	sum     uint32
	reserve int64
	spent   bool  // the reserve was given up
	marked  int64 // size up to the last prepared or dropped record, or up to begun
	failed  error
}

// Options are what a journal is opened with.
type Options struct {
	Now    func() time.Time
	Newest int // newest format to accept; 0 is Format
	// Spent says that the reserve was given up for the records that are still to come: it is not made again, which would
	// take the space that was made for them.
	Spent bool
}

func (o Options) newest() int {
	if o.Newest == 0 {
		return Format
	}
	return o.Newest
}

// Begin makes a run's journal in its folder, which exists, with its first record. The journal is durable, and has its
// reserve, when Begin returns nil.
func Begin(fsys vfs.FS, dir string, b Begun, o Options) (*Journal, error) {
	line, err := FirstLine(b, o)
	if err != nil {
		return nil, err
	}
	return Import(fsys, dir, line, o)
}

// FirstLine is the line that a run's journal begins with.
func FirstLine(b Begun, o Options) ([]byte, error) {
	b.Journal = Format
	text, err := Record{At: o.Now().UTC(), Begun: &b}.encode()
	if err != nil {
		return nil, err
	}
	line, _ := appendLine(nil, 0, text)
	return line, nil
}

// Import makes a run's journal in its folder from the lines of another copy of it. A journal that is there is replaced:
// put it aside first.
func Import(fsys vfs.FS, dir string, lines []byte, o Options) (*Journal, error) {
	reserve, err := allocateReserve(fsys, dir, int64(len(lines)))
	if err != nil {
		return nil, fmt.Errorf("reserve space for the journal: %w", err)
	}
	j, err := install(fsys, dir, lines, o)
	if err != nil {
		return nil, err
	}
	j.reserve = reserve
	return j, nil
}

// Open opens a run's journal for work: its valid prefix is copied to a new file, made durable, and put in the old one's
// place, since a failed fsync may have lied to the process before. A torn last line is kept beside it and cut. The reserve
// is made again where there is room.
func Open(fsys vfs.FS, dir string, o Options) (*Journal, error) {
	at := path.Join(dir, journalFile)
	data, err := vfs.ReadFile(fsys, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoRun
	}
	if err != nil {
		return nil, err
	}
	c, err := parse(at, data, o.newest())
	if err != nil {
		return nil, err
	}
	if len(c.records) == 0 {
		return nil, noBegun(at)
	}
	if len(c.torn) > 0 {
		if err := errors.Join(keepTorn(fsys, dir, c), fsys.SyncDir(dir)); err != nil {
			return nil, fmt.Errorf("keep the torn end of the journal: %w", err)
		}
	}
	j, err := install(fsys, dir, data[:c.size()], o)
	if err != nil {
		return nil, err
	}
	if err := j.growReserve(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// keepTorn keeps the torn end of a journal under a name that tells its offset. If that name is taken by other bytes, of an
// end that was torn before or of a copy that was itself cut short, a further one is made.
func keepTorn(fsys vfs.FS, dir string, c *content) error {
	first := path.Join(dir, fmt.Sprintf(tornFile, c.size()))
	name := first
	for n := 2; ; n++ {
		err := vfs.WriteNew(fsys, name, c.torn)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		kept, err := vfs.ReadFile(fsys, name)
		if err != nil || bytes.Equal(kept, c.torn) {
			return err
		}
		name = fmt.Sprintf("%s.%d", first, n)
	}
}

// install makes lines the journal of a folder, durably, and opens it.
func install(fsys vfs.FS, dir string, lines []byte, o Options) (*Journal, error) {
	at := path.Join(dir, newFile)
	c, state, err := fold(path.Join(dir, journalFile), lines, o.newest())
	if err != nil {
		return nil, err
	}
	if len(c.torn) > 0 || len(c.records) == 0 {
		return nil, &DamageError{Path: at, Offset: c.size(), Why: "it ends within a record"}
	}
	if err := fsys.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := fsys.Create(at)
	if err != nil {
		return nil, err
	}
	j := &Journal{fsys: fsys, dir: dir, now: o.Now, file: f, state: state, size: c.size(), sum: c.sum(), spent: o.Spent}
	j.marked = markEnd(c)
	if _, err = f.Write(lines); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = fsys.Rename(at, path.Join(dir, journalFile))
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the journal: %w", err), f.Close())
	}
	return j, nil
}

// noBegun is the damage of a journal without a whole first record. The file gets its name only when that record is whole
// and durable, so something was there.
func noBegun(at string) error {
	return &DamageError{Path: at, Why: "its first record is not whole"}
}

func markEnd(c *content) int64 {
	for i := len(c.records) - 1; i > 0; i-- {
		if c.records[i].Prepared != nil || c.records[i].Dropped != nil {
			return c.ends[i]
		}
	}
	return c.ends[0]
}

// fold replays a journal's bytes. With a *DamageError it gives what stands before the damage.
func fold(at string, data []byte, newest int) (*content, *State, error) {
	c, damage := parse(at, data, newest)
	state := NewState()
	for i, r := range c.records {
		if err := state.Apply(r); err != nil {
			c.cut(i)
			return c, state, &DamageError{Path: at, Offset: c.size(), Why: "its checksum is right, but " + err.Error()}
		}
	}
	return c, state, damage
}

// Append adds a record, durably, and applies it to the state. A record that breaks the protocol is refused and leaves
// everything as it was; after a failed write or fsync every further one is.
func (j *Journal) Append(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return fmt.Errorf("%w: %w", ErrRefused, j.failed)
	}
	r.At = j.now().UTC()
	if err := j.state.Check(r); err != nil {
		return fmt.Errorf("record refused: %w", err)
	}
	text, err := r.encode()
	if err != nil {
		return err
	}
	line, sum := appendLine(nil, j.sum, text)
	if _, err = j.file.Write(line); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.failed = err
		return fmt.Errorf("append to the journal: %w", err)
	}
	j.size, j.sum = j.size+int64(len(line)), sum
	if r.Prepared != nil || r.Dropped != nil {
		j.marked = j.size
	}
	if err := j.state.Apply(r); err != nil {
		return err
	}
	if err := j.growReserve(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("reserve space for the journal: %w", err)
	}
	return nil
}

// State is the fold of the journal. It changes with every Append: whoever appends from several goroutines reads it when
// they are done.
func (j *Journal) State() *State { return j.state }

// NextCheckpoint is State().NextCheckpoint, for use while other goroutines append.
func (j *Journal) NextCheckpoint(subtask int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state.NextCheckpoint(subtask)
}

// Failed is the error that made the journal refuse every further record, nil while it takes them.
func (j *Journal) Failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

// Dir is the run's folder.
func (j *Journal) Dir() string { return j.dir }

// Lines gives the journal's lines from begun up to the last prepared or dropped record: all that a decision rests on.
func (j *Journal) Lines() ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := make([]byte, j.marked)
	if _, err := j.file.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return b, nil
}

// StillHere fails with ErrReplaced unless the journal's path still names the file that is open.
func (j *Journal) StillHere() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return same(j.fsys, path.Join(j.dir, journalFile), j.file)
}

func same(fsys vfs.FS, name string, open interface{ Stat() (vfs.Info, error) }) error {
	held, err := open.Stat()
	if err != nil {
		return err
	}
	now, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !now.Same(held) {
		return fmt.Errorf("%s: %w", name, ErrReplaced)
	}
	return err
}

// Close closes the journal. What was appended is durable already.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		j.failed = errors.New("it is closed")
	}
	return j.file.Close()
}
