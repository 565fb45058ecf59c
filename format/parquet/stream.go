package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
)

// stream reads the values of one leaf of a file, page by page. An entry is a value or what stands for one that is not there.
type stream struct {
	node  *node
	lossy bool
	file  *tableFile

	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	chunk  *chunkPages
	next   int      // of its pages
	own    *ownPage // at hand, if it is decoded here
	buf    []parquet.Value
	at     int // in buf: the entry to be read next
	n      int // entries in buf
	done   bool

	entries  int // of the batch
	row      int // of the batch, that the last entry belongs to
	rep, def []byte
	vector   columnar.Vector // the values that are there, dense
}

// leafBuffer is how many entries are taken from a page at once.
const leafBuffer = 512

// open begins a column chunk.
func (l *stream) open(chunk parquet.ColumnChunk, group int) error {
	if err := l.close(); err != nil {
		return err
	}
	pages, err := l.file.checkPages(group, l.node.leaf)
	if err != nil {
		return err
	}
	if l.buf == nil {
		l.buf = make([]parquet.Value, leafBuffer)
	}
	l.at, l.n, l.done, l.chunk, l.next, l.own = 0, 0, false, pages, 0, nil
	file, ok := chunk.(*parquet.FileColumnChunk)
	if !ok {
		return fmt.Errorf("column %s: %T is no chunk of a file", l.node.name, chunk)
	}
	l.pages = file.PagesFrom(pages)
	return nil
}

func (l *stream) close() error {
	l.release()
	if l.pages == nil {
		return nil
	}
	err := l.pages.Close()
	l.pages = nil
	return err
}

func (l *stream) release() {
	if l.page != nil {
		parquet.Release(l.page)
	}
	l.page, l.values = nil, nil
}

func (l *stream) reset() {
	l.entries, l.row = 0, -1
	l.rep, l.def = l.rep[:0], l.def[:0]
	l.vector.Reset(columnar.Type{})
}

// levels gives the levels of an entry of the batch.
func (l *stream) levels(i int) (rep, def int) { return int(l.rep[i]), int(l.def[i]) }

// take moves the values that were read to a vector.
func (l *stream) take(v *columnar.Vector) {
	valid, nulls := v.Valid[:0], 0
	kids := v.Kids
	*v, l.vector = l.vector, *v
	v.Valid, v.Nulls, v.Kids = valid, nulls, kids
}

// peek gives the next entry; nil at the end of the chunk. It is valid until the next call.
func (l *stream) peek() (*parquet.Value, error) {
	for l.at == l.n {
		if l.done {
			return nil, nil
		}
		if err := l.more(); err != nil {
			return nil, err
		}
	}
	return &l.buf[l.at], nil
}

// more reads further entries, of this page or of the next one.
func (l *stream) more() error {
	l.at, l.n = 0, 0
	if l.own != nil {
		if l.n = l.own.read(l.buf, l.node.leaf); l.n == 0 {
			l.own = nil
		}
		return nil
	}
	if l.values == nil {
		return l.nextPage()
	}
	n, err := l.values.ReadValues(l.buf)
	l.n = n
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("column %s: %w", l.node.name, err)
	}
	if n == 0 {
		l.release()
	}
	return nil
}

// nextPage begins the next page.
func (l *stream) nextPage() (err error) {
	if l.next == len(l.chunk.pages) {
		l.done = true
		return nil
	}
	p := &l.chunk.pages[l.next]
	l.next++
	if p.own {
		l.own, err = l.file.decodeOwn(p, l.chunk.meta, l.node)
	} else if l.page, err = l.pages.ReadPage(); err == nil {
		l.values = l.page.Values()
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("column %s: %w", l.node.name, err)
	}
	return nil
}

// skip passes rows.
func (l *stream) skip(rows int64) error {
	for passed := int64(-1); ; l.at++ {
		x, err := l.peek()
		if err != nil {
			return err
		}
		if x == nil {
			if passed+1 < rows {
				return l.short()
			}
			return nil
		}
		if x.RepetitionLevel() == 0 {
			if passed++; passed == rows {
				return nil
			}
		}
	}
}

func (l *stream) short() error {
	return fmt.Errorf("column %s has fewer rows than its row group", l.node.name)
}

// read appends the entries of so many rows.
func (l *stream) read(rows int64, data *[]byte, refuse func(row int, column, value string, reason error, advice string) error) error {
	last := l.row + int(rows)
	for {
		x, err := l.peek()
		if err != nil {
			return err
		}
		if x == nil {
			if l.row < last {
				return l.short()
			}
			return nil
		}
		rep, def := x.RepetitionLevel(), x.DefinitionLevel()
		if rep == 0 {
			if l.row == last {
				return nil
			}
			l.row++
		} else if l.row < 0 {
			return fmt.Errorf("column %s: a row group begins in the middle of a row", l.node.name)
		}
		if rep > l.node.rep || def > l.node.def || x.IsNull() != (def < l.node.def) {
			return fmt.Errorf("column %s: levels %d and %d do not fit the schema", l.node.name, rep, def)
		}
		l.rep, l.def = append(l.rep, byte(rep)), append(l.def, byte(def))
		l.entries++
		if def == l.node.def {
			if err := l.node.convert(&l.vector, *x, data, l.lossy); err != nil {
				value := ""
				if b := x.Kind(); b == parquet.ByteArray || b == parquet.FixedLenByteArray {
					value = string(x.ByteArray()[:min(100, len(x.ByteArray()))])
				}
				if err := refuse(l.row, l.node.name, value, err, "mend the source, or declare another type"); err != nil {
					return err
				}
			}
		}
		l.at++
	}
}
