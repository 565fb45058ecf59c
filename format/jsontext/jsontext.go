// Package jsontext is JSON text, RFC 8259, of the values of every type, in both directions. Formats that hold such text share it:
// those whose records are objects, and those that have lists and structs as text in a field.
//
// A value that is read must be of the kind that its column's type takes:
//
//	bool                                 true, false
//	int8 to int32, uint8 to uint32       a number
//	int64, uint64                        a number, or a string of digits, as writers quote what a float64 does not hold
//	decimal                              a number, or a string that is one
//	float32, float64                     a number, or a string that is NaN or an infinity
//	date, time, timestamp, timestamptz   a string
//	string, uuid                         a string
//	binary                               a string, of base64 or hexadecimal digits
//	json                                 any value; its text is kept as it is
//	list                                 an array
//	struct                               an object
//
// null is NULL, in a column of type json, too. Digits are taken as they are written, never through a float64 that nobody declared.
//
// What is written is what is read, with decimals, integers and floats as numbers.
package jsontext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/format"
)

// The values of the option extra.
const (
	ExtraAuto   = "auto" // fail where the schema is closed, ignore elsewhere
	ExtraIgnore = "ignore"
	ExtraFail   = "fail"
)

// The values of the option missing.
const (
	MissingNull = "null"
	MissingFail = "fail"
)

// The values of the option duplicates.
const (
	DuplicatesFail  = "fail"
	DuplicatesFirst = "first"
	DuplicatesLast  = "last"
)

// The values of the options surrogates and invalid_utf8.
const (
	TextFail    = "fail"
	TextReplace = "replace"
)

// Policy is what a Decoder does with what JSON leaves open. The empty values are the first ones of each option.
type Policy struct {
	// Extra is what becomes of a key that no column or field has.
	Extra string
	// Missing is what becomes of a column or a field whose key an object lacks. One that is required is refused.
	Missing string
	// Duplicates is what becomes of a column or a field whose key an object has twice. Other keys are not looked at. Where the last
	// one is taken, those before it must be values of the column, too.
	Duplicates string
	// Surrogates is what becomes of an escape that is half of a surrogate pair: it is refused, or U+FFFD. In the text of a value
	// of type json it stays as it is.
	Surrogates string
	// InvalidUTF8 is what becomes of a byte that is not UTF-8, in values that columns take: it is refused, or U+FFFD.
	InvalidUTF8 string
	// Binary is how bytes are written; "" is base64.
	Binary format.BinaryText

	// Closed says that the schema is.
	Closed bool
	// Format is whose options errors advise about, and Options are the names of those that it has.
	Format  string
	Options []string
}

var options = []string{"extra", "missing", "duplicates", "surrogates", "invalid_utf8", "binary"}

// ReadPolicy reads the options extra, missing, duplicates, surrogates, invalid_utf8 and binary.
func ReadPolicy(formatName string, o *format.Options) Policy {
	return Policy{
		Extra:       o.Choice("extra", ExtraAuto, ExtraIgnore, ExtraFail),
		Missing:     o.Choice("missing", MissingNull, MissingFail),
		Duplicates:  o.Choice("duplicates", DuplicatesFail, DuplicatesFirst, DuplicatesLast),
		Surrogates:  o.Choice("surrogates", TextFail, TextReplace),
		InvalidUTF8: o.Choice("invalid_utf8", TextFail, TextReplace),
		Binary:      format.ReadBinaryText(o),
		Format:      formatName,
		Options:     options,
	}
}

func (p *Policy) refusesExtra() bool {
	return p.Extra == ExtraFail || p.Closed && p.Extra != ExtraIgnore
}

// advise gives the advice to set an option, where there is one: what that does, and "name: value"; after other, which is what else can
// be done.
func (p *Policy) advise(other, what, setting string) string {
	if name, _, _ := strings.Cut(setting, ":"); !slices.Contains(p.Options, name) {
		return other
	}
	advice := fmt.Sprintf("%s: %s: {%s}", what, p.Format, setting)
	if other != "" {
		advice = other + ", or " + advice
	}
	return advice
}
