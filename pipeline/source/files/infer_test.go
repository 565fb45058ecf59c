package files_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/source/files"
	"github.com/clinkctl/clinkctl/stage/file"
)

func inferred(t *testing.T, texts map[string]string, p pipeline.Plan) (string, error) {
	t.Helper()
	src, _, err := files.Sources{Stores: in(file.NewStore(disk(t, texts))), Formats: formats}.Find(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := src.Infer(context.Background())
	return columnar.FormatColumns(columns), err
}

// TestInferPassesRejected: a record that is refused ends inference, unless such records are put aside.
func TestInferPassesRejected(t *testing.T) {
	texts := map[string]string{"1.csv": "a,b\n1,x\n2\n3.5,y\n", "2.csv": "b,a\n\n\"z\",4\n"}
	p := plan("csv", 1, 0)
	_, err := inferred(t, texts, p)
	if e, ok := errors.AsType[*format.DataError](err); !ok || e.Line != 3 || !strings.HasSuffix(e.File, "1.csv") {
		t.Errorf("the record of one field: %v", err)
	}
	p.Sinks = []pipeline.SinkPlan{{Rejects: true}}
	if got, err := inferred(t, texts, p); err != nil || got != "a:decimal(18,1),b:string" {
		t.Errorf("with records put aside: %s, %v", got, err)
	}
}

// TestInferSample: as many rows are looked at as the plan says, over the files in order.
func TestInferSample(t *testing.T) {
	texts := map[string]string{"1.csv": "a\n1\n2\n", "2.csv": "a\n3\n0.5\nx\n"}
	for rows, want := range map[int64]string{0: "a:string", 1: "a:int64", 3: "a:int64", 4: "a:decimal(18,1)", 5: "a:string"} {
		p := plan("csv", 1, 0)
		p.Source.SampleRows = rows
		if got, err := inferred(t, texts, p); err != nil || got != want {
			t.Errorf("%d rows: %s, %v, want %s", rows, got, err, want)
		}
	}
}

// TestInferUnreadable: a column of a Parquet file that no type can hold is named, and so is its type. The file is pyarrow's:
// pq.write_table(pa.table({'id': [1, 2], 'd': pa.array([Decimal('1.5'), None], pa.decimal256(40, 2))}), 'decimal40.parquet').
func TestInferUnreadable(t *testing.T) {
	text, err := os.ReadFile("testdata/decimal40.parquet")
	if err != nil {
		t.Fatal(err)
	}
	_, err = inferred(t, map[string]string{"1.parquet": string(text)}, plan("parquet", 1, 0))
	const want = "/1.parquet: column d: is of a type that cannot be read: FIXED_LEN_BYTE_ARRAY DECIMAL(40,2); declare the other columns, to leave it out"
	if _, ok := errors.AsType[*format.DataError](err); !ok || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
	}
}
