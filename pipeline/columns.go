package pipeline

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/runstate"
)

// Schema is the plan's columns as types: of what is written.
func (p Plan) Schema() (*columnar.Schema, error) {
	s := &columnar.Schema{}
	for _, c := range p.Columns {
		column, err := typed(c)
		if err != nil {
			return nil, err
		}
		s.Columns = append(s.Columns, column)
	}
	return s, nil
}

func typed(c runstate.Column) (columnar.Column, error) {
	t, err := columnar.ParseType(c.Type)
	if err != nil {
		return columnar.Column{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	cast, err := columnar.ParseCast(c.Cast)
	if err != nil {
		return columnar.Column{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	return columnar.Column{Name: c.Name, Type: t, Required: c.Required, Cast: cast}, nil
}

// The variables of a column's value that are of the row, and not of the run.
const (
	VarFile = "file" // base name of the file
	VarPath = "path" // its whole path
	VarRow  = "row"  // number of the row in its file, from 1
)

// Variables are all names that a column's value can have in braces.
var Variables = []string{"key", "job", "run", VarFile, VarPath, VarRow}

var variable = regexp.MustCompile(`\{[a-zA-Z_]+\}`)

// VariablesOf gives the names in braces that a value has, in order.
func VariablesOf(value string) []string {
	var names []string
	for _, m := range variable.FindAllString(value, -1) {
		names = append(names, m[1:len(m)-1])
	}
	return names
}

// Uses tells whether a column's value has a variable.
func (p Plan) Uses(name string) bool {
	return slices.ContainsFunc(p.Columns, func(c runstate.Column) bool { return slices.Contains(VariablesOf(c.Value), name) })
}

// Projection makes the rows that are written of those that are read: columns are selected, put in order, renamed, and made of
// values that are not in the source.
type Projection struct {
	Read    *columnar.Schema // what is read, by the source's names
	columns []projected
	vars    map[string]string
}

type projected struct {
	columnar.Column
	from  int    // index of the column that is read; -1 for one that is made
	value string // of one that is made

	columnar.Vector // its values at hand; their text is behind the batch's Data
}

// Projection gives the plan's projection.
func (p Plan) Projection() (*Projection, error) {
	pr := &Projection{Read: &columnar.Schema{Closed: p.Infer}, vars: p.Vars}
	for _, c := range p.Columns {
		column, err := typed(c)
		if err != nil {
			return nil, err
		}
		to := projected{Column: column, from: -1, value: c.Value}
		if c.Value == "" {
			to.from = pr.read(column, c.From)
			if got := pr.Read.Columns[to.from]; !got.Type.Equal(column.Type) || got.Cast != column.Cast {
				return nil, fmt.Errorf("column %s: %s is read as %s already", c.Name, got.Name, got.Type)
			}
		}
		pr.columns = append(pr.columns, to)
	}
	return pr, nil
}

// read gives the index among the columns read of the one that a column is of.
func (pr *Projection) read(c columnar.Column, from string) int {
	if from != "" {
		c.Name = from
	}
	i := slices.IndexFunc(pr.Read.Columns, func(o columnar.Column) bool { return o.Name == c.Name })
	if i < 0 {
		pr.Read.Columns = append(pr.Read.Columns, c)
		return len(pr.Read.Columns) - 1
	}
	pr.Read.Columns[i].Required = pr.Read.Columns[i].Required || c.Required
	return i
}

// Place is where the rows of a batch stand.
type Place struct {
	Path string
	Row  int64 // number in the file of the first record, from 1
	Skip []int // records that are no rows of the batch, by their number from the first, sorted
}

// Apply makes out of in. It shares in's memory, which may grow: in is filled again only when out is no longer needed.
func (pr *Projection) Apply(in, out *columnar.Batch, at Place) error {
	out.Rows = in.Rows
	if cap(out.Columns) < len(pr.columns) {
		out.Columns = make([]columnar.Vector, len(pr.columns))
	}
	out.Columns = out.Columns[:len(pr.columns)]
	for i := range pr.columns {
		c := &pr.columns[i]
		if c.from >= 0 {
			out.Columns[i] = in.Columns[c.from]
			continue
		}
		if err := c.make(in, at, pr.vars); err != nil {
			return err
		}
		out.Columns[i] = c.Vector
	}
	if len(pr.columns) == 0 {
		out.Columns = nil
	}
	out.Data = in.Data
	return nil
}

// make fills the values of a column that is not in the source.
func (c *projected) make(in *columnar.Batch, at Place, vars map[string]string) error {
	c.Reset(c.Type)
	perRow := strings.Contains(c.value, "{"+VarRow+"}")
	row, skip := at.Row, at.Skip
	var text []byte
	for i := range in.Rows {
		for len(skip) > 0 && int64(skip[0]) == row-at.Row {
			row++
			skip = skip[1:]
		}
		if i == 0 || perRow {
			text = []byte(Expand(c.value, func(name string) string { return at.variable(name, row, vars) }))
		}
		if err := c.add(in, text, i > 0 && !perRow); err != nil {
			return &format.DataError{File: at.Path, Offset: format.Unplaced, Row: row, Column: c.Name, Value: string(text), Reason: err.Error(),
				Advice: "change the column's value, or its type"}
		}
		row++
	}
	return nil
}

// add appends a value. again says that it is the one before.
func (c *projected) add(in *columnar.Batch, text []byte, again bool) error {
	if !c.Type.Kind.Spans() {
		return c.Parse(c.Type, text)
	}
	if again {
		c.AddSpan(c.Str[len(c.Str)-1])
		return nil
	}
	c.AddSpan(columnar.Span{Off: uint32(len(in.Data)), Len: uint32(len(text))})
	in.Data = append(in.Data, text...)
	return nil
}

// Expand replaces each {name} of a value. A name without value stays as it is.
func Expand(value string, of func(name string) string) string {
	return variable.ReplaceAllStringFunc(value, func(m string) string {
		if v := of(m[1 : len(m)-1]); v != "" {
			return v
		}
		return m
	})
}

func (at Place) variable(name string, row int64, vars map[string]string) string {
	switch name {
	case VarFile:
		return at.Path[strings.LastIndexByte(at.Path, '/')+1:]
	case VarPath:
		return at.Path
	case VarRow:
		return fmt.Sprint(row)
	}
	return vars[name]
}

// vars gives what the variables of a run stand for.
func (p Plan) vars(key string, run runstate.Token) map[string]string {
	return map[string]string{"key": key, "job": p.Name, "run": string(run)}
}

// anyToken stands for the token of a run that is not begun.
const anyToken runstate.Token = "20000101t000000z00000000"

// checkValues fails where a column's value, as it would be in a run, is none of the column's type. A value that has a variable of
// the row is checked row by row.
func (p Plan) checkValues(key string) error {
	if key == "" && p.Uses("key") {
		return errors.New("a column's value has {key}, and no key was given: give --key")
	}
	p.Vars = p.vars(key, anyToken)
	for _, c := range p.Columns {
		if c.Value == "" {
			continue
		}
		if slices.ContainsFunc(VariablesOf(c.Value), func(name string) bool { return name == VarFile || name == VarPath || name == VarRow }) {
			continue
		}
		one := Plan{Columns: []runstate.Column{c}, Vars: p.Vars}
		pr, err := one.Projection()
		if err != nil {
			return err
		}
		if err := pr.Apply(&columnar.Batch{Rows: 1}, &columnar.Batch{}, Place{}); err != nil {
			return err
		}
	}
	return nil
}
