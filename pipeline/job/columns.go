package job

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/runstate"
)

// columnsShape shows how columns are declared.
const columnsShape = "\n  columns:\n    - {name: id, type: int64, required: true}\n    - {name: amount, type: \"decimal(18,2)\"}"

// columns reads the columns of a source: a list of mappings, or a text such as id:int64,amount:decimal(18,2)!.
func (d *decoding) columns(source *section) []runstate.Column {
	var columns []runstate.Column
	at := source.at("columns")
	switch v := source.value("columns").(type) {
	case nil:
		return nil
	case string:
		columns = d.columnsOfText(at, v)
	case []any:
		for i, x := range v {
			columns = append(columns, d.column(d.sectionOf(fmt.Sprintf("%s.%d", at, i), x)))
		}
	default:
		source.problem("columns", "is %s, and must be a list:%s", kindOf(v), columnsShape)
	}
	seen := map[string]bool{}
	for i, c := range columns {
		if c.Name != "" && seen[c.Name] {
			d.problem(at+"."+strconv.Itoa(i), "column %s is declared twice", c.Name)
		}
		seen[c.Name] = true
	}
	return columns
}

func (d *decoding) column(s *section) runstate.Column {
	c := runstate.Column{Name: s.text("name", ""), Type: s.text("type", ""), Required: s.truth("required")}
	s.close()
	if s.broken {
		return c
	}
	if c.Name == "" && s.values["name"] == nil {
		s.problem("name", "is missing")
	}
	if c.Type == "" && s.values["type"] == nil {
		s.problem("type", "is missing: the types are %s", columnar.TypeNames)
		return c
	}
	c.Type = d.columnType(s.at("type"), c.Type)
	return c
}

// columnType gives a type as it is written in journals.
func (d *decoding) columnType(path, text string) string {
	t, err := columnar.ParseType(text)
	if err != nil {
		d.problem(path, "%v", err)
		return text
	}
	return t.String()
}

func (d *decoding) columnsOfText(path, text string) []runstate.Column {
	var columns []runstate.Column
	for _, part := range splitColumns(text) {
		part = strings.TrimSpace(part)
		colon := strings.LastIndexByte(part, ':')
		if colon <= 0 {
			d.problem(path, "%q is no column: write id:int64,amount:decimal(18,2)! (! where a value is required)", part)
			continue
		}
		name := strings.TrimSpace(part[:colon])
		typ, required := strings.CutSuffix(strings.TrimSpace(part[colon+1:]), "!")
		columns = append(columns, runstate.Column{Name: name, Type: d.columnType(path, typ), Required: required})
	}
	return columns
}

// splitColumns cuts at the commas that are not in parentheses.
func splitColumns(text string) []string {
	var parts []string
	depth, begin := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[begin:i])
				begin = i + 1
			}
		}
	}
	return append(parts, text[begin:])
}
