package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/columnar"
	"github.com/clinkctl/clinkctl/format"
	"github.com/clinkctl/clinkctl/format/csv"
	"github.com/clinkctl/clinkctl/format/lines"
	"github.com/clinkctl/clinkctl/format/parquet"
	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/pipeline/source/files"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
	"github.com/clinkctl/clinkctl/stage"
	"github.com/clinkctl/clinkctl/stage/file"
)

// odd is a store whose objects are changed on the way, and whose reads are as small as it likes.
type odd struct {
	stage.Store
	change func(o *stage.Object) // may be nil
	read   int                   // bytes a read gives at most; 0: all
}

func (s odd) Fingerprint(ctx context.Context, name string) (stage.Object, error) {
	o, err := s.Store.Fingerprint(ctx, name)
	if err == nil && s.change != nil {
		s.change(&o)
	}
	return o, err
}

func (s odd) Open(ctx context.Context, name, version string, at int64) (io.ReadCloser, error) {
	r, err := s.Store.Open(ctx, name, version, at)
	if err != nil || s.read == 0 {
		return r, err
	}
	return small{r, s.read}, nil
}

type small struct {
	io.ReadCloser
	n int
}

func (r small) Read(p []byte) (int, error) { return r.ReadCloser.Read(p[:min(len(p), r.n)]) }

func formats(name string, options map[string]any) (format.Format, error) {
	for _, k := range []format.Kind{csv.Kind(), lines.Kind(), parquet.Kind()} {
		if k.Name == name {
			return k.New(options)
		}
	}
	return nil, fmt.Errorf("no format %s", name)
}

// disk is a file system with files in /src.
func disk(t interface{ Fatal(...any) }, texts map[string]string) *vfs.Mem {
	m := vfs.NewMem(1)
	err := m.Mkdir("/src")
	for name, text := range texts {
		err = errors.Join(err, vfs.WriteNew(m, path.Join("/src", name), []byte(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func plan(name string, subtasks int, split int64, columns ...runstate.Column) pipeline.Plan {
	return pipeline.Plan{Source: pipeline.SourcePlan{Path: "/src/*", Format: name, SplitBytes: split}, Subtasks: subtasks, Columns: columns}
}

// readAll reads ranges and gives their records, and where each chunk ended.
func readAll(ctx context.Context, src pipeline.Source, ranges []runstate.Range, limit format.Limit) (text []byte, rows int, ends []int64, err error) {
	for _, r := range ranges {
		reader, err := src.Open(ctx, r)
		if err != nil {
			return text, rows, ends, err
		}
		var b columnar.Batch
		for at := r.From; at < r.To; {
			step, err := reader.Next(ctx, limit, &b)
			if err != nil {
				return text, rows, ends, errors.Join(err, reader.Close())
			}
			at = step.To
			text, rows, ends = append(text, b.Data...), rows+b.Rows, append(ends, at)
		}
		if err := reader.Close(); err != nil {
			return text, rows, ends, err
		}
	}
	return text, rows, ends, nil
}

func whole(splits []runstate.Split) []runstate.Range {
	var all []runstate.Range
	for i, s := range splits {
		if s.From < s.To {
			all = append(all, runstate.Range{Split: i, From: s.From, To: s.To, End: true})
		}
	}
	return all
}

// TestSplits: whatever the size of the pieces and of the reads, splits tile each file behind its head and end with records,
// and their records together are the file's.
func TestSplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.OneOf(rapid.StringMatching(`[a-z]{0,6}`), rapid.StringMatching(`"([a-z,\n]|""){0,8}"`))
		record := rapid.Custom(func(t *rapid.T) string { return field.Draw(t, "a") + "," + field.Draw(t, "b") + "\n" })
		texts := map[string]string{}
		var want []byte
		for i := range rapid.IntRange(1, 3).Draw(t, "files") {
			records := strings.Join(rapid.SliceOfN(record, 0, 12).Draw(t, "records"), "")
			want = append(want, records...)
			if rapid.Bool().Draw(t, "without the last line end") {
				records = strings.TrimSuffix(records, "\n")
			}
			texts[fmt.Sprintf("%d.csv", i)] = "a,b\n" + records
		}
		store := odd{Store: file.NewStore(disk(t, texts)), read: rapid.IntRange(0, 9).Draw(t, "read")}
		sources := files.Sources{Stores: in(store), Formats: formats}
		p := plan("csv", rapid.IntRange(1, 4).Draw(t, "subtasks"), int64(rapid.IntRange(0, 40).Draw(t, "piece")))
		src, found, err := sources.Find(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		splits, err := src.Split(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]int64{}
		for _, s := range splits {
			if from, seen := at[s.Part]; seen && s.From != from || !seen && s.From != 4 {
				t.Fatalf("%+v", splits)
			}
			at[s.Part] = s.To
			text := texts[path.Base(s.Part)]
			if s.To < int64(len(text)) && text[s.To-1] != '\n' {
				t.Fatalf("a split ends at %d, within a record of %q", s.To, text)
			}
		}
		for name, text := range texts {
			if at["/src/"+name] != int64(len(text)) {
				t.Fatalf("%s is covered up to %d of %d", name, at["/src/"+name], len(text))
			}
		}
		limit := format.Limit{Bytes: int64(rapid.IntRange(0, 30).Draw(t, "limit"))}
		got, _, ends, err := readAll(context.Background(), src, whole(splits), limit)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q\n%q\n%v", got, want, err)
		}
		// The same again, by another process, with other reads.
		again := files.Sources{Stores: in(file.NewStore(disk(t, texts))), Formats: formats}
		src, _, err = again.Reopen(context.Background(), p, found.Own, splits, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _, endsAgain, err := readAll(context.Background(), src, whole(splits), limit)
		if err != nil || fmt.Sprint(ends) != fmt.Sprint(endsAgain) {
			t.Fatalf("cut at %v, and at %v: %v", ends, endsAgain, err)
		}
	})
}

// in gives the one store that there is.
func in(s stage.Store) func(context.Context, stage.Place) (stage.Store, error) {
	return func(context.Context, stage.Place) (stage.Store, error) { return s, nil }
}

// TestFingerprint: what makes the default key is path, size, time and the outer blocks; where a file lies, how many names it
// has and when its inode changed are not in it.
func TestFingerprint(t *testing.T) {
	texts := map[string]string{"1.csv": "a\n1\n", "2.csv": "a\n2\n"}
	find := func(change func(o *stage.Object)) string {
		t.Helper()
		s := files.Sources{Stores: in(odd{Store: file.NewStore(disk(t, texts)), change: func(o *stage.Object) {
			o.ModTime = time.Date(2026, 1, 1, 0, 0, 0, len(o.Path), time.UTC)
			change(o)
		}}), Formats: formats}
		_, found, err := s.Find(t.Context(), plan("csv", 1, 0))
		if err != nil {
			t.Fatal(err)
		}
		if found.Bytes != 8 {
			t.Fatalf("%d bytes", found.Bytes)
		}
		return found.Digest
	}
	first := find(func(*stage.Object) {})
	for name, change := range map[string]func(o *stage.Object){
		"device": func(o *stage.Object) { o.Device += 7 },
		"inode":  func(o *stage.Object) { o.Inode += 7 },
		"links":  func(o *stage.Object) { o.Links = 7 },
		"ctime":  func(o *stage.Object) { o.Change = o.Change.Add(time.Hour) },
	} {
		if find(change) != first {
			t.Errorf("%s is in the key", name)
		}
	}
	for name, change := range map[string]func(o *stage.Object){
		"mtime":       func(o *stage.Object) { o.ModTime = o.ModTime.Add(1) },
		"first block": func(o *stage.Object) { o.First = "xxh128:00" },
		"last block":  func(o *stage.Object) { o.Last = "xxh128:00" },
	} {
		if find(change) == first {
			t.Errorf("%s is not in the key", name)
		}
	}
}

// TestHeads: copied records stand below one header; parsed ones need only the columns.
func TestHeads(t *testing.T) {
	m := disk(t, map[string]string{"1.csv": "a,b\n1,2\n", "2.csv": "b,a\n3,4\n"})
	s := files.Sources{Stores: in(file.NewStore(m)), Formats: formats}
	src, _, err := s.Find(t.Context(), plan("csv", 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = src.Head(t.Context())
	d, is := errors.AsType[*format.DataError](err)
	if !is || d.File != "/src/2.csv" || d.Line != 1 || !strings.Contains(err.Error(), "b,a") {
		t.Fatal(err)
	}
	columns := []runstate.Column{{Name: "b", Type: "int64"}, {Name: "a", Type: "int64"}}
	if src, _, err = s.Find(t.Context(), plan("csv", 1, 0, columns...)); err == nil {
		_, err = src.Head(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	columns = append(columns, runstate.Column{Name: "c", Type: "int64"})
	if src, _, err = s.Find(t.Context(), plan("csv", 1, 0, columns...)); err == nil {
		_, err = src.Head(t.Context())
	}
	if d, is := errors.AsType[*format.DataError](err); !is || d.File != "/src/1.csv" || !strings.Contains(err.Error(), "c") {
		t.Fatal(err)
	}
}

// TestLocatedErrors: a refused value is named by file and line, whichever split and chunk it is read in.
func TestLocatedErrors(t *testing.T) {
	text := "n\n1\n\"2\"\n\"3\n\"\n4\nx\n5\n"
	m := disk(t, map[string]string{"1.csv": text})
	s := files.Sources{Stores: in(file.NewStore(m)), Formats: formats}
	for split := range int64(len(text)) {
		for limit := range int64(6) {
			src, _, err := s.Find(t.Context(), plan("csv", 1, split, runstate.Column{Name: "n", Type: "int64"}))
			if err != nil {
				t.Fatal(err)
			}
			splits, err := src.Split(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, _, _, err = readAll(t.Context(), src, whole(splits), format.Limit{Rows: limit})
			d, is := errors.AsType[*format.DataError](err)
			if !is || d.File != "/src/1.csv" || d.Record != 4 || d.Line != 4 && d.Line != 5 {
				t.Fatalf("split %d, limit %d: %+v, %v", split, limit, d, err)
			}
		}
	}
}

// TestFindRefuses what cannot be a source.
func TestFindRefuses(t *testing.T) {
	m := disk(t, map[string]string{"1.csv": "a\n1\n"})
	s := files.Sources{Stores: in(file.NewStore(m)), Formats: formats}
	p := plan("csv", 1, 0)
	p.Source.Path = "/src/none*"
	if _, _, err := s.Find(t.Context(), p); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, bad := range []pipeline.Plan{plan("xml", 1, 0), plan("csv", 1, 0, runstate.Column{Name: "a", Type: "colour"})} {
		_, _, err := s.Find(t.Context(), bad)
		if pipeline.CodeOf(err) != pipeline.Usage {
			t.Fatal(err)
		}
	}
	if err := m.Link("/src/1.csv", "/src/2.csv"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Find(t.Context(), plan("csv", 1, 0)); pipeline.CodeOf(err) != pipeline.Usage {
		t.Fatal(err)
	}
}
