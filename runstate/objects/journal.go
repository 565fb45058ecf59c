package objects

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// journal is what the store has of a journal: its generation and its parts.
type journal struct {
	name  string // of the journal
	gen   int
	parts int    // the last one's number
	data  []byte // of all parts; nil until read
	size  int64
}

func part(name string, gen, n int) string { return fmt.Sprintf("%s-%d/%06d", name, gen, n) }

const wholePrefix = "whole-"

// generation reads the name of a generation's folder.
func generation(name string) (gen int, ok bool) {
	text, ok := strings.CutPrefix(name, journalName+"-")
	gen, err := strconv.Atoi(text)
	return gen, ok && err == nil && gen > 0
}

func (j *journal) info() vfs.Info {
	return vfs.Info{Size: j.size, Device: 1, Inode: inode(j.name, j.gen), Regular: true, Links: 1}
}

// journal finds the last generation of a journal; fs.ErrNotExist where there is none, or it was taken away.
func (f *FS) journal(name string) (*journal, error) {
	j, _, err := f.latest(name)
	if err == nil && j.parts == 0 {
		err = fs.ErrNotExist
	}
	return j, err
}

// latest is journal, and for one that is not there the generation that is taken. whole is the largest number up to which the
// parts are put together.
func (f *FS) latest(name string) (j *journal, whole int, err error) {
	folders, err := f.store.List(background(), path.Dir(name))
	if err != nil {
		return nil, 0, err
	}
	j = &journal{name: name}
	for _, folder := range folders {
		if gen, ok := generation(folder); ok {
			j.gen = max(j.gen, gen)
		}
	}
	if j.gen == 0 {
		return j, 0, nil
	}
	names, err := f.store.List(background(), fmt.Sprintf("%s-%d", name, j.gen))
	if err != nil {
		return nil, 0, err
	}
	for _, n := range names {
		if text, ok := strings.CutPrefix(n, wholePrefix); ok {
			k, err := strconv.Atoi(text)
			if err == nil {
				whole = max(whole, k)
			}
			continue
		}
		k, err := strconv.Atoi(n)
		if err == nil {
			j.parts = max(j.parts, k)
		}
	}
	return j, whole, nil
}

// readers is how many parts are read at once.
const readers = 16

// read gives a journal with its bytes.
func (f *FS) read(name string) (*journal, error) {
	j, whole, err := f.latest(name)
	if err != nil {
		return nil, err
	}
	if j.parts == 0 {
		return j, fs.ErrNotExist
	}
	pieces := make([][]byte, j.parts+1)
	group := errgroup.Group{}
	group.SetLimit(readers)
	first := 1
	if whole > 0 {
		first = whole + 1
		group.Go(func() (err error) {
			pieces[whole], err = f.get(fmt.Sprintf("%s-%d/%s%06d", name, j.gen, wholePrefix, whole))
			return err
		})
	}
	for n := first; n <= j.parts; n++ {
		group.Go(func() (err error) {
			pieces[n], err = f.get(part(name, j.gen, n))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the journal %s: %w", name, err)
	}
	j.data = slices.Concat(pieces...)
	j.size = int64(len(j.data))
	return j, nil
}
