// Package formattest has what the tests of every format need: values at the edges of each type, batches at random, and a
// view of a batch that can be compared.
package formattest

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
)

// Types are the types that there are, decimals in several widths.
var Types = []columnar.Type{
	{Kind: columnar.Bool}, {Kind: columnar.Int64}, {Kind: columnar.Float64}, {Kind: columnar.Date}, {Kind: columnar.Timestamp},
	{Kind: columnar.String}, {Kind: columnar.Decimal, Precision: 5, Scale: 2}, {Kind: columnar.Decimal, Precision: 18},
	{Kind: columnar.Decimal, Precision: 18, Scale: 18}, {Kind: columnar.Decimal, Precision: 19, Scale: 4},
	{Kind: columnar.Decimal, Precision: 38}, {Kind: columnar.Decimal, Precision: 38, Scale: 38},
}

const nines = "99999999999999999999999999999999999999"

// Corpus gives texts of a type that lie at its edges. They are what the encoders write, to the letter.
func Corpus(t columnar.Type) []string {
	switch t.Kind {
	case columnar.Bool:
		return []string{"true", "false"}
	case columnar.Int64:
		return []string{"0", "-1", "7", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
			"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808"}
	case columnar.Float64:
		return []string{"0", "-0", "1", "0.1", "-2.5", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e+308", "9007199254740992",
			"100000000000000000000", "1e+21", "1e-07", "0.30000000000000004"}
	case columnar.Date:
		return []string{"0001-01-01", "9999-12-31", "1970-01-01", "1969-12-31", "2000-02-29", "1900-02-28", "1582-10-10"}
	case columnar.Timestamp:
		return []string{"0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999",
			"2026-03-29 02:30:00", "2026-10-25 02:30:00.000001", "1677-09-21 00:12:43.145224", "2262-04-11 23:47:16.854776"}
	case columnar.String:
		return []string{"", "NULL", "null", "007", " a ", "a,b", "\"", "\"\"", "a\"b", "\n", "\r", "\r\n", "a\r\nb", "\xef\xbb\xbfa", "\\", "\\n", "\\u0041",
			"é", "e\u0301", "👩‍👩‍👧 \U0001F600", "\u2028\u2029", "\u007f\u0080", "\x01\x1f\t\b\f", "</script>&", strings.Repeat("x\"\n", 25_000)}
	}
	return decimals(t.Precision, t.Scale)
}

func decimals(precision, scale int) []string {
	var all []string
	for _, digits := range []string{"0", "1", nines[:precision], nines[:precision/2+1]} {
		digits = strings.Repeat("0", precision-len(digits)) + digits
		whole := strings.TrimLeft(digits[:precision-scale], "0")
		if whole == "" {
			whole = "0"
		}
		text := whole
		if scale > 0 {
			text += "." + digits[precision-scale:]
		}
		all = append(all, text)
		if strings.Trim(text, "0.") != "" {
			all = append(all, "-"+text)
		}
	}
	return all
}

// CorpusBatch gives the whole corpus of a type as a batch of one column.
func CorpusBatch(t columnar.Type) *columnar.Batch {
	b := &columnar.Batch{}
	b.Reset([]columnar.Column{{Type: t}})
	for _, text := range Corpus(t) {
		Add(b, 0, t, text)
		b.Rows++
	}
	return b
}

// ParseSchema reads a schema such as "id:int64! name:string"; ! is required. Names have no spaces.
func ParseSchema(text string) *columnar.Schema {
	schema := &columnar.Schema{}
	for _, word := range strings.Split(text, " ") {
		name, kind, _ := strings.Cut(word, ":")
		t, err := columnar.ParseType(strings.TrimSuffix(kind, "!"))
		must(err)
		schema.Columns = append(schema.Columns, columnar.Column{Name: name, Type: t, Required: strings.HasSuffix(kind, "!")})
	}
	return schema
}

// Schema gives a schema at random, of columns a, b, c and so on.
func Schema() *rapid.Generator[*columnar.Schema] {
	return rapid.Custom(func(t *rapid.T) *columnar.Schema {
		schema := &columnar.Schema{}
		for i := range rapid.IntRange(1, 5).Draw(t, "columns") {
			schema.Columns = append(schema.Columns, columnar.Column{Name: string(rune('a' + i)),
				Type: rapid.SampledFrom(Types).Draw(t, "type"), Required: rapid.Bool().Draw(t, "required")})
		}
		return schema
	})
}

// Batch gives a batch of a schema at random.
func Batch(schema *columnar.Schema) *rapid.Generator[*columnar.Batch] {
	return rapid.Custom(func(t *rapid.T) *columnar.Batch {
		b := &columnar.Batch{Rows: rapid.IntRange(0, 6).Draw(t, "rows")}
		rows := b.Rows
		b.Reset(schema.Columns)
		b.Rows = rows
		for c, column := range schema.Columns {
			for range rows {
				if !column.Required && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
					b.Columns[c].Null()
					continue
				}
				Add(b, c, column.Type, text(t, column.Type))
			}
		}
		return b
	})
}

func text(t *rapid.T, of columnar.Type) string {
	corpus := Corpus(of)
	if rapid.Bool().Draw(t, "corpus") {
		return rapid.SampledFrom(corpus[:min(len(corpus), 24)]).Draw(t, "value") // the long text aside
	}
	switch of.Kind {
	case columnar.Int64:
		return strconv.FormatInt(rapid.Int64().Draw(t, "int64"), 10)
	case columnar.Float64:
		return string(columnar.AppendFloat64(nil, rapid.Float64().Filter(func(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }).Draw(t, "float64")))
	case columnar.Date:
		out, err := columnar.AppendDate(nil, rapid.Int32Range(columnar.MinDate, columnar.MaxDate).Draw(t, "date"))
		must(err)
		return string(out)
	case columnar.Timestamp:
		out, err := columnar.AppendTimestamp(nil, rapid.Int64Range(columnar.MinTimestamp, columnar.MaxTimestamp).Draw(t, "timestamp"))
		must(err)
		return string(out)
	case columnar.String:
		return strings.ReplaceAll(rapid.String().Draw(t, "string"), "\x00", "")
	}
	return rapid.SampledFrom(corpus).Draw(t, "value")
}

// Add appends a value to column c of a batch.
func Add(b *columnar.Batch, c int, t columnar.Type, text string) {
	if t.Kind == columnar.String {
		b.Columns[c].AddSpan(columnar.Span{Off: uint32(len(b.Data)), Len: uint32(len(text))})
		b.Data = append(b.Data, text...)
		return
	}
	must(b.Columns[c].Parse(t, []byte(text)))
}

// Of makes a batch of a schema from texts, one slice a row; "NULL" is NULL.
func Of(schema *columnar.Schema, rows ...[]string) *columnar.Batch {
	b := &columnar.Batch{}
	b.Reset(schema.Columns)
	b.Rows = len(rows)
	for _, row := range rows {
		for c, text := range row {
			if text == "NULL" {
				b.Columns[c].Null()
				continue
			}
			Add(b, c, schema.Columns[c].Type, text)
		}
	}
	return b
}

// Rows shows a batch row by row: each value as text in quotes, NULL without. It panics on a batch that is not whole.
func Rows(schema *columnar.Schema, b *columnar.Batch) [][]string {
	rows := make([][]string, b.Rows)
	if len(b.Columns) != len(schema.Columns) {
		panic(fmt.Sprintf("%d columns of %d", len(b.Columns), len(schema.Columns)))
	}
	for c, column := range schema.Columns {
		v := &b.Columns[c]
		next, nulls := 0, 0
		for row := range rows {
			if v.Valid[row] == 0 {
				nulls++
				rows[row] = append(rows[row], "NULL")
				continue
			}
			var text []byte
			if column.Type.Kind == columnar.String {
				text = b.Bytes(v.Str[next])
			} else {
				var err error
				text, err = v.Append(nil, column.Type, next)
				must(err)
			}
			next++
			rows[row] = append(rows[row], strconv.Quote(string(text)))
		}
		if values := len(v.Bool) + len(v.I64) + len(v.I128) + len(v.I32) + len(v.F64) + len(v.Str); len(v.Valid) != b.Rows || nulls != v.Nulls || next != values {
			panic(fmt.Sprintf("column %s: %d rows of %d, %d NULL of %d, %d values of %d", column.Name, len(v.Valid), b.Rows, v.Nulls, nulls, values, next))
		}
	}
	return rows
}

// Encode gives the file that a format makes of batches.
func Encode(f format.Writer, t format.Target, batches ...*columnar.Batch) ([]byte, error) {
	var out buffer
	e, err := f.NewEncoder(&out, t)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		if err := e.Encode(b); err != nil {
			return nil, err
		}
	}
	return out.b, e.Close()
}

// Decode reads a whole file as one chunk.
func Decode(f format.Text, schema *columnar.Schema, file []byte) (*columnar.Batch, error) {
	n, err := f.Head(file, true)
	if err != nil {
		return nil, err
	}
	d, err := f.NewDecoder(format.Reading{Schema: schema, Head: file[:n]})
	if err != nil {
		return nil, err
	}
	chunk := append(make([]byte, 0, len(file)+format.Slack+1), file[n:]...)
	if len(chunk) > 0 && chunk[len(chunk)-1] != '\n' {
		chunk = append(chunk, '\n')
	}
	b := &columnar.Batch{}
	return b, d.Decode(chunk, int64(n), b)
}

type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
