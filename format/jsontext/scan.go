package jsontext

import (
	"bytes"
	"fmt"

	"github.com/clinkctl/clinkctl/format"
)

// MaxDepth is how deep values can be nested: as many arrays and objects as one may stand in, itself included.
const MaxDepth = 10_000

// Scanner reads JSON from a spot on. What it reads ends with a byte that is allowed nowhere in it, so that it ends every loop: a
// line feed where values are lines, a NUL where they are pieces. The methods leave At after what they have read, or at the
// fault, whose offsets are in B.
type Scanner struct {
	B  []byte
	At int

	piece bool // B[end] is a NUL that ends what is read, and line feeds are white space
	end   int
}

// Lines makes a scanner of a text that is lines: each value is on one, and the last one ends with a line feed.
func Lines(b []byte) Scanner { return Scanner{B: b} }

// fault is what is wrong at a spot. It is nil, almost always.
type fault = *format.DataError

func (s *Scanner) fault(reason string) fault {
	return &format.DataError{Offset: int64(s.At), Reason: reason}
}

// Expected gives the fault of another byte than what should be there.
func (s *Scanner) Expected(what string) *format.DataError {
	c := s.B[s.At]
	switch {
	case s.piece && s.At == s.end:
		return s.fault("not JSON: the text ends where " + what + " should be")
	case c == '\n' && !s.piece:
		f := s.fault("not JSON: the line ends where " + what + " should be")
		f.Advice = "a value must be on one line, as jq -c . writes it"
		return f
	case c < 0x20 || c >= 0x7f:
		return s.fault(fmt.Sprintf("not JSON: byte 0x%02x where %s should be", c, what))
	}
	return s.fault(fmt.Sprintf("not JSON: %c where %s should be", c, what))
}

// Space passes white space, within a line, and gives the byte after it.
func (s *Scanner) Space() byte {
	for {
		switch c := s.B[s.At]; {
		case c == ' ', c == '\t', c == '\r', c == '\n' && s.piece:
			s.At++
		default:
			return c
		}
	}
}

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota + 1
	Bool
	Number
	String
	Array
	Object
)

// Kind gives the kind of the value at the spot, by its first byte; 0 if no value begins so.
func (s *Scanner) Kind() Kind {
	switch c := s.B[s.At]; c {
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '"':
		return String
	case '[':
		return Array
	case '{':
		return Object
	default:
		if c == '-' || c-'0' <= 9 {
			return Number
		}
	}
	return 0
}

// Value passes a value of any kind, that is nested so deep: 1 is one that is in no other.
func (s *Scanner) Value(depth int) *format.DataError {
	switch s.B[s.At] {
	case '{':
		return s.members(depth)
	case '[':
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

// open passes the brace or the bracket of a value that is nested so deep. It tells whether it closes at once.
func (s *Scanner) open(depth int, closing byte) (empty bool, err fault) {
	if depth > MaxDepth {
		return false, s.fault(fmt.Sprintf("values are nested more than %d deep", MaxDepth))
	}
	s.At++
	if s.Space() == closing {
		s.At++
		return true, nil
	}
	return false, nil
}

func (s *Scanner) members(depth int) fault {
	if empty, err := s.open(depth, '}'); empty || err != nil {
		return err
	}
	for {
		if _, err := s.key(); err != nil {
			return err
		}
		if err := s.Value(depth + 1); err != nil {
			return err
		}
		if more, err := s.more('}'); err != nil || !more {
			return err
		}
	}
}

func (s *Scanner) elements(depth int) fault {
	if empty, err := s.open(depth, ']'); empty || err != nil {
		return err
	}
	for {
		if err := s.Value(depth + 1); err != nil {
			return err
		}
		if more, err := s.more(']'); err != nil || !more {
			return err
		}
	}
}

// key passes a key and its colon, up to the value.
func (s *Scanner) key() (text, fault) {
	if s.Space() != '"' {
		return text{}, s.Expected("a key in quotes")
	}
	key, err := s.text()
	if err != nil {
		return key, err
	}
	if s.Space() != ':' {
		return key, s.Expected("the colon after a key")
	}
	s.At++
	s.Space()
	return key, nil
}

// more passes what follows a member or an element: a comma, and there are more, or the closing character.
func (s *Scanner) more(closing byte) (bool, fault) {
	switch s.Space() {
	case ',':
		s.At++
		s.Space()
		return true, nil
	case closing:
		s.At++
		return false, nil
	}
	if closing == ']' {
		return false, s.Expected("a comma or ]")
	}
	return false, s.Expected("a comma or }")
}

func (s *Scanner) literal(word string) fault {
	if !bytes.HasPrefix(s.B[s.At:], []byte(word)) {
		return s.Expected("a value")
	}
	s.At += len(word)
	return nil
}

// number passes a number, and gives its text.
func (s *Scanner) number() ([]byte, fault) {
	from := s.At
	if s.B[s.At] == '-' {
		s.At++
	}
	switch c := s.B[s.At]; {
	case c == '0':
		s.At++
	case '1' <= c && c <= '9':
		s.digits()
	case c == 'N' || c == 'I':
		s.At = from
		f := s.fault("not JSON: NaN and Infinity are no numbers of JSON")
		f.Advice = `write them in quotes: columns of floats take "NaN", "Infinity" and "-Infinity"`
		return nil, f
	case s.At > from:
		return nil, s.Expected("a digit")
	default:
		return nil, s.Expected("a value")
	}
	if s.B[s.At] == '.' {
		s.At++
		if s.digits() == 0 {
			return nil, s.Expected("a digit")
		}
	}
	if s.B[s.At]|0x20 == 'e' {
		s.At++
		if s.B[s.At] == '+' || s.B[s.At] == '-' {
			s.At++
		}
		if s.digits() == 0 {
			return nil, s.Expected("a digit")
		}
	}
	return s.B[from:s.At], nil
}

func (s *Scanner) digits() int {
	from := s.At
	for s.B[s.At]-'0' <= 9 {
		s.At++
	}
	return s.At - from
}
