package clinkctl_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/clinkctl/clinkctl/"

// layers says what of ours each package may import. A pattern that ends in /* is every folder right under it. A package
// that no pattern matches is a new part of the design: it is added here on purpose, or it is in the wrong place.
var layers = []struct {
	pkg   string
	mayGo []string
}{
	{"columnar", nil},
	{"format", []string{"columnar"}},
	{"format/jsontext", []string{"columnar", "format"}},
	{"format/*", []string{"columnar", "format", "format/jsontext"}},
	{"runstate/vfs", nil},
	{"runstate", []string{"runstate/vfs"}},
	{"runstate/objects", []string{"runstate", "runstate/vfs"}},
	{"runstate/objects/objectstest", []string{"runstate"}},
	{"stage", []string{"columnar", "format", "runstate"}},
	{"stage/s3/s3test", nil},
	{"stage/webhdfs/webhdfstest", nil},
	{"stage/options", []string{"format"}},
	{"stage/ranged", []string{"stage"}},
	{"stage/namenode", []string{"runstate", "stage", "stage/options", "stage/ranged"}},
	{"stage/webhdfs", []string{"runstate", "stage", "stage/kerberos", "stage/options", "stage/ranged", "stage/namenode"}},
	{"stage/hdfs", []string{"runstate", "stage", "stage/kerberos", "stage/options", "stage/ranged", "stage/namenode"}},
	{"stage/*", []string{"columnar", "format", "runstate", "runstate/vfs", "stage", "stage/options", "stage/ranged"}},
	{"publish", []string{"columnar", "format", "runstate", "runstate/vfs", "stage"}},
	{"pipeline", []string{"columnar", "format", "runstate", "runstate/vfs", "stage", "publish"}},
	{"pipeline/job", []string{"columnar", "format", "runstate", "runstate/vfs", "stage", "pipeline"}},
	{"pipeline/source/*", []string{"columnar", "format", "runstate", "runstate/vfs", "stage", "pipeline"}},
	{"cmd/*", []string{"*"}},
}

// only says who may import a module that is kept in one place.
var only = map[string]string{
	"github.com/spf13/cobra":            "cmd/",
	"github.com/spf13/viper":            "cmd/",
	"github.com/schollz/progressbar/v3": "cmd/",
	"github.com/parquet-go/parquet-go":  "format/parquet",
	"go.yaml.in/yaml/v3":                "cmd/",
	"golang.org/x/sys/unix":             "runstate/vfs",
	"github.com/zeebo/xxh3":             "runstate",
	"github.com/rogpeppe/go-internal":   "cmd/",
	"github.com/colinmarc/hdfs/v2":      "stage/hdfs",
	"github.com/aws/aws-sdk-go-v2":      "stage/s3",
	"github.com/aws/smithy-go":          "stage/s3",
	"github.com/minio/crc64nvme":        "stage/s3",
}

// TestImportsRunOneWay reads every file that is built, tests left out, and compares its imports with the layers.
func TestImportsRunOneWay(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "docs" || name == "scripts" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		seen++
		checkImports(t, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d files were found: does the test run in the repository's root?", seen)
	}
}

func checkImports(t *testing.T, name string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	pkg := path.Dir(name)
	may, known := allowed(pkg)
	if !known {
		t.Errorf("%s: package %s is in no layer", name, pkg)
		return
	}
	for _, i := range f.Imports {
		to, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		for prefix, home := range only {
			if (to == prefix || strings.HasPrefix(to, prefix+"/")) && !strings.HasPrefix(pkg+"/", home) {
				t.Errorf("%s imports %s, which only %s may", name, to, home)
			}
		}
		ours, ok := strings.CutPrefix(to, module)
		if ok && !slices.Contains(may, "*") && !slices.Contains(may, ours) && !strings.HasPrefix(ours, pkg+"/") {
			t.Errorf("%s imports %s: %s may import %v", name, ours, pkg, may)
		}
	}
}

func allowed(pkg string) ([]string, bool) {
	for _, l := range layers {
		if l.pkg == pkg || strings.HasSuffix(l.pkg, "/*") && path.Dir(pkg) == strings.TrimSuffix(l.pkg, "/*") {
			return l.mayGo, true
		}
	}
	return nil, false
}
