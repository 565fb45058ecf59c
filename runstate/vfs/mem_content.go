package vfs

import (
	"maps"
	"slices"
)

// pageSize is the unit in which a power loss keeps or takes what was written.
const pageSize = 4096

// page is written in place only by the Mem whose owner it bears, and only until it is durable: pages are shared between
// what is read, what is durable, and clones.
type page struct {
	owner *owner
	data  [pageSize]byte
}

type owner struct{ _ byte }

// content is a file's bytes as they are read (pages, size) and as they are on disk (safe, safeSize). A nil page is
// zeros. A page that differs from the disk is dirty, unless a failed sync has lost it. What a page has behind the end of
// the file is zeros.
type content struct {
	pages, safe    []*page
	size, safeSize int64
	lost           map[int]struct{}
	clean          int // so many pages from the first are not dirty
	reserved       int // so many pages are allocated, written or not
}

func pageOf(pages []*page, i int) *page {
	if i < len(pages) {
		return pages[i]
	}
	return nil
}

func pagesFor(size int64) int { return int((size + pageSize - 1) / pageSize) }

func (c *content) dirty(i int) bool {
	if _, lost := c.lost[i]; lost {
		return false
	}
	return pageOf(c.pages, i) != pageOf(c.safe, i)
}

// bytes is what the pages take of the capacity.
func (c *content) bytes() int64 {
	n := c.reserved
	for i := c.reserved; i < len(c.pages); i++ {
		if c.pages[i] != nil {
			n++
		}
	}
	return int64(n) * pageSize
}

func (c *content) readAt(p []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	p = p[:min(int64(len(p)), c.size-off)]
	for done := 0; done < len(p); {
		i, at := int((off+int64(done))/pageSize), int((off+int64(done))%pageSize)
		part := p[done:min(len(p), done+pageSize-at)]
		if pg := pageOf(c.pages, i); pg != nil {
			copy(part, pg.data[at:])
		} else {
			clear(part)
		}
		done += len(part)
	}
	return len(p)
}

// writeAt writes until the disk is full.
func (c *content) writeAt(m *Mem, p []byte, off int64) (done int, err error) {
	for done < len(p) {
		i, at := int((off+int64(done))/pageSize), int((off+int64(done))%pageSize)
		pg, err := c.writable(m, i)
		if err != nil {
			return done, err
		}
		done += copy(pg.data[at:], p[done:])
		c.size = max(c.size, off+int64(done))
	}
	return done, nil
}

// writable gives page i to be written in place.
func (c *content) writable(m *Mem, i int) (*page, error) {
	old := pageOf(c.pages, i)
	if old == nil && i >= c.reserved {
		if err := m.charge(pageSize); err != nil {
			return nil, err
		}
	}
	delete(c.lost, i)
	c.clean = min(c.clean, i)
	if old != nil && old.owner == m.owner && old != pageOf(c.safe, i) {
		return old, nil
	}
	pg := &page{owner: m.owner}
	if old != nil {
		pg.data = old.data
	}
	for len(c.pages) <= i {
		c.pages = append(c.pages, nil)
	}
	c.pages[i] = pg
	return pg, nil
}

func (c *content) allocate(m *Mem, size int64) error {
	want := pagesFor(size)
	missing := 0
	for i := c.reserved; i < want; i++ {
		if pageOf(c.pages, i) == nil {
			missing++
		}
	}
	if err := m.charge(int64(missing) * pageSize); err != nil {
		return err
	}
	c.reserved = max(c.reserved, want)
	c.size = max(c.size, size)
	return nil
}

// sync makes durable what is dirty.
func (c *content) sync() {
	for i := c.clean; i < len(c.pages); i++ {
		if c.dirty(i) {
			c.save(i)
		}
	}
	c.clean, c.safeSize = len(c.pages), c.size
}

func (c *content) save(i int) {
	for len(c.safe) <= i {
		c.safe = append(c.safe, nil)
	}
	c.safe[i] = c.pages[i]
}

// loseDirty is what a failed sync does: what was dirty counts as clean.
func (c *content) loseDirty() {
	for i := c.clean; i < len(c.pages); i++ {
		if c.dirty(i) {
			if c.lost == nil {
				c.lost = map[int]struct{}{}
			}
			c.lost[i] = struct{}{}
		}
	}
	c.clean = len(c.pages)
}

// evict drops the clean pages: those that a failed sync has lost read as on disk again.
func (c *content) evict() {
	for i := range c.lost {
		c.pages[i] = pageOf(c.safe, i)
	}
	c.lost = nil
}

// writeBack writes dirty pages up to an offset, those that the coin says, as the kernel does whenever it likes.
func (c *content) writeBack(chosen func() bool, end int64) {
	for i := c.clean; i < min(len(c.pages), pagesFor(end)); i++ {
		if c.dirty(i) && chosen() {
			c.save(i)
			c.safeSize = max(c.safeSize, min(c.size, int64(i+1)*pageSize))
		}
	}
}

// settle keeps on disk, of what was not synced, what the coin says, and reads as the disk from then on.
func (c *content) settle(m *Mem, keep func() bool) {
	for i := c.clean; i < len(c.pages); i++ {
		if c.dirty(i) && keep() {
			c.save(i)
		}
	}
	if c.size != c.safeSize && keep() {
		c.safeSize = c.size
	}
	n := min(pagesFor(c.safeSize), len(c.safe))
	clear(c.safe[n:])
	c.safe = c.safe[:n]
	c.zeroTail(m)
	c.pages, c.size, c.lost = slices.Clone(c.safe), c.safeSize, nil
	c.reserved = min(c.reserved, pagesFor(c.size))
	c.clean = len(c.pages)
}

// zeroTail restores, in the last page on disk, the zeros behind the end of the file.
func (c *content) zeroTail(m *Mem) {
	i := len(c.safe) - 1
	used := c.safeSize - int64(i)*pageSize
	if i < 0 || c.safe[i] == nil || used >= pageSize {
		return
	}
	pg := &page{owner: m.owner, data: c.safe[i].data}
	clear(pg.data[used:])
	c.safe[i] = pg
}

func (c *content) clone() *content {
	copied := *c
	copied.pages = slices.Clone(c.pages)
	copied.safe = slices.Clone(c.safe)
	copied.lost = maps.Clone(c.lost)
	return &copied
}
