package format

import (
	"encoding/base64"
	"encoding/hex"
	"math"

	"github.com/clinkctl/clinkctl/columnar"
)

// Policies that formats of text share: what becomes of values that a text has no form of its own for.

// NonFinite is what becomes of NaN and the infinities where a text is written. Where one is read, they are accepted as floats
// in the texts that columnar.ParseFloat64 knows.
type NonFinite string

// The values of the option nonfinite.
const (
	NonFiniteFail   NonFinite = "fail"
	NonFiniteString NonFinite = "string" // columnar.NaN, PosInf, NegInf; in quotes where the text tells numbers from strings
	NonFiniteNull   NonFinite = "null"   // counted
)

// ReadNonFinite reads the option of that name. absent is what it is when it is not given.
func ReadNonFinite(o *Options, absent NonFinite) NonFinite {
	values := []string{string(absent)}
	for _, v := range []NonFinite{NonFiniteFail, NonFiniteString, NonFiniteNull} {
		if v != absent {
			values = append(values, string(v))
		}
	}
	return NonFinite(o.Choice("nonfinite", values...))
}

// IsFinite tells whether a float is a number.
func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Counter is an Encoder that counts the values that it wrote as NULL because an option asks for it.
type Counter interface {
	Nulled() int64
}

// Absent is a Decoder, or a reader, that tells which columns no record so far has had, and made NULL. It is not ok if there was no
// record.
type Absent interface {
	Absent() (names []string, ok bool)
}

// BinaryText is how bytes are written as text.
type BinaryText string

// The values of the option binary.
const (
	Base64 BinaryText = "base64" // RFC 4648 section 4, with padding
	Hex    BinaryText = "hex"    // two digits a byte, small letters; read in either case
)

// ReadBinaryText reads the option binary.
func ReadBinaryText(o *Options) BinaryText {
	return BinaryText(o.Choice("binary", string(Base64), string(Hex)))
}

// Append appends bytes as text.
func (t BinaryText) Append(dst, data []byte) []byte {
	if t == Hex {
		return hex.AppendEncode(dst, data)
	}
	return base64.StdEncoding.AppendEncode(dst, data)
}

// Decode makes bytes of their text, in place, and gives them. A text that is none is a columnar.Refusal.
func (t BinaryText) Decode(text []byte) ([]byte, error) {
	if t == Hex {
		n, err := hex.Decode(text, text)
		if err != nil {
			return nil, columnar.Refusal("is not hexadecimal; the option binary says how bytes are written")
		}
		return text[:n], nil
	}
	for _, c := range text {
		if c == '\n' || c == '\r' { // which the decoder would pass over
			return nil, columnar.Refusal("is not base64; the option binary says how bytes are written")
		}
	}
	n, err := base64.StdEncoding.Strict().Decode(text, text)
	if err != nil {
		return nil, columnar.Refusal("is not base64; the option binary says how bytes are written")
	}
	return text[:n], nil
}
