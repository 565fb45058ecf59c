package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"
)

// What a file claims is checked before the library makes room for it.

const (
	// maxPageSize is how many bytes a page can have, before compression and after it.
	maxPageSize = 1 << 30
	// maxHeader is how many bytes the header of a page can have. It may have the bounds of long texts.
	maxHeader = 64 << 20
)

// checkMeta refuses a footer whose row groups cannot be.
func checkMeta(m *pqformat.FileMetaData, size int64) error {
	var rows int64
	for i := range m.RowGroups {
		g := &m.RowGroups[i]
		if g.NumRows < 0 || rows+g.NumRows < rows {
			return fmt.Errorf("row group %d has %d rows", i, g.NumRows)
		}
		rows += g.NumRows
		for c := range g.Columns {
			if err := checkClaims(&g.Columns[c], size); err != nil {
				return fmt.Errorf("row group %d, column %d: %w", i, c, err)
			}
		}
	}
	if rows != m.NumRows {
		return fmt.Errorf("the row groups have %d rows, and the footer says %d", rows, m.NumRows)
	}
	return nil
}

func checkClaims(c *pqformat.ColumnChunk, size int64) error {
	m := &c.MetaData
	switch {
	case c.FilePath != "":
		return refuseFile("a column is in another file", "join the files first")
	case c.CryptoMetadata.Value != nil || c.EncryptedColumnMetadata != nil:
		return refuseFile("a column is encrypted, and cannot be read", "decrypt the file first")
	case m.Codec == pqformat.LZO:
		return refuseFile("a column is compressed by LZO, which cannot be read", "write the file with another compression, such as zstd")
	}
	from := chunkStart(m)
	if m.NumValues == 0 && m.TotalCompressedSize >= 0 {
		return nil // some writers say of a chunk without values that it begins nowhere
	}
	if from < int64(len(magic)) || m.TotalCompressedSize < 0 || from > size || m.TotalCompressedSize > size-from || m.NumValues < 0 {
		return fmt.Errorf("%d values in bytes %d to %d of %d", m.NumValues, from, from+m.TotalCompressedSize, size)
	}
	return nil
}

// chunkStart is where a column chunk begins: with its dictionary, if it has one.
func chunkStart(m *pqformat.ColumnMetaData) int64 {
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < m.DataPageOffset {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}

// chunkPages is a column chunk whose pages are known. It is the file as the library is to see it: it ends with the chunk, and pages
// without values, and those that are decoded here, are not in it.
type chunkPages struct {
	r     *source
	meta  *pqformat.ColumnMetaData
	end   int64
	gaps  []gap     // what is not in it, in order
	pages []pageRef // of data, in order
}

// gap is a piece of a file.
type gap struct{ at, size int64 }

func (w *chunkPages) ReadAt(p []byte, at int64) (n int, err error) {
	for _, g := range w.gaps {
		if at >= g.at {
			at += g.size
			continue
		}
		if room := g.at - at; int64(len(p)-n) > room {
			m, err := w.r.ReadAt(p[n:n+int(room)], at)
			n += m
			if err != nil {
				return n, err
			}
			at = g.at + g.size
		}
	}
	rest := p[n:]
	if int64(len(rest)) > w.end-at {
		rest = rest[:max(0, w.end-at)]
		err = io.EOF
	}
	m, readErr := w.r.ReadAt(rest, at)
	if readErr != nil {
		err = readErr
	}
	return n + m, err
}

// checkPages finds the pages of a column chunk, and refuses those that claim to be larger than they can be.
func (t *tableFile) checkPages(group, leaf int) (*chunkPages, error) {
	g := &t.file.Metadata().RowGroups[group]
	if leaf >= len(g.Columns) {
		return nil, fmt.Errorf("row group %d has %d columns", group, len(g.Columns))
	}
	m := &g.Columns[leaf].MetaData
	end := chunkStart(m) + m.TotalCompressedSize
	chunk := &chunkPages{r: t.r, meta: m, end: end}
	var values int64
	for at := chunkStart(m); at < end && values < m.NumValues; {
		h, n, err := t.pageHeader(at, end)
		if err != nil {
			return nil, err
		}
		body := int64(h.CompressedPageSize)
		switch {
		case h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || body > end-at-n:
			return nil, fmt.Errorf("a page at byte %d has %d bytes of the %d that its column chunk has left", at, body, end-at-n)
		case h.CompressedPageSize > maxPageSize || h.UncompressedPageSize > maxPageSize:
			return nil, refuseFile(fmt.Sprintf("a page at byte %d has more than %d MiB", at, maxPageSize>>20), "write the file with smaller pages")
		}
		count := int64(0)
		switch {
		case h.Type == pqformat.DataPage && h.DataPageHeader.Valid:
			count = int64(h.DataPageHeader.V.NumValues)
		case h.Type == pqformat.DataPageV2 && h.DataPageHeaderV2.Valid:
			v := &h.DataPageHeaderV2.V
			count = int64(v.NumValues)
			levels := int64(v.RepetitionLevelsByteLength) + int64(v.DefinitionLevelsByteLength)
			if v.NumNulls < 0 || v.NumNulls > v.NumValues || v.NumRows < 0 || v.NumRows > v.NumValues || v.RepetitionLevelsByteLength < 0 ||
				v.DefinitionLevelsByteLength < 0 || levels > body || levels > int64(h.UncompressedPageSize) {
				return nil, fmt.Errorf("a page at byte %d is not what its header says", at)
			}
		case h.Type == pqformat.DictionaryPage && h.DictionaryPageHeader.Valid:
			// An entry has a byte at least, but for texts without any, whose length has four.
			if n := h.DictionaryPageHeader.V.NumValues; n < 0 || int64(n) > int64(h.UncompressedPageSize)+1 {
				return nil, fmt.Errorf("a dictionary at byte %d has %d values in %d bytes", at, n, h.UncompressedPageSize)
			}
		case h.Type == pqformat.IndexPage:
		default:
			return nil, fmt.Errorf("a page at byte %d is of no known kind", at)
		}
		if count < 0 || count > m.NumValues-values {
			return nil, fmt.Errorf("pages have more values than the %d of their column chunk", m.NumValues)
		}
		isData := h.Type == pqformat.DataPage || h.Type == pqformat.DataPageV2
		own := isData && isOwn(m.Type, &h)
		if isData && count > 0 {
			chunk.pages = append(chunk.pages, pageRef{at: at + n, header: h, own: own})
		}
		if own || count == 0 && h.Type != pqformat.DictionaryPage { // some writers make pages without values
			chunk.gaps = append(chunk.gaps, gap{at, n + body})
		}
		values += count
		at += n + body
	}
	if values != m.NumValues {
		return nil, fmt.Errorf("pages have %d values of the %d of their column chunk", values, m.NumValues)
	}
	return chunk, nil
}

// pageHeader reads the header of a page, and tells how long that is.
func (t *tableFile) pageHeader(at, end int64) (h pqformat.PageHeader, n int64, err error) {
	for size := int64(256); ; size *= 8 {
		data := make([]byte, min(size, end-at))
		if err := readAt(t.r, data, at); err != nil {
			return h, 0, err
		}
		p := passer{rest: data}
		p.structure(0)
		if p.bad && int64(len(data)) < min(end-at, maxHeader) {
			continue // it may be longer
		}
		if p.bad {
			return h, 0, fmt.Errorf("the header of the page at byte %d is damaged", at)
		}
		n = int64(len(data) - len(p.rest))
		err = thrift.Unmarshal(new(thrift.CompactProtocol), data[:n], &h)
		return h, n, err
	}
}
