package parquet

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
)

// Check reads a finished file's footer back. It fails unless the file begins and ends as one, has the schema's columns, types
// and nesting, has rows rows, and has them in row groups whose column chunks lie in the file one after another.
func (f *Format) Check(r io.ReaderAt, size, rows int64, schema *columnar.Schema) error {
	return guard(func() error {
		m, end, err := readFooter(r, size)
		if err != nil {
			return fmt.Errorf("parquet footer: %w", err)
		}
		s := shaper{compat: f.compat}
		want, err := s.schema(schema.Columns)
		if err != nil {
			return err
		}
		elements := []pqformat.SchemaElement(m.Schema)
		if err := sameNode(&elements, want, "", ""); err != nil {
			return fmt.Errorf("parquet footer: %w", err)
		}
		if len(elements) > 0 {
			return fmt.Errorf("parquet footer: there are %d columns and fields too many", len(elements))
		}
		if m.NumRows != rows {
			return fmt.Errorf("the parquet footer says %d rows, and %d were written", m.NumRows, rows)
		}
		return checkGroups(m, s.leaves, want.Columns(), end)
	})
}

// sameNode compares the first of a schema's elements, and those below it, with a node, and passes them.
func sameNode(elements *[]pqformat.SchemaElement, want parquet.Node, path, name string) error {
	if len(*elements) == 0 {
		return fmt.Errorf("column %s is missing", path)
	}
	e := &(*elements)[0]
	*elements = (*elements)[1:]
	fields := want.Fields()
	if path != "" {
		if e.Name != name {
			return fmt.Errorf("column %s is missing: %s is in its place", path, e.Name)
		}
		if got, want := describeElement(e), describeNode(want); got != want {
			return fmt.Errorf("column %s is %s, and was to be %s", path, got, want)
		}
	}
	if int(e.NumChildren.V) != len(fields) {
		return fmt.Errorf("column %s has %d fields of %d", path, e.NumChildren.V, len(fields))
	}
	for _, f := range fields {
		if err := sameNode(elements, f, strings.TrimPrefix(path+"."+f.Name(), "."), f.Name()); err != nil {
			return err
		}
	}
	return nil
}

func describeElement(e *pqformat.SchemaElement) string {
	text := strings.ToLower(e.RepetitionType.V.String())
	if !e.Type.Valid {
		text += " group"
	} else {
		text += " " + e.Type.V.String()
		if e.Type.V == pqformat.FixedLenByteArray {
			text += fmt.Sprintf("(%d)", e.TypeLength.V)
		}
	}
	if logical := e.LogicalType.String(); logical != "" {
		text += " " + logical
	}
	if e.ConvertedType.Valid {
		text += fmt.Sprintf(" converted type %d", e.ConvertedType.V)
	}
	return text
}

func describeNode(n parquet.Node) string {
	text := repetition(n)
	if n.Leaf() {
		text += " " + physicalName(n)
	} else {
		text += " group"
	}
	if logical := logicalName(n); logical != "" {
		text += " " + logical
	}
	if converted := n.Type().ConvertedType(); converted != nil {
		text += fmt.Sprintf(" converted type %d", *converted)
	}
	return text
}

// checkGroups looks at row groups. end is the end of the bytes that they may lie in.
func checkGroups(m *pqformat.FileMetaData, leaves []*leaf, paths [][]string, end int64) (err error) {
	rows, at := int64(0), int64(len(magic))
	for i := range m.RowGroups {
		group := &m.RowGroups[i]
		rows += group.NumRows
		if len(group.Columns) != len(leaves) {
			return fmt.Errorf("row group %d has %d columns of %d", i, len(group.Columns), len(leaves))
		}
		for c := range group.Columns {
			chunk := &group.Columns[c]
			if !slices.Equal(chunk.MetaData.PathInSchema, paths[c]) {
				return fmt.Errorf("row group %d has column %v in place of %v", i, chunk.MetaData.PathInSchema, paths[c])
			}
			if at, err = checkChunk(chunk, leaves[c], group.NumRows, at, end); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", i, leaves[c].name(), err)
			}
		}
	}
	if rows != m.NumRows {
		return fmt.Errorf("the row groups have %d rows, and the parquet footer says %d", rows, m.NumRows)
	}
	return nil
}

// checkChunk looks at a column chunk of rows rows that lies between two offsets, and gives where it ends.
func checkChunk(chunk *pqformat.ColumnChunk, l *leaf, rows, from, to int64) (end int64, err error) {
	m := &chunk.MetaData
	if parquet.Kind(m.Type) != l.kind {
		return 0, fmt.Errorf("it is of type %s, and should be of %s", m.Type, l.kind)
	}
	if m.NumValues < rows || l.rep == 0 && m.NumValues > rows || rows < 1 {
		return 0, fmt.Errorf("it has %d values in %d rows", m.NumValues, rows)
	}
	end = m.DataPageOffset + m.TotalCompressedSize
	if m.DataPageOffset < from || m.TotalCompressedSize < 1 || end > to || end < from {
		return 0, fmt.Errorf("it is in bytes %d to %d, and should be within %d to %d", m.DataPageOffset, end, from, to)
	}
	for _, index := range [][2]int64{{chunk.ColumnIndexOffset, int64(chunk.ColumnIndexLength)}, {chunk.OffsetIndexOffset, int64(chunk.OffsetIndexLength)}} {
		if index[0] < end || index[1] < 1 || index[0]+index[1] > to {
			return 0, fmt.Errorf("its page index is in bytes %d to %d, and should be within %d to %d", index[0], index[0]+index[1], end, to)
		}
	}
	return end, nil
}
