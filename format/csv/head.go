package csv

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// maxHead is how many bytes a header line can have.
const maxHead = 1 << 20

// Head measures a byte order mark, blank lines, and the header line with its line end. A file without any of them has a
// head of 0 bytes. What is not CSV is a *format.DataError.
func (f *Format) Head(start []byte, whole bool) (int, error) {
	if !whole && len(start) < len(format.BOM) {
		return 0, format.ErrShort
	}
	if err := format.RefuseNoText(start); err != nil {
		return 0, err
	}
	from := skipBlank(start, bomSize(start))
	end := recordEnd(start, from, false)
	if end == 0 && whole && bytes.Count(start[from:], quote)&1 == 0 {
		end = len(start)
	}
	if i := bytes.IndexByte(start[:end], 0); i >= 0 {
		return 0, &format.DataError{Offset: int64(i), Start: int64(from), Reason: "header: a NUL byte",
			Advice: "if the file is UTF-16, convert it to UTF-8, such as with iconv -f UTF-16LE -t UTF-8"}
	}
	if end > 0 || whole && from == len(start) {
		return end, nil
	}
	if e := f.Unfinished(start[from:], whole); e != nil {
		e.Offset += int64(from)
		e.Start += int64(from)
		e.Reason = "header: " + e.Reason
		return 0, e
	}
	if len(start) > maxHead {
		return 0, &format.DataError{Offset: int64(from), Start: int64(from), Reason: fmt.Sprintf("the header does not end within %d bytes", maxHead)}
	}
	return 0, format.ErrShort
}

func bomSize(b []byte) int {
	if bytes.HasPrefix(b, []byte(format.BOM)) {
		return len(format.BOM)
	}
	return 0
}

// header is a header line's names. from is where it begins.
type header struct {
	names []string
	from  int
}

// parseHead reads a head. One without a header line has no names.
func (f *Format) parseHead(head []byte) (header, error) {
	h := header{from: skipBlank(head, bomSize(head))}
	if h.from == len(head) {
		return h, nil
	}
	if head[len(head)-1] != '\n' {
		head = append(bytes.Clone(head), '\n')
	}
	for i := h.from; ; {
		field, next, how := f.scan(head, i)
		if how != delimited && how != recordOver {
			e := fault(how, h.from, next)
			e.Reason = "header: " + e.Reason
			return h, e
		}
		h.names = append(h.names, string(field.unescaped(head)))
		if how == recordOver {
			return h, nil
		}
		i = next
	}
}

// CopyHead gives the header line.
func (f *Format) CopyHead(head []byte) []byte { return format.CleanHead(head) }

// SameHead tells whether two heads have the same names in the same order.
func (f *Format) SameHead(a, b []byte) bool {
	x, errX := f.parseHead(a)
	y, errY := f.parseHead(b)
	if errX != nil || errY != nil {
		return bytes.Equal(a, b)
	}
	return slices.Equal(x.names, y.names)
}

// match gives for each field of a record the column it belongs to, -1 where none was declared.
func (h header) match(columns []columnar.Column) ([]int, error) {
	fields := make([]int, len(h.names))
	for i := range fields {
		fields[i] = -1
	}
	var missing []string
	for c, column := range columns {
		i := slices.Index(h.names, column.Name)
		switch {
		case i < 0:
			missing = append(missing, column.Name)
		case slices.Contains(h.names[i+1:], column.Name):
			return nil, h.refuse(column.Name, "is twice in the header", "rename one of them in the source")
		default:
			fields[i] = c
		}
	}
	if len(missing) == 0 {
		return fields, nil
	}
	if len(h.names) == 0 {
		return nil, h.refuse("", "the file has no header line", "")
	}
	reason := "is not in the header"
	if len(missing) > 1 {
		reason += ", nor are " + strings.Join(missing[1:], ", ")
	}
	return nil, h.refuse(missing[0], reason, h.adviseOn(missing[0]))
}

func (h header) adviseOn(name string) string {
	if near := format.Nearest(name, h.names); near != "" {
		return fmt.Sprintf("did you mean %s? Names are compared to the letter", near)
	}
	all := strings.Join(h.names, ", ")
	if len(all) > 200 {
		return fmt.Sprintf("the header has %d other names", len(h.names))
	}
	return "the header has " + all
}

func (h header) refuse(column, reason, advice string) error {
	return &format.DataError{Offset: int64(h.from), Start: int64(h.from), Column: column, Reason: reason, Advice: advice}
}
