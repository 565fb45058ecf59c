package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DataError says what is wrong with a piece of the source's data, and where. It is a refusal of the data: reading the
// same bytes again gives the same error.
type DataError struct {
	File   string // set by whoever knows it
	Offset int64  // of the spot, in the file's bytes; Unplaced where it is not known
	Row    int64  // where Offset is Unplaced: of the batch, or of a file that has no lines, from 1; 0 where it is not known
	Line   int64  // of the spot, from 1; 0 until somebody counted
	Record int64  // line on which the spot's record begins; 0 until counted, or where it is Line
	Start  int64  // offset of that record
	Column string // name, "" where no single column is to blame
	Field  int    // of the record, from 1, where the column's name is not known
	Value  string // the value refused, whole: Error cuts it
	Reason string // what is wrong: "is not an int64"
	Advice string // what to do, "" if nothing helps but mending the data
}

// Unplaced is the Offset of an error that is about a value and not about a place, such as one that an encoder cannot write.
const Unplaced = -1

// AtRow adds to an encoder's error the row of the batch, from 0, that it could not write. Other errors pass unchanged.
func AtRow(err error, row int) error {
	if e, ok := errors.AsType[*DataError](err); ok && e.Offset == Unplaced {
		e.Row = int64(row) + 1
	}
	return err
}

// maxShown is how many bytes of a value an error shows.
const maxShown = 80

func (e *DataError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	switch {
	case e.Line > 0:
		fmt.Fprintf(&b, ":%d", e.Line)
	case e.Offset == Unplaced && e.Row > 0 && e.File != "":
		fmt.Fprintf(&b, " row %d", e.Row)
	case e.Offset != Unplaced && e.File == "":
		fmt.Fprintf(&b, "at byte %d", e.Offset)
	case e.Offset != Unplaced:
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Record > 0 && e.Record != e.Line {
		fmt.Fprintf(&b, " (in the record that begins on line %d)", e.Record)
	}
	if e.Column != "" {
		colon(&b)
		fmt.Fprintf(&b, "column %s", named(e.Column))
	} else if e.Field > 0 {
		colon(&b)
		fmt.Fprintf(&b, "field %d", e.Field)
	}
	colon(&b)
	if e.Value != "" {
		fmt.Fprintf(&b, "%q ", cut(e.Value))
	}
	b.WriteString(e.Reason)
	if e.Advice != "" {
		b.WriteString("; ")
		b.WriteString(e.Advice)
	}
	return b.String()
}

// named gives a name for people, in quotes if it has what a terminal would not show.
func named(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return strconv.Quote(name)
	}
	return name
}

// Shown is the value as the error shows it: cut.
func (e *DataError) Shown() string { return cut(e.Value) }

func colon(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteString(": ")
	}
}

func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
