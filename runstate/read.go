package runstate

import (
	"errors"
	"io/fs"
	"path"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// View is a journal as a reader sees it, who takes no lock and changes nothing.
type View struct {
	State   *State
	Records []Record
	Offsets []int64 // where each record begins
	Size    int64   // bytes that are valid
	Torn    int64   // bytes after them that were never acknowledged
}

// Read reads the journal in a run's folder. While somebody appends to it, its last line may be seen torn. Of a damaged
// journal it gives, with the *DamageError, what stands before the damage, if that is anything.
func Read(fsys vfs.FS, dir string, newest int) (*View, error) {
	at := path.Join(dir, journalFile)
	data, err := vfs.ReadFile(fsys, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoRun
	}
	if err != nil {
		return nil, err
	}
	c, state, err := fold(at, data, newest)
	if c == nil || len(c.records) == 0 {
		if err == nil {
			err = noBegun(at)
		}
		return nil, err
	}
	v := &View{State: state, Records: c.records, Size: c.size(), Torn: int64(len(c.torn))}
	for i := range c.records {
		begin := int64(0)
		if i > 0 {
			begin = c.ends[i-1]
		}
		v.Offsets = append(v.Offsets, begin)
	}
	return v, err
}

// ParseLines replays lines that were copied from a journal. A torn end is damage here.
func ParseLines(name string, lines []byte) (*State, error) {
	c, state, err := fold(name, lines, Format)
	if err != nil {
		return nil, err
	}
	if len(c.torn) > 0 || len(c.records) == 0 {
		return nil, &DamageError{Path: name, Offset: c.size(), Why: "it ends within a record"}
	}
	return state, nil
}
