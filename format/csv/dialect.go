package csv

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// dialect is what the options say:
//
//	delimiter     one character; "," by default
//	quote         one ASCII character, or none: fields are never quoted; "\"" by default
//	escape        one ASCII character, after which the next one is text, in quotes and outside; none by default
//	comment       one ASCII character: a record that begins with it is none; none by default
//	header        true: the first record has the names; false: there is none, and columns are fields in order; or a list of names,
//	              of a file that has no header
//	null          text of NULL, or a list of such, of which the first one is written; "" by default
//	trim          true: spaces and tabs around fields are not part of them
//	decimal       "." or ",": what is before the fraction of a decimal or a float
//	skip          how many lines come before the header
//	case          exact or ignore: how names of the header are compared
//	missing       fail or null: a column that the header lacks
//	extra         ignore or fail: a field that no column has; fail by default where columns are inferred
//	short_rows    fail or null: fields that a record lacks at its end
//	long_rows     fail or ignore: fields that a record has beyond the header's
//	blank_lines   skip: they are no records; keep: one is a record of one field without text; by default skip, but in a file of one
//	              column, where that may be a NULL, fail
//	bare_quotes   fail or keep: quotes in a field that does not begin with one, and such in a quoted field that do not end it
//	nul           fail or keep: NUL bytes
//	invalid_utf8  fail or replace: bytes that are not UTF-8; by U+FFFD
//	max_field     bytes of a field at most; 64MiB by default
//	nonfinite, binary, compression, as package format has them
type dialect struct {
	delimiter []byte
	quote     byte // 0: none
	escape    byte // 0: none
	comment   byte // 0: none
	hasHeader bool
	names     []string // of a file without header
	nulls     [][]byte
	trim      bool
	comma     bool // is before fractions
	skip      int

	ignoreCase, missingNull     bool
	extra, blankLines           string // "" where the option is not given
	shortRows, longRows         bool   // are accepted
	bareQuotes, nul, replaceBad bool   // are accepted
	maxField                    int

	nonFinite format.NonFinite
	binary    format.BinaryText

	stops  [256]bool // the bytes at which a scan of an unquoted field looks closer
	simple bool      // a scan needs only stops
	parity bool      // a line feed ends a record if the number of quotes before it in the record is even
}

const (
	defaultMaxField = 64 << 20
	maxSkip         = 1 << 20
	none            = "none"

	skipBlanks = "skip"
	keepBlanks = "keep"
)

func readDialect(o *format.Options) *dialect {
	d := &dialect{
		delimiter:   readDelimiter(o),
		quote:       readByte(o, "quote", `"`),
		escape:      readByte(o, "escape", none),
		comment:     readByte(o, "comment", none),
		trim:        o.Bool("trim"),
		comma:       o.Choice("decimal", ".", ",") == ",",
		skip:        int(o.Whole("skip", 0, 0, maxSkip)),
		ignoreCase:  o.Choice("case", "exact", "ignore") == "ignore",
		missingNull: o.Choice("missing", "fail", "null") == "null",
		shortRows:   o.Choice("short_rows", "fail", "null") == "null",
		longRows:    o.Choice("long_rows", "fail", "ignore") == "ignore",
		bareQuotes:  o.Choice("bare_quotes", "fail", "keep") == "keep",
		nul:         o.Choice("nul", "fail", "keep") == "keep",
		replaceBad:  o.Choice("invalid_utf8", "fail", "replace") == "replace",
		maxField:    int(o.Size("max_field", defaultMaxField, 1, format.MaxRecord)),
		nonFinite:   format.ReadNonFinite(o, format.NonFiniteString),
		binary:      format.ReadBinaryText(o),
	}
	if _, given := o.Given("extra"); given {
		d.extra = o.Choice("extra", "ignore", "fail")
	}
	if _, given := o.Given("blank_lines"); given {
		d.blankLines = o.Choice("blank_lines", skipBlanks, keepBlanks)
	}
	d.readHeader(o)
	d.readNulls(o)
	d.checkCharacters(o)
	d.prepare()
	return d
}

// prepare works out how the dialect is scanned.
func (d *dialect) prepare() {
	d.stops['\r'], d.stops['\n'] = true, true
	d.stops[d.delimiter[0]] = true
	for _, c := range []byte{d.quote, d.escape} {
		if c != 0 {
			d.stops[c] = true
		}
	}
	d.bareQuotes = d.bareQuotes && d.quote != 0
	d.simple = len(d.delimiter) == 1 && d.escape == 0 && !d.bareQuotes && !d.trim
	d.parity = d.escape == 0 && d.comment == 0 && !d.bareQuotes
}

func readDelimiter(o *format.Options) []byte {
	text := o.String("delimiter", ",")
	if text == `\t` {
		text = "\t"
	}
	if utf8.RuneCountInString(text) != 1 || !utf8.ValidString(text) || strings.Contains("\r\n\x00", text) {
		o.Refuse("delimiter", "must be one character, and no line end or NUL")
		text = ","
	}
	return []byte(text)
}

// readByte reads an option that is one ASCII character, or none: 0.
func readByte(o *format.Options, name, absent string) byte {
	text := o.String(name, absent)
	if text == none {
		return 0
	}
	if len(text) != 1 || text[0] >= 0x80 || text[0] <= ' ' {
		o.Refuse(name, "must be one ASCII character that can be seen, or none")
		return 0
	}
	return text[0]
}

func (d *dialect) readHeader(o *format.Options) {
	switch v, _ := o.Given("header"); v := v.(type) {
	case []any:
		d.names = o.Texts("header")
		for i, name := range d.names {
			if name == "" {
				o.Refuse("header", fmt.Sprintf("has no name for field %d", i+1))
			}
			for _, other := range d.names[:i] {
				if d.sameName(name, other) {
					o.Refuse("header", fmt.Sprintf("has %s twice", name))
				}
			}
		}
	case nil:
		d.hasHeader = true
	case bool:
		d.hasHeader = v
	default:
		d.hasHeader = v == "true"
		if v != "true" && v != "false" {
			o.Refuse("header", "can be true, false, or a list of names: [id, name]")
		}
	}
}

func (d *dialect) readNulls(o *format.Options) {
	texts := o.Texts("null")
	if texts == nil {
		texts = []string{""}
	}
	for _, text := range texts {
		special := "\r\n\x00" + string(d.delimiter)
		if d.quote != 0 {
			special += string(rune(d.quote))
		}
		if strings.ContainsAny(text, special) || strings.Contains(text, string(d.delimiter)) {
			o.Refuse("null", "cannot stand unquoted in a field: it has a delimiter, quote, line end or NUL")
		}
		if d.comment != 0 && strings.HasPrefix(text, one(d.comment)) {
			o.Refuse("null", "begins as a comment does: a record that begins with it would be none")
		}
		if d.trim && strings.Trim(text, " \t") != text {
			o.Refuse("null", "has spaces around it, which trim takes away")
		}
		d.nulls = append(d.nulls, []byte(text))
	}
}

// checkCharacters refuses one character for two purposes.
func (d *dialect) checkCharacters(o *format.Options) {
	seen := map[string]string{}
	for _, c := range []struct {
		name string
		text string
	}{{"delimiter", string(d.delimiter)}, {"quote", one(d.quote)}, {"escape", one(d.escape)}, {"comment", one(d.comment)}} {
		if c.text == "" {
			continue
		}
		if other, ok := seen[c.text]; ok {
			o.Refuse(c.name, "is the character of "+other+", too")
		}
		seen[c.text] = c.name
	}
	if d.trim && (d.delimiter[0] == ' ' || d.delimiter[0] == '\t') {
		o.Refuse("trim", "takes away what delimits fields")
	}
}

func one(c byte) string {
	if c == 0 {
		return ""
	}
	return string(rune(c))
}

func (d *dialect) sameName(a, b string) bool {
	return a == b || d.ignoreCase && strings.EqualFold(a, b)
}

// isNull tells whether the text of an unquoted field is a NULL.
func (d *dialect) isNull(text []byte) bool {
	for _, null := range d.nulls {
		if bytes.Equal(text, null) {
			return true
		}
	}
	return false
}

// advise makes the advice to set an option.
func advise(option string) string { return "or accept it: csv: {" + option + "}" }

// fraction tells whether values of a type have a fraction that the option decimal is about.
func fraction(k columnar.Kind) bool {
	return k == columnar.Decimal || k == columnar.Float32 || k == columnar.Float64
}
