package parquet

import (
	"fmt"
	"slices"
	"strings"

	pqformat "github.com/parquet-go/parquet-go/format"
)

// Where the column chunks of a file are, and which of them can be read.

// chunkSlack is how many bytes a column chunk may be longer than the footer says, if no other one begins there: some old writers did
// not count the header of its dictionary.
const chunkSlack = 128

// chunkStart is where a column chunk begins: with its dictionary, if it has one.
func chunkStart(m *pqformat.ColumnMetaData) int64 {
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < m.DataPageOffset {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}

// chunkStarts is where column chunks begin.
func chunkStarts(m *pqformat.FileMetaData) (starts []int64) {
	for i := range m.RowGroups {
		columns := m.RowGroups[i].Columns
		for j := range columns {
			if c := &columns[j].MetaData; c.NumValues > 0 {
				starts = append(starts, chunkStart(c))
			}
		}
	}
	slices.Sort(starts)
	return starts
}

// chunkEnd is what the pages of a column chunk are not to go beyond.
func (t *tableFile) chunkEnd(m *pqformat.ColumnMetaData) int64 {
	end := chunkStart(m) + m.TotalCompressedSize
	most := min(end+chunkSlack, t.footer)
	if next, _ := slices.BinarySearch(t.starts, end); next < len(t.starts) {
		most = min(most, t.starts[next])
	}
	return most
}

// checkGroups refuses a footer whose row groups cannot be.
func (t *tableFile) checkGroups() error {
	var rows int64
	for i := range t.meta.RowGroups {
		g := &t.meta.RowGroups[i]
		if g.NumRows < 0 || rows+g.NumRows < rows || len(g.Columns) != len(t.leaves) {
			return fmt.Errorf("row group %d has %d rows in %d columns, of %d", i, g.NumRows, len(g.Columns), len(t.leaves))
		}
		rows += g.NumRows
	}
	if rows != t.meta.NumRows && t.meta.NumRows != 0 { // some old writers did not count
		return fmt.Errorf("the row groups have %d rows, and the footer says %d", rows, t.meta.NumRows)
	}
	return nil
}

// checkChunk refuses a column chunk that cannot be read, or cannot be.
func (t *tableFile) checkChunk(group int, l *stream) error {
	g := &t.meta.RowGroups[group]
	c := &g.Columns[l.node.leaf]
	m := &c.MetaData
	refuse := func(reason, advice string) error {
		return refuseColumn(l.node.place.String(), reason, advice)
	}
	switch {
	case c.FilePath != "":
		return refuse("is in another file, "+c.FilePath, "join the files first")
	case c.CryptoMetadata.Value != nil || c.EncryptedColumnMetadata != nil:
		return refuse("is encrypted, and cannot be read", "decrypt the file first, or leave the column out")
	case m.Codec == pqformat.LZO:
		return refuse("is compressed by LZO, which cannot be read", adviceCodec)
	case m.Codec < pqformat.Uncompressed || m.Codec > pqformat.Lz4Raw:
		return refuse(fmt.Sprintf("is compressed in a way that is not known here, number %d", int(m.Codec)), adviceCodec)
	}
	if t.isOf(m.PathInSchema, l.node.leaf) {
		return refuse(damage+fmt.Sprintf("row group %d has column %s in its place", group, strings.Join(m.PathInSchema, ".")), adviceAgain)
	}
	from := chunkStart(m)
	inside := from >= int64(len(magic)) && m.TotalCompressedSize >= 0 && from <= t.footer && m.TotalCompressedSize <= t.footer-from
	counted := m.NumValues >= g.NumRows && (l.most.rep > 0 || m.NumValues == g.NumRows)
	if m.Type != l.node.kind.Type || !counted || !inside && m.NumValues > 0 { // some writers say of a chunk without values that it begins nowhere
		return refuse(damage+fmt.Sprintf("row group %d has %d values of %s in bytes %d to %d, for %d rows of %s", group, m.NumValues, m.Type, from,
			from+m.TotalCompressedSize, g.NumRows, l.node.kind.Type), adviceAgain)
	}
	return nil
}

// isOf tells whether a path is that of a leaf other than one. Paths that no leaf has tell nothing.
func (t *tableFile) isOf(path []string, leaf int) bool {
	if len(path) == 0 || t.leaves[leaf].isAt(path) {
		return false
	}
	return slices.ContainsFunc(t.leaves, func(e *element) bool { return e.isAt(path) })
}
