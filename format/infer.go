package format

import (
	"bytes"
	"fmt"

	"github.com/clinkctl/clinkctl/columnar"
)

// Names counts the names that inference keeps, those of structs' fields included, so that they do not fill the memory. The zero
// Names has none.
type Names struct{ kept int }

const (
	maxKept = 16 << 20 // bytes of names, with nameCost for each
	// nameCost is how many bytes are kept of a column beside its name, about.
	nameCost = 256
)

// Add tells whether there is room for one more name.
func (n *Names) Add(name string) bool {
	if n.kept > maxKept-nameCost-len(name) {
		return false
	}
	n.kept += nameCost + len(name)
	return true
}

// TooMany is the error of a column whose name, at that offset, there is no room for.
func TooMany(at int64, name string) *DataError {
	return &DataError{Offset: at, Start: at, Value: name, Reason: "is one more column than can be inferred", Advice: "declare the columns"}
}

// Guess is what some values of a column, as they are written, say of its type. It moves up from types that hold less to those
// that hold more, and ends at String: a text that one type does not give back as it was is a text, and so are texts of types
// that have nothing in common. Not taken for another text are TRUE for true, a T between date and time, zeros at the end of a
// fraction, and another zone for the same instant.
//
// The zero Guess has seen no value. NULL is none. In whatever order values are added and guesses merged, the outcome is the same.
type Guess struct {
	shapes shapes
	whole  int // most digits that a number has before its point, but for a single 0
	scale  int // most digits that a number has after it
}

// shapes is a set of what texts look like.
type shapes uint16

const (
	shapeBool shapes = 1 << iota
	shapeInt64
	shapeWide    // an integer beyond int64
	shapeDecimal // digits with a point
	shapeDate
	shapeTime
	shapeTimestamp
	shapeTimestampTZ
	shapeText // all else; it is with no other one

	shapesOfIntegers = shapeInt64 | shapeWide
	shapesOfNumbers  = shapesOfIntegers | shapeDecimal
)

const (
	// longest is the most bytes of a text that is not only a text: a sign, "0.", and all digits of a decimal.
	longest = 1 + 2 + columnar.MaxPrecision
	// room is how many digits before the point a narrow decimal has beyond those that were seen: the values that follow the sample
	// can be a thousand times larger.
	room = 3
)

// Add takes a value into account. It does not keep the text.
func (g *Guess) Add(text []byte) {
	if g.shapes != shapeText {
		g.Merge(guess(text))
	}
}

// Merge takes into account all values that o has seen.
func (g *Guess) Merge(o Guess) {
	g.shapes |= o.shapes
	g.whole = max(g.whole, o.whole)
	g.scale = max(g.scale, o.scale)
	alike := g.shapes&(g.shapes-1) == 0 || g.shapes&^shapesOfNumbers == 0
	if !alike || g.whole+g.scale > columnar.MaxPrecision {
		*g = Guess{shapes: shapeText}
	}
}

// Type gives the type that holds all values seen. Where there is none, it has the Kind 0.
func (g Guess) Type() columnar.Type {
	switch g.shapes {
	case shapeBool:
		return columnar.Type{Kind: columnar.Bool}
	case shapeInt64:
		return columnar.Type{Kind: columnar.Int64}
	case shapeDate:
		return columnar.Type{Kind: columnar.Date}
	case shapeTime:
		return columnar.Type{Kind: columnar.Time}
	case shapeTimestamp:
		return columnar.Type{Kind: columnar.Timestamp}
	case shapeTimestampTZ:
		return columnar.Type{Kind: columnar.TimestampTZ}
	case shapeText:
		return columnar.Type{Kind: columnar.String}
	case 0:
		return columnar.Type{}
	}
	precision := columnar.Narrow
	if g.shapes&shapeDecimal == 0 || g.whole+room+g.scale > columnar.Narrow {
		precision = columnar.MaxPrecision
	}
	return columnar.Type{Kind: columnar.Decimal, Precision: precision, Scale: g.scale}
}

// guess is the Guess of one text.
func guess(text []byte) Guess {
	if len(text) == 0 || len(text) > longest {
		return Guess{shapes: shapeText}
	}
	if g, ok := guessNumber(text); ok {
		return g
	}
	switch {
	case parses(columnar.ParseBool(text)):
		return Guess{shapes: shapeBool}
	case parses(columnar.ParseDate(text)):
		return Guess{shapes: shapeDate}
	}
	return Guess{shapes: shapeOfTime(text)}
}

// Keeps tells whether inference would take a text, of which the type makes a value, for one of the type: what it would not, such as
// 007 among integers, would not be given back as it is written.
func Keeps(t columnar.Type, text []byte) bool {
	switch t.Kind {
	case columnar.Int64, columnar.Decimal:
		return len(text) <= longest && isPlain(text)
	case columnar.Time:
		return shapeOfTime(text) == shapeTime
	case columnar.Timestamp:
		return shapeOfTime(text) == shapeTimestamp
	case columnar.TimestampTZ:
		return shapeOfTime(text) == shapeTimestampTZ
	}
	return true
}

// isPlain tells whether a number is one as guessNumber takes it.
func isPlain(number []byte) bool {
	body := bytes.TrimPrefix(number, minus)
	whole := countDigits(body)
	if whole == 0 || body[0] == '0' && whole > 1 || len(body) < len(number) && isZero(body) {
		return false
	}
	rest := body[whole:]
	return len(rest) == 0 || rest[0] == '.' && len(rest) > 1 && countDigits(rest[1:]) == len(rest)-1
}

var minus = []byte{'-'}

// RefuseKept is the refusal of a text that Keeps is false of.
func RefuseKept(t columnar.Type) columnar.Refusal {
	what := "leading zeros, a plus sign, -0 or an exponent"
	if t.Kind != columnar.Int64 && t.Kind != columnar.Decimal {
		what = "the form in which it is written"
	}
	return columnar.Refusal(fmt.Sprintf("is not written as the values are from which %s was inferred: %s would be lost", t, what))
}

// AdviceKept is for it.
const AdviceKept = "declare the columns, or let more rows be looked at: sample_rows"

func parses[V any](_ V, err error) bool { return err == nil }

// guessNumber is guess for a number without leading zeros, plus sign and exponent, and with digits on both sides of its
// point. A zero that has a sign is none: the sign would be lost.
func guessNumber(text []byte) (g Guess, ok bool) {
	body := text
	if body[0] == '-' {
		body = body[1:]
	}
	g.whole = countDigits(body)
	rest := body[g.whole:]
	if g.whole == 0 || body[0] == '0' && g.whole > 1 {
		return g, false
	}
	if body[0] == '0' {
		g.whole = 0
	}
	if len(rest) > 0 {
		g.shapes = shapeDecimal
		g.scale = len(rest) - 1
		if rest[0] != '.' || g.scale == 0 || countDigits(rest[1:]) < g.scale {
			return g, false
		}
	}
	if len(body) < len(text) && isZero(body) {
		return g, false
	}
	switch {
	case g.shapes != 0:
	case parses(columnar.ParseInt64(text)):
		g.shapes = shapeInt64
	default:
		g.shapes = shapeWide
	}
	return g, true
}

// countDigits counts the digits that a text begins with.
func countDigits(text []byte) int {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return n
}

// isZero tells whether a number without sign is 0.
func isZero(number []byte) bool {
	for _, c := range number {
		if c != '0' && c != '.' {
			return false
		}
	}
	return true
}

const (
	lenTime      = len("hh:mm:ss")
	lenTimestamp = len("YYYY-MM-DD hh:mm:ss")
)

// shapeOfTime is the shape of a time of day or a timestamp, with a fraction of at most six digits. A zone is Z, +hh or +hh:mm.
func shapeOfTime(text []byte) shapes {
	if rest, ok := afterSecond(text, lenTime); ok && len(rest) == 0 && parses(columnar.ParseTime(text)) {
		return shapeTime
	}
	rest, ok := afterSecond(text, lenTimestamp)
	switch {
	case !ok:
	case len(rest) == 0 && parses(columnar.ParseTimestamp(text)):
		return shapeTimestamp
	case hasZoneForm(rest) && parses(columnar.ParseTimestampTZ(text)):
		return shapeTimestampTZ
	}
	return shapeText
}

func hasZoneForm(b []byte) bool {
	return string(b) == "Z" || len(b) == len("+hh") || len(b) == len("+hh:mm") && b[3] == ':'
}

// afterSecond gives what follows the seconds, which end at text[end], and their fraction; not ok if that has more than six
// digits.
func afterSecond(text []byte, end int) (rest []byte, ok bool) {
	if len(text) < end {
		return nil, false
	}
	rest = text[end:]
	if len(rest) > 0 && rest[0] == '.' {
		n := countDigits(rest[1:])
		return rest[1+n:], n <= 6
	}
	return rest, true
}
