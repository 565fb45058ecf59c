package parquet

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/clinkctl/clinkctl/columnar"
)

// Two views of rows that tests compare: of a batch, by its cursors, and of a file, as the library's row reader gives it. In both a
// NULL is nil, a list and a struct are slices, and another value is its text.

func viewBatch(schema *columnar.Schema, batches ...*columnar.Batch) []any {
	rows := []any{}
	for _, b := range batches {
		var cursors []*columnar.Cursor
		for i, c := range schema.Columns {
			cursors = append(cursors, columnar.NewCursor(&b.Columns[i], c.Type))
		}
		for range b.Rows {
			var row []any
			for _, c := range cursors {
				row = append(row, viewNext(b, c))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func viewNext(b *columnar.Batch, c *columnar.Cursor) any {
	i, ok := c.Next()
	if !ok {
		return nil
	}
	t, v, values := c.Type(), c.Vector(), []any{}
	switch {
	case t.Kind == columnar.List:
		for range v.Len[i] {
			values = append(values, viewNext(b, c.Kid(0)))
		}
		return values
	case t.Kind == columnar.Struct:
		for k := range t.Fields {
			values = append(values, viewNext(b, c.Kid(k)))
		}
		return values
	case t.Kind == columnar.Binary:
		return base64.StdEncoding.EncodeToString(b.Bytes(v.Str[i]))
	case t.Kind.Spans():
		return string(b.Bytes(v.Str[i]))
	}
	text, err := v.Append(nil, t, i)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func viewFile(t fataler, schema *columnar.Schema, file []byte) []any {
	rows := []any{}
	for _, group := range open(t, file).RowGroups() {
		reader := group.Rows()
		var buffer [100]parquet.Row
		for {
			n, err := reader.ReadRows(buffer[:])
			for _, row := range buffer[:n] {
				rows = append(rows, viewRow(schema, row))
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func viewRow(schema *columnar.Schema, row parquet.Row) any {
	var leaves [][]parquet.Value
	for _, v := range row {
		if v.Column() == len(leaves) {
			leaves = append(leaves, nil)
		}
		leaves[v.Column()] = append(leaves[v.Column()], v)
	}
	var values []any
	for _, c := range schema.Columns {
		n := countLeaves(c.Type)
		values = append(values, assemble(c, leaves[:n], 0, 0))
		leaves = leaves[n:]
	}
	return values
}

func countLeaves(t columnar.Type) int {
	if !t.Kind.Nested() {
		return 1
	}
	n := 0
	for _, f := range t.Fields {
		n += countLeaves(f.Type)
	}
	return n
}

// assemble makes one value of a column from those of its leaves, as the format's specification defines the levels. rep and def are
// the levels of what the column is in.
func assemble(c columnar.Column, leaves [][]parquet.Value, rep, def int) any {
	least := leaves[0][0].DefinitionLevel()
	if !c.Required {
		if least == def {
			return same(leaves, def, nil)
		}
		def++
	}
	values := []any{}
	switch c.Type.Kind {
	case columnar.List:
		if least == def {
			return same(leaves, def, values)
		}
		for _, element := range split(leaves, rep+1) {
			values = append(values, assemble(c.Type.Fields[0], element, rep+1, def+1))
		}
		return values
	case columnar.Struct:
		for _, f := range c.Type.Fields {
			n := countLeaves(f.Type)
			values = append(values, assemble(f, leaves[:n], rep, def))
			leaves = leaves[n:]
		}
		return values
	}
	if len(leaves[0]) != 1 || least != def {
		return fmt.Sprintf("%d values of level %d, want one of level %d", len(leaves[0]), least, def)
	}
	return showLeaf(c.Type, leaves[0][0])
}

// same gives a value, if all leaves have but one entry, of a definition level.
func same(leaves [][]parquet.Value, def int, value any) any {
	for _, l := range leaves {
		if len(l) != 1 || l[0].DefinitionLevel() != def || !l[0].IsNull() {
			return fmt.Sprintf("entries %+v of level %d", l, def)
		}
	}
	return value
}

// split cuts the values of each leaf before those of a repetition level.
func split(leaves [][]parquet.Value, rep int) (elements [][][]parquet.Value) {
	for k, l := range leaves {
		i := -1
		for at, v := range l {
			if at == 0 || v.RepetitionLevel() == rep {
				i++
			}
			if i == len(elements) {
				elements = append(elements, make([][]parquet.Value, len(leaves)))
			}
			elements[i][k] = append(elements[i][k], v)
		}
	}
	return elements
}

// showLeaf gives the text of a value as it is in the file.
func showLeaf(t columnar.Type, v parquet.Value) string {
	one := columnar.Vector{Valid: []byte{1}}
	switch t.Kind {
	case columnar.Bool:
		one.Bool = []bool{v.Boolean()}
	case columnar.Float32:
		one.F32 = []float32{v.Float()}
	case columnar.Float64:
		one.F64 = []float64{v.Double()}
	case columnar.Uint32:
		return strconv.FormatUint(uint64(v.Uint32()), 10)
	case columnar.Uint64:
		return strconv.FormatUint(v.Uint64(), 10)
	case columnar.Int8, columnar.Int16, columnar.Int32, columnar.Uint8, columnar.Uint16, columnar.Date:
		one.I32 = []int32{v.Int32()}
	case columnar.String, columnar.JSON:
		return string(v.ByteArray())
	case columnar.Binary:
		return base64.StdEncoding.EncodeToString(v.ByteArray())
	case columnar.UUID:
		b := v.ByteArray()
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	case columnar.Decimal:
		return showDecimal(t, v)
	default:
		one.I64 = []int64{v.Int64()}
	}
	text, err := one.Append(nil, t, 0)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func showDecimal(t columnar.Type, v parquet.Value) string {
	unscaled := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		unscaled.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		unscaled.SetInt64(v.Int64())
	default:
		unscaled.SetBytes(v.ByteArray())
		if v.ByteArray()[0] >= 0x80 {
			unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), 128))
		}
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
	return new(big.Rat).SetFrac(unscaled, scale).FloatString(t.Scale)
}
