package csv

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// value appends a field to its column.
func (d *decoder) value(f field, c int, out *columnar.Batch) *format.DataError {
	column, v := &d.columns[c], &out.Columns[c]
	text := out.Data[f.from:f.to]
	if !f.quoted && d.isNull(text) {
		if column.Required {
			return refuse(f.from, column, text, "is NULL, and the column is required", adviceRequired)
		}
		v.Null()
		return nil
	}
	kind := column.Type.Kind
	if kind == columnar.String {
		return d.string(f, column, v, out)
	}
	text = d.text(out.Data, f)
	d.shown = append(d.shown[:0], text[:min(len(text), 200)]...) // before it is changed in place
	switch {
	case kind.Nested() || kind == columnar.JSON:
		return d.nested(f, text, c, out)
	case kind == columnar.Binary:
		bytes, err := d.binary.Decode(text)
		if err != nil {
			return d.refuseValue(f, column, d.shown, err)
		}
		v.AddSpan(columnar.Span{Off: uint32(f.from), Len: uint32(len(bytes))})
		return nil
	case d.comma && fraction(kind):
		if i := bytes.IndexByte(text, '.'); i >= 0 {
			return refuse(f.from, column, text, "has a point, and fractions have a comma", "as the option decimal says; between thousands there may be nothing")
		}
		if i := bytes.IndexByte(text, ','); i >= 0 {
			text[i] = '.'
		}
	}
	if err := v.Parse(column.Type, text); err != nil {
		return d.refuseValue(f, column, d.shown, err)
	}
	if d.inferred && !format.Keeps(column.Type, text) {
		return refuse(f.from, column, d.shown, string(format.RefuseKept(column.Type)), format.AdviceKept)
	}
	return nil
}

// adviceRequired is for what is not there, and is to be.
const adviceRequired = "mend the source, or declare the column as one that is not required"

// string appends a text.
func (d *decoder) string(f field, column *columnar.Column, v *columnar.Vector, out *columnar.Batch) *format.DataError {
	text := out.Data[f.from:f.to]
	if d.hasNUL && !d.nul {
		if i := bytes.IndexByte(text, 0); i >= 0 {
			return refuse(f.from+i, column, text, "has a NUL byte", "a file that has them is UTF-16, damaged, or no text; "+advise("nul: keep"))
		}
	}
	valid := utf8.Valid(text)
	if !valid && !d.replaceBad {
		return refuse(f.from+format.NotUTF8(text), column, text, "is not UTF-8", format.AdviceUTF8+"; "+advise("invalid_utf8: replace"))
	}
	text = d.text(out.Data, f)
	if valid {
		v.AddSpan(columnar.Span{Off: uint32(f.from), Len: uint32(len(text))})
		return nil
	}
	good := bytes.ToValidUTF8(text, []byte(string(utf8.RuneError))) // longer, so that it has no place in the field
	v.AddSpan(columnar.Span{Off: uint32(len(out.Data)), Len: uint32(len(good))})
	out.Data = append(out.Data, good...)
	return nil
}

// nested appends the value that is a field's JSON text.
func (d *decoder) nested(f field, text []byte, c int, out *columnar.Batch) *format.DataError {
	rows := out.Columns[c].Rows()
	err := d.json.Value(out, c, f.from, f.from+len(text))
	if err == nil && d.columns[c].Required && out.Columns[c].Rows() > rows && out.Columns[c].Valid[rows] == 0 {
		err = &format.DataError{Offset: int64(f.from), Reason: "is null, and the column is required", Advice: adviceRequired}
	}
	if err != nil {
		if err.Column == "" {
			err.Column = d.columns[c].Name
		}
		if err.Value == "" {
			err.Value = string(d.shown)
		}
		return err
	}
	return nil
}

func (d *decoder) refuseValue(f field, column *columnar.Column, text []byte, cause error) *format.DataError {
	advice := "mend the source, or declare the column as string"
	reason := cause.Error()
	if len(text) == 0 {
		reason = "an empty field " + reason
		advice = fmt.Sprintf("NULL is written %s", d.nulls[0])
		if len(d.nulls[0]) == 0 {
			advice = "NULL is a field without quotes"
		} else if !f.quoted {
			advice = `if it is NULL: csv: {null: ""}`
		}
	} else if !f.quoted {
		advice += d.adviseValue(column.Type, text)
	}
	return refuse(f.from, column, text, reason, advice)
}

// adviseValue names the option by which a text that is refused may be a value, if one may.
func (d *decoder) adviseValue(t columnar.Type, text []byte) string {
	switch strings.ToLower(string(text[:min(len(text), 10)])) {
	case `\n`, "null", "na", "n/a", "none", "nil", "-":
		return fmt.Sprintf("; if it is NULL: csv: {null: %q}", text)
	}
	if i := bytes.IndexByte(text, ','); i >= 0 && !d.comma && fraction(t.Kind) && bytes.IndexByte(text[i+1:], ',') < 0 {
		return `; if the comma is before a fraction: csv: {decimal: ","}`
	}
	return ""
}

func refuse(at int, column *columnar.Column, value []byte, reason, advice string) *format.DataError {
	return &format.DataError{Offset: int64(at), Column: column.Name, Value: string(value), Reason: reason, Advice: advice}
}
