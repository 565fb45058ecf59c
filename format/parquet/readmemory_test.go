package parquet

import (
	"fmt"
	"strings"
	"testing"

	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// TestLongNames are held once, however many fields are in what has one.
func TestLongNames(t *testing.T) {
	const fields = 2000
	name := strings.Repeat("x", 256<<10)
	c := crafted{schema: root(1, el("required", name, kids(fields)))}
	for i := range fields {
		c.schema = append(c.schema, el("required", fmt.Sprint(i), of(pqformat.Int32)))
	}
	file := c.file()
	var table format.TableFile
	most := allocated(func(step func()) { table = tableOf(t, nil, file) })
	if n := len(table.Columns()[0].Type.Fields); n != fields || most > 32<<20 {
		t.Errorf("%d fields take %d MiB", n, most>>20)
	}
}

// manyColumns is a file of so many columns of one row, which have the same pages.
func manyColumns(columns int32, codec pqformat.CompressionCodec, pages ...craftedPage) []byte {
	c := crafted{groups: []craftedGroup{{rows: 1}}}
	var elements []pqformat.SchemaElement
	for i := range columns {
		elements = append(elements, el("required", fmt.Sprint("c", i), of(pqformat.Int32)))
		c.groups[0].chunks = append(c.groups[0].chunks, craftedChunk{typ: pqformat.Int32, codec: codec, pages: pages})
	}
	c.schema = root(columns, elements...)
	return c.file()
}

// TestManyShortColumns take no more memory than they have bytes, about.
func TestManyShortColumns(t *testing.T) {
	table := tableOf(t, nil, manyColumns(5000, pqformat.Uncompressed, page1(1, pqformat.Plain, nil, nil, int32s(1))))
	most := allocated(func(step func()) {
		if _, _, err := rowsOf(table, &columnar.Schema{Columns: table.Columns()}, 0, 1, 1, false); err != nil {
			t.Fatal(err)
		}
	})
	if most > 40<<20 {
		t.Errorf("5000 columns take %d MiB", most>>20)
	}
}

// TestLargePagesOfMany: columns have pages and dictionaries of a size that is right for one, and too large for all.
func TestLargePagesOfMany(t *testing.T) {
	const size = 1 << 20
	for name, pages := range map[string][]craftedPage{
		"pages":        {page1(1, pqformat.Plain, nil, nil, make([]byte, size)).compressed(zeros(t, size))},
		"dictionaries": {dictPage(size/4, make([]byte, size)).compressed(zeros(t, size)), page1(1, pqformat.Plain, nil, nil, make([]byte, 4)).compressed(zeros(t, 4))},
	} {
		for columns, want := range map[int32]string{3: "<nil>", 20: "the pages and dictionaries of all columns together have more than 12 MiB; write the file with smaller ones, or leave columns out"} {
			table := tableOf(t, nil, manyColumns(columns, pqformat.Zstd, pages...))
			opened, err := table.NewReader(format.Reading{Schema: &columnar.Schema{Columns: table.Columns()}}, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			r := opened.(*tableReader)
			r.room.most = 12 * size
			_, err = r.Next(1, &columnar.Batch{})
			if !strings.HasSuffix(fmt.Sprint(err), want) {
				t.Errorf("%s of %d columns: %v, want %s", name, columns, err, want)
			}
			if r.room.held > 15*size {
				t.Errorf("%s of %d columns take %d MiB", name, columns, r.room.held>>20)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
