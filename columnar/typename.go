package columnar

import (
	"fmt"
	"strconv"
	"strings"
)

// The names of types, as people write them and as journals have them:
//
//	type    = name | "decimal(" digits "," digits ")" | "list<" type ["!"] ">" | "struct<" columns ">"
//	columns = column { "," column }
//	column  = name ":" type ["!"]
//
// ! is a value that is required. A name that has other characters than letters, digits, "_", "-", "." and those beyond ASCII is
// written in double quotes, and a quote in it twice.

// TypeNames says for people which types there are.
const TypeNames = "bool, int8 to int64, uint8 to uint64, float32, float64, decimal(p,s), date, time, timestamp, timestamptz, " +
	"string, binary, uuid, json, list<...>, struct<name:type,...>"

// maxDepth is how deep types can be nested.
const maxDepth = 32

// String gives the type as ParseType reads it: "int64", "decimal(18,2)", "list<int64!>", "struct<a:int64,b:string>".
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case List:
		if len(t.Fields) == 1 {
			return "list<" + t.Fields[0].suffixed() + ">"
		}
	case Struct:
		return "struct<" + FormatColumns(t.Fields) + ">"
	}
	return t.Kind.String()
}

// suffixed gives the column's type, with its mark if it is required.
func (c Column) suffixed() string {
	if c.Required {
		return c.Type.String() + "!"
	}
	return c.Type.String()
}

// FormatColumns gives columns on one line, as ParseColumns reads them: "id:int64!,name:string".
func FormatColumns(columns []Column) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoteName(c.Name))
		b.WriteByte(':')
		b.WriteString(c.suffixed())
	}
	return b.String()
}

func quoteName(name string) string {
	for i := range len(name) {
		if !plainByte(name[i]) {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// plainByte tells whether a byte can stand in a name without quotes.
func plainByte(c byte) bool {
	return c|0x20-'a' < 26 || c-'0' <= 9 || c == '_' || c == '-' || c == '.' || c >= 0x80
}

// ParseType reads a type's name. Its error says which types there are.
func ParseType(s string) (Type, error) {
	p := &nameParser{text: s}
	t, err := p.typ(0)
	if err == nil && p.space() < len(s) {
		err = fmt.Errorf("type %q: %q follows it", s, s[p.at:])
	}
	return t, err
}

// ParseColumns reads columns on one line, as FormatColumns writes them. Spaces around names and types do not matter.
func ParseColumns(s string) ([]Column, error) {
	p := &nameParser{text: s}
	columns, err := p.columns(0)
	if err == nil && p.space() < len(s) {
		err = fmt.Errorf("columns %q: %q follows the last one: there is a comma between columns", s, s[p.at:])
	}
	return columns, err
}

// nameParser reads names of types.
type nameParser struct {
	text string
	at   int
}

// spaces are what is passed around names and types. Others, such as U+00A0, are parts of a name.
const spaces = " \t\r\n"

// space passes spaces, and gives the place after them.
func (p *nameParser) space() int {
	for p.at < len(p.text) && strings.IndexByte(spaces, p.text[p.at]) >= 0 {
		p.at++
	}
	return p.at
}

// take passes a character, if it is the next one.
func (p *nameParser) take(c byte) bool {
	if p.space() < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *nameParser) typ(depth int) (Type, error) {
	if depth > maxDepth {
		return Type{}, fmt.Errorf("type %q: types are nested more than %d deep", p.text, maxDepth)
	}
	from := p.space()
	for p.at < len(p.text) && (p.text[p.at]|0x20-'a' < 26 || p.text[p.at]-'0' <= 9 || p.text[p.at] == '_') {
		p.at++
	}
	name := strings.ToLower(p.text[from:p.at])
	switch name {
	case "decimal":
		return p.decimal()
	case "list":
		return p.list(depth)
	case "struct":
		return p.structure(depth)
	}
	for k, n := range kindNames {
		if n == name && n != "" {
			return Type{Kind: Kind(k)}, nil
		}
	}
	if name == "" {
		name = strings.Trim(p.text[from:], spaces)
	}
	return Type{}, fmt.Errorf("unknown type %q: the types are %s", name, TypeNames)
}

func (p *nameParser) decimal() (Type, error) {
	if !p.take('(') {
		return Type{}, fmt.Errorf("type %q needs its digits: decimal(18,2) is 18 digits in all, 2 of them after the point", p.text)
	}
	precision, ok := p.number()
	scale := 0
	if ok && p.take(',') {
		scale, ok = p.number()
	}
	if !ok || !p.take(')') {
		return Type{}, fmt.Errorf("type %q: write it as decimal(18,2)", p.text)
	}
	if precision < 1 || precision > MaxPrecision || scale < 0 || scale > precision {
		return Type{}, fmt.Errorf("type %q: a decimal has 1 to %d digits, and 0 to all of them after the point", p.text, MaxPrecision)
	}
	return Type{Kind: Decimal, Precision: precision, Scale: scale}, nil
}

func (p *nameParser) number() (int, bool) {
	from := p.space()
	for p.at < len(p.text) && (p.text[p.at]-'0' <= 9 || p.at == from && p.text[p.at] == '-') {
		p.at++
	}
	n, err := strconv.Atoi(p.text[from:p.at])
	return n, err == nil
}

func (p *nameParser) list(depth int) (Type, error) {
	if !p.take('<') {
		return Type{}, fmt.Errorf("type %q needs the type of its elements: list<int64>", p.text)
	}
	t, err := p.typ(depth + 1)
	if err != nil {
		return Type{}, err
	}
	element := Column{Name: Element, Type: t, Required: p.take('!')}
	if !p.take('>') {
		return Type{}, fmt.Errorf("type %q: a > is missing: list<int64>", p.text)
	}
	return Type{Kind: List, Fields: []Column{element}}, nil
}

func (p *nameParser) structure(depth int) (Type, error) {
	if !p.take('<') {
		return Type{}, fmt.Errorf("type %q needs its fields: struct<a:int64,b:string>", p.text)
	}
	fields, err := p.columns(depth + 1)
	if err != nil {
		return Type{}, err
	}
	if !p.take('>') {
		return Type{}, fmt.Errorf("type %q: a > is missing: struct<a:int64,b:string>", p.text)
	}
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.Name] {
			return Type{}, fmt.Errorf("type %q: field %s is there twice", p.text, f.Name)
		}
		seen[f.Name] = true
	}
	return Type{Kind: Struct, Fields: fields}, nil
}

func (p *nameParser) columns(depth int) ([]Column, error) {
	var columns []Column
	for {
		c, err := p.column(depth)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
		if !p.take(',') {
			return columns, nil
		}
	}
}

func (p *nameParser) column(depth int) (Column, error) {
	name, err := p.name()
	if err != nil {
		return Column{}, err
	}
	if !p.take(':') {
		return Column{}, fmt.Errorf("%q is no column: write id:int64,amount:decimal(18,2)! (! where a value is required)", p.rest(name))
	}
	t, err := p.typ(depth)
	if err != nil {
		return Column{}, err
	}
	return Column{Name: name, Type: t, Required: p.take('!')}, nil
}

// rest gives what stands at the spot, up to the next comma, for people.
func (p *nameParser) rest(before string) string {
	rest, _, _ := strings.Cut(p.text[p.at:], ",")
	return before + rest
}

func (p *nameParser) name() (string, error) {
	from := p.space()
	if p.take('"') {
		return p.quotedName(from)
	}
	// Without quotes a name has whatever is before the colon, but for what ends a column: names with spaces are common.
	for p.at < len(p.text) && strings.IndexByte(`:,<>"`, p.text[p.at]) < 0 {
		p.at++
	}
	name := strings.Trim(p.text[from:p.at], spaces)
	if name == "" {
		return "", fmt.Errorf("columns %q: a name is missing: write id:int64,amount:decimal(18,2)! (! where a value is required)", p.text)
	}
	return name, nil
}

func (p *nameParser) quotedName(from int) (string, error) {
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		if c != '"' {
			b.WriteByte(c)
			continue
		}
		if p.at == len(p.text) || p.text[p.at] != '"' {
			return b.String(), nil
		}
		b.WriteByte('"')
		p.at++
	}
	return "", fmt.Errorf("columns %q: the name that begins with %s has no closing quote", p.text, p.text[from:])
}
