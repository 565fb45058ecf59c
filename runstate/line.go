package runstate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
)

// The journal's bytes:
//
//	journal = line*
//	line    = crc SP json LF
//	crc     = CRC-32C of json, seeded with the crc of the line before (0 for the first), 8 lower-case hex digits
//	json    = a Record on one line
//
// One append is one line and one fsync. So of all lines only the last can be unacknowledged: if it lacks its LF or has a
// wrong checksum it was never promised to anybody, and whoever holds the lock may cut it. Anything else that is wrong is
// damage. A page that a power loss took from the last line shows as wrong bytes in it, never as a further LF.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const crcLen = 8

func chain(seed uint32, text []byte) uint32 { return crc32.Update(seed, castagnoli, text) }

func appendLine(dst []byte, seed uint32, text []byte) ([]byte, uint32) {
	sum := chain(seed, text)
	dst = fmt.Appendf(dst, "%08x ", sum)
	dst = append(dst, text...)
	return append(dst, '\n'), sum
}

// DamageError says that a journal cannot be what was written.
type DamageError struct {
	Path   string
	Offset int64 // where the first line begins that cannot be trusted
	Why    string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %s is damaged at byte %d: %s", e.Path, e.Offset, e.Why)
}

// NewerError says that a journal was written by a newer version.
type NewerError struct {
	Path string
	Has  int // format of the journal
	Ours int // newest that this version knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("journal %s has format %d; this clinkctl knows up to %d: use the version that wrote it, or a newer one", e.Path, e.Has, e.Ours)
}

// content is a journal's bytes, taken apart.
type content struct {
	records []Record
	ends    []int64  // offset after each record
	sums    []uint32 // checksum of each
	torn    []byte   // a last line that was never acknowledged, may be empty
}

func (c *content) size() int64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

func (c *content) sum() uint32 {
	if len(c.sums) == 0 {
		return 0
	}
	return c.sums[len(c.sums)-1]
}

// cut keeps the first n records.
func (c *content) cut(n int) {
	c.records, c.ends, c.sums, c.torn = c.records[:n], c.ends[:n], c.sums[:n], nil
}

// parse takes a journal's bytes apart. newest is the newest format to accept. What stands before an error is given with it.
func parse(path string, data []byte, newest int) (*content, error) {
	c := &content{}
	for rest := data; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\n') + 1
		text, sum, ok := checkLine(rest[:max(n, 0)], c.sum())
		if !ok {
			return c, c.tail(path, rest, n)
		}
		r, err := decodeLine(path, text, len(c.records) == 0, newest)
		if err != nil {
			return c, damagedAt(err, path, c.size())
		}
		c.records, c.sums = append(c.records, r), append(c.sums, sum)
		c.ends = append(c.ends, c.size()+int64(n))
		rest = rest[n:]
	}
	return c, nil
}

func damagedAt(err error, path string, at int64) error {
	if newer, ok := err.(*NewerError); ok {
		return newer
	}
	return &DamageError{Path: path, Offset: at, Why: "its checksum is right, but " + err.Error()}
}

func decodeLine(path string, text []byte, first bool, newest int) (Record, error) {
	if first {
		var peek struct{ Begun struct{ Journal int } }
		if err := json.Unmarshal(text, &peek); err == nil && peek.Begun.Journal > newest {
			return Record{}, &NewerError{Path: path, Has: peek.Begun.Journal, Ours: newest}
		}
	}
	return decodeRecord(text)
}

// tail judges a journal whose line at the start of rest is not whole, n being the line's length, 0 if it has no end.
func (c *content) tail(path string, rest []byte, n int) error {
	if n > 0 && n < len(rest) {
		return &DamageError{Path: path, Offset: c.size(), Why: "a line in the middle has a wrong checksum"}
	}
	if holdsLine(rest) {
		return &DamageError{Path: path, Offset: c.size(), Why: "a line end is missing between two records"}
	}
	c.torn = bytes.Clone(rest)
	return nil
}

// checkLine checks one line, LF included, and gives its JSON and its checksum.
func checkLine(line []byte, seed uint32) (text []byte, sum uint32, ok bool) {
	if len(line) < crcLen+2 || line[len(line)-1] != '\n' || line[crcLen] != ' ' || !lowerHex(string(line[:crcLen])) {
		return nil, 0, false
	}
	said, err := strconv.ParseUint(string(line[:crcLen]), 16, 32)
	text = line[crcLen+1 : len(line)-1]
	return text, uint32(said), err == nil && chain(seed, text) == uint32(said)
}

// holdsLine tells whether a last line that cannot be read has a whole line at its end: then it is two lines whose line end
// was changed, and the second one was acknowledged. The first one's own checksum is the second one's seed.
func holdsLine(tail []byte) bool {
	if len(tail) < crcLen || !lowerHex(string(tail[:crcLen])) {
		return false
	}
	seed, err := strconv.ParseUint(string(tail[:crcLen]), 16, 32)
	if err != nil {
		return false
	}
	for i := crcLen; i+crcLen+2 < len(tail); i++ {
		if tail[i+crcLen] != ' ' || tail[i+crcLen+1] != '{' {
			continue
		}
		if _, _, ok := checkLine(tail[i:], uint32(seed)); ok {
			return true
		}
	}
	return false
}
