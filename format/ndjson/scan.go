package ndjson

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/format"
)

// maxDepth is how deep values can be nested.
const maxDepth = 10_000

// scanner reads a chunk from a spot on. The chunk ends with a line feed, and a line feed is allowed nowhere in a record, so
// that it ends every loop. The methods leave at after what they have read, or at the fault.
type scanner struct {
	b  []byte
	at int
}

func scan(chunk []byte) (*scanner, error) {
	if len(chunk) > 0 && chunk[len(chunk)-1] != '\n' {
		return nil, errors.New("a chunk of ndjson does not end with a line feed")
	}
	return &scanner{b: chunk}, nil
}

// fault is what is wrong at a spot. It is nil, almost always.
type fault = *format.DataError

func (s *scanner) fault(reason string) fault {
	return &format.DataError{Offset: int64(s.at), Reason: reason}
}

// expected is the fault of another byte than should be there.
func (s *scanner) expected(what string) fault {
	c := s.b[s.at]
	switch {
	case c == '\n':
		return s.fault("not JSON: the line ends where " + what + " should be")
	case c < 0x20 || c >= 0x7f:
		return s.fault(fmt.Sprintf("not JSON: byte 0x%02x where %s should be", c, what))
	}
	return s.fault(fmt.Sprintf("not JSON: %c where %s should be", c, what))
}

// space passes white space within a line.
func (s *scanner) space() byte {
	for {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\r':
			s.at++
		default:
			return c
		}
	}
}

// lineEnd passes the end of a record.
func (s *scanner) lineEnd() fault {
	if s.space() != '\n' {
		f := s.fault("something follows the object on its line")
		f.Advice = "each object must have a line of its own"
		return f
	}
	s.at++
	return nil
}

// begin passes the brace of a record.
func (s *scanner) begin() fault {
	if c := s.space(); c != '{' {
		f := s.fault("the line is not a JSON object")
		if c == '[' {
			f.Advice = "an array is made into lines by jq -c '.[]'"
		}
		return f
	}
	s.at++
	return nil
}

// value passes a value of any kind.
func (s *scanner) value(depth int) fault {
	if depth > maxDepth {
		return s.fault(fmt.Sprintf("values are nested more than %d deep", maxDepth))
	}
	switch s.b[s.at] {
	case '{':
		s.at++
		return s.members(depth)
	case '[':
		s.at++
		return s.elements(depth)
	case '"':
		_, err := s.text()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	_, err := s.number()
	return err
}

// members passes an object from after its brace on.
func (s *scanner) members(depth int) fault {
	if s.space() == '}' {
		s.at++
		return nil
	}
	for {
		if _, err := s.key(); err != nil {
			return err
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if more, err := s.more('}'); err != nil || !more {
			return err
		}
	}
}

// key passes a key and its colon, up to the value.
func (s *scanner) key() (text, fault) {
	if s.space() != '"' {
		return text{}, s.expected("a key in quotes")
	}
	key, err := s.text()
	if err != nil {
		return key, err
	}
	if s.space() != ':' {
		return key, s.expected("the colon after a key")
	}
	s.at++
	s.space()
	return key, nil
}

// more passes what follows a member or an element: a comma, and there are more, or the closing character.
func (s *scanner) more(closing byte) (bool, fault) {
	switch s.space() {
	case ',':
		s.at++
		s.space()
		return true, nil
	case closing:
		s.at++
		return false, nil
	}
	return false, s.expected(fmt.Sprintf("a comma or %c", closing))
}

func (s *scanner) elements(depth int) fault {
	if s.space() == ']' {
		s.at++
		return nil
	}
	for {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if more, err := s.more(']'); err != nil || !more {
			return err
		}
	}
}

func (s *scanner) literal(word string) fault {
	if !bytes.HasPrefix(s.b[s.at:], []byte(word)) {
		return s.expected("a value")
	}
	s.at += len(word)
	return nil
}

// number passes a number, and gives its text.
func (s *scanner) number() ([]byte, fault) {
	from := s.at
	if s.b[s.at] == '-' {
		s.at++
	}
	switch c := s.b[s.at]; {
	case c == '0':
		s.at++
	case '1' <= c && c <= '9':
		s.digits()
	case c == 'N' || c == 'I':
		s.at = from
		return nil, s.fault("NaN and Infinity are not JSON, and a float64 must be a number")
	case s.at > from:
		return nil, s.expected("a digit")
	default:
		return nil, s.expected("a value")
	}
	if s.b[s.at] == '.' {
		s.at++
		if s.digits() == 0 {
			return nil, s.expected("a digit")
		}
	}
	if s.b[s.at]|0x20 == 'e' {
		s.at++
		if s.b[s.at] == '+' || s.b[s.at] == '-' {
			s.at++
		}
		if s.digits() == 0 {
			return nil, s.expected("a digit")
		}
	}
	return s.b[from:s.at], nil
}

func (s *scanner) digits() int {
	from := s.at
	for s.b[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at - from
}

// text is where the characters of a string lie: b[from:to], without its quotes.
type text struct {
	from, to int
	escaped  bool
	ascii    bool
}

// text passes a string. That its bytes are UTF-8 and its surrogates in pairs is for whoever takes its value.
func (s *scanner) text() (text, fault) {
	s.at++
	t := text{from: s.at}
	seen := byte(0)
	for {
		c := s.b[s.at]
		switch {
		case c == '"':
			t.to, t.ascii = s.at, seen < 0x80
			s.at++
			return t, nil
		case c == '\\':
			t.escaped = true
			if err := s.escape(); err != nil {
				return t, err
			}
		case c == '\n':
			return t, s.fault("not JSON: the line ends within a string")
		case c < 0x20:
			return t, s.fault(fmt.Sprintf("not JSON: control character 0x%02x in a string, where it must be written \\u%04x", c, c))
		default:
			seen |= c
			s.at++
		}
	}
}

// escape passes a backslash and what it stands before.
func (s *scanner) escape() fault {
	switch s.b[s.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at += 2
		return nil
	case 'u':
		if _, ok := hex4(s.b[s.at+2:]); ok {
			s.at += 6
			return nil
		}
	}
	return s.fault("not JSON: a backslash that begins no escape")
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20-'a' <= 5:
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unescape makes a string's value in place, and gives it.
func (s *scanner) unescape(t text) ([]byte, fault) {
	raw := s.b[t.from:t.to]
	if !t.ascii && !utf8.Valid(raw) {
		return nil, &format.DataError{Offset: int64(t.from + format.NotUTF8(raw)), Value: string(raw), Reason: "is not UTF-8", Advice: format.AdviceUTF8}
	}
	if !t.escaped {
		return raw, nil
	}
	w := bytes.IndexByte(raw, '\\')
	for r := w; r < len(raw); {
		if raw[r] != '\\' {
			raw[w] = raw[r]
			w++
			r++
			continue
		}
		char, size := unescapeOne(raw[r:])
		if size == 0 {
			return nil, &format.DataError{Offset: int64(t.from + r), Value: string(raw[r:min(r+6, len(raw))]), Reason: "is half of a surrogate pair, and stands for no character"}
		}
		w = len(utf8.AppendRune(raw[:w], char)) // no longer than the escape
		r += size
	}
	return raw[:w], nil
}

// unescapeOne gives the character that an escape stands for, and its length; 0 if it is half of a surrogate pair.
func unescapeOne(b []byte) (char rune, size int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(b[1]), 2
	}
	char, _ = hex4(b[2:])
	if !utf16.IsSurrogate(char) {
		return char, 6
	}
	if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
		return 0, 0
	}
	low, _ := hex4(b[8:])
	if pair := utf16.DecodeRune(char, low); pair != utf8.RuneError {
		return pair, 12
	}
	return 0, 0
}
