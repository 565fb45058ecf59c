package parquet

import (
	"bytes"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"
)

// limits are bounds of some values: none is less than min or greater than max. Bounds of bytes are short and may be of no value.
type limits struct {
	min, max parquet.Value
	any      bool
	nan      bool // there is NaN among them, and min and max are infinite
}

// widen takes notice of what others hold.
func (l *limits) widen(o limits, compare func(a, b parquet.Value) int) {
	l.nan = l.nan || o.nan
	if !o.any {
		return
	}
	if !l.any || compare(o.min, l.min) < 0 {
		l.min = o.min
	}
	if !l.any || compare(o.max, l.max) > 0 {
		l.max = o.max
	}
	l.any = true
}

// pageIndex gathers the bounds of one leaf's pages, and of its column chunk, in the row group at hand. It is what the library
// takes for a column indexer.
//
// Of floats NaN is no bound, and nothing is: some readers take NaN for greater than every number, and would not look for it
// where a bound is less. A page that has NaN is said to hold everything, and a chunk's bounds are left out.
type pageIndex struct {
	compare func(a, b parquet.Value) int

	nullPages  []bool
	nullCounts []int64
	mins, maxs [][]byte
	falls      bool // some page's bound is less than that of the page before
	rises      bool // or greater

	before limits // of the last page that has values
	page   limits // of the page at hand
	chunk  limits // of the pages before it
	last   bool   // the page at hand is the row group's last
}

// Reset is called when a row group begins.
func (x *pageIndex) Reset() { *x = pageIndex{compare: x.compare} }

// chunkBounds gives the bounds of the column chunk, the page at hand included, if that is the last.
func (x *pageIndex) chunkBounds() (min, max parquet.Value, ok bool) {
	whole := x.chunk
	whole.widen(x.page, x.compare)
	return whole.min, whole.max, x.last && whole.any && !whole.nan
}

// IndexPage is called when a page ends.
func (x *pageIndex) IndexPage(values, nulls int64, _, _ parquet.Value) {
	page := x.page
	x.chunk.widen(page, x.compare)
	x.page = limits{}
	x.nullPages = append(x.nullPages, values == nulls)
	x.nullCounts = append(x.nullCounts, nulls)
	if values == nulls {
		x.mins, x.maxs = append(x.mins, []byte{}), append(x.maxs, []byte{})
		return
	}
	if !page.any { // the library ended a page by itself
		panic("a page is larger than the format allows")
	}
	x.mins, x.maxs = append(x.mins, page.min.AppendBytes([]byte{})), append(x.maxs, page.max.AppendBytes([]byte{}))
	if x.before.any {
		low, high := x.compare(page.min, x.before.min), x.compare(page.max, x.before.max)
		x.falls = x.falls || low < 0 || high < 0
		x.rises = x.rises || low > 0 || high > 0
	}
	x.before = page
}

// ColumnIndex gives the index of the row group.
func (x *pageIndex) ColumnIndex() pqformat.ColumnIndex {
	order := pqformat.Unordered
	switch {
	case !x.falls:
		order = pqformat.Ascending
	case !x.rises:
		order = pqformat.Descending
	}
	return pqformat.ColumnIndex{NullPages: x.nullPages, NullCounts: x.nullCounts, MinValues: x.mins, MaxValues: x.maxs, BoundaryOrder: order}
}

// maxBound is how many bytes of a string a bound has, about.
const maxBound = 64

// lowerBound gives short bytes that are not greater than some; of a text, a text.
func lowerBound(b []byte, text bool) []byte {
	if len(b) <= maxBound {
		return b
	}
	n := maxBound
	for text && n > maxBound-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// upperBound gives short bytes that are not less than some: cut, and the last character or byte that has a next one replaced by
// that. Bytes that have none such are given whole.
func upperBound(b []byte, text bool) []byte {
	short := lowerBound(b, text)
	if len(short) == len(b) {
		return b
	}
	for len(short) > 0 {
		last := len(short) - 1
		if !text {
			if short[last] < 0xff {
				return append(bytes.Clone(short[:last]), short[last]+1)
			}
			short = short[:last]
			continue
		}
		r, size := utf8.DecodeLastRune(short)
		short = short[:len(short)-size]
		if next := r + 1; utf8.ValidRune(next) && r != utf8.RuneError {
			return utf8.AppendRune(bytes.Clone(short), next)
		}
	}
	return b
}
