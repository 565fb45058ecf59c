// Package format is the contract of a data format: how rows lie in bytes, in both directions. Each format has a folder of
// its own; a format knows nothing of the place that its bytes are read from or written to.
package format

import (
	"errors"
	"io"

	"github.com/clinkctl/clinkctl/columnar"
)

// Kind is an entry of the list of formats that a binary knows.
type Kind struct {
	Name string   // as in `format: csv`
	Exts []string // without dot; the first is given to what is written, all are recognised in what is read
	// New makes the format with the dialect's options, as the job file has them under the format's name. Unknown options
	// and values out of range are errors, all of them at once.
	New func(options map[string]any) (Format, error)
}

// Format is a format with its options. What it can do it shows by implementing Text or Table, and Writer.
type Format interface {
	Name() string
	// Ext is the extension of a file in this format, without dot.
	Ext() string
}

// Writer is a format that can be written.
type Writer interface {
	Format
	// NewEncoder begins a file. What it is given must not be written to by anybody else until Close.
	NewEncoder(w io.Writer, t Target) (Encoder, error)
}

// Target says what a file to be written is.
type Target struct {
	Schema *columnar.Schema // no columns: records are copied unparsed
	Head   []byte           // for records copied unparsed: what comes before the first record, as in the source
	Meta   [][2]string      // names and values for formats that carry such; the order is kept
}

// Encoder writes one file. It is used by one goroutine at a time. After an error it is only thrown away.
type Encoder interface {
	// Encode writes a batch of the target's schema. It does not keep the batch.
	Encode(b *columnar.Batch) error
	// Close writes what the format needs at the end. It is called at most once, and does not close the io.Writer.
	Close() error
}

// Checker is a Writer whose files have a structure that can be read back before anybody relies on them.
type Checker interface {
	// Check reads a finished file of size bytes back and fails unless it is whole and says that it has the schema's columns, and
	// rows rows.
	Check(r io.ReaderAt, size, rows int64, schema *columnar.Schema) error
}

// ErrShort says that more bytes are needed to answer.
var ErrShort = errors.New("more bytes are needed")

// Text is a format whose records lie one after another in a file, so that a file can be cut between two of them.
// All its methods may be called from several goroutines.
type Text interface {
	Format
	Splitter
	// Head measures what comes before the first record: a byte order mark, a header line. start is the beginning of a
	// file, all of it if whole. It answers ErrShort, unless whole, where start does not reach far enough.
	Head(start []byte, whole bool) (int, error)
	// SameHead tells whether two files' heads are equal in what they mean, so that records below either can be copied
	// below one.
	SameHead(a, b []byte) bool
	// CopyHead gives what of a head is written above records that are copied unparsed.
	CopyHead(head []byte) []byte
	// NewDecoder makes a decoder for records that stand below a head. Columns that the head lacks, or has twice, are a
	// *DataError.
	NewDecoder(r Reading) (Decoder, error)
	// Compression is how the files are compressed, as far as options say it.
	Compression() Compression
}

// Parsed is a Text that knows whether its options say something of values, or of which records there are: then they must be read, and
// cannot be copied as they are.
type Parsed interface {
	Parsed() bool
}

// Careful is a Text that can find records in a way that takes longer, so that one which is refused takes fewer others with it.
type Careful interface {
	Careful() Text
}

// Reading is what a decoder is made for.
type Reading struct {
	// Schema is the columns to read, by the names that they have in the source. No columns: records are left unparsed, and
	// only where they end is checked.
	Schema *columnar.Schema
	Head   []byte
	// Reject takes a record that the schema or the format refuses; its error ends the reading. nil: the first such record
	// does.
	Reject func(Rejected) error
}

// Rejected is a record that was refused and left out of the batch.
type Rejected struct {
	Err      *DataError // offsets are in the file
	Record   int        // its number in what is decoded at once, from 0, others that are refused included
	From, To int        // where it lies in the chunk that was decoded; not set for formats that are no text
	Raw      []byte     // of formats that are no text, the columns that were read as a JSON object
}

// Splitter finds where records end. Every b begins at the start of a record, and has all of the file's bytes up to its
// end. The last record of a file may lack its line end: whoever reads files adds one.
type Splitter interface {
	// Last gives the end of the last whole record in b, 0 if there is none.
	Last(b []byte) int
	// After gives the end of the first record that ends at or after offset at (1 or more), 0 if b has none such.
	After(b []byte, at int) int
	// Rows gives the end of the record that is the max-th in b, or of the last whole one, and how many there are up to it.
	Rows(b []byte, max int) (end, rows int)
}

// Decoder turns whole records into a batch. It is used by one goroutine at a time.
type Decoder interface {
	// Decode fills out, resetting it first. It may change chunk in place, and out points into it, or into a copy with more
	// behind it. chunk begins at offset at of its file. A record that is refused is a *DataError whose Offset is in the
	// file, unless Reading.Reject takes it.
	Decode(chunk []byte, at int64, out *columnar.Batch) error
}

// Inferrer is a Text whose columns can be inferred.
type Inferrer interface {
	// NewSampler makes a sampler. Files of one source have heads of their own: AddHead tells of each, before its records.
	NewSampler() Sampler
}

// Sampler infers columns from records of a source's first files.
type Sampler interface {
	// AddHead begins a file. A head that is no head is a *DataError.
	AddHead(head []byte) error
	// Sample looks at whole records of a chunk, as Decode gets them. It may change chunk. A record that is refused is a *DataError,
	// the first one in the chunk; those behind it were looked at, too, so that whoever rejects such records can go on.
	Sample(chunk []byte, at int64) error
	// Columns gives the columns that hold every record seen. None is required. One that showed no value has a type of the Kind 0.
	Columns() []columnar.Column
}

// Table is a format whose files say where their rows lie, so that rows are read by their number, and columns apart.
// All its methods may be called from several goroutines.
type Table interface {
	Format
	// OpenTable reads what a file of size bytes says of itself. A file that is damaged, or none of the format, is a
	// *DataError; an error of r is not.
	OpenTable(r io.ReaderAt, size int64) (TableFile, error)
}

// TableFile is an open file of a Table. Its methods may be called from several goroutines, if its io.ReaderAt may be.
type TableFile interface {
	// Columns gives the file's columns, each of the type that holds all its values. One of a type that cannot be read has
	// the Kind 0: it can be left out.
	Columns() []columnar.Column
	// Groups gives the runs of rows that a file is best cut between, in order.
	Groups() []Group
	// NewReader reads rows [from, to). The Reading's Head is not used. A column that the file lacks, or that cannot be cast
	// to the column's type, is a *DataError.
	NewReader(r Reading, from, to int64) (TableReader, error)
}

// Group is a run of rows of a TableFile.
type Group struct {
	Rows  int64
	Bytes int64 // that it takes in the file
}

// TableReader reads rows in order. It is used by one goroutine at a time.
type TableReader interface {
	// Next fills out with the next rows, resetting it first, and tells how many rows of the file were passed: those of out,
	// and those that were rejected. Rejected.Record counts within these. It passes at most max rows, 1 or more, and no more
	// than fit a batch of about BlockSize bytes. At the end it gives io.EOF. Data that is damaged is a *DataError.
	Next(max int64, out *columnar.Batch) (passed int64, err error)
	Close() error
}
