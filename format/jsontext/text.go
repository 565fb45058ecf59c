package jsontext

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// text is where the characters of a string lie: B[from:to], without its quotes.
type text struct {
	from, to int
	escaped  bool
	ascii    bool
}

// text passes a string. That its bytes are UTF-8 and its surrogates in pairs is for whoever takes its value.
func (s *Scanner) text() (text, fault) {
	s.At++
	t := text{from: s.At}
	seen := byte(0)
	for {
		c := s.B[s.At]
		switch {
		case c == '"':
			t.to, t.ascii = s.At, seen < 0x80
			s.At++
			return t, nil
		case c == '\\':
			t.escaped = true
			if err := s.escape(); err != nil {
				return t, err
			}
		case c < 0x20:
			return t, s.control(c)
		default:
			seen |= c
			s.At++
		}
	}
}

// control is the fault of a control character in a string.
func (s *Scanner) control(c byte) fault {
	switch {
	case s.piece && s.At == s.end:
		return s.fault("not JSON: the text ends within a string")
	case c == '\n' && !s.piece:
		return s.fault("not JSON: the line ends within a string")
	}
	return s.fault(fmt.Sprintf("not JSON: control character 0x%02x in a string, where it must be written \\u%04x", c, c))
}

// escape passes a backslash and what it stands before.
func (s *Scanner) escape() fault {
	switch s.B[s.At+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.At += 2
		return nil
	case 'u':
		if _, ok := hex4(s.B[s.At+2:]); ok {
			s.At += 6
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

// appendUnescaped appends the characters that a string's text stands for. Half of a surrogate pair becomes U+FFFD; half is where
// the first one is, -1 if there is none. dst may be the beginning of raw: it never gets ahead of what is read.
func appendUnescaped(dst, raw []byte) (out []byte, half int) {
	half = -1
	for r := 0; ; {
		n := bytes.IndexByte(raw[r:], '\\')
		if n < 0 {
			return append(dst, raw[r:]...), half
		}
		dst = append(dst, raw[r:r+n]...)
		r += n
		char, size := unescapeOne(raw[r:])
		if size == 0 {
			char, size = utf8.RuneError, 6
			if half < 0 {
				half = r
			}
		}
		dst = utf8.AppendRune(dst, char) // no longer than the escape
		r += size
	}
}

// firstHalf gives the place of the first half of a surrogate pair in a string's text, -1 if there is none.
func firstHalf(raw []byte) int {
	for r := 0; ; {
		n := bytes.IndexByte(raw[r:], '\\')
		if n < 0 {
			return -1
		}
		r += n
		_, size := unescapeOne(raw[r:])
		if size == 0 {
			return r
		}
		r += size
	}
}

// appendValid appends bytes; each that is not UTF-8 becomes U+FFFD.
func appendValid(dst, raw []byte) []byte {
	for len(raw) > 0 {
		char, size := utf8.DecodeRune(raw)
		dst = utf8.AppendRune(dst, char)
		raw = raw[size:]
	}
	return dst
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
