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
