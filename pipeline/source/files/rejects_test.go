package files_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// put is a record that was put aside.
type put struct {
	Line int64
	Raw  string
}

// readRejecting reads a range of a plan that rejects.
func readRejecting(t *testing.T, src pipeline.Source, p pipeline.Plan, r runstate.Range, limit format.Limit) (rows [][]string, rejected []put) {
	t.Helper()
	reader, err := src.Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	for at := r.From; at < r.To; {
		step, err := reader.Next(t.Context(), limit, &b)
		if err == io.EOF && r.To == runstate.Endless {
			break
		}
		if err != nil {
			t.Fatal(errors.Join(err, reader.Close()))
		}
		at = step.To
		rows = append(rows, formattest.Rows(schema, &b)...)
		for _, x := range step.Rejected {
			rejected = append(rejected, put{x.Err.Record, string(x.Raw)})
		}
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	return rows, rejected
}

// TestRejectedRecords: whatever the chunks and the ranges, each record that is refused is told once, with its first line and as it
// stands in the file, and the others keep their numbers.
func TestRejectedRecords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, line := "a,b\n", int64(2)
		cuts := []int64{4}
		var rows [][]string
		var rejected []put
		records := rapid.SliceOfN(rapid.SampledFrom([]string{"1,x", "x,1", "2,\"y\nz\"", "y,\"\n\n\"", "3", "\"\n\"\"\n\",", "é,\xff", ",", ""}), 1, 40).Draw(rt, "records")
		for i, record := range records {
			end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "end")
			n := fmt.Sprintf("%q", fmt.Sprint(i+1-count(records[:i], "")))
			switch record {
			case "1,x":
				rows = append(rows, []string{`"1"`, n})
			case "2,\"y\nz\"":
				rows = append(rows, []string{`"2"`, n})
			case ",":
				rows = append(rows, []string{"NULL", n})
			case "":
			default:
				rejected = append(rejected, put{line, record})
			}
			text += record + end
			line += int64(strings.Count(record, "\n")) + 1
			cuts = append(cuts, int64(len(text)))
		}
		p := plan("csv", 1, 0, runstate.Column{Name: "a", Type: "int64"}, runstate.Column{Name: "n", Type: "int64", Value: "{row}"})
		p.Sinks = append(p.Sinks, pipeline.SinkPlan{Rejects: true})
		limit := format.Limit{Bytes: rapid.Int64Range(1, 100).Draw(rt, "limit")}
		whole := find(t, p, map[string]string{"1.csv": text})
		if _, err := whole.Split(t.Context()); err != nil {
			rt.Fatal(err)
		}
		for _, cut := range []int64{4, rapid.SampledFrom(cuts).Draw(rt, "cut")} {
			gotRows, got := readRejecting(t, whole, p, runstate.Range{From: 4, To: cut}, limit)
			moreRows, more := readRejecting(t, whole, p, runstate.Range{From: cut, To: int64(len(text)), End: true}, limit)
			if diff := cmp.Diff(rejected, slices.Concat(got, more)); diff != "" {
				rt.Fatal(diff)
			}
			if diff := cmp.Diff(rows, slices.Concat(gotRows, moreRows)); diff != "" {
				rt.Fatal(diff)
			}
		}
		packed := find(t, p, map[string]string{"1.csv.gz": gz(t, text)})
		if _, err := packed.Split(t.Context()); err != nil {
			rt.Fatal(err)
		}
		if _, got := readRejecting(t, packed, p, runstate.Range{From: 4, To: runstate.Endless, End: true}, limit); !slices.Equal(got, rejected) {
			rt.Fatal(cmp.Diff(rejected, got))
		}
	})
}

func count(records []string, what string) (n int) {
	for _, r := range records {
		if r == what {
			n++
		}
	}
	return n
}
