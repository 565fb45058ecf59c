package parquet

import (
	"bytes"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/columnar"
)

// indexed is a type with a page index of our own. The library compares 16-byte decimals as if they had no sign, and cuts
// the bounds of strings in the middle of a character: readers that skip by such an index lose rows or fail.
type indexed struct {
	parquet.Type
	index *pageIndex
}

func (t indexed) NewColumnIndexer(int) parquet.ColumnIndexer { return t.index }

// maxBound is how many bytes of a string a page index holds, about.
const maxBound = 64

// pageIndex gathers the bounds of one column's pages in the row group at hand.
type pageIndex struct {
	nullPages  []bool
	nullCounts []int64
	mins, maxs [][]byte

	// Of the page at hand, for wide decimals: whoever writes values tells them, because the library's are wrong.
	wide     bool
	any      bool
	min, max columnar.Int128
}

// saw takes notice of a value of the page at hand.
func (x *pageIndex) saw(v columnar.Int128) {
	if !x.any || v.Compare(x.min) < 0 {
		x.min = v
	}
	if !x.any || v.Compare(x.max) > 0 {
		x.max = v
	}
	x.any = true
}

// Reset is called when a row group begins.
func (x *pageIndex) Reset() {
	x.nullPages, x.nullCounts, x.mins, x.maxs = nil, nil, nil, nil
	x.any = false
}

// IndexPage is called when a page ends.
func (x *pageIndex) IndexPage(values, nulls int64, min, max parquet.Value) {
	x.nullPages = append(x.nullPages, values == nulls)
	x.nullCounts = append(x.nullCounts, nulls)
	var lower, upper []byte
	switch {
	case values == nulls:
	case x.wide:
		least, most := x.min.BigEndian(), x.max.BigEndian()
		lower, upper = least[:], most[:]
	default:
		lower, upper = lowerBound(min.ByteArray()), upperBound(max.ByteArray())
	}
	x.mins = append(x.mins, append([]byte{}, lower...))
	x.maxs = append(x.maxs, append([]byte{}, upper...))
	x.any = false
}

// ColumnIndex gives the index of the row group.
func (x *pageIndex) ColumnIndex() pqformat.ColumnIndex {
	return pqformat.ColumnIndex{NullPages: x.nullPages, NullCounts: x.nullCounts, MinValues: x.mins, MaxValues: x.maxs,
		BoundaryOrder: pqformat.Unordered}
}

// lowerBound gives a short text that is not greater than a text.
func lowerBound(text []byte) []byte {
	if len(text) <= maxBound {
		return text
	}
	n := maxBound
	for n > maxBound-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// upperBound gives a short text that is not less than a text: cut, and its last character that has a next one replaced by
// that. A text that has none such is given whole.
func upperBound(text []byte) []byte {
	cut := lowerBound(text)
	if len(cut) == len(text) {
		return text
	}
	for len(cut) > 0 {
		r, size := utf8.DecodeLastRune(cut)
		cut = cut[:len(cut)-size]
		if next := r + 1; utf8.ValidRune(next) && r != utf8.RuneError {
			return utf8.AppendRune(bytes.Clone(cut), next)
		}
	}
	return text
}
