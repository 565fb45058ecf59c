package parquet

import (
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
