package format

import (
	"bytes"
	"unicode/utf8"
)

// BOM is the byte order mark of UTF-8.
const BOM = "\xef\xbb\xbf"

// CleanHead gives a head without a byte order mark, and with the line end that the head of a file without records may lack.
func CleanHead(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte(BOM))
	if len(head) == 0 || head[len(head)-1] == '\n' {
		return head
	}
	return append(bytes.Clone(head), '\n')
}

// ByLine is a Splitter of records that are lines.
type ByLine struct {
	// Blank tells which lines, given with their line feed, are no records. nil: every line is one.
	Blank func(line []byte) bool
}

// Last is as Splitter has it.
func (ByLine) Last(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

// After is as Splitter has it.
func (ByLine) After(b []byte, at int) int {
	if at > len(b) {
		return 0
	}
	i := bytes.IndexByte(b[at-1:], '\n')
	if i < 0 {
		return 0
	}
	return at + i
}

// Rows is as Splitter has it.
func (s ByLine) Rows(b []byte, max int) (end, rows int) {
	for rows < max {
		i := bytes.IndexByte(b[end:], '\n')
		if i < 0 {
			break
		}
		if s.Blank == nil || !s.Blank(b[end:end+i+1]) {
			rows++
		}
		end += i + 1
	}
	return end, rows
}

// notText are beginnings of files that are no UTF-8 text.
var notText = []struct{ mark, name, advice string }{
	{"\xff\xfe\x00\x00", "UTF-32LE", adviceUTF32}, {"\x00\x00\xfe\xff", "UTF-32BE", adviceUTF32},
	{"\xff\xfe", "UTF-16LE", adviceUTF16}, {"\xfe\xff", "UTF-16BE", adviceUTF16},
	{"\x1f\x8b", "gzip", adviceCompressed}, {"\x28\xb5\x2f\xfd", "zstd", adviceCompressed}, {"BZh91AY&SY", "bzip2", adviceCompressed},
	{"PK\x03\x04", "a zip archive, such as a spreadsheet", "extract it, or export the sheet as CSV"},
	{"PAR1", "Parquet", "name the format: parquet"},
}

const (
	adviceUTF16      = "convert it, such as with iconv -f UTF-16 -t UTF-8"
	adviceUTF32      = "convert it, such as with iconv -f UTF-32 -t UTF-8"
	adviceCompressed = "give the file its extension, or say so with the format's option compression"
)

// RefuseNoText gives a *DataError if a file begins as UTF-16, compressed files and the like do.
func RefuseNoText(start []byte) error {
	for _, n := range notText {
		if bytes.HasPrefix(start, []byte(n.mark)) {
			return &DataError{Reason: "the file is " + n.name, Advice: n.advice}
		}
	}
	return nil
}

// AdviceNUL is the advice for a text that has NUL bytes, and no byte order mark: in letters of ASCII they come first or second.
func AdviceNUL(start []byte) string {
	order := "LE"
	if i := bytes.IndexByte(start, 0); i >= 0 && i%2 == 0 {
		order = "BE"
	}
	return "if the file is UTF-16, convert it to UTF-8, such as with iconv -f UTF-16" + order + " -t UTF-8"
}

// AdviceUTF8 is the advice for a text that is not UTF-8.
const AdviceUTF8 = "convert the file to UTF-8, such as with iconv -f WINDOWS-1252 -t UTF-8"

// NotUTF8 gives the place of the first byte that is not UTF-8, the text's length if all are.
func NotUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}
