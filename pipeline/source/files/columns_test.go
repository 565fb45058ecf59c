package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/formattest"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/source/files"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/file"
)

// read reads a range to its end, or up to most chunks.
func read(t *testing.T, src pipeline.Source, p pipeline.Plan, r runstate.Range, limit format.Limit, most int) (rows [][]string, to int64, digest string, err error) {
	t.Helper()
	reader, err := src.Open(t.Context(), r)
	if err != nil {
		return nil, 0, "", err
	}
	schema, err := p.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var b columnar.Batch
	for to = r.From; to < r.To && most != 0; most-- {
		step, err := reader.Next(t.Context(), limit, &b)
		if err == io.EOF && r.To == runstate.Endless {
			break
		}
		if err != nil {
			return rows, to, "", errors.Join(err, reader.Close())
		}
		to = step.To
		rows = append(rows, formattest.Rows(schema, &b)...)
	}
	return rows, to, reader.Digest(), reader.Close()
}

func gz(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	half := len(text) / 2
	for _, part := range []string{text[:half], text[half:]} { // two members
		w, err := format.NewCompressor(format.Gzip).NewWriter(&out)
		if err == nil {
			_, err = io.WriteString(w, part)
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// find finds the source of a plan among some files.
func find(t *testing.T, p pipeline.Plan, texts map[string]string) pipeline.Source {
	t.Helper()
	src, _, err := files.Sources{Stores: in(file.NewStore(disk(t, texts))), Formats: formats}.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestCompressedSource: a compressed file is one split whose end is not known; it is read from any place where a chunk ended, and
// its digests are of the text.
func TestCompressedSource(t *testing.T) {
	text := "a,b\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,x%d\n", i, i*i)
	}
	p := plan("csv", 3, 0, runstate.Column{Name: "a", Type: "int64"}, runstate.Column{Name: "b", Type: "string"},
		runstate.Column{Name: "n", Type: "int64", Value: "{row}"})
	limit := format.Limit{Bytes: 30}
	whole := find(t, p, map[string]string{"1.csv": text})
	if _, err := whole.Split(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, end, _, err := read(t, whole, p, runstate.Range{From: 4, To: int64(len(text)), End: true}, limit, -1)
	if err != nil || len(want) != 40 || want[39][2] != `"40"` {
		t.Fatal(want, err)
	}

	src := find(t, p, map[string]string{"1.csv.gz": gz(t, text)})
	splits, err := src.Split(t.Context())
	if err != nil || len(splits) != 1 || splits[0].To != runstate.Unknown || splits[0].From != 4 {
		t.Fatalf("%+v, %v", splits, err)
	}
	for chunks := range 10 {
		rows, at, first, err := read(t, src, p, runstate.Range{From: 4, To: runstate.Endless, End: true}, limit, chunks)
		if err != nil {
			t.Fatal(err)
		}
		rest, to, second, err := read(t, src, p, runstate.Range{From: at, To: runstate.Endless, End: true}, limit, -1)
		if err != nil || to != end || fmt.Sprint(append(rows, rest...)) != fmt.Sprint(want) {
			t.Fatalf("after %d chunks: to %d of %d, %v\n%v\n%v", chunks, to, end, err, rows, rest)
		}
		if first != runstate.DigestOf([]byte(text[4:at])) || second != runstate.DigestOf([]byte(text[at:])) {
			t.Fatal("digests are not of the text")
		}
		ranges := []runstate.Range{{From: 4, To: at, Digest: first}, {From: at, To: to, Digest: second, End: true}}
		if warnings, err := src.Check(t.Context(), ranges); err != nil || warnings != nil {
			t.Fatal(warnings, err)
		}
	}
}

// TestCompressedLines: a value is refused with its line in the text; a damaged file with its name.
func TestCompressedLines(t *testing.T) {
	p := plan("csv", 1, 0, runstate.Column{Name: "a", Type: "int64"})
	src := find(t, p, map[string]string{"1.csv.gz": gz(t, "a\n1\n2\nx\n")})
	if _, err := src.Split(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := read(t, src, p, runstate.Range{From: 2, To: runstate.Endless}, format.Limit{}, -1)
	if e, ok := errors.AsType[*format.DataError](err); !ok || e.File != "/src/1.csv.gz" || e.Line != 4 {
		t.Error(err)
	}
	cut := gz(t, strings.Repeat("a\n1\n2\nx\n", 3000))
	src = find(t, p, map[string]string{"1.csv.gz": cut[:len(cut)-9]})
	if _, err := src.Split(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, _, err = read(t, src, plan("csv", 1, 0), runstate.Range{From: 2, To: runstate.Endless}, format.Limit{}, -1)
	if e, ok := errors.AsType[*format.DataError](err); !ok || e.File != "/src/1.csv.gz" || !strings.Contains(e.Error(), "gzip data ends in the middle") {
		t.Error(err)
	}
}

// TestColumns: columns are selected, put in order, renamed, and made of what is not in the source, wherever files are cut.
func TestColumns(t *testing.T) {
	texts := map[string]string{"1.csv": "id,name,rest\n", "2.csv": "rest,name,id\n"}
	var want []string
	for f := 1; f <= 2; f++ {
		for i := 1; i <= 9; i++ {
			line := fmt.Sprintf("%d,\"n\n%d\",x\n", i, i)
			if f == 2 {
				line = fmt.Sprintf("x,\"n\n%d\",%d\n\n", i, i)
			}
			texts[fmt.Sprintf("%d.csv", f)] += line
			want = append(want, fmt.Sprintf(`["n\n%d" "%d.csv:%d" "%d" "2026-11-30" "%d" "%d" "k"]`, i, f, i, i, i, i))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := plan("csv", 1, int64(rapid.IntRange(0, 60).Draw(rt, "split")),
			runstate.Column{Name: "label", Type: "string", From: "name"}, runstate.Column{Name: "at", Type: "string", Value: "{file}:{row}"},
			runstate.Column{Name: "id", Type: "int64"}, runstate.Column{Name: "day", Type: "date", Value: "{key}"},
			runstate.Column{Name: "n", Type: "int64", Value: "{row}"}, runstate.Column{Name: "again", Type: "int64", From: "id"},
			runstate.Column{Name: "c", Type: "string", Value: "k"})
		p.Vars = map[string]string{"key": "2026-11-30"}
		src := find(t, p, texts)
		splits, err := src.Split(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		limit := format.Limit{Rows: int64(rapid.IntRange(0, 4).Draw(rt, "rows")), Bytes: int64(rapid.IntRange(0, 30).Draw(rt, "bytes"))}
		var got []string
		for _, r := range whole(splits) {
			rows, _, _, err := read(t, src, p, r, limit, -1)
			if err != nil {
				rt.Fatal(err)
			}
			for _, row := range rows {
				got = append(got, fmt.Sprint(row))
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
