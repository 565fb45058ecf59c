package jsontext

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
)

// likeGo is what encoding/json does.
var likeGo = Policy{Duplicates: DuplicatesLast, Surrogates: TextReplace, InvalidUTF8: TextReplace}

// model gives a column's value as encoding/json would have it back, of one that encoding/json has read with UseNumber; false if the
// column does not take it.
func model(c columnar.Column, v any) (any, bool) {
	if v == nil {
		return nil, !c.Required
	}
	t := c.Type
	text, isText := v.(string)
	number, isNumber := v.(json.Number)
	if isNumber {
		text = string(number)
	}
	switch t.Kind {
	case columnar.Bool:
		_, ok := v.(bool)
		return v, ok
	case columnar.String:
		return v, isText
	case columnar.JSON:
		return v, true
	case columnar.Binary:
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		return v, isText && err == nil && base64.StdEncoding.EncodeToString(data) == text
	case columnar.UUID:
		return strings.ToLower(text), isText && modelUUID.MatchString(text)
	case columnar.Float32, columnar.Float64:
		return modelFloat(t, text, isNumber, isText)
	case columnar.Decimal:
		return modelDecimal(t, text, isNumber || isText)
	case columnar.List:
		return modelList(t, v)
	case columnar.Struct:
		return modelStruct(t, v)
	}
	return modelInt(t, text, isNumber, isText)
}

var (
	modelUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)
	modelNum  = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)
	modelInf  = regexp.MustCompile(`^(?i)([+-]?)(nan|inf|infinity)$`)
	modelDigs = regexp.MustCompile(`^[+-]?[0-9]+$`)
)

func modelFloat(t columnar.Type, text string, isNumber, isText bool) (any, bool) {
	bits := 64
	if t.Kind == columnar.Float32 {
		bits = 32
	}
	if isText {
		m := modelInf.FindStringSubmatch(text)
		switch {
		case m == nil:
			return nil, false
		case strings.EqualFold(m[2], "nan"):
			return "NaN", true
		case m[1] == "-":
			return "-Infinity", true
		}
		return "Infinity", true
	}
	f, err := strconv.ParseFloat(text, bits)
	if !isNumber || err != nil {
		return nil, false
	}
	verb := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		verb = 'e'
	}
	if f == 0 && math.Signbit(f) {
		return json.Number("-0.0"), true
	}
	return json.Number(strconv.FormatFloat(f, verb, -1, bits)), true
}

func modelInt(t columnar.Type, text string, isNumber, isText bool) (any, bool) {
	wide := t.Kind == columnar.Int64 || t.Kind == columnar.Uint64
	if !(isNumber || isText && wide) || !modelDigs.MatchString(text) {
		return nil, false
	}
	n, _ := new(big.Int).SetString(strings.TrimPrefix(text, "+"), 10)
	least, most := new(big.Int), new(big.Int)
	if bits := 8 << (t.Kind - columnar.Int8); t.Kind <= columnar.Int64 {
		least.Neg(least.Lsh(big.NewInt(1), uint(bits-1)))
		most.Not(least)
	} else {
		most.Sub(most.Lsh(big.NewInt(1), uint(8<<(t.Kind-columnar.Uint8))), big.NewInt(1))
	}
	return json.Number(n.String()), n.Cmp(least) >= 0 && n.Cmp(most) <= 0
}

func modelDecimal(t columnar.Type, text string, ok bool) (any, bool) {
	if !ok || !modelNum.MatchString(text) {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, false
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
	unscaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(power))
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	if !unscaled.IsInt() || new(big.Int).Abs(unscaled.Num()).Cmp(most) >= 0 {
		return nil, false
	}
	return json.Number(r.FloatString(t.Scale)), true
}

func modelList(t columnar.Type, v any) (any, bool) {
	elements, ok := v.([]any)
	out := make([]any, len(elements))
	for i, e := range elements {
		var fits bool
		out[i], fits = model(t.Fields[0], e)
		ok = ok && fits
	}
	return out, ok
}

func modelStruct(t columnar.Type, v any) (any, bool) {
	fields, ok := v.(map[string]any)
	out := map[string]any{}
	for _, f := range t.Fields {
		var fits bool
		out[f.Name], fits = model(f, fields[f.Name])
		ok = ok && fits
	}
	return out, ok
}

func unmarshal(text []byte) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() || !json.Valid(text) {
		return nil, strconv.ErrSyntax
	}
	return v, nil
}

// hasTwice tells whether a key is twice in an object.
func hasTwice(text []byte) bool {
	twice := false
	var walk func(s Scanner)
	walk = func(s Scanner) {
		keys := map[string]bool{}
		_ = s.Each(func(e Entry) fault {
			twice = twice || e.Key != nil && keys[string(e.Key)]
			keys[string(e.Key)] = true
			if e.Kind == Array || e.Kind == Object {
				walk(Scanner{B: s.B, At: e.From, piece: true, end: s.end})
			}
			return nil
		})
	}
	s := Scanner{B: append(slices.Clone(text), 0), piece: true, end: len(text)}
	if kind := s.Space(); kind == '[' || kind == '{' {
		walk(s)
	}
	return twice
}

// agree compares what a column takes of a text, and what is written of that, with what encoding/json makes of it.
func agree(t interface{ Fatalf(string, ...any) }, column columnar.Column, text []byte) {
	columns := []columnar.Column{column}
	b := &columnar.Batch{Data: append(append([]byte("<"), text...), '>')}
	b.Reset(columns)
	b.Columns[0].Null()
	fault := NewDecoder(columns, likeGo).Value(b, 0, 1, 1+len(text))
	value, err := unmarshal(text)
	want, ok := model(column, value)
	ok = ok && err == nil
	if ok && fault != nil && hasTwice(text) {
		return // of which we read the first ones, too
	}
	if ok != (fault == nil) {
		t.Fatalf("%s %q: %v, encoding/json has %v, %v", column.Type, text, fault, value, err)
	}
	if fault != nil {
		rows := rowsOf(nil, &b.Columns[0])
		b.Truncate(columns, 1)
		if kept := rowsOf(nil, &b.Columns[0]); kept[0] != 1 || !slices.Equal(rows, kept) {
			t.Fatalf("%s %q: there are %d rows, and of them are whole %d", column.Type, text, rows, kept)
		}
		return
	}
	cursor := columnar.NewCursor(&b.Columns[0], column.Type)
	cursor.Skip()
	out, err := (&Encoder{NonFinite: "string"}).Append(nil, b, cursor)
	if err != nil {
		t.Fatalf("%s %q: %v", column.Type, text, err)
	}
	got, err := unmarshal(out)
	if diff := cmp.Diff(want, got); diff != "" || err != nil || strings.ContainsAny(string(out), "\n\r") {
		t.Fatalf("%s %q: %q: %v %s", column.Type, text, out, err, diff)
	}
	again(t, columns, out)
}

// rowsOf appends how many rows a vector and its children have.
func rowsOf(rows []int, v *columnar.Vector) []int {
	rows = append(rows, v.Rows())
	for i := range v.Kids {
		rows = rowsOf(rows, &v.Kids[i])
	}
	return rows
}

// again reads what is written under the strictest policy: it is written the same.
func again(t interface{ Fatalf(string, ...any) }, columns []columnar.Column, text []byte) {
	b := &columnar.Batch{Data: slices.Clone(text)}
	b.Reset(columns)
	if err := NewDecoder(columns, Policy{Extra: ExtraFail, Missing: MissingFail}).Value(b, 0, 0, len(text)); err != nil {
		t.Fatalf("%s: %q is written, and not taken: %v", columns[0].Type, text, err)
	}
	out, err := (&Encoder{NonFinite: "string"}).Append(nil, b, columnar.NewCursor(&b.Columns[0], columns[0].Type))
	if err != nil || string(out) != string(text) {
		t.Fatalf("%s: %q is written, and then %q: %v", columns[0].Type, text, out, err)
	}
}

var modelKinds = []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
	"decimal(5,2)", "decimal(18,0)", "decimal(38,38)", "decimal(38,0)", "string", "binary", "uuid", "json"}

var modelNames = []string{"a", "b", "é", `"`, "x y", ""}

// modelColumn is a column at random, whose type is nested at most so deep.
func modelColumn(t *rapid.T, name string, depth int) columnar.Column {
	c := columnar.Column{Name: name, Required: rapid.IntRange(0, 3).Draw(t, "required") == 0}
	switch n := rapid.IntRange(0, 5).Draw(t, "nested"); {
	case n == 0 && depth > 0:
		c.Type = columnar.ListOf(columnar.Type{})
		c.Type.Fields[0] = modelColumn(t, columnar.Element, depth-1)
	case n == 1 && depth > 0:
		c.Type.Kind = columnar.Struct
		for _, name := range rapid.Permutation(modelNames).Draw(t, "names")[:rapid.IntRange(1, 4).Draw(t, "fields")] {
			c.Type.Fields = append(c.Type.Fields, modelColumn(t, name, depth-1))
		}
	default:
		c.Type, _ = columnar.ParseType(rapid.SampledFrom(modelKinds).Draw(t, "kind"))
	}
	return c
}

var modelTexts = map[columnar.Kind][]string{
	columnar.Bool:    {"true", "false"},
	columnar.Decimal: {"0", "-0", "1.00", "999.99", "-1.5", "1e2", "1E-2", `"12.5"`, "0e999", "99999999999999999999999999999999999999", "123456789012345678", "-0.00000000000000000000000000000000000001"},
	columnar.Float64: {"0", "-0", "0.1", "5e-324", "2e-324", "1e-999", "1.7976931348623157e308", "1e400", "9007199254740993", `"NaN"`, `"-inf"`, `"1"`, "16777217", "1e-45", "3.5e38"},
	columnar.String:  {`""`, `"a\"\\\/\b\f\n\r\t"`, `"\u00e9é"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83dx"`, `"\u0000"`, "\"caf\xe9\"", `"null"`, "\"\xed\xa0\x80\\n\xff\"", `"AP8="`},
	columnar.Binary:  {`""`, `"AP8="`, `"AP9="`, `"AA"`, `"\u0041P8\u003d"`, `"AP8=\n"`},
	columnar.UUID:    {`"F81D4FAE-7dec-11d0-a765-00a0c91e6bf6"`, `"f81d4fae7dec11d0a76500a0c91e6bf6"`},
	columnar.JSON:    {`{"a":[1.0,1e400],"a":"\ud800"}`, "[\n1 ,\r\n{}]", "\"\xff\"", "1.50", "{", "nul", "tru", "1.", "NaN", `"\x"`, "\"\n\"", "[1,]", "{1:2}", "\x00", "01", "-", "[]]", "{} {}", ""},
	columnar.Int64: {"0", "-0", "127", "128", "-128", "-129", "255", "256", "32768", "65536", "2147483648", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", `"9223372036854775807"`, `"+7"`, `"x"`, "1.0", "1e1"},
}

// modelText is a text at random, of a value that a column may take.
func modelText(t *rapid.T, c columnar.Column) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\t\r\n"}).Draw(t, "space")
	switch n := rapid.IntRange(0, 19).Draw(t, "kind of text"); {
	case n == 0:
		return "null"
	case n == 1:
		kinds := []columnar.Kind{columnar.Bool, columnar.Decimal, columnar.Float64, columnar.String, columnar.JSON, columnar.Int64}
		return rapid.SampledFrom(modelTexts[rapid.SampledFrom(kinds).Draw(t, "any kind")]).Draw(t, "any")
	case c.Type.Kind == columnar.List:
		var all []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			all = append(all, modelText(t, c.Type.Fields[0]))
		}
		return "[" + space + strings.Join(all, ","+space) + space + "]"
	case c.Type.Kind == columnar.Struct:
		var all []string
		fields := append(slices.Clone(c.Type.Fields), c.Type.Fields[0], columnar.Column{Name: "other", Type: columnar.Type{Kind: columnar.JSON}})
		for _, f := range rapid.Permutation(fields).Draw(t, "order")[:rapid.IntRange(max(0, len(fields)-3), len(fields)).Draw(t, "members")] {
			key := strconv.QuoteToASCII(f.Name)
			all = append(all, key+space+":"+space+modelText(t, f))
		}
		return "{" + space + strings.Join(all, space+",") + "}"
	case c.Type.Kind <= columnar.Uint64 && c.Type.Kind > columnar.Bool:
		return rapid.SampledFrom(modelTexts[columnar.Int64]).Draw(t, "int")
	case c.Type.Kind == columnar.Float32:
		return rapid.SampledFrom(modelTexts[columnar.Float64]).Draw(t, "float")
	}
	return space + rapid.SampledFrom(modelTexts[c.Type.Kind]).Draw(t, "value") + space
}

func TestAgreesWithEncodingJSON(t *testing.T) {
	for _, kind := range modelKinds {
		for _, texts := range modelTexts {
			for _, text := range texts {
				agree(t, columnsOf(t, "v:"+kind)[0], []byte(text))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		column := modelColumn(t, "v", 3)
		agree(t, column, []byte(modelText(t, column)))
	})
}

func FuzzRoundTrip(f *testing.F) {
	kinds := append(slices.Clone(modelKinds), "list<json>", "list<list<int64!>>", "struct<a:int64!,b:struct<a:list<string>,b:json>>", "list<struct<a:decimal(38,2),b:float64>>")
	for i := range kinds {
		for _, texts := range modelTexts {
			for _, text := range texts {
				f.Add(i, []byte(text))
			}
		}
		f.Add(i, []byte(`[{"a":1,"b":{"a":["x\n",null],"b":[]},"\u0061":2},null]`))
	}
	exponent := regexp.MustCompile(`[eE][+-]?0*[0-9]{4,}`)
	f.Fuzz(func(t *testing.T, kind int, text []byte) {
		if exponent.Match(text) { // for which the model would take long
			return
		}
		agree(t, columnsOf(t, "v:"+kinds[uint(kind)%uint(len(kinds))])[0], text)
	})
}
