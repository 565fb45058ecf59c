// Package formattest has what the tests of every format need: values at the edges of each type, batches at random, and a
// view of a batch that can be compared.
package formattest

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// Types are the types that there are, decimals in several widths, and some that are nested.
var Types = types("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "date", "time",
	"timestamp", "timestamptz", "string", "binary", "uuid", "json", "decimal(5,2)", "decimal(18,0)", "decimal(18,18)", "decimal(19,4)",
	"decimal(38,0)", "decimal(38,38)", "list<int64>", "list<list<string>>", "struct<a:int64,b:list<struct<c:string,d:decimal(20,2)>>>")

func types(names ...string) []columnar.Type {
	var all []columnar.Type
	for _, name := range names {
		t, err := columnar.ParseType(name)
		must(err)
		all = append(all, t)
	}
	return all
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
	case columnar.Int8:
		return []string{"0", "-1", "127", "-128"}
	case columnar.Int16:
		return []string{"0", "-1", "32767", "-32768"}
	case columnar.Int32:
		return []string{"0", "-1", "2147483647", "-2147483648"}
	case columnar.Uint8:
		return []string{"0", "1", "127", "128", "255"}
	case columnar.Uint16:
		return []string{"0", "1", "32767", "32768", "65535"}
	case columnar.Uint32:
		return []string{"0", "1", "2147483647", "2147483648", "4294967295"}
	case columnar.Uint64:
		return []string{"0", "1", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615"}
	case columnar.Float32:
		return []string{"0", "-0.0", "1", "0.1", "-2.5", "1e-45", "1.1754944e-38", "3.4028235e+38", "16777216", "1e+21", "1e-07", "0.3"}
	case columnar.Time:
		return []string{"00:00:00", "23:59:59.999999", "12:30:00.000001", "01:02:03"}
	case columnar.TimestampTZ:
		return []string{"0001-01-01 00:00:00Z", "9999-12-31 23:59:59.999999Z", "1970-01-01 00:00:00Z", "1969-12-31 23:59:59.999999Z",
			"2026-03-29 02:30:00Z", "2026-10-25 02:30:00.000001Z"}
	case columnar.UUID:
		return []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "80000000-0000-0000-0000-000000000001",
			"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}
	case columnar.Binary: // in base64
		return []string{"", "AA==", "/w==", "AP8KDQ==", "gICA", "YSxiIg=="}
	case columnar.JSON:
		return []string{`{}`, `[]`, `0`, `-0`, `"a"`, `true`, `{"a":[1,2.50,null,"x\n\u0041"],"a":1e400}`, `9007199254740993`, `"NULL"`, `""`}
	case columnar.List:
		if t.Fields[0].Type.Kind == columnar.List {
			return []string{`[]`, `[[]]`, `[null]`, `[["a",null,""],[],null,["NULL"]]`, `[["\n,\""]]`}
		}
		return []string{`[]`, `[null]`, `[1]`, `[9223372036854775807,null,-9223372036854775808]`, `[1,2,3,4,5,6,7,8,9,10]`}
	case columnar.Struct:
		return []string{`{"a":null,"b":null}`, `{"a":1,"b":[]}`, `{"a":-1,"b":[null,{"c":null,"d":null},{"c":"é,\"","d":123456789012345678.90}]}`}
	case columnar.Float64:
		return []string{"0", "-0.0", "1", "0.1", "-2.5", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e+308", "9007199254740992",
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
	case columnar.Uint64:
		return strconv.FormatUint(rapid.Uint64().Draw(t, "uint64"), 10)
	case columnar.Float32:
		return string(columnar.AppendFloat32(nil, rapid.Float32().Filter(func(v float32) bool { return format.IsFinite(float64(v)) }).Draw(t, "float32")))
	case columnar.Binary:
		return base64.StdEncoding.EncodeToString(rapid.SliceOf(rapid.Byte()).Draw(t, "binary"))
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
	if t.Kind == columnar.Binary {
		data, err := base64.StdEncoding.DecodeString(text)
		must(err)
		text = string(data)
	}
	if t.Kind.Nested() {
		from := len(b.Data)
		b.Data = append(b.Data, text...)
		columns := make([]columnar.Column, c+1)
		columns[c] = columnar.Column{Name: "value", Type: t}
		if err := jsontext.NewDecoder(columns, jsontext.Policy{}).Value(b, c, from, len(b.Data)); err != nil {
			panic(err)
		}
		return
	}
	if t.Kind.Spans() {
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
		check(column, v, b.Rows)
		cursor := columnar.NewCursor(v, column.Type)
		for row := range rows {
			rows[row] = append(rows[row], show(b, cursor))
		}
	}
	return rows
}

// show gives the text of the row that a cursor passes next.
func show(b *columnar.Batch, cursor *columnar.Cursor) string {
	if cursor.IsNull() {
		cursor.Skip()
		return "NULL"
	}
	t, v := cursor.Type(), cursor.Vector()
	var text []byte
	var err error
	switch {
	case t.Kind.Nested():
		text, err = (&jsontext.Encoder{NonFinite: format.NonFiniteString}).Append(nil, b, cursor)
		must(err)
		return strconv.Quote(string(text))
	case t.Kind == columnar.Binary:
		i, _ := cursor.Next()
		text = base64.StdEncoding.AppendEncode(nil, b.Bytes(v.Str[i]))
	case t.Kind.Spans():
		i, _ := cursor.Next()
		text = b.Bytes(v.Str[i])
	default:
		i, _ := cursor.Next()
		text, err = v.Append(nil, t, i)
		must(err)
	}
	return strconv.Quote(string(text))
}

// check panics on a vector that does not have so many rows, and as many values as it says.
func check(column columnar.Column, v *columnar.Vector, rows int) {
	nulls := 0
	for _, valid := range v.Valid {
		if valid == 0 {
			nulls++
		}
	}
	values := len(v.Bool) + len(v.I64) + len(v.I128) + len(v.I32) + len(v.F32) + len(v.F64) + len(v.Str) + len(v.Len)
	kids := rows - nulls
	switch column.Type.Kind {
	case columnar.Struct:
		values = kids
	case columnar.List:
		kids = 0
		for _, n := range v.Len {
			kids += int(n)
		}
	}
	if len(v.Valid) != rows || nulls != v.Nulls || values != rows-nulls {
		panic(fmt.Sprintf("column %s: %d rows of %d, %d NULL of %d, %d values of %d", column.Name, len(v.Valid), rows, v.Nulls, nulls, values, rows-nulls))
	}
	for i, f := range column.Type.Fields {
		check(f, &v.Kids[i], kids)
	}
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

// Seen gives columns that were inferred, with the type that one has which showed no value.
func Seen(columns []columnar.Column) []columnar.Column {
	seen := slices.Clone(columns)
	for i := range seen {
		if seen[i].Type.Kind == 0 {
			seen[i].Type.Kind = columnar.String
		}
	}
	return seen
}
