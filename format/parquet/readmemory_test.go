package parquet

import (
	"fmt"
	"strings"
	"testing"

	pqformat "github.com/parquet-go/parquet-go/format"

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
