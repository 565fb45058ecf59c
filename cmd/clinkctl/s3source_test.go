package main

import (
	"os"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B31 and B94: what a run that fails shows, and what it exits with.

// The source is refused late, and parts of it have been sent: no object appears, and nothing is left.
func TestB31SourceIsRefused(t *testing.T) {
	w := newS3World(t)
	w.source(4000, 4000, 10<<10)
	w.plan = append(w.plan, "name: refused")
	w.rows[3900] = "3900,\"a quote that does not end\n"
	w.write("orders.csv", rowsHead+strings.Join(w.rows, ""))
	w.run().exits(65, "")
	if w.store.Count(s3test.UploadPart) < 3 {
		t.Errorf("%d parts were sent, and the failure came too early", w.store.Count(s3test.UploadPart))
	}
	w.shows(0, 0)
	if s := w.state(); s.Ended == nil || s.Ended.Outcome != runstate.Aborted {
		t.Errorf("the run ended %+v", s.Ended)
	}
	if n := w.store.Count(s3test.CompleteMultipartUpload); n != 0 {
		t.Errorf("%d uploads were completed", n)
	}
}

// The source is cut while it is read: the end that shows is not taken for its end.
func TestB31SourceIsCut(t *testing.T) {
	w := newS3World(t)
	w.source(3000, 300, 10<<10)
	p := w.stalled(s3test.UploadPart)
	if err := os.Truncate(w.path("orders.csv"), 20<<20); err != nil {
		t.Fatal(err)
	}
	w.store.Release()
	w.end(p).exits(4, "clinkctl abandon "+w.token()).says("put the source back")
	if n := w.store.Count(s3test.CompleteMultipartUpload); n != 0 {
		t.Errorf("%d uploads were completed", n)
	}
	w.shows(0, len(w.state().Units))
	w.unset()
	w.call("abandon", w.token()).exits(0, "")
	w.shows(0, 0)
}

// Every exit code there is, at an object store.
func TestB94ExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		next bool // a command is told to type next
		do   func(w *s3World) ended
	}{
		{"done", 0, false, func(w *s3World) ended { return w.run() }},
		{"no bucket", 1, false, func(w *s3World) ended {
			w.plan = append(w.plan, "name: none")
			return w.call("run", w.job(), "--to", "s3://nobody/out")
		}},
		{"no store", 1, false, func(w *s3World) ended { w.server.Close(); return w.run() }},
		{"open", 3, true, func(w *s3World) ended { w.decided(); w.server.Close(); return w.resume() }},
		{"lost", 4, true, func(w *s3World) ended {
			w.decided()
			w.store.ForgetUpload(bucket, prefix+"/"+w.first().Name)
			return w.resume()
		}},
		{"another destination", 3, true, func(w *s3World) ended {
			w.decided()
			w.store.PutObject(bucket, prefix+"/.clinkctl/id", []byte(strings.Repeat("0", 32)+"\n"), nil)
			return w.resume()
		}},
		{"held", 5, false, func(w *s3World) ended { w.stalled(s3test.UploadPart); return w.run() }},
		{"no such option", 64, false, func(w *s3World) ended { w.options["regoin"] = "x"; return w.run() }},
		{"password in the address", 64, false, func(w *s3World) ended {
			return w.call("run", "--from", w.path("orders.csv"), "--to", "s3://key:secret@lake/out")
		}},
		{"bad data", 65, false, func(w *s3World) ended {
			w.plan = append(w.plan, "on_empty: fail")
			w.write("orders.csv", rowsHead)
			return w.run()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newS3World(t)
			e := c.do(w)
			if told := strings.Contains(e.err, "\nnext: clinkctl "); e.code != c.code || told != c.next {
				t.Errorf("exit %d and not %d, next %v and not %v: %s", e.code, c.code, told, c.next, e.err)
			}
		})
	}
}
