package pipeline_test

import (
	"path"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/publish"
	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// TestOnEmpty: sources that exist and hold no row, for every value of on_empty, also when the process dies at any operation.
func TestOnEmpty(t *testing.T) {
	sources := map[string][2]string{
		"headers only":     {header, header},
		"blank lines only": {header + "\n\n", header + "\n"},
		"one of each":      {header, header + "\n\n\n"},
		"no line end":      {"id,name", "id,name"},
	}
	tests := map[pipeline.OnEmpty]struct {
		code      pipeline.Code
		artifacts int
		manifest  bool
	}{
		pipeline.EmptySkip:  {pipeline.Done, 0, true},
		pipeline.EmptyWrite: {pipeline.Done, 1, true},
		pipeline.EmptyFail:  {pipeline.BadData, 0, false},
	}
	for name, source := range sources {
		for value, test := range tests {
			for _, key := range keys {
				t.Run(string(value)+"/"+name+"/key="+key, func(t *testing.T) {
					w, p := small(t, *seed)
					w.replace(t, "/src/1.csv", []byte(source[0]))
					w.replace(t, "/src/2.csv", []byte(source[1]))
					p.OnEmpty = value
					for k := 1; ; k += 3 {
						f := w.fork()
						f.mem.OnOp(vfs.DieAt(f.mem.Ops() + k))
						e, process := f.process()
						r := e.Run(t.Context(), p, key, 0)
						f.mem.OnOp(nil)
						if _, err := process.Stat("/"); err == nil {
							f.expect(t, r, test.code)
							break
						}
						f.mem.PowerLoss()
						f.run(t, p, key, test.code)
						f.empty(t, test.artifacts, test.manifest)
					}
				})
			}
		}
	}
}

func (w *world) empty(t *testing.T, artifacts int, manifest bool) {
	t.Helper()
	for _, dir := range []string{outA, outB} {
		names, err := w.mem.Outside().List(dir)
		must(t, err)
		count := 0
		found := false
		for _, name := range names {
			if _, err := runstate.ParseName(name); err == nil {
				count++
				text, err := vfs.ReadFile(w.mem.Outside(), path.Join(dir, name))
				must(t, err)
				if string(text) != header {
					t.Fatalf("%s holds %q", name, text)
				}
			}
			if _, err := runstate.ParseManifestName(name); err == nil {
				text, err := vfs.ReadFile(w.mem.Outside(), path.Join(dir, name))
				must(t, err)
				m, err := publish.ReadManifest(text)
				must(t, err)
				found = m.Rows == 0 && len(m.Artifacts) == artifacts
			}
		}
		if count != artifacts || found != manifest {
			t.Fatalf("%s has %v", dir, names)
		}
	}
	if left := w.staged(); len(left) > 0 && !w.warned(t) {
		t.Fatalf("left staged: %v", left)
	}
}

// typed is a plan that parses, so that data can be refused.
func typed(p pipeline.Plan) pipeline.Plan {
	p.Columns = []runstate.Column{{Name: "id", Type: "int64", Required: true}, {Name: "name", Type: "string"}}
	for i := range p.Sinks {
		p.Sinks[i].Format = "csv"
	}
	return p
}

// TestBadLastRow: data that is refused in the last row ends the run: 65, nothing visible, nothing staged, and what was there
// before is untouched; so it is when the disk of the state is full at any operation on the way, or the process dies.
func TestBadLastRow(t *testing.T) {
	for _, key := range keys {
		w, p := small(t, *seed)
		p = typed(p)
		w.run(t, p, "before", pipeline.Done)
		w.eachRow(t, 1)
		text, err := vfs.ReadFile(w.mem.Outside(), "/src/2.csv")
		must(t, err)
		w.replace(t, "/src/2.csv", append(text, "not a number,x\n"...))
		check := func(f *world) {
			t.Helper()
			f.eachRow(t, 1)
			if left := f.staged(); len(left) > 0 && !f.warned(t) {
				t.Fatalf("left staged: %v", left)
			}
			if open := f.openRuns(t); len(open) > 0 {
				t.Fatal("a run is open")
			}
		}
		plain := w.fork()
		r := plain.run(t, p, key, pipeline.BadData)
		if want := "/src/2.csv"; !strings.Contains(r[0].Error, want) || !strings.Contains(r[0].Error, "not a number") {
			t.Fatal(show(r))
		}
		check(plain)
		for n := 1; ; n++ {
			full := w.fork()
			met := full.fullDisk(n)
			e, _ := full.process()
			code := pipeline.WorstOf(e.Run(t.Context(), p, key, 0))
			full.mem.OnOp(nil)
			if !met() {
				break
			}
			if code != pipeline.BadData && code != pipeline.World && code != pipeline.Open {
				t.Fatalf("full disk from operation %d on: exit %d", n, code)
			}
			if begun := len(full.journals(state)) > len(w.journals(state)); begun == (code == pipeline.World) {
				t.Fatalf("full disk from operation %d on: exit %d, begun: %v", n, code, begun)
			}
			full.run(t, p, key, pipeline.BadData)
			check(full)
		}
		for k := 1; ; k += 2 {
			f := w.fork()
			f.mem.OnOp(vfs.DieAt(f.mem.Ops() + k))
			e, process := f.process()
			e.Run(t.Context(), p, key, 0)
			f.mem.OnOp(nil)
			if _, err := process.Stat("/"); err == nil {
				break
			}
			f.mem.PowerLoss()
			f.run(t, p, key, pipeline.BadData)
			check(f)
		}
	}
}

// TestHeadersDiffer: records are copied unparsed only below equal headers.
func TestHeadersDiffer(t *testing.T) {
	w, p := small(t, *seed)
	w.replace(t, "/src/2.csv", []byte("id,other\n1,2\n"))
	r := w.run(t, p, "k", pipeline.BadData)
	if !strings.Contains(r[0].Error, "/src/2.csv") || len(w.journals(state)) > 0 {
		t.Fatal(show(r))
	}
}
