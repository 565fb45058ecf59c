package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	pqformat "github.com/parquet-go/parquet-go/format"

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

// source reads a file, and marks its errors, so that they are not taken for damage.
type source struct {
	r io.ReaderAt
}

// readError is an error of the file.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

func (s *source) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.r.ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = &readError{err}
	}
	return n, err
}

// tableFile is a file whose footer is read.
type tableFile struct {
	reading // the options
	r       *source
	size    int64
	footer  int64 // where it begins
	meta    *pqformat.FileMetaData
	starts  []int64 // of the column chunks that have values, sorted
	root    *element
	leaves  []*element
	nodes   []*node
}

const (
	damage      = "the Parquet file is damaged: "
	adviceAgain = "get the file again"
)

// guarded tells damage from errors of the source. Panics of the library are damage.
func (t *tableFile) guarded(f func() error) error {
	err := guard(f)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*format.DataError](err); ok {
		return e
	}
	if _, ok := errors.AsType[*readError](err); ok {
		return err
	}
	if _, ok := errors.AsType[rejection](err); ok {
		return err
	}
	return refuseFile(damage+strings.TrimPrefix(err.Error(), "parquet: "), adviceAgain)
}

func refuseFile(reason, advice string) error { return refuseColumn("", reason, advice) }

func refuseColumn(column, reason, advice string) error {
	return &format.DataError{Offset: format.Unplaced, Column: column, Reason: reason, Advice: advice}
}

const (
	errEncrypted  = "the file is encrypted, and cannot be read"
	adviceDecrypt = "decrypt it first"
	adviceCodec   = "write the file with another compression, such as zstd"
)

func (t *tableFile) open() (err error) {
	var tail [len(magic)]byte
	if t.size >= int64(len(tail)) {
		if err := readAt(t.r, tail[:], t.size-int64(len(tail))); err != nil {
			return err
		}
	}
	switch string(tail[:]) {
	case magic:
	case "PARE":
		return refuseFile(errEncrypted, adviceDecrypt)
	default:
		return refuseFile("the file is no Parquet file: it does not end as one", "is it whole, and is the format right?")
	}
	if t.meta, t.footer, err = readFooter(t.r, t.size); err != nil {
		return err
	}
	if t.root, t.leaves, err = elements(t.meta.Schema); err != nil {
		return err
	}
	t.nodes = columns(t.root)
	t.starts = chunkStarts(t.meta)
	return t.checkGroups()
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
	for _, g := range t.meta.RowGroups {
		size := int64(0)
		for i := range g.Columns {
			size += min(t.size, max(0, g.Columns[i].MetaData.TotalCompressedSize))
		}
		groups = append(groups, format.Group{Rows: g.NumRows, Bytes: size})
	}
	return groups
}

// unreadable says why a column cannot be read.
func (t *tableFile) unreadable(n *node) string {
	what := unreadable(t.root.kids[slices.Index(t.nodes, n)])
	if what == "" {
		return "has fields of the same name"
	}
	return "is of a type that cannot be read: " + what
}

// NewReader is as format.TableFile has it.
func (t *tableFile) NewReader(r format.Reading, from, to int64) (format.TableReader, error) {
	if r.Schema == nil {
		r.Schema = &columnar.Schema{}
	}
	reader := &tableReader{file: t, reject: r.Reject, columns: r.Schema.Columns, row: from, to: to, room: room{most: maxHeld}}
	if err := t.guarded(func() error { return reader.open(r.Schema, from) }); err != nil {
		return nil, err
	}
	return reader, nil
}

// find gives the node of a column, nil if the file has none and it becomes NULL.
func (t *tableFile) find(c columnar.Column) (*node, error) {
	name := c.Name
	var found *node
	for _, n := range t.nodes {
		if !t.sameName(n.name, name) {
			continue
		}
		if found != nil {
			return nil, refuseColumn(name, "is twice in the file", "rename one of them in the source")
		}
		found = n
	}
	if found == nil && (c.Required || !t.missingNull) {
		return nil, t.lacks(c)
	}
	return found, nil
}

func (t *tableFile) lacks(c columnar.Column) error {
	var names []string
	for _, n := range t.nodes {
		names = append(names, n.name)
	}
	advice := ""
	switch near := format.Nearest(c.Name, names); {
	case near != "" && strings.EqualFold(near, c.Name):
		advice = fmt.Sprintf("there is %s: parquet: {case: ignore} compares names without their case", near)
	case near != "":
		advice = fmt.Sprintf("did you mean %s?", near)
	default:
		if advice = "the file has " + strings.Join(names, ", "); len(advice) > 200 {
			advice = fmt.Sprintf("the file has %d other names", len(names))
		}
	}
	if !c.Required {
		advice += `; or accept it: parquet: {missing: "null"}`
	}
	return refuseColumn(c.Name, "is not in the file", advice)
}

// checkExtra refuses columns that nobody has declared, where that is asked for.
func (t *tableFile) checkExtra(schema *columnar.Schema) error {
	if t.extra == "ignore" || t.extra == "" && !schema.Closed {
		return nil
	}
	for _, n := range t.nodes {
		if !slices.ContainsFunc(schema.Columns, func(c columnar.Column) bool { return t.sameName(n.name, c.Name) }) {
			return refuseColumn(n.name, "is in the file, and no column is declared for it", "declare it, or accept it: parquet: {extra: ignore}")
		}
	}
	return nil
}

// reading are the options of reading.
type reading struct {
	missingNull bool   // a column that the file lacks is NULL
	extra       string // ignore, fail: a column that is not declared; "": fail where there are to be no others
	ignoreCase  bool   // of names
}

func readReading(o *format.Options) reading {
	r := reading{missingNull: o.Choice("missing", "fail", "null") == "null", ignoreCase: o.Choice("case", "exact", "ignore") == "ignore"}
	if _, given := o.Given("extra"); given {
		r.extra = o.Choice("extra", "ignore", "fail")
	}
	return r
}

func (r reading) sameName(a, b string) bool { return a == b || r.ignoreCase && strings.EqualFold(a, b) }
