package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// createdBy names the writer as readers parse it. The number is of this package's way of writing, and is raised when files
// should be told apart.
const createdBy = "clinkctl version 1"

const (
	// stripe is how many rows are handed on at once, and how often a row group's size is looked at.
	stripe = 1024
	// libraryPage is the size at which the library would end a page by itself.
	libraryPage = math.MaxInt32
)

// encoder writes a file.
type encoder struct {
	columns []columnar.Column
	leaves  []*leaf
	writer  *parquet.GenericWriter[any]
	maker   maker

	maxRows, maxBytes int64 // of a row group
	maxPage           int64 // bytes of a page, after which the next begins
	rows, bytes       int64 // of the row group at hand

	err error // why nothing more is written
}

var (
	errFailed = errors.New("an earlier write of this file failed")
	errClosed = errors.New("the file is closed")
)

func newEncoder(f *Format, w io.Writer, t format.Target) (*encoder, error) {
	s := shaper{compat: f.compat}
	schema, err := s.schema(t.Schema.Columns)
	if err != nil {
		return nil, err
	}
	version := 2
	if f.compat {
		version = 1
	}
	e := &encoder{columns: t.Schema.Columns, leaves: s.leaves, maxRows: f.groupRows, maxBytes: f.groupBytes,
		maxPage: min(f.pageBytes, max(minPage, f.groupBytes/int64(len(s.leaves))))}
	e.writer = parquet.NewGenericWriter[any](w, schema, &parquet.WriterConfig{CreatedBy: createdBy}, parquet.Compression(f.codec),
		parquet.DataPageVersion(version), parquet.DataPageStatistics(false), // the page index has them
		parquet.PageBufferSize(libraryPage))
	for _, pair := range t.Meta {
		e.writer.SetKeyValueMetadata(pair[0], pair[1])
	}
	for i, to := range e.writer.ColumnWriters() {
		e.leaves[i].to = to
	}
	return e, nil
}

// Encode writes a batch's rows.
func (e *encoder) Encode(b *columnar.Batch) error {
	if len(b.Columns) != len(e.columns) {
		return fmt.Errorf("a batch of %d columns for a file of %d", len(b.Columns), len(e.columns))
	}
	return e.keep(func() error {
		for _, l := range e.leaves {
			l.bind(b)
		}
		for row := 0; row < b.Rows; {
			n := int(min(stripe, int64(b.Rows-row), e.maxRows-e.rows))
			for _, l := range e.leaves {
				if err := e.write(l, b, row, row+n); err != nil {
					return err
				}
			}
			row += n
			e.rows += int64(n)
			if e.rows >= e.maxRows || e.bytes >= e.maxBytes {
				if err := e.endGroup(e.writer.Flush); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Close writes what is gathered, and the footer.
func (e *encoder) Close() error {
	err := e.keep(func() error { return e.endGroup(e.writer.Close) })
	if err == nil {
		e.err = errClosed
	}
	return err
}

// keep does something unless something failed before, or the file is closed.
func (e *encoder) keep(f func() error) error {
	if e.err != nil {
		return e.err
	}
	err := guard(f)
	if err != nil {
		e.err = errFailed
	}
	return err
}

// endGroup ends the row group at hand by a function that writes its pages.
func (e *encoder) endGroup(end func() error) error {
	for _, l := range e.leaves {
		l.index.last = true
	}
	err := end()
	for _, l := range e.leaves {
		l.index.last = false
		l.page = 0
	}
	e.rows, e.bytes = 0, 0
	return err
}

// write hands rows [from, to) of a leaf to the library.
func (e *encoder) write(l *leaf, b *columnar.Batch, from, to int) error {
	for from < to {
		row, err := l.gather(from, to)
		if err != nil {
			return err
		}
		if err := e.hand(l, b); err != nil {
			return err
		}
		from = row
	}
	return nil
}

// hand gives the library what a leaf gathered. A page ends before that and not after it, so that there always is a last page to
// be ended with the row group.
func (e *encoder) hand(l *leaf, b *columnar.Batch) error {
	if l.page >= e.maxPage {
		if err := l.to.Flush(); err != nil {
			return err
		}
		l.page = 0
	}
	first, next := l.first, l.next()
	seen, bad, err := saw(l.typ, b, l.vector(), first, next)
	if err != nil {
		return l.refuse(b, bad, err)
	}
	l.index.page.widen(seen, l.index.compare)
	size := l.size()
	l.page += size
	e.bytes += size
	for i := 0; i < len(l.defs); i += stripe {
		j := min(i+stripe, len(l.defs))
		if _, err := l.to.WriteRowValues(e.maker.make(l, b, i, j, first)); err != nil {
			return err
		}
		first += bytes.Count(l.defs[i:j], []byte{l.full()})
	}
	return nil
}
