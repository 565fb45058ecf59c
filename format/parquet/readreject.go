package parquet

import (
	"cmp"
	"slices"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/jsontext"
)

// refusedRow is a row with values that are refused. The first one is told; of each column there is its text.
type refusedRow struct {
	err    *format.DataError
	values map[int]string
}

// refuse notes that a row, from 0 of the batch, has a value in the c-th column that is refused.
func (r *tableReader) refuse(row, c int, column, value string, reason columnar.Refusal, advice string) {
	if r.refused == nil {
		r.refused = map[int]*refusedRow{}
	}
	x := r.refused[row]
	if x == nil {
		x = &refusedRow{values: map[int]string{}, err: &format.DataError{Offset: format.Unplaced, Row: r.row + int64(row) + 1, Column: column, Value: value,
			Reason: string(reason), Advice: advice}}
		r.refused[row] = x
	}
	if _, ok := x.values[c]; !ok {
		x.values[c] = value
	}
}

// takeOut hands the refused rows over, or gives the error of the first one.
func (r *tableReader) takeOut(out *columnar.Batch) error {
	if len(r.refused) == 0 {
		return nil
	}
	r.rows = r.rows[:0]
	for row := range r.refused {
		r.rows = append(r.rows, row)
	}
	slices.SortFunc(r.rows, cmp.Compare)
	if r.reject == nil {
		return r.refused[r.rows[0]].err
	}
	texts := r.newRowTexts(out)
	for _, row := range r.rows {
		raw, err := texts.row(row, r.refused[row].values)
		if err != nil {
			return err
		}
		if err := r.reject(format.Rejected{Err: r.refused[row].err, Record: row, Raw: raw}); err != nil {
			return rejection{err}
		}
	}
	out.Drop(r.columns, r.rows)
	return nil
}

// rowTexts makes JSON of rows of a batch, in order. Rows of a table have no text of their own.
type rowTexts struct {
	columns []columnar.Column
	batch   *columnar.Batch
	cursors []columnar.Cursor
	encoder jsontext.Encoder
	at      int // the row that the cursors stand before
}

func (r *tableReader) newRowTexts(b *columnar.Batch) *rowTexts {
	t := &rowTexts{columns: r.columns, batch: b, cursors: make([]columnar.Cursor, len(r.columns)), encoder: jsontext.Encoder{NonFinite: format.NonFiniteString}}
	for c := range t.cursors {
		t.cursors[c].Reset(&b.Columns[c], r.columns[c].Type)
	}
	return t
}

// row gives the columns of a row as an object. Values that were refused are texts.
func (t *rowTexts) row(row int, refused map[int]string) (raw []byte, err error) {
	raw = append(raw, '{')
	for c := range t.columns {
		for range row - t.at {
			t.cursors[c].Skip()
		}
		if c > 0 {
			raw = append(raw, ',')
		}
		raw = append(jsontext.AppendString(raw, t.columns[c].Name), ':')
		if text, ok := refused[c]; ok {
			raw = jsontext.AppendString(raw, text)
			t.cursors[c].Skip()
		} else if raw, err = t.encoder.Append(raw, t.batch, &t.cursors[c]); err != nil {
			return nil, jsontext.Within(err, t.columns[c].Name)
		}
	}
	t.at = row + 1
	return append(raw, '}'), nil
}
