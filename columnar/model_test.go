package columnar

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// The model of a value: nil is NULL, a list of models a list or a struct, and a scalar is text by which equal values are equal:
// of floats their bits, of strings their bytes in quotes.
type model any

// addModel appends a value to a vector. Text is appended to data.
func addModel(v *Vector, t Type, data *[]byte, m model) {
	if m == nil {
		v.Null()
		return
	}
	switch t.Kind {
	case List:
		for _, e := range m.([]model) {
			addModel(&v.Kids[0], t.Fields[0].Type, data, e)
		}
		v.AddList(len(m.([]model)))
	case Struct:
		for i, e := range m.([]model) {
			addModel(&v.Kids[i], t.Fields[i].Type, data, e)
		}
		v.AddStruct()
	default:
		addScalar(v, t, data, m.(string))
	}
}

func addScalar(v *Vector, t Type, data *[]byte, m string) {
	switch {
	case t.Kind.Spans():
		text, err := strconv.Unquote(m)
		must(err)
		*data = append(*data, text...)
		v.AddSpan(Span{Off: uint32(len(*data) - len(text)), Len: uint32(len(text))})
	case isFloat(t.Kind):
		bits, err := strconv.ParseUint(m, 16, 64)
		must(err)
		v.Valid = append(v.Valid, 1)
		if t.Kind == Float32 {
			v.F32 = append(v.F32, math.Float32frombits(uint32(bits)))
		} else {
			v.F64 = append(v.F64, math.Float64frombits(bits))
		}
	default:
		must(v.Parse(t, []byte(m)))
	}
}

// readModel passes a row of a cursor.
func readModel(c *Cursor, data []byte) model {
	value, ok := c.Next()
	v, t := c.Vector(), c.Type()
	if !ok {
		return nil
	}
	switch {
	case t.Kind == List:
		list := []model{}
		for range v.Len[value] {
			list = append(list, readModel(c.Kid(0), data))
		}
		return list
	case t.Kind == Struct:
		fields := []model{}
		for i := range t.Fields {
			fields = append(fields, readModel(c.Kid(i), data))
		}
		return fields
	case t.Kind == Float32:
		return strconv.FormatUint(uint64(math.Float32bits(v.F32[value])), 16)
	case t.Kind == Float64:
		return strconv.FormatUint(math.Float64bits(v.F64[value]), 16)
	case t.Kind.Spans():
		b := Batch{Data: data}
		return strconv.Quote(string(b.Bytes(v.Str[value])))
	}
	text, err := v.Append(nil, t, value)
	must(err)
	return string(text)
}

// vectorOf makes a vector of models.
func vectorOf(t Type, data *[]byte, rows []model) *Vector {
	v := &Vector{}
	v.Reset(t)
	for _, m := range rows {
		addModel(v, t, data, m)
	}
	return v
}

func modelsOf(v *Vector, t Type, data []byte) []model {
	rows := []model{}
	for c := NewCursor(v, t); len(rows) < v.Rows(); {
		rows = append(rows, readModel(c, data))
	}
	return rows
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// checkVector fails unless a vector has as many values, and its children as many rows, as its rows need.
func checkVector(t interface{ Fatalf(string, ...any) }, v *Vector, typ Type) {
	values := 0
	for _, b := range v.Valid {
		values += int(b)
	}
	if v.Nulls != len(v.Valid)-values {
		t.Fatalf("%s: %d of %d rows are NULL, and Nulls is %d", typ, len(v.Valid)-values, len(v.Valid), v.Nulls)
	}
	got := len(v.Bool) + len(v.I32) + len(v.I64) + len(v.I128) + len(v.F32) + len(v.F64) + len(v.Str) + len(v.Len)
	if typ.Kind != Struct && got != values || typ.Kind == Struct && got != 0 {
		t.Fatalf("%s: %d values for %d rows that are not NULL", typ, got, values)
	}
	rows := values
	if typ.Kind == List {
		rows = 0
		for _, n := range v.Len {
			rows += int(n)
		}
	}
	for i, f := range typ.Fields {
		if v.Kids[i].Rows() != rows {
			t.Fatalf("%s: field %s has %d rows, want %d", typ, f.Name, v.Kids[i].Rows(), rows)
		}
		checkVector(t, &v.Kids[i], f.Type)
	}
}

// scalars gives types that are not made of others.
func scalars() *rapid.Generator[Type] {
	return rapid.Custom(func(t *rapid.T) Type {
		return decimalOf(t, Type{Kind: rapid.SampledFrom(Kinds()[:JSON]).Draw(t, "kind")})
	})
}

func decimalOf(t *rapid.T, typ Type) Type {
	if typ.Kind == Decimal {
		typ.Precision = rapid.IntRange(1, MaxPrecision).Draw(t, "precision")
		typ.Scale = rapid.IntRange(0, typ.Precision).Draw(t, "scale")
	}
	return typ
}

// types gives types nested up to some depth, whose fields are all of other names.
func types(depth int) *rapid.Generator[Type] {
	return rapid.Custom(func(t *rapid.T) Type {
		of := 0
		if depth > 0 {
			of = rapid.IntRange(0, 2).Draw(t, "nesting")
		}
		switch of {
		case 1:
			return Type{Kind: List, Fields: []Column{{Name: Element, Type: types(depth-1).Draw(t, "element"), Required: rapid.Bool().Draw(t, "required")}}}
		case 2:
			var fields []Column
			for i, name := range rapid.SliceOfNDistinct(names(), 1, 3, rapid.ID[string]).Draw(t, "names") {
				fields = append(fields, Column{Name: name, Type: types(depth-1).Draw(t, fmt.Sprint(i)), Required: rapid.Bool().Draw(t, "required")})
			}
			return Type{Kind: Struct, Fields: fields}
		}
		return scalars().Draw(t, "scalar")
	})
}

// names gives names as people, and others, give them.
func names() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`[a-z][a-z0-9_.-]{0,8}`), rapid.String(), rapid.StringMatching(`["":,<>! \t\n()é]{0,6}`),
		rapid.SampledFrom([]string{"", " a", "a ", "\u00a0a\u2003", "\x85", "\xff\xfe", "\x00", "decimal(18,2)", "a:int64,b", `"`, `""`, "\r\n"}))
}

// models gives values of a type. One that is not required may be NULL.
func models(c Column) *rapid.Generator[model] {
	return rapid.Custom(func(t *rapid.T) model {
		if !c.Required && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			return nil
		}
		list := []model{}
		switch c.Type.Kind {
		case List:
			for range rapid.IntRange(0, 3).Draw(t, "length") {
				list = append(list, models(c.Type.Fields[0]).Draw(t, "element"))
			}
			return list
		case Struct:
			for _, f := range c.Type.Fields {
				list = append(list, models(f).Draw(t, f.Name))
			}
			return list
		}
		return scalarModel(t, c.Type)
	})
}

func scalarModel(t *rapid.T, typ Type) string {
	appended := func(text []byte, err error) string { must(err); return string(text) }
	switch k := typ.Kind; {
	case isFixed(k):
		return string(AppendDecimal(nil, unscaled(typ).Draw(t, "unscaled"), typ.Scale))
	case isFloat(k):
		return floatModel(k, floats(k).Draw(t, "float"))
	case k == Bool:
		return strconv.FormatBool(rapid.Bool().Draw(t, "bool"))
	case k == Date:
		return appended(AppendDate(nil, rapid.Int32Range(MinDate, MaxDate).Draw(t, "days")))
	case k == Time:
		return appended(AppendTime(nil, rapid.Int64Range(0, microsPerDay-1).Draw(t, "micros")))
	case isStamp(k):
		micros := rapid.OneOf(rapid.Int64Range(MinTimestamp, MaxTimestamp),
			rapid.Map(rapid.Int64Range(MinDate, MaxDate), func(d int64) int64 { return d * microsPerDay })).Draw(t, "micros")
		if k == Timestamp {
			return appended(AppendTimestamp(nil, micros))
		}
		return appended(AppendTimestampTZ(nil, micros))
	case k == UUID:
		return string(AppendUUID(nil, int128s().Draw(t, "uuid")))
	case k == JSON:
		text, err := json.Marshal(rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Just[any](map[string]any{"a": []int{1, 2}})).Draw(t, "json"))
		must(err)
		return strconv.Quote(string(text))
	case k == Binary:
		return strconv.Quote(string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")))
	}
	return strconv.Quote(rapid.String().Draw(t, "string"))
}

func floatModel(k Kind, v float64) string {
	if k == Float32 {
		return strconv.FormatUint(uint64(math.Float32bits(float32(v))), 16)
	}
	return strconv.FormatUint(math.Float64bits(v), 16)
}

// unscaled gives unscaled values of a type of integers or decimals, many of them near powers of two and of ten.
func unscaled(typ Type) *rapid.Generator[Int128] {
	least, most := bounds(typ)
	return rapid.Custom(func(t *rapid.T) Int128 {
		v := new(big.Int)
		switch rapid.IntRange(0, 3).Draw(t, "sort") {
		case 0:
			v.Lsh(big.NewInt(1), uint(rapid.IntRange(0, 126).Draw(t, "bits")))
		case 1:
			v.Exp(big.NewInt(10), big.NewInt(int64(rapid.IntRange(0, MaxPrecision).Draw(t, "zeros"))), nil)
			v.Mul(v, big.NewInt(rapid.SampledFrom([]int64{1, 5, 15, 25}).Draw(t, "times")))
		case 2:
			v = int128s().Draw(t, "any").big()
		}
		v.Add(v, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "off")))
		if rapid.Bool().Draw(t, "negative") {
			v.Neg(v)
		}
		if v.Cmp(least.big()) < 0 {
			return least
		}
		if v.Cmp(most.big()) > 0 {
			return most
		}
		return int128Of(v)
	})
}

func int128Of(v *big.Int) Int128 {
	var b [16]byte
	new(big.Int).And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))).FillBytes(b[:])
	return Int128OfBytes(b)
}

// floats gives floats of a kind, as float64s, many of which are whole, or half way, or short in text.
func floats(k Kind) *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 {
		v := 0.0
		switch rapid.IntRange(0, 6).Draw(t, "sort") {
		case 0:
			v = rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.MaxFloat32,
				math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat32, 1 << 63, -1 << 63, 1 << 64, 1e38, 1e39, 0.1, 1.005}).Draw(t, "edge")
		case 1:
			v = math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
			if k == Float32 {
				v = float64(math.Float32frombits(rapid.Uint32().Draw(t, "bits32")))
			}
		case 2:
			v = rapid.Float64().Draw(t, "float")
		case 3:
			v = float64(rapid.Int64().Draw(t, "whole") >> rapid.IntRange(0, 63).Draw(t, "shift"))
		case 4:
			v = math.Ldexp(float64(rapid.Int32().Draw(t, "mantissa")), rapid.IntRange(-40, 100).Draw(t, "exponent"))
		default:
			text := fmt.Sprintf("%de%d", rapid.Int64Range(-1e6, 1e6).Draw(t, "digits"), rapid.IntRange(-10, 20).Draw(t, "exponent"))
			v, _ = strconv.ParseFloat(text, 64)
		}
		if v != v {
			return math.NaN()
		}
		if k == Float32 {
			return float64(float32(v))
		}
		return v
	})
}

func TestModelRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Column{Type: types(3).Draw(t, "type")}
		rows := rapid.SliceOfN(models(c), 0, 6).Draw(t, "rows")
		var data []byte
		v := vectorOf(c.Type, &data, rows)
		checkVector(t, v, c.Type)
		if got := modelsOf(v, c.Type, data); !equalModels(got, rows) {
			t.Fatalf("%s: got %v, want %v", c.Type, got, rows)
		}
	})
}

func equalModels(a, b []model) bool {
	return slices.EqualFunc(a, b, func(a, b model) bool {
		listA, okA := a.([]model)
		listB, okB := b.([]model)
		if okA && okB {
			return equalModels(listA, listB)
		}
		return okA == okB && a == b
	})
}
