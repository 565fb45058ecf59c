package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
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
	c := runstate.Column{Name: s.text("name", ""), Type: s.text("type", ""), Required: s.truth("required"),
		From: s.text("from", ""), Cast: s.choice("cast", "safe", "exact", "lossy")}
	if _, ok := s.value("value").(map[string]any); ok {
		s.problem("value", "begins with a brace, which YAML takes for a mapping: write it in quotes, \"{key}\"")
	} else {
		c.Value = s.text("value", "")
	}
	s.close()
	if c.Cast == "safe" {
		c.Cast = ""
	}
	if s.broken {
		return c
	}
	if c.Name == "" && s.values["name"] == nil {
		s.problem("name", "is missing")
	}
	if c.From == c.Name {
		c.From = ""
	}
	if c.Type == "" && c.Value != "" && s.values["type"] == nil {
		c.Type = columnar.String.String()
	}
	if c.Type == "" && s.values["type"] == nil {
		s.problem("type", "is missing: the types are %s", columnar.TypeNames)
		return c
	}
	c.Type = d.columnType(s.at("type"), c.Type)
	d.columnValue(s, c)
	return c
}

// columnValue checks a column that is not in the source.
func (d *decoding) columnValue(s *section, c runstate.Column) {
	if c.Value == "" {
		return
	}
	if c.From != "" || c.Cast != "" {
		s.problem("value", "stands for a column that is not in the source, which has no from and no cast")
	}
	t, err := columnar.ParseType(c.Type)
	if err == nil && (t.Kind.Nested() || t.Kind == columnar.Binary) {
		s.problem("value", "cannot be of type %s", c.Type)
		return
	}
	names := pipeline.VariablesOf(c.Value)
	for _, name := range names {
		if !slices.Contains(pipeline.Variables, name) {
			s.problem("value", "has {%s}, which is not known: there are {%s}%s", name, strings.Join(pipeline.Variables, "}, {"), didYouMean(name, pipeline.Variables))
		}
	}
	if err == nil && len(names) == 0 && !t.Kind.Spans() {
		if err := new(columnar.Vector).Parse(t, []byte(c.Value)); err != nil {
			s.problem("value", "%q %v", c.Value, err)
		}
	}
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
	parsed, err := columnar.ParseColumns(text)
	if err != nil {
		d.problem(path, "%v", err)
	}
	var columns []runstate.Column
	for _, c := range parsed {
		columns = append(columns, runstate.Column{Name: c.Name, Type: c.Type.String(), Required: c.Required})
	}
	return columns
}

// projection refuses columns that no reading can make.
func (d *decoding) projection(at string, p *pipeline.Plan, from sourceFormat) {
	if _, err := p.Projection(); err != nil && len(d.problems) == 0 {
		d.problem(at, "%v: declare it once, and cast where it is read", err)
	}
	if _, ok := from.made.(format.Table); ok {
		return
	}
	for i, c := range p.Columns {
		if c.Cast != "" {
			d.problem(fmt.Sprintf("%s.%d.cast", at, i), "is for sources whose values have types; %s is text, and is read as the type that is declared", from.name)
		}
	}
}
