package parquet

import (
	"bytes"
	"errors"
	"fmt"

	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/clinkctl/clinkctl/format"
)

// stream reads the values of one leaf of a file, page by page, and queues those that do not belong to the batch at hand. An entry is a
// value or what stands for one that is not there.
type stream struct {
	node    *node
	most    maxLevels
	chunk   chunkReader
	entries int64 // of the chunk, in pages to come
	dict    *dictionary
	indexes indexValues

	page    dataPage
	left    int // entries of the page that are not in the window yet
	coding  coding
	isIndex bool // the coding gives values as they become

	// The window has entries of the page whose values are not read yet: [at, n).
	rep, def []byte // rep of a leaf that is repeated
	at, n    int

	queue entryQueue
	raw   values // as they lie in the file

	room *room // of all streams
	held int64 // bytes of it
}

// windowSize is how many levels are read from a page at once.
const windowSize = 1024

const (
	// maxRowEntries and maxRowBytes are how many entries, and how many bytes of text, one row of a leaf can have.
	maxRowEntries = 1 << 24
	maxRowBytes   = 512 << 20
)

func newStream(n *node, file *source, codecs *codecs, room *room, window int, lossy bool) *stream {
	s := &stream{node: n, most: maxLevels{rep: n.rep, def: n.def}, room: room}
	s.chunk = chunkReader{file: file, codecs: codecs, reads: window}
	s.def = make([]byte, windowSize)
	if s.most.rep > 0 {
		s.rep = make([]byte, windowSize)
	}
	s.queue.refused.lossy = lossy
	return s
}

// begin begins a column chunk, which ends before end. The queue must be empty.
func (s *stream) begin(m *pqformat.ColumnMetaData, end int64) {
	s.chunk.open(m, end)
	s.entries = m.NumValues
	if s.dict != nil {
		s.dict.count = -1
	}
	s.page, s.left, s.at, s.n = dataPage{}, 0, 0, 0
}

// damaged is an error of the page at hand. Errors of the file pass unchanged.
func (s *stream) damaged(err error) error {
	if _, ok := errors.AsType[*format.DataError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*readError](err); ok {
		return err
	}
	return s.refuse(damage+err.Error(), adviceAgain)
}

// refuse gives an error of the page at hand.
func (s *stream) refuse(reason, advice string) error {
	return &format.DataError{Offset: s.chunk.page, Column: s.node.place.String(), Reason: reason, Advice: advice}
}

// fill reads rows until the queue has so many that are complete, or has bytes for a batch. It gives how many there are, one at least.
func (s *stream) fill(rows int) (int, error) {
	q := &s.queue
	for {
		if complete := q.complete(); complete >= rows || complete > 0 && s.bytes() >= format.BlockSize {
			return complete, nil
		}
		if err := s.more(rows); err != nil {
			return 0, s.damaged(err)
		}
		if err := s.hold(); err != nil {
			return 0, err
		}
		if q.complete() == 0 && (len(q.def) > maxRowEntries || len(q.values.data) > maxRowBytes) {
			return 0, s.refuse(fmt.Sprintf("a row has more than %d values, or %d MiB", maxRowEntries, maxRowBytes>>20), "cut it in the source")
		}
	}
}

// bytes is about how large what is in the queue is.
func (s *stream) bytes() int { return 10*len(s.queue.def) + len(s.queue.values.data) }

var errShort = errors.New("a column has fewer rows than its row group")

// more reads some entries of rows, up to the beginning of the one after them.
func (s *stream) more(rows int) error {
	if s.at == s.n {
		ok, err := s.fillWindow()
		if err != nil {
			return err
		}
		if !ok { // the chunk is at its end
			if s.queue.whole {
				return errShort
			}
			s.queue.whole = true
			return nil
		}
	}
	n := s.n - s.at
	if s.most.rep == 0 {
		n = min(n, rows-s.queue.begun)
	} else if n = s.upTo(rows); n == 0 {
		s.queue.whole = true
		return nil
	}
	count := bytes.Count(s.def[s.at:s.at+n], []byte{byte(s.most.def)})
	if count > 0 {
		if fits := s.coding.fits(count, max(1, format.BlockSize-s.bytes())); fits < count {
			n, count = s.upToValue(fits), fits
		}
	}
	if err := s.take(n); err != nil {
		return err
	}
	return s.read(count)
}

// upTo is how many entries of the window come before the row after so many of the queue.
func (s *stream) upTo(rows int) int {
	begun := s.queue.begun
	for i, rep := range s.rep[s.at:s.n] {
		if rep > 0 {
			continue
		}
		if begun == rows {
			return i
		}
		begun++
	}
	return s.n - s.at
}

// upToValue is how many entries of the window have so many values.
func (s *stream) upToValue(values int) int {
	for i, def := range s.def[s.at:s.n] {
		if int(def) == s.most.def {
			values--
		}
		if values == 0 {
			return i + 1
		}
	}
	return s.n - s.at
}

// fillWindow reads further levels, of this page or the next. It is false at the end of the chunk.
func (s *stream) fillWindow() (bool, error) {
	for s.left == 0 {
		if s.entries == 0 {
			return false, nil
		}
		if err := s.nextPage(); err != nil {
			return false, err
		}
	}
	s.at, s.n = 0, min(s.left, windowSize)
	s.left -= s.n
	if s.most.rep > 0 {
		if err := s.page.rep.levels(s.rep[:s.n]); err != nil {
			return false, err
		}
	}
	return true, s.page.def.levels(s.def[:s.n])
}

// nextPage begins the next page of the chunk that has values.
func (s *stream) nextPage() error {
	h, err := s.chunk.header()
	if err != nil {
		return err
	}
	return s.beginPage(&h)
}

func (s *stream) beginPage(h *pqformat.PageHeader) error {
	switch n := entriesOf(h); {
	case h.Type == pqformat.DictionaryPage:
		return s.readDictionary(h)
	case n == 0: // some writers make such
		s.chunk.skip(h)
		return nil
	case n > s.entries:
		return fmt.Errorf("a page has %d values, and its column chunk %d more", n, s.entries)
	}
	page, err := s.chunk.data(h, s.most)
	if err != nil {
		return err
	}
	s.page, s.left = page, page.entries
	s.entries -= int64(page.entries)
	if e := page.encoding; e < pqformat.Plain || e > pqformat.ByteStreamSplit {
		return s.refuse(fmt.Sprintf("values are coded in a way that is not known here, number %d", int(e)), "write the file with another encoding, such as PLAIN")
	}
	s.isIndex = page.encoding == pqformat.RLEDictionary || page.encoding == plainDictionary
	if !s.isIndex {
		s.coding, err = newCoding(s.node.kind.physical, page.encoding, page.values)
		return err
	}
	if s.dict == nil || s.dict.count < 0 {
		return errors.New("a page needs a dictionary, and there is none before it")
	}
	s.coding = &s.indexes
	return s.indexes.begin(s.dict, page.values)
}

// entriesOf is how many entries a page has.
func entriesOf(h *pqformat.PageHeader) int64 {
	switch h.Type {
	case pqformat.DataPage:
		return int64(h.DataPageHeader.V.NumValues)
	case pqformat.DataPageV2:
		return int64(h.DataPageHeaderV2.V.NumValues)
	}
	return 0
}

// become reads n values of a coding as they are to be.
func (s *stream) become(c coding, v *values, n int, r *refusals) error {
	kind := &s.node.kind
	if kind.become != nil {
		s.raw.reset()
		if err := c.read(&s.raw, n); err != nil {
			return err
		}
		kind.become(&s.raw, v, r)
		return nil
	}
	from := len(v.I32) + len(v.I64) + len(v.Str) // no kind that is looked at has others
	if err := c.read(v, n); err != nil {
		return err
	}
	if kind.look != nil {
		kind.look(v, from, r)
	}
	return nil
}

var errLevels = errors.New("levels do not fit the schema")

// take moves n entries from the window to the queue.
func (s *stream) take(n int) error {
	q, from := &s.queue, s.at
	s.at += n
	def := s.def[from:s.at]
	if s.most.rep > 0 {
		q.whole = false
		return s.takeRepeated(s.rep[from:s.at], def)
	}
	if !noneAbove(def, s.most.def) {
		return errLevels
	}
	q.begun += n
	q.whole = true
	q.def = append(q.def, def...)
	return nil
}

// noneAbove tells whether no level is above the most.
func noneAbove(levels []byte, most int) bool {
	if most == 0 || most&(most+1) == 0 { // as many bits as a level has cannot make more
		return true
	}
	for _, l := range levels {
		if int(l) > most {
			return false
		}
	}
	return true
}

// takeRepeated is take for a leaf that is repeated. An entry that goes on with a list comes after one that is in it. DuckDB has as many
// entries for an array that is NULL as for one that is there: they go on with a list that is not there, and are passed.
func (s *stream) takeRepeated(reps, defs []byte) error {
	q := &s.queue
	for i, rep := range reps {
		def := defs[i]
		if int(rep) > s.most.rep || int(def) > s.most.def {
			return errLevels
		}
		if rep == 0 {
			q.begun++
		} else {
			if q.begun == 0 {
				return errors.New("a row group begins in the middle of a row")
			}
			last, least := q.def[len(q.def)-1], s.node.repeated[rep-1]
			if def == last && def+1 < least {
				continue
			}
			if last < least || def < least {
				return errLevels
			}
		}
		q.rep, q.def = append(q.rep, rep), append(q.def, def)
	}
	return nil
}

// read moves n values from the page to the queue.
func (s *stream) read(n int) error {
	q := &s.queue
	switch {
	case n == 0:
		return nil
	case !s.isIndex:
		if err := s.become(s.coding, &q.values, n, &q.refused); err != nil {
			return err
		}
	case len(s.dict.refused.list) == 0:
		if err := s.indexes.read(&q.values, n); err != nil {
			return err
		}
	default:
		if err := s.readRefused(n); err != nil {
			return err
		}
	}
	q.count += n
	return nil
}

// pass passes rows of the chunk. The queue must be empty.
func (s *stream) pass(rows int64) error {
	for rows > 0 {
		if s.most.rep == 0 && s.left == 0 && s.at == s.n && s.entries > 0 {
			n, err := s.passPage(rows)
			if err != nil {
				return s.damaged(err)
			}
			rows -= n
			continue
		}
		n, err := s.fill(int(min(rows, windowSize)))
		if err != nil {
			return err
		}
		n = int(min(int64(n), rows))
		s.drop(n)
		rows -= int64(n)
	}
	return nil
}

// passPage passes the next page of a leaf that is not repeated, if it has no more than so many rows, and else begins it.
func (s *stream) passPage(rows int64) (passed int64, err error) {
	h, err := s.chunk.header()
	if err != nil {
		return 0, err
	}
	n := entriesOf(&h)
	if n == 0 || n > min(rows, s.entries) {
		return 0, s.beginPage(&h)
	}
	s.chunk.skip(&h)
	s.entries -= n
	return n, nil
}

// ended tells whether nothing is left of the chunk but the rows of the queue, of which there are so many.
func (s *stream) ended(rows int) bool {
	return s.entries == 0 && s.left == 0 && s.at == s.n && s.queue.begun == rows
}
