package jsontext

import "github.com/clinkctl/clinkctl/format"

// Entry is a member of an object, or an element of an array.
type Entry struct {
	Key      []byte // of a member: its characters, of which what is none is U+FFFD; valid until the next entry
	Kind     Kind
	From, To int // where its text lies in what is read
}

// Each passes the object or the array at the spot, and calls visit for each of its entries, in order, once its text is known to be
// JSON; its error ends the walk. The entries of an entry are walked over by another Scanner, of the same text, whose At is
// the entry's From.
func (s *Scanner) Each(visit func(Entry) *format.DataError) *format.DataError {
	closing := byte('}')
	if s.Kind() == Array {
		closing = ']'
	} else if s.Kind() != Object {
		return s.Expected("an object or an array")
	}
	empty, err := s.open(1, closing)
	var scratch []byte
	for more := !empty; more && err == nil; {
		var e Entry
		if closing == '}' {
			var key text
			if key, err = s.key(); err != nil {
				break
			}
			scratch, e.Key = key.characters(s.B, scratch)
		}
		e.Kind, e.From = s.Kind(), s.At
		if err = s.Value(2); err != nil {
			break
		}
		e.To = s.At
		if err = visit(e); err == nil {
			more, err = s.more(closing)
		}
	}
	return err
}

// Characters gives what a string stands for, given its text with its quotes, in which what is no character becomes U+FFFD. It is a
// piece of raw, or of scratch, which is given back with the memory that it has then. The text is JSON.
func Characters(raw, scratch []byte) (memory, characters []byte) {
	t := text{from: 1, to: len(raw) - 1, escaped: true}
	return t.characters(raw, scratch)
}

func (t text) characters(b, scratch []byte) (memory, characters []byte) {
	raw := b[t.from:t.to]
	if t.ascii && !t.escaped {
		return scratch, raw
	}
	scratch, _ = appendUnescaped(scratch[:0], raw)
	n := len(scratch)
	scratch = appendValid(scratch, scratch)
	return scratch, scratch[n:]
}
