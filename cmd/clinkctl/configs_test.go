package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs a command in this process, in the working directory.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(args, Production(), Streams{Out: &out, Err: &err})
	return code, out.String(), err.String()
}

// TestConfigs plans every example from the repository's root, as the examples say.
func TestConfigs(t *testing.T) {
	t.Chdir("../..")
	names, err := filepath.Glob("configs/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		if code, stdout, stderr := call("plan", name); code != 0 || !strings.Contains(stdout, "plan_digest: ") {
			t.Errorf("plan %s: exit %d\n%s%s", name, code, stdout, stderr)
		}
	}
}

// TestQuickstart runs the first command of the README in a copy of what it needs, twice.
func TestQuickstart(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "configs"), os.DirFS("../../configs")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	code, stdout, stderr := call("run", "configs/quickstart.yaml")
	if code != 0 || !strings.Contains(stdout, "360 rows in 2 artifacts") {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	artifacts, err := filepath.Glob("out/sub0-*.parquet")
	if err != nil || len(artifacts) != 2 {
		t.Errorf("there are %q (%v)", artifacts, err)
	}
	code, stdout, stderr = call("run", "configs/quickstart.yaml")
	if code != 0 || !strings.Contains(stdout, "nothing to do") {
		t.Errorf("the second time: exit %d\n%s%s", code, stdout, stderr)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != ".clinkctl-state configs out" {
		t.Errorf("what is left is %s", got)
	}
}
