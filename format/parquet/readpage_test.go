package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	pqformat "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
)

func lz4Of(t *testing.T, b []byte) []byte {
	t.Helper()
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	return out[:n]
}

// hadoop puts pieces of LZ4 into a block of Hadoop.
func hadoop(size int, pieces ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(size))
	for _, p := range pieces {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// TestPagesOfOldWriters are read though few writers make them.
func TestPagesOfOldWriters(t *testing.T) {
	i32, str := of(pqformat.Int32), of(pqformat.ByteArray)
	optional, required := el("optional", "v", i32), el("required", "v", i32)
	zeros := int32s(make([]int32, 64)...)
	packed := page1(4, pqformat.Plain, nil, []byte{0b1011_0000}, int32s(1, 2, 3)).claims(func(h *pqformat.PageHeader) {
		h.DataPageHeader.V.DefinitionLevelEncoding = pqformat.BitPacked
	})
	packed.body = append([]byte{0b1011_0000}, int32s(1, 2, 3)...)
	packed.CompressedPageSize, packed.UncompressedPageSize = 13, 13
	empty := page1(0, pqformat.Plain, nil, nil, nil)
	index := craftedPage{PageHeader: pqformat.PageHeader{Type: pqformat.IndexPage, CompressedPageSize: 3, UncompressedPageSize: 3}, body: []byte("abc")}
	offset := oneColumn(2, required, pqformat.Uncompressed, dictPage(1, int32s(5)), page1(2, plainDictionary, nil, nil, []byte{0}))
	offset.groups[0].chunks[0].claim = func(c *pqformat.ColumnChunk) {
		c.MetaData.DictionaryPageOffset = c.MetaData.DataPageOffset
		c.MetaData.DataPageOffset += 20
	}
	short := oneColumn(1, required, pqformat.Uncompressed, page1(1, pqformat.Plain, nil, nil, int32s(5)))
	short.groups[0].chunks[0].claim = func(c *pqformat.ColumnChunk) { c.MetaData.TotalCompressedSize -= 15 }
	none := oneColumn(2, required, pqformat.Uncompressed, page1(2, pqformat.Plain, nil, nil, int32s(5, 6)))
	none.claim = func(m *pqformat.FileMetaData) { m.NumRows = 0 }
	nothing := oneColumn(0, required, pqformat.Uncompressed)
	nothing.groups[0].chunks[0].claim = func(c *pqformat.ColumnChunk) { c.MetaData.DataPageOffset = 0 }
	notPacked := page2(2, pqformat.Plain, nil, runs(1, 1), int32s(5, 6)).claims(func(h *pqformat.PageHeader) {
		h.DataPageHeaderV2.V.IsCompressed.Valid = true // and it is false
	})
	for name, test := range map[string]struct {
		file *crafted
		rows string
	}{
		"levels packed the other way":   {oneColumn(4, optional, pqformat.Uncompressed, packed), `"1"; NULL; "2"; "3"`},
		"pages without values":          {oneColumn(2, optional, pqformat.Snappy, empty, page1(1, pqformat.Plain, nil, runs(0), nil).compressed([]byte{6, 20, 2, 0, 0, 0, 2, 0}), empty, index, page1(1, pqformat.Plain, nil, runs(0), nil).compressed([]byte{6, 20, 2, 0, 0, 0, 2, 0}), empty), `NULL; NULL`},
		"a dictionary of one":           {offset, `"5"; "5"`},
		"a dictionary that is not used": {oneColumn(1, required, pqformat.Uncompressed, dictPage(1, int32s(5)), page1(1, pqformat.Plain, nil, nil, int32s(6))), `"6"`},
		"no indexes":                    {oneColumn(2, optional, pqformat.Uncompressed, dictPage(0, nil), page1(2, pqformat.RLEDictionary, nil, runs(0, 0), nil)), `NULL; NULL`},
		"a chunk longer than it says":   {short, `"5"`},
		"a footer that counts no rows":  {none, `"5"; "6"`},
		"a row group without rows":      {nothing, ``},
		"a checksum":                    {oneColumn(1, required, pqformat.Uncompressed, page1(1, pqformat.Plain, nil, nil, int32s(6)).summed()), `"6"`},
		"not compressed all the same":   {oneColumn(2, optional, pqformat.Gzip, notPacked), `"5"; "6"`},
		"LZ4 of Hadoop":                 {oneColumn(64, required, pqformat.Lz4, page1(64, pqformat.Plain, nil, nil, zeros).compressed(append(hadoop(128, lz4Of(t, zeros[:64]), lz4Of(t, zeros[:64])), hadoop(128, lz4Of(t, zeros[:128]))...))), strings.Repeat(`"0"; `, 63) + `"0"`},
		"LZ4 that is not of Hadoop":     {oneColumn(64, required, pqformat.Lz4, page1(64, pqformat.Plain, nil, nil, zeros).compressed(lz4Of(t, zeros))), strings.Repeat(`"0"; `, 63) + `"0"`},
		"levels of a column without":    {oneColumn(1, required, pqformat.Uncompressed, page2(1, pqformat.Plain, runs(0), runs(0), int32s(6))), `"6"`},
		"a last group cut short":        {oneColumn(3, el("required", "v", str), pqformat.Uncompressed, dictPage(4, texts("a", "b", "c", "d")), page1(3, pqformat.RLEDictionary, nil, nil, []byte{4, 3, 0x10, 0x02})), `"YQ=="; "Yg=="; "Yw=="`},
		"deltas of more bits than they are": {oneColumn(2, required, pqformat.Uncompressed, page1(2, pqformat.DeltaBinaryPacked, nil, nil,
			append([]byte{8, 1, 2, 1, 0, 33}, append([]byte{0, 0, 0, 0, 1}, make([]byte, 28)...)...))), `"-1"; "-1"`},
	} {
		if _, rows := readAll(t, test.file.file()); rows != test.rows {
			t.Errorf("%s: %s, want %s", name, rows, test.rows)
		}
	}
}

// errorOf reads a file, and gives its error.
func errorOf(t *testing.T, file []byte) error {
	t.Helper()
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.OpenTable(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	_, _, err = rowsOf(table, &columnar.Schema{Columns: table.Columns()}, 0, total(table), 1000, false)
	return err
}

// TestRefusedFiles: what is damaged, or cannot be read, says so, and where.
func TestRefusedFiles(t *testing.T) {
	required, optional := el("required", "v", of(pqformat.Int32)), el("optional", "v", of(pqformat.Int32))
	repeated := el("repeated", "v", of(pqformat.Int32))
	one := page1(1, pqformat.Plain, nil, nil, int32s(6))
	chunk := func(change func(*pqformat.ColumnChunk), pages ...craftedPage) *crafted {
		c := oneColumn(1, required, pqformat.Uncompressed, pages...)
		c.groups[0].chunks[0].claim = change
		return c
	}
	two := crafted{schema: root(1, el("repeated", "s", kids(2)), el("required", "a", of(pqformat.Int32)), el("required", "b", of(pqformat.Int32)))}
	two.groups = []craftedGroup{{rows: 2, chunks: []craftedChunk{{typ: pqformat.Int32, pages: []craftedPage{page1(3, pqformat.Plain, runs(0, 1, 0), runs(1, 1, 1), int32s(1, 2, 3))}},
		{typ: pqformat.Int32, pages: []craftedPage{page1(3, pqformat.Plain, runs(0, 0, 1), runs(1, 1, 1), int32s(1, 2, 3))}}}}}
	huge := func(h *pqformat.PageHeader) { h.UncompressedPageSize = maxPageSize + 1 }
	for name, test := range map[string]struct {
		file *crafted
		want string
	}{
		"LZO":                     {oneColumn(1, required, pqformat.LZO, one), "column v: is compressed by LZO, which cannot be read; write the file with another compression"},
		"a codec of tomorrow":     {oneColumn(1, required, 77, one), "column v: is compressed in a way that is not known here, number 77; write the file with another compression"},
		"another file":            {chunk(func(c *pqformat.ColumnChunk) { c.FilePath = "x" }, one), "column v: is in another file, x; join the files first"},
		"encrypted":               {chunk(func(c *pqformat.ColumnChunk) { c.CryptoMetadata.Value = &pqformat.EncryptionWithFooterKey{} }, one), "column v: is encrypted, and cannot be read; decrypt the file first"},
		"another type":            {chunk(func(c *pqformat.ColumnChunk) { c.MetaData.Type = pqformat.Int64 }, one), "row group 0 has 1 values of INT64"},
		"outside the file":        {chunk(func(c *pqformat.ColumnChunk) { c.MetaData.DataPageOffset = 1 << 40 }, one), "in bytes 1099511627776 to"},
		"before the file":         {chunk(func(c *pqformat.ColumnChunk) { c.MetaData.DataPageOffset = -5 }, one), "in bytes -5 to"},
		"too long":                {chunk(func(c *pqformat.ColumnChunk) { c.MetaData.TotalCompressedSize = math.MaxInt64 }, one), "row group 0 has 1 values"},
		"fewer values":            {chunk(func(c *pqformat.ColumnChunk) { c.MetaData.NumValues = 0 }, one), "row group 0 has 0 values"},
		"more values":             {chunk(func(c *pqformat.ColumnChunk) { c.MetaData.NumValues = 2 }, one), "row group 0 has 2 values"},
		"fewer columns":           {&crafted{schema: root(1, required), groups: []craftedGroup{{rows: 1}}}, "row group 0 has 1 rows in 0 columns, of 1"},
		"fewer rows":              {&crafted{schema: root(1, required), groups: []craftedGroup{{rows: -1}}}, "row group 0 has -1 rows"},
		"rows that are not there": {oneColumn(3, repeated, pqformat.Uncompressed, page1(3, pqformat.Plain, runs(0, 1, 0), runs(1, 1, 1), int32s(1, 2, 3))), "fewer rows than its row group"},
		"rows too many": {&crafted{schema: root(1, repeated), groups: []craftedGroup{{rows: 1, chunks: []craftedChunk{{typ: pqformat.Int32,
			pages: []craftedPage{page1(3, pqformat.Plain, runs(0, 1, 0), runs(1, 1, 1), int32s(1, 2, 3))}}}}, {rows: 1, chunks: []craftedChunk{{typ: pqformat.Int32,
			pages: []craftedPage{page1(1, pqformat.Plain, runs(0), runs(1), int32s(1))}}}}}}, "more rows than its row group"},
		"rows too many, at the end":  {oneColumn(1, repeated, pqformat.Uncompressed, page1(3, pqformat.Plain, runs(0, 1, 0), runs(1, 1, 1), int32s(1, 2, 3))), "more rows than its row group"},
		"other rows in the footer":   {&crafted{schema: root(1, required), claim: func(m *pqformat.FileMetaData) { m.NumRows = 4 }}, "the row groups have 0 rows, and the footer says 4"},
		"half a row":                 {oneColumn(1, repeated, pqformat.Uncompressed, page1(1, pqformat.Plain, runs(1), runs(1), int32s(1))), "begins in the middle of a row"},
		"more of an empty list":      {oneColumn(1, repeated, pqformat.Uncompressed, page1(2, pqformat.Plain, runs(0, 1), runs(0, 1), int32s(1))), "levels do not fit the schema"},
		"fields that do not agree":   {&two, "column s.element.b: the Parquet file is damaged: levels do not fit"},
		"levels too high":            {oneColumn(1, optional, pqformat.Uncompressed, page1(1, pqformat.Plain, nil, runs(2), int32s(1))), "more bits than all have"},
		"levels that end":            {oneColumn(2, optional, pqformat.Uncompressed, page1(2, pqformat.Plain, nil, runs(1), int32s(1, 2))), "the page ends before its values do"},
		"levels of no coding":        {oneColumn(1, optional, pqformat.Uncompressed, page1(1, pqformat.Plain, nil, runs(1), int32s(1)).claims(func(h *pqformat.PageHeader) { h.DataPageHeader.V.DefinitionLevelEncoding = pqformat.Plain })), "levels are not coded by PLAIN"},
		"values that end":            {oneColumn(2, required, pqformat.Uncompressed, page1(2, pqformat.Plain, nil, nil, int32s(1))), "the page ends before its values do"},
		"no such coding":             {oneColumn(1, required, pqformat.Uncompressed, page1(1, pqformat.DeltaByteArray, nil, nil, int32s(1))), "values of INT32 are not coded by DELTA_BYTE_ARRAY"},
		"no dictionary":              {oneColumn(1, required, pqformat.Uncompressed, page1(1, pqformat.RLEDictionary, nil, nil, []byte{0})), "there is none before it"},
		"two dictionaries":           {oneColumn(1, required, pqformat.Uncompressed, dictPage(1, int32s(1)), dictPage(1, int32s(1)), one), "has two dictionaries"},
		"a dictionary that ends":     {oneColumn(1, required, pqformat.Uncompressed, dictPage(2, int32s(1)), one), "the page ends before its values do"},
		"a dictionary of indexes":    {oneColumn(1, required, pqformat.Uncompressed, dictPage(1, int32s(1)).claims(func(h *pqformat.PageHeader) { h.DictionaryPageHeader.V.Encoding = pqformat.RLEDictionary }), one), "a dictionary is not coded by RLE_DICTIONARY"},
		"a dictionary of too many":   {oneColumn(1, required, pqformat.Uncompressed, dictPage(maxDictionary+1, int32s(1)), one), "column v: a dictionary has more than 16777216 values; write the file"},
		"not in the dictionary":      {oneColumn(1, required, pqformat.Uncompressed, dictPage(1, int32s(1)), page1(1, pqformat.RLEDictionary, nil, nil, append([]byte{8}, runs(1)...))), "not in the dictionary"},
		"indexes of 33 bits":         {oneColumn(1, required, pqformat.Uncompressed, dictPage(1, int32s(1)), page1(1, pqformat.RLEDictionary, nil, nil, []byte{33, 2, 0, 0, 0, 0, 0})), "indexes have 33 bits"},
		"a page too many":            {oneColumn(1, required, pqformat.Uncompressed, page1(2, pqformat.Plain, nil, nil, int32s(1, 2))), "row group 0 has 2 values"},
		"another checksum":           {oneColumn(1, required, pqformat.Uncompressed, one.claims(func(h *pqformat.PageHeader) { h.CRC = 5 })), "the checksum of a page is"},
		"a page of no kind":          {oneColumn(1, required, pqformat.Uncompressed, one.claims(func(h *pqformat.PageHeader) { h.Type = 9 }), one), "a page is of a kind that is not known"},
		"a page of another kind":     {oneColumn(1, required, pqformat.Uncompressed, one.claims(func(h *pqformat.PageHeader) { h.Type = pqformat.DictionaryPage }), one), "claims what cannot be"},
		"fewer values than none":     {oneColumn(1, required, pqformat.Uncompressed, page1(-1, pqformat.Plain, nil, nil, nil), page1(2, pqformat.Plain, nil, nil, int32s(1, 2))), "claims what cannot be"},
		"levels longer than a page":  {oneColumn(1, optional, pqformat.Uncompressed, page2(1, pqformat.Plain, nil, runs(1), int32s(1)).claims(func(h *pqformat.PageHeader) { h.DataPageHeaderV2.V.DefinitionLevelsByteLength = 7 })), "claims what cannot be"},
		"a page larger than allowed": {oneColumn(1, required, pqformat.Uncompressed, one.claims(huge)), "a page has more than 1024 MiB; write the file with smaller pages"},
		"a page longer than all":     {oneColumn(1, required, pqformat.Uncompressed, one.claims(func(h *pqformat.PageHeader) { h.CompressedPageSize = 500 })), "a page has 500 bytes, and its column chunk"},
		"a size that is not so":      {oneColumn(1, required, pqformat.Snappy, one.compressed([]byte{3, 8, 1, 2, 3})), "a page is not compressed by SNAPPY"},
		"a size that cannot be":      {oneColumn(1, required, pqformat.Lz4Raw, one.claims(func(h *pqformat.PageHeader) { h.UncompressedPageSize = 1 << 29 })), "4 compressed bytes cannot be 536870912"},
		"values of half a width":     {oneColumn(1, required, pqformat.Uncompressed, page1(1, pqformat.ByteStreamSplit, nil, nil, []byte{1, 2, 3, 4, 5})), "the page ends before its values do"},
		"a coding of tomorrow":       {oneColumn(1, required, pqformat.Uncompressed, page1(1, 10, nil, nil, int32s(1))), "column v: values are coded in a way that is not known here, number 10; write the file with another encoding"},
		"a coding that is gone":      {oneColumn(1, required, pqformat.Uncompressed, page1(1, 1, nil, nil, int32s(1))), "values of INT32 are not coded by Encoding(?)"},
		"differences of no blocks":   {oneColumn(1, required, pqformat.Uncompressed, page1(1, pqformat.DeltaBinaryPacked, nil, nil, []byte{0, 0, 1, 2})), "coded as they cannot be"},
	} {
		err := errorOf(t, test.file.file())
		if _, ok := errors.AsType[*format.DataError](err); !ok || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	file := oneColumn(1, required, pqformat.Uncompressed, one).file()
	copy(file[len(file)-4:], "PARE")
	if err := errorOf(t, file); err == nil || err.Error() != errEncrypted+"; "+adviceDecrypt {
		t.Error(err)
	}
}

// allocated gives the most memory that was taken at once while f ran, about: it looks between steps that f makes.
func allocated(f func(step func())) (most uint64) {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	step := func() {
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
	}
	f(step)
	step()
	return most
}

// TestClaimsTakeNoMemory: a file of a few bytes that says that it has much, or has it, takes memory for a batch.
func TestClaimsTakeNoMemory(t *testing.T) {
	const many = 1 << 30
	required, optional := el("required", "v", of(pqformat.Int32)), el("optional", "v", of(pqformat.Int32))
	text := el("required", "v", of(pqformat.ByteArray))
	times := func(n int) []byte { return binary.AppendUvarint(nil, uint64(n)<<1) }
	delta := func(n int, first int64, width byte) []byte { // all differences are 0
		b := binary.AppendUvarint([]byte{0x80, 0x80, 0x80, 0x80, 4, 1}, uint64(n)) // blocks of 2^30
		b = binary.AppendVarint(b, first)
		return append(b, 0, width)
	}
	for name, test := range map[string]struct {
		file *crafted
		rows int64 // that are read before it is enough
	}{
		"NULLs":                     {oneColumn(many, optional, pqformat.Uncompressed, page1(many, pqformat.Plain, nil, append(times(many), 0), nil)), 100_000},
		"indexes":                   {oneColumn(many, optional, pqformat.Uncompressed, dictPage(1, int32s(5)), page1(many, pqformat.RLEDictionary, nil, append(times(many), 1), append([]byte{8}, append(times(many), 0)...))), 100_000},
		"differences":               {oneColumn(many, required, pqformat.Uncompressed, page1(many, pqformat.DeltaBinaryPacked, nil, nil, delta(many, 7, 0))), 100_000},
		"texts of no bytes":         {oneColumn(many, text, pqformat.Uncompressed, page1(many, pqformat.DeltaLengthByteArray, nil, nil, delta(many, 0, 0))), 100_000},
		"texts like the one before": {oneColumn(100_000, text, pqformat.Uncompressed, page1(100_000, pqformat.DeltaByteArray, nil, nil, likeTheFirst(t, 100_000, 1<<20))), 50},
		"a list": {oneColumn(1, el("repeated", "v", of(pqformat.Int32)), pqformat.Uncompressed, dictPage(1, int32s(5)), page1(many, pqformat.RLEDictionary,
			append([]byte{2, 0}, append(times(many), 1)...), append(times(many), 1), append([]byte{8}, append(times(many), 0)...))), -1},
		"sizes, of zstd":   {oneColumn(1, required, pqformat.Zstd, page1(1, pqformat.Plain, nil, nil, int32s(1)).claims(func(h *pqformat.PageHeader) { h.UncompressedPageSize = maxPageSize })), -1},
		"sizes, of brotli": {oneColumn(1, required, pqformat.Brotli, page1(1, pqformat.Plain, nil, nil, int32s(1)).claims(func(h *pqformat.PageHeader) { h.UncompressedPageSize = maxPageSize })), -1},
		"sizes, of gzip":   {oneColumn(1, required, pqformat.Gzip, page1(1, pqformat.Plain, nil, nil, int32s(1)).claims(func(h *pqformat.PageHeader) { h.UncompressedPageSize = maxPageSize })), -1},
		"a bomb of zstd":   {oneColumn(1, required, pqformat.Zstd, page1(1, pqformat.Plain, nil, nil, int32s(1)).compressed(zeros(t, 1<<28))), -1},
		"damaged LZ4":      {oneColumn(1, required, pqformat.Lz4Raw, page1(1, pqformat.Plain, nil, nil, int32s(1)).compressed([]byte{0xff, 0xff, 0xff, 1, 2, 3})), -1},
	} {
		file := test.file.file()
		var err error
		var rows int64
		most := allocated(func(step func()) {
			table := tableOf(t, nil, file)
			r, opened := table.NewReader(format.Reading{Schema: &columnar.Schema{Columns: table.Columns()}}, 0, total(table))
			if err = opened; err != nil {
				return
			}
			var b columnar.Batch
			for n := int64(0); err == nil && (test.rows < 0 || rows < test.rows); rows += n {
				n, err = r.Next(1<<40, &b)
				step()
			}
			err = errors.Join(err, r.Close())
		})
		limit := uint64(32 << 20)
		if name == "a list" { // of one row, of which there can be so much
			limit = 512 << 20
		}
		if _, ok := errors.AsType[*format.DataError](err); most > limit || (err != nil) != (test.rows < 0) || err != nil && !ok {
			t.Errorf("%s: %d rows take %d MiB: %v", name, rows, most>>20, err)
		}
	}
}

// likeTheFirst codes n texts of so many bytes, each of which is the first one.
func likeTheFirst(t *testing.T, n, size int) (b []byte) {
	t.Helper()
	prefixes, suffixes := make([]int32, n), make([]int32, n)
	suffixes[0] = int32(size)
	for i := range prefixes[1:] {
		prefixes[1+i] = int32(size)
	}
	for _, lengths := range [][]int32{prefixes, suffixes} {
		coded, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, lengths)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, coded...)
	}
	return append(b, make([]byte, size)...)
}

// zeros gives so many zeros, compressed.
func zeros(t *testing.T, n int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeroReader{}, n); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestLongTexts: a batch ends where long texts begin, in one column or another, and no row is lost.
func TestLongTexts(t *testing.T) {
	const rows = 600
	var values, others []string
	for i := range rows {
		n := 3
		if i > 500 {
			n = 200 << 10
		}
		values = append(values, strings.Repeat(string(rune('a'+i%26)), n))
		others = append(others, fmt.Sprint(i))
	}
	c := crafted{schema: root(2, el("required", "a", of(pqformat.ByteArray)), el("required", "b", of(pqformat.ByteArray)))}
	c.groups = []craftedGroup{{rows: rows, chunks: []craftedChunk{{typ: pqformat.ByteArray, pages: []craftedPage{page1(rows, pqformat.Plain, nil, nil, texts(others...))}},
		{typ: pqformat.ByteArray, pages: []craftedPage{page1(rows, pqformat.Plain, nil, nil, texts(values...))}}}}}
	file := c.file()
	table := tableOf(t, nil, file)
	r, err := table.NewReader(format.Reading{Schema: &columnar.Schema{Columns: table.Columns()}}, 0, rows)
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	at := 0
	for at < rows {
		n, err := r.Next(rows, &b)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Data) > 2*format.BlockSize {
			t.Errorf("%d rows have %d bytes", n, len(b.Data))
		}
		for i := range n {
			if string(b.Bytes(b.Columns[0].Str[i])) != others[at] || string(b.Bytes(b.Columns[1].Str[i])) != values[at] {
				t.Fatalf("row %d is another one", at)
			}
			at++
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSteadyReading: rows take no memory of their own, in files of one row group of many pages, flat and nested.
func TestSteadyReading(t *testing.T) {
	const rows = 60_000
	schema := formattest.ParseSchema("a:int64 b:string c:decimal(20,2) d:list<struct<x:int32,y:string>> e:bool f:timestamp")
	f := newFormat(t, nil)
	f.groupRows, f.pageBytes = rows, minPage
	var batches []*columnar.Batch
	for range rows / 1000 {
		var texts [][]string
		for i := range 1000 {
			texts = append(texts, []string{fmt.Sprint(i), strings.Repeat("x", i%50), fmt.Sprintf("%d.25", i), `[{"x":1,"y":"a"},null,{"x":null,"y":"bb"}]`, "true", "2026-03-29 02:30:00"})
			texts[i][i%6] = "NULL"
		}
		batches = append(batches, formattest.Of(schema, texts...))
	}
	file := encode(t, f, schema, batches...)
	table := tableOf(t, nil, file)
	if len(table.Groups()) != 1 {
		t.Fatal(table.Groups())
	}
	declared := formattest.ParseSchema("a:int64 b:string c:string d:list<struct<x:int64,y:string>> e:bool f:timestamp") // of which two are cast
	r, err := table.NewReader(format.Reading{Schema: declared}, 0, rows)
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	for range 4 {
		if _, err := r.Next(1000, &b); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(40, func() {
		if n, err := r.Next(1000, &b); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}); n > 60 { // some a page
		t.Errorf("a thousand rows make %v allocations", n)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReadsManyColumns: a thousand columns are read in any order, and some of them.
func TestReadsManyColumns(t *testing.T) {
	const n = 1000
	c := crafted{groups: []craftedGroup{{rows: 2}, {rows: 1}}}
	elements := []pqformat.SchemaElement{}
	for i := range n {
		elements = append(elements, el("required", fmt.Sprintf("c%d", i), of(pqformat.Int32)))
		for g, rows := range []int{2, 1} {
			values := int32s(int32(i), int32(-i))
			c.groups[g].chunks = append(c.groups[g].chunks, craftedChunk{typ: pqformat.Int32, pages: []craftedPage{page1(rows, pqformat.Plain, nil, nil, values[:4*rows])}})
		}
	}
	c.schema = root(n, elements...)
	table := tableOf(t, nil, c.file())
	var schema columnar.Schema
	for i := n - 1; i >= 0; i -= 1 + i%2 {
		schema.Columns = append(schema.Columns, columnar.Column{Name: fmt.Sprintf("c%d", i), Type: columnar.Type{Kind: columnar.Int64}})
	}
	rows, _, err := rowsOf(table, &schema, 0, 3, 9, false)
	if err != nil || len(rows) != 3 {
		t.Fatal(len(rows), err)
	}
	for row, text := range rows {
		for i, got := range strings.Fields(text) {
			want := strings.TrimPrefix(schema.Columns[i].Name, "c")
			if row == 1 && want != "0" {
				want = "-" + want
			}
			if got != `"`+want+`"` {
				t.Fatalf("row %d, column %s: %s", row, schema.Columns[i].Name, got)
			}
		}
	}
}
