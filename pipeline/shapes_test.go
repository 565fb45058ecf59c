package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
	"github.com/clinkctl/clinkctl/format/parquet"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// shape is a job in other formats than csv that is copied, with what must come of it.
type shape struct {
	files map[string]string
	plan  func(p *pipeline.Plan)
	rows  []string // of each destination
	bad   []string // what is put aside; nil: nothing may be
	empty bool     // there is a checkpoint without rows and one without a record
}

// records gives the records of an artifact, each as a line.
func (s *shape) records(name string, data []byte) ([]string, error) {
	plain, compression := format.CutCompression(name)
	if compression != format.Uncompressed {
		r, err := compression.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	switch {
	case strings.HasSuffix(plain, ".rejects.ndjson"):
		return rawOf(data)
	case strings.HasSuffix(plain, ".parquet"):
		return rowsOfParquet(data)
	case strings.HasSuffix(plain, ".csv"):
		body, ok := bytes.CutPrefix(data, []byte(header))
		if !ok {
			return nil, errors.New("it has no header")
		}
		data = body
	}
	records := strings.SplitAfter(strings.TrimSuffix(string(data), "\n")+"\n", "\n")
	return records[:len(records)-1], nil
}

// rawOf gives the records that were put aside.
func rawOf(data []byte) (raw []string, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	for d.More() {
		var r struct {
			File, Reason, Raw string
			Line, Row         int64
		}
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		raw = append(raw, fmt.Sprintf("%s:%d %s\n", r.File, r.Line+r.Row, r.Raw))
	}
	return raw, nil
}

// idName are the columns of all sources here.
var idName = []runstate.Column{{Name: "id", Type: "int64"}, {Name: "name", Type: "string"}}

// rowsOfParquet gives the rows of a file as csv has them.
func rowsOfParquet(data []byte) (rows []string, err error) {
	f, err := parquet.New(nil)
	if err != nil {
		return nil, err
	}
	file, err := any(f).(format.Table).OpenTable(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	schema := formattest.ParseSchema("id:int64 name:string")
	total := int64(0)
	for _, g := range file.Groups() {
		total += g.Rows
	}
	r, err := file.NewReader(format.Reading{Schema: schema}, 0, total)
	if err != nil {
		return nil, err
	}
	var b columnar.Batch
	for {
		if _, err := r.Next(total, &b); err == io.EOF {
			return rows, r.Close()
		} else if err != nil {
			return nil, err
		}
		for _, row := range formattest.Rows(schema, &b) {
			rows = append(rows, strings.ReplaceAll(strings.Join(row, ","), `"`, "")+"\n")
		}
	}
}

// parquetOf makes a file of rows from..to, in groups of a few.
func parquetOf(t *testing.T, from, to, group int) string {
	t.Helper()
	f, err := parquet.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	schema := formattest.ParseSchema("name:string id:int32 more:float64")
	var batches []*columnar.Batch
	for i := from; i < to; i += group {
		var rows [][]string
		for k := i; k < min(i+group, to); k++ {
			rows = append(rows, []string{fmt.Sprintf("name-%d", k), fmt.Sprint(k), "0.5"})
		}
		batches = append(batches, formattest.Of(schema, rows...))
	}
	file, err := formattest.Encode(f, format.Target{Schema: schema}, batches...)
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

func compressed(t *testing.T, c format.Compression, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := format.NewCompressor(c).NewWriter(&out)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// badLines are records put aside on so many lines.
func badLines(format string, first, n int) (bad []string) {
	for i := range n {
		bad = append(bad, fmt.Sprintf(format, first+i))
	}
	return bad
}

// shapes are jobs in every kind of source and sink.
func shapes(t *testing.T) map[string]*shape {
	rows := sourceRows(sweepRows)
	half := sweepRows / 2
	text := func(rows []string) string { return header + strings.Join(rows, "") }
	var objects []string
	for i := range rows {
		objects = append(objects, fmt.Sprintf("{\"id\":%d,\"name\":\"name-%d\"}\n", i, i))
	}
	reject := func(p *pipeline.Plan, most int64) {
		p.MaxRejects = most
		p.Sinks = append(p.Sinks, pipeline.SinkPlan{To: outBad, Format: pipeline.RejectsFormat, Ext: pipeline.RejectsExt, Rejects: true})
	}
	sinks := func(p *pipeline.Plan, f, ext string, options map[string]any) {
		for i := range p.Sinks {
			p.Sinks[i].Format, p.Sinks[i].Ext, p.Sinks[i].Options = f, ext, options
		}
	}
	return map[string]*shape{
		"rejects": {
			files: map[string]string{"1.csv": text(rows[:5]) + "x,bad\n" + strings.Join(rows[5:half], "") + "7\n", "2.csv": header + "y\"\",bad\n" + strings.Join(rows[half:], "")},
			plan: func(p *pipeline.Plan) {
				p.Columns = idName
				sinks(p, "csv", "csv", nil)
				reject(p, 3)
			},
			rows: rows,
			bad:  []string{"/src/1.csv:7 x,bad\n", fmt.Sprintf("/src/1.csv:%d 7\n", half+3), "/src/2.csv:2 y\"\",bad\n"},
		},
		"rejects of records that are copied": {
			files: map[string]string{"1.ndjson": "{\"id\":\n" + strings.Join(objects[:half], "") + "oops\n{}}\n" + strings.Join(objects[half:], "")},
			plan: func(p *pipeline.Plan) {
				p.Source = pipeline.SourcePlan{Path: "/src/*.ndjson", Format: "ndjson"}
				sinks(p, "lines", "ndjson", nil)
				reject(p, 1000)
			},
			rows: objects,
			bad:  []string{"/src/1.ndjson:1 {\"id\":\n", fmt.Sprintf("/src/1.ndjson:%d oops\n", half+2), fmt.Sprintf("/src/1.ndjson:%d {}}\n", half+3)},
		},
		"rejects of parquet": {
			files: map[string]string{"1.parquet": parquetOf(t, 127-sweepRows+1, 130, 5), "2.parquet": parquetOf(t, 200, 202, 1)},
			plan: func(p *pipeline.Plan) {
				p.Source = pipeline.SourcePlan{Path: "/src/*.parquet", Format: "parquet"}
				p.Checkpoint = pipeline.Checkpoint{Bytes: 1 << 30, Rows: 4}
				p.Columns = []runstate.Column{{Name: "id", Type: "int8", Cast: "exact"}, {Name: "name", Type: "string"}}
				sinks(p, "csv", "csv", nil)
				reject(p, 4)
			},
			rows: sourceRows(128)[128-sweepRows:],
			bad: []string{`/src/1.parquet:25 {"id":"128","name":"name-128"}` + "\n", `/src/1.parquet:26 {"id":"129","name":"name-129"}` + "\n",
				`/src/2.parquet:1 {"id":"200","name":"name-200"}` + "\n", `/src/2.parquet:2 {"id":"201","name":"name-201"}` + "\n"},
		},
		"checkpoints without rows": {
			files: map[string]string{"1.csv": text(rows[:4]) + strings.Repeat("\n", 200) + strings.Join(rows[4:half], ""), "2.csv": header,
				"3.csv": text(rows[half:half+3]) + strings.Repeat("x,bad\n", 30) + strings.Join(rows[half+3:], "")},
			plan: func(p *pipeline.Plan) {
				p.Columns = idName
				p.Checkpoint.Bytes = 90
				sinks(p, "parquet", "parquet", nil)
				reject(p, 30)
			},
			rows:  rows,
			bad:   badLines("/src/3.csv:%d x,bad\n", 5, 30),
			empty: true,
		},
		"compressed csv": {
			files: map[string]string{"1.csv.gz": compressed(t, format.Gzip, text(rows[:half])), "2.csv.gz": compressed(t, format.Gzip, text(rows[half:]))},
			plan: func(p *pipeline.Plan) {
				p.Source.Path = "/src/*.csv.gz"
				p.Columns = idName
				sinks(p, "csv", "csv.zst", map[string]any{"compression": "zstd"})
			},
			rows: rows,
		},
		"csv inferred to ndjson": {
			files: map[string]string{"1.csv": text(rows[:half]), "2.csv": text(rows[half:])},
			plan: func(p *pipeline.Plan) {
				p.Infer = true
				sinks(p, "ndjson", "ndjson", nil)
			},
			rows: objects,
		},
		"compressed ndjson to csv": {
			files: map[string]string{"1.ndjson.zst": compressed(t, format.Zstd, strings.Join(objects, ""))},
			plan: func(p *pipeline.Plan) {
				p.Source = pipeline.SourcePlan{Path: "/src/*.ndjson.zst", Format: "ndjson"}
				p.Columns = idName
				sinks(p, "csv", "csv", nil)
			},
			rows: rows,
		},
		"csv to parquet": {
			files: map[string]string{"1.csv": text(rows[:half]), "2.csv": text(rows[half:])},
			plan: func(p *pipeline.Plan) {
				p.Columns = idName
				p.Checkpoint.Bytes = 90
				sinks(p, "parquet", "parquet", nil)
			},
			rows: rows,
		},
		"parquet to csv": {
			files: map[string]string{"1.parquet": parquetOf(t, 0, half, 5), "2.parquet": parquetOf(t, half, sweepRows, 100)},
			plan: func(p *pipeline.Plan) {
				p.Source = pipeline.SourcePlan{Path: "/src/*.parquet", Format: "parquet"}
				p.Checkpoint = pipeline.Checkpoint{Bytes: 1 << 30, Rows: 4}
				p.Columns = idName
				sinks(p, "csv", "csv", nil)
			},
			rows: rows,
		},
	}
}

// newShaped makes a machine for a shape.
func newShaped(t *testing.T, seed uint64, s *shape) *world {
	t.Helper()
	w := newWorld(t, seed, 0)
	out := w.mem.Outside()
	for _, name := range []string{"/src/1.csv", "/src/2.csv"} {
		must(t, out.Remove(name))
	}
	must(t, mkdirAll(out, outBad))
	for name, text := range s.files {
		must(t, write(out, "/src/"+name, text))
	}
	w.shape = s
	return w
}

// hasEmptyUnits fails unless the only run has a unit without rows, and one without rows and rejects.
func (w *world) hasEmptyUnits(t *testing.T) {
	t.Helper()
	rejectsOnly, none := false, false
	for _, u := range w.view(t).State.Units {
		rejectsOnly = rejectsOnly || u.Rows == 0 && u.Rejected > 0 && len(u.Handles) == 1
		none = none || u.Rows == 0 && u.Rejected == 0 && len(u.Handles) == 0
	}
	if !rejectsOnly || !none {
		t.Fatal("there is no checkpoint without rows")
	}
}

// TestCrashInEveryShape is TestCrashAtEveryOperation for the other formats, with one number of subtasks each.
func TestCrashInEveryShape(t *testing.T) {
	for name, s := range shapes(t) {
		for _, c := range crashes {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				w := newShaped(t, *seed, s)
				all := w.atEveryOperation(func(e *pipeline.Engine) {
					if r := e.Run(context.Background(), w.plan(), "k", 0); pipeline.WorstOf(r) != pipeline.Done {
						t.Fatalf("%s\n%s", show(r), w.tree())
					}
				})
				w.checkWhole(t, nil)
				if s.empty {
					w.hasEmptyUnits(t)
				}
				step := stride
				if !*long {
					step *= 3
				}
				for k := 0; k < len(all); k += step {
					w := all[k]
					c.apply(w)
					recoverWorld(t, w, "k", 1+k%3)
				}
				t.Logf("%d operations", len(all))
			})
		}
	}
}
