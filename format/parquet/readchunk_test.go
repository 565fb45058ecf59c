package parquet

import (
	"fmt"
	"strings"
	"testing"

	pqformat "github.com/parquet-go/parquet-go/format"
)

// TestPagesOfNULLs may have no bytes of values at all, not even the header of their coding.
func TestPagesOfNULLs(t *testing.T) {
	for _, test := range []struct {
		typ    pqformat.Type
		coding pqformat.Encoding
	}{
		{pqformat.Boolean, pqformat.Plain}, {pqformat.Boolean, pqformat.RLE}, {pqformat.Int32, pqformat.DeltaBinaryPacked}, {pqformat.Int64, pqformat.DeltaBinaryPacked},
		{pqformat.Double, pqformat.ByteStreamSplit}, {pqformat.ByteArray, pqformat.DeltaLengthByteArray}, {pqformat.ByteArray, pqformat.DeltaByteArray},
	} {
		for _, p := range []craftedPage{page1(2, test.coding, nil, runs(0, 0), nil), page2(2, test.coding, nil, runs(0, 0), nil)} {
			if _, rows := readAll(t, oneColumn(2, el("optional", "v", of(test.typ)), pqformat.Uncompressed, p).file()); rows != "NULL; NULL" {
				t.Errorf("%s of %s: %s", test.coding, test.typ, rows)
			}
			p.DataPageHeader.V.NumValues, p.DataPageHeaderV2.V.NumValues = 1, 1
			p.body = append([]byte{}, p.body...)
			p.body[len(p.body)-3] = 1 // the level of the first
			if err := errorOf(t, oneColumn(1, el("optional", "v", of(test.typ)), pqformat.Uncompressed, p).file()); err == nil || !strings.Contains(err.Error(), errEnds.Error()) {
				t.Errorf("%s of %s: %v", test.coding, test.typ, err)
			}
		}
	}
}

// twoColumns is a file of two columns of one row group.
func twoColumns(rows int64, a, b []craftedPage) *crafted {
	c := &crafted{schema: root(2, el("required", "a", of(pqformat.Int32)), el("required", "b", of(pqformat.Int32)))}
	c.groups = []craftedGroup{{rows: rows, chunks: []craftedChunk{{typ: pqformat.Int32, pages: a}, {typ: pqformat.Int32, pages: b}}}}
	return c
}

// TestChunksOfOthers: the pages of one column chunk are not taken for those of another.
func TestChunksOfOthers(t *testing.T) {
	page := func(v ...int32) craftedPage { return page1(len(v), pqformat.Plain, nil, nil, int32s(v...)) }
	short := twoColumns(2, []craftedPage{page(1)}, []craftedPage{page(3), page(4)})
	short.groups[0].chunks[0].claim = func(c *pqformat.ColumnChunk) { c.MetaData.NumValues = 2 }
	if err := errorOf(t, short.file()); err == nil || !strings.Contains(err.Error(), "column a: the Parquet file is damaged") {
		t.Error(err)
	}
	uncounted := twoColumns(2, []craftedPage{page(1, 2)}, []craftedPage{page(3), page(4)})
	uncounted.groups[0].chunks[0].claim = func(c *pqformat.ColumnChunk) { c.MetaData.TotalCompressedSize -= 15 }
	if _, rows := readAll(t, uncounted.file()); rows != `"1" "3"; "2" "4"` {
		t.Error(rows)
	}
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}, {"", ""}, {"x", "y"}} { // whoever says other names does not say which
		named := twoColumns(1, []craftedPage{page(1)}, []craftedPage{page(2)})
		for i, name := range names {
			named.groups[0].chunks[i].claim = func(c *pqformat.ColumnChunk) { c.MetaData.PathInSchema = []string{name} }
		}
		got, want := fmt.Sprint(errorOf(t, named.file())), "<nil>"
		if names[0] == "b" {
			want = "column a: " + damage + "row group 0 has column b in its place; " + adviceAgain
		}
		if got != want {
			t.Errorf("%q: %s, want %s", names, got, want)
		}
	}
}
