package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// What else stores do, and that every switch of the store that misbehaves is in a test.

func TestEverySwitchIsTested(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../stage/s3/s3test/switch.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("s3*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		if v, ok := node.(*ast.ValueSpec); ok {
			n++
			if name := v.Names[0].Name; !contains(tests.String(), "s3test."+name+",") && !contains(tests.String(), "s3test."+name+":") && !contains(tests.String(), "s3test."+name+"}") {
				t.Errorf("the switch %s is in no test", name)
			}
		}
		return true
	})
	if n < 40 {
		t.Errorf("there are %d switches", n)
	}
}

// Without the right to list, absence is 403: it is never taken for absence, and what is missing is said.
func TestB05MissingIs403(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.MissingIs403, s3test.On{})
	w.run().exits(1, "").says("s3:ListBucket")
	w.unset()
	w.decided()
	w.store.ForgetUpload(bucket, prefix+"/"+w.first().Name)
	w.set(s3test.MissingIs403, s3test.On{})
	w.resume().exits(3, w.resumes()).says("UNKNOWN")
	w.isOpen(2)
}

// A store answers well to giving up what it does not have: what is left is looked at, and an upload that is gone is gone.
func TestB02AbandonWhatIsGone(t *testing.T) {
	for _, sw := range []s3test.Switch{"", s3test.AbortAlways204} {
		t.Run(string(sw), func(t *testing.T) {
			w := newS3World(t)
			w.set(s3test.Deny, s3test.On{Verb: s3test.UploadPart, Key: "-000002.", Times: 1})
			w.run().exits(3, w.resumes())
			w.store.ForgetUpload(bucket, prefix+"/"+w.first().Name)
			if sw != "" {
				w.set(sw, s3test.On{})
			}
			w.call("abandon", w.token()).exits(0, "")
			w.unset()
			w.shows(0, 0)
			if s := w.state(); s.Ended == nil || s.Ended.Outcome != runstate.Aborted || len(s.Ended.Warnings) > 0 {
				t.Errorf("the run ended %+v", s.Ended)
			}
		})
	}
}

// A store whose list of uploads ends after a page: the end is told to be unclean, and the run is done.
func TestB16ListOfUploadsEndsEarly(t *testing.T) {
	w := newS3World(t)
	w.decided()
	for i := range 1001 {
		w.strangersUpload(fmt.Sprintf("sub%d.csv", i+10))
	}
	w.set(s3test.RefuseUploadMarker, s3test.On{})
	w.resume().exits(0, "").says("something staged is left behind")
	w.unset()
	if got := w.store.Uploads(bucket); len(got) != 1001 {
		t.Errorf("of 1001 uploads of others %d are left", len(got))
	}
	w.shows(3, 1001)
}

// A bucket that is missing is not made, even by a store that makes what it is asked for.
func TestNoBucketIsMade(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.CreatesBuckets, s3test.On{})
	w.call("run", "--from", w.path("orders.csv"), w.job(), "--to", "s3://nobody/out").exits(1, "").says("the bucket does not exist")
	if n := w.store.Fired(s3test.CreatesBuckets); n > 0 {
		t.Errorf("%d buckets were made", n)
	}
}

func TestRequesterPays(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.RequesterPays, s3test.On{})
	w.options["holds"] = "72h"
	w.run().exits(1, "").says("requester pays")
	w.unset()
	w.set(s3test.RequesterPays, s3test.On{})
	w.options["requester_pays"] = "true"
	fired := w.store.Fired(s3test.RequesterPays)
	w.run("--key", "k").exits(0, "")
	w.exactlyOnce()
	if n := w.store.Fired(s3test.RequesterPays); n > fired {
		t.Errorf("%d requests were refused", n-fired)
	}
}

// A network so slow that a part does not get through in time: nothing is published, and the next attempt carries on.
func TestSlowNetwork(t *testing.T) {
	w := newS3World(t)
	w.options["timeout"] = "1s"
	w.set(s3test.Throttle, s3test.On{N: 10, Key: "-000002."})
	w.run().exits(3, w.resumes())
	w.unset()
	w.shows(0, 1)
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// A store that does not compare sizes is no worse: the look after the completion compares them.
func TestB03SizesAreNotCompared(t *testing.T) {
	w := newS3World(t)
	w.set(s3test.IgnoreObjectSize, s3test.On{})
	w.run().exits(0, "")
	w.exactlyOnce()
}
