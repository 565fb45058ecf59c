package parquet

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
)

// What the library is given in place of its own: schemas whose fields keep their order, and types whose statistics are ours.

// group is the root of a file's schema, and a struct. parquet.Group would sort the fields by name.
type group struct {
	parquet.Group
	fields []parquet.Field
}

func (g group) Fields() []parquet.Field     { return g.fields }
func (g group) GoType() reflect.Type        { return reflect.TypeFor[map[string]any]() }
func (g group) Encoding() encoding.Encoding { return nil }
func (g group) Compression() compress.Codec { return nil }

// field is a column. Its values are written by column writers, never taken from Go values.
type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

func (f field) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// own is the type of a leaf. The library orders 16-byte decimals as if they had no sign, takes NaN for a bound, loses pages
// without values from the index of some types, cuts the bounds of strings in the middle of a character, and does not cut those
// of column chunks: readers that skip by such bounds lose rows or fail.
type own struct {
	parquet.Type
	index  *pageIndex
	signed bool // a decimal of 16 bytes
	local  bool // of no time zone: it has no converted type, which means UTC to readers that know nothing else
}

func (t own) ConvertedType() *deprecated.ConvertedType {
	if t.local {
		return nil
	}
	return t.Type.ConvertedType()
}

func (t own) Compare(a, b parquet.Value) int {
	if t.signed {
		return int128(a).Compare(int128(b))
	}
	return t.Type.Compare(a, b)
}

func (t own) NewColumnIndexer(int) parquet.ColumnIndexer { return t.index }

// NewColumnBuffer makes a buffer that grows as it needs to.
func (t own) NewColumnBuffer(column, _ int) parquet.ColumnBuffer {
	return buffer{t.Type.NewColumnBuffer(column, 0), t.index}
}

// buffer holds the values of the page at hand.
type buffer struct {
	parquet.ColumnBuffer
	index *pageIndex
}

func (b buffer) Page() parquet.Page { return page{b.ColumnBuffer.Page(), b.index} }

// page is a page about to be written.
type page struct {
	parquet.Page
	index *pageIndex
}

// Bounds is asked for what the column chunk's bounds are to be widened by. They are given with the chunk's last page.
func (p page) Bounds() (min, max parquet.Value, ok bool) { return p.index.chunkBounds() }
