package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/clinkctl/clinkctl/format"
)

// absent counts, by column, the readers that had records and none with the column.
type absent struct {
	mu      sync.Mutex
	readers int
	columns map[string]int
}

// note takes a reader into account that is done.
func (a *absent) note(reader Reader) {
	r, ok := reader.(format.Absent)
	if !ok {
		return
	}
	names, ok := r.Absent()
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.readers++
	for _, name := range names {
		if a.columns == nil {
			a.columns = map[string]int{}
		}
		a.columns[name]++
	}
}

// warnings are about columns that no reader has seen.
func (a *absent) warnings() (w []string) {
	for _, name := range slices.Sorted(maps.Keys(a.columns)) {
		if a.columns[name] == a.readers {
			w = append(w, fmt.Sprintf("no record that was read has %s: the column is NULL throughout; is its name right?", name))
		}
	}
	return w
}
