package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

var _ format.Table = (*Format)(nil)

// OpenTable reads a file's footer.
func (f *Format) OpenTable(r io.ReaderAt, size int64) (format.TableFile, error) {
	t := &tableFile{reading: f.reading, r: &source{r: r}, size: size}
	if err := t.guarded(t.open); err != nil {
		return nil, err
	}
	return t, nil
}

// source reads a file, and keeps its errors, so that they are not taken for damage.
type source struct {
	r   io.ReaderAt
	err atomic.Pointer[error]
}

func (s *source) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.r.ReadAt(p, at)
	if err != nil && err != io.EOF {
		s.err.Store(&err)
	}
	return n, err
}

// tableFile is a file whose footer is read.
type tableFile struct {
	reading // the options
	r       *source
	size    int64
	file    *parquet.File
	root    *element
	nodes   []*node
}

// guarded tells damage from errors of the source. Panics of the library are damage.
func (t *tableFile) guarded(f func() error) error {
	err := guard(f)
	if err == nil || err == io.EOF {
		return err
	}
	if e, ok := errors.AsType[*format.DataError](err); ok {
		return e
	}
	if _, ok := errors.AsType[rejection](err); ok {
		return err
	}
	if read := t.r.err.Load(); read != nil {
		return *read
	}
	return &format.DataError{Offset: format.Unplaced, Reason: "the Parquet file is damaged: " + strings.TrimPrefix(err.Error(), "parquet: "), Advice: "get the file again"}
}

func refuseFile(reason, advice string) error {
	return &format.DataError{Offset: format.Unplaced, Reason: reason, Advice: advice}
}

func (t *tableFile) open() error {
	var tail [4]byte
	if t.size >= int64(len(tail)) {
		if err := readAt(t.r, tail[:], t.size-int64(len(tail))); err != nil {
			return err
		}
	}
	switch {
	case string(tail[:]) == "PARE":
		return refuseFile("the file is encrypted, and cannot be read", "decrypt it first")
	case string(tail[:]) != magic:
		return refuseFile("the file is no Parquet file: it does not end as one", "is it whole, and is the format right?")
	}
	meta, _, err := readFooter(t.r, t.size)
	if err != nil {
		return err
	}
	if err := checkMeta(meta, t.size); err != nil {
		return err
	}
	if t.root, err = elements(meta.Schema); err != nil {
		return err
	}
	t.nodes = columns(t.root)
	buffer := min(256<<10, max(16<<10, (8<<20)/max(1, leavesOf(t.root))))
	t.file, err = parquet.OpenFile(t.r, t.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(buffer))
	return err
}

func leavesOf(e *element) int {
	if e.Type.Valid {
		return 1
	}
	n := 0
	for _, kid := range e.kids {
		n += leavesOf(kid)
	}
	return n
}

// Columns is as format.TableFile has it.
func (t *tableFile) Columns() []columnar.Column {
	var columns []columnar.Column
	for _, n := range t.nodes {
		columns = append(columns, n.column())
	}
	return columns
}

// Groups gives the row groups.
func (t *tableFile) Groups() []format.Group {
	var groups []format.Group
	for _, g := range t.file.Metadata().RowGroups {
		size := int64(0)
		for i := range g.Columns {
			size += g.Columns[i].MetaData.TotalCompressedSize
		}
		groups = append(groups, format.Group{Rows: g.NumRows, Bytes: size})
	}
	return groups
}

// NewReader is as format.TableFile has it.
func (t *tableFile) NewReader(r format.Reading, from, to int64) (format.TableReader, error) {
	reader := &tableReader{file: t, reject: r.Reject, columns: r.Schema.Columns, row: from, to: to}
	if err := t.guarded(func() error { return reader.open(r.Schema, from) }); err != nil {
		return nil, err
	}
	return reader, nil
}

// find gives the node of a column of some name, nil if the file has none.
func (t *tableFile) find(name string) (*node, error) {
	var found *node
	for _, n := range t.nodes {
		if !t.sameName(n.name, name) {
			continue
		}
		if found != nil {
			return nil, &format.DataError{Offset: format.Unplaced, Column: name, Reason: "is twice in the file", Advice: "rename one of them in the source"}
		}
		found = n
	}
	if found == nil && t.missing != "null" {
		return nil, t.lacks(name)
	}
	return found, nil
}

func (t *tableFile) lacks(name string) error {
	e := &format.DataError{Offset: format.Unplaced, Column: name, Reason: "is not in the file"}
	var names []string
	for _, n := range t.nodes {
		names = append(names, n.name)
	}
	near := format.Nearest(name, names)
	switch {
	case near != "" && strings.EqualFold(near, name):
		e.Advice = fmt.Sprintf("there is %s: parquet: {case: ignore} compares names without their case", near)
	case near != "":
		e.Advice = fmt.Sprintf(`did you mean %s? Or accept it: parquet: {missing: "null"}`, near)
	default:
		e.Advice = `accept it: parquet: {missing: "null"}`
	}
	return e
}

// checkExtra refuses columns that nobody has declared, where that is asked for.
func (t *tableFile) checkExtra(schema *columnar.Schema) error {
	if t.extra == "ignore" || t.extra == "auto" && !schema.Closed {
		return nil
	}
	for _, n := range t.nodes {
		if !slices.ContainsFunc(schema.Columns, func(c columnar.Column) bool { return t.sameName(n.name, c.Name) }) {
			return &format.DataError{Offset: format.Unplaced, Column: n.name, Reason: "is in the file, and no column is declared for it",
				Advice: "declare it, or accept it: parquet: {extra: ignore}"}
		}
	}
	return nil
}

// reading are the options of reading.
type reading struct {
	missing    string // fail, null
	extra      string // auto, ignore, fail
	ignoreCase bool
}

func readReading(o *format.Options) reading {
	return reading{missing: o.Choice("missing", "fail", "null"), extra: o.Choice("extra", "auto", "ignore", "fail"),
		ignoreCase: o.Choice("case", "exact", "ignore") == "ignore"}
}

func (r reading) sameName(a, b string) bool { return a == b || r.ignoreCase && strings.EqualFold(a, b) }
