package csv

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// maxHead is how many bytes a header line, and what stands before it, can have.
const maxHead = 1 << 20

// Head measures a byte order mark, lines to be skipped, blank lines, comments, and the header line with its line end. A file without
// any of them has a head of 0 bytes. What is not CSV is a *format.DataError.
func (f *Format) Head(start []byte, whole bool) (int, error) {
	if !whole && len(start) < 4 {
		return 0, format.ErrShort
	}
	if err := format.RefuseNoText(start); err != nil {
		return 0, err
	}
	from, ok := f.skipped(start)
	if !ok && !whole {
		return 0, f.short(start)
	}
	if !f.hasHeader || !ok {
		return from, nil
	}
	from = f.skipBlank(start, from)
	end := f.end(start, from)
	if end == 0 && whole && f.end(lineEnded(start), from) > 0 {
		end = len(start)
	}
	if i := bytes.IndexByte(start[:end], 0); i >= 0 && !f.nul {
		return 0, &format.DataError{Offset: int64(i), Start: int64(from), Reason: "the header has a NUL byte",
			Advice: format.AdviceNUL(start) + "; " + advise("nul: keep")}
	}
	if whole && from == len(start) {
		return from, nil
	}
	if end > 0 {
		return end, nil
	}
	if e := f.unfinished(start[from:], whole, true); e != nil {
		e.Offset += int64(from)
		e.Start += int64(from)
		e.Reason = "(in the header) " + e.Reason
		return 0, e
	}
	if whole {
		return 0, &format.DataError{Offset: int64(from), Start: int64(from), Reason: "the header does not end"}
	}
	return 0, f.short(start[from:])
}

// lineEnded gives a text that ends with a line feed.
func lineEnded(text []byte) []byte {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return text
	}
	return append(bytes.Clone(text), '\n')
}

// short says that more bytes are needed, unless there are too many already.
func (f *Format) short(start []byte) error {
	if len(start) > maxHead {
		return &format.DataError{Reason: fmt.Sprintf("the header does not end within %d bytes", maxHead)}
	}
	return format.ErrShort
}

// skipped gives the place after the byte order mark and the lines to be skipped; false if the text ends before.
func (f *Format) skipped(start []byte) (int, bool) {
	at := 0
	if bytes.HasPrefix(start, []byte(format.BOM)) {
		at = len(format.BOM)
	}
	for range f.skip {
		i := bytes.IndexByte(start[at:], '\n')
		if i < 0 {
			return len(start), false
		}
		at += i + 1
	}
	return at, true
}

// CopyHead gives the header line.
func (f *Format) CopyHead(head []byte) []byte {
	if !f.hasHeader {
		return nil
	}
	from, _ := f.skipped(head)
	return format.CleanHead(head[f.skipBlank(head, from):])
}

// header is the names of a file's fields. from is where the line is that has them.
type header struct {
	names   []string
	from    int
	inOrder bool // there are no names: columns are the fields in order
	nothing bool // nor is there anything else: the file is blank
}

// parseHead reads a head. One without a header line has no names.
func (f *Format) parseHead(head []byte) (header, error) {
	h := header{names: f.names}
	if !f.hasHeader {
		h.inOrder = f.names == nil
		return h, nil
	}
	from, _ := f.skipped(head)
	h.from = f.skipBlank(head, from)
	if h.from == len(head) {
		h.nothing = len(bytes.TrimSpace(bytes.TrimPrefix(head, []byte(format.BOM)))) == 0
		return h, nil
	}
	head = lineEnded(bytes.Clone(head)) // quotes are taken away in place
	for i := h.from; ; {
		field, next, how := f.scan(head, i)
		if how != delimited && how != recordOver {
			e := f.fault(head, field, how, h.from, next)
			e.Field, e.Reason = len(h.names)+1, "(in the header) "+e.Reason
			return h, e
		}
		name := string(f.text(head, field))
		if f.replaceBad {
			name = strings.ToValidUTF8(name, string(utf8.RuneError))
		}
		h.names = append(h.names, name)
		if how == recordOver {
			return h, nil
		}
		i = next
	}
}

// SameHead tells whether two heads have the same names in the same order.
func (f *Format) SameHead(a, b []byte) bool {
	x, errX := f.parseHead(a)
	y, errY := f.parseHead(b)
	if errX != nil || errY != nil {
		return bytes.Equal(a, b)
	}
	return slices.Equal(x.names, y.names)
}

// layout is where the columns are in a record.
type layout struct {
	fields  []int // the column of each field of a record, -1 for none
	absent  []int // columns that the file lacks
	names   []string
	inOrder bool // they are the columns' own
}

// match finds the columns among the fields of records below a header.
func (d *dialect) match(h header, schema *columnar.Schema) (layout, error) {
	if h.inOrder {
		return inOrder(h, schema)
	}
	l := layout{fields: make([]int, len(h.names)), names: h.names}
	for i := range l.fields {
		l.fields[i] = -1
	}
	for c, column := range schema.Columns {
		i := slices.IndexFunc(h.names, func(name string) bool { return d.sameName(name, column.Name) })
		switch {
		case i < 0:
			l.absent = append(l.absent, c)
		case slices.ContainsFunc(h.names[i+1:], func(name string) bool { return d.sameName(name, column.Name) }):
			return l, h.refuse(column.Name, "is twice in the header",
				"rename one of them in the source, or give the names: csv: {skip: 1, header: [...]}")
		case l.fields[i] >= 0:
			return l, h.refuse(column.Name, "is the same field as column "+schema.Columns[l.fields[i]].Name+": case: ignore makes them one", "declare one of them")
		default:
			l.fields[i] = c
		}
	}
	if err := d.checkAbsent(h, schema, l.absent); err != nil {
		return l, err
	}
	return l, d.checkExtra(h, schema, l.fields)
}

// numbered begins the names that fields without names are inferred under: column1, column2 and so on.
const numbered = "column"

// inOrder is match for records without header: columns are the fields in order, or those of the numbers in their names.
func inOrder(h header, schema *columnar.Schema) (layout, error) {
	l, numbers := layout{inOrder: true}, false
	for c, column := range schema.Columns {
		k, byNumber := numberOf(column.Name)
		if byNumber != numbers && c > 0 {
			return l, h.refuse(column.Name, "fields without names are given by their numbers or in order, and not both",
				"name all columns column1, column2 ..., or none; or name the fields: csv: {header: [...]}")
		}
		if numbers = byNumber; !byNumber {
			k = c
		}
		for len(l.fields) <= k {
			l.fields, l.names = append(l.fields, -1), append(l.names, fmt.Sprint(numbered, len(l.names)+1))
		}
		l.fields[k], l.names[k] = c, column.Name
	}
	return l, nil
}

// maxNumber bounds the number of a field.
const maxNumber = 1 << 20

// numberOf gives the number, from 0, of the field that a name of inference stands for.
func numberOf(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, numbered)
	n, err := strconv.Atoi(digits)
	return n - 1, ok && err == nil && 0 < n && n <= maxNumber && digits == strconv.Itoa(n)
}

func (d *dialect) checkAbsent(h header, schema *columnar.Schema, absent []int) error {
	var missing []string
	for _, c := range absent {
		if !d.missingNull || schema.Columns[c].Required {
			missing = append(missing, schema.Columns[c].Name)
		}
	}
	switch {
	case len(missing) == 0 || h.nothing:
		return nil
	case len(h.names) == 0:
		return h.refuse("", "the file has no header line", "is csv: {skip} right?")
	}
	reason := "is not in the header"
	if len(missing) > 1 {
		reason += ", nor are " + strings.Join(missing[1:], ", ")
	}
	return h.refuse(missing[0], reason, d.adviseOn(h, missing[0], d.adviseMissing(schema, absent)))
}

func (d *dialect) checkExtra(h header, schema *columnar.Schema, fields []int) error {
	if d.extra == "ignore" || d.extra == "" && !schema.Closed {
		return nil
	}
	if i := slices.Index(fields, -1); i >= 0 {
		return h.refuse(h.names[i], "is in the header, and no column is declared for it", "declare it, "+advise("extra: ignore"))
	}
	return nil
}

// adviseOn says what may stand in a column's place. missing is for where nothing does.
func (d *dialect) adviseOn(h header, name, missing string) string {
	if i := strings.IndexAny(h.names[0], ";\t|,"); i >= 0 && len(h.names) == 1 {
		return fmt.Sprintf("the header has one name, %q: if another character is between its fields, csv: {delimiter: %q}", h.names[0], h.names[0][i:i+1])
	}
	if near := format.Nearest(name, h.names); near != "" {
		if strings.EqualFold(near, name) {
			return fmt.Sprintf("there is %s: csv: {case: ignore} compares names without their case", near)
		}
		return fmt.Sprintf("did you mean %s?", near) + missing
	}
	all := strings.Join(h.names, ", ")
	if len(all) > 200 {
		return fmt.Sprintf("the header has %d other names", len(h.names)) + missing
	}
	return "the header has " + all + missing
}

// adviseMissing names the option that would accept that columns are missing.
func (d *dialect) adviseMissing(schema *columnar.Schema, absent []int) string {
	for _, c := range absent {
		if schema.Columns[c].Required {
			return "; a column that is required must be there"
		}
	}
	return "; " + advise(`missing: "null"`)
}

func (h header) refuse(column, reason, advice string) *format.DataError {
	return &format.DataError{Offset: int64(h.from), Start: int64(h.from), Column: column, Reason: reason, Advice: advice}
}
