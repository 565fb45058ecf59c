package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var hdfsFolders atomic.Int64

// TestHDFSScripts runs scripts on a real HDFS, each in a folder of its own, $DIR; $NAMENODE is where its WebHDFS is, $RPC its native protocol.
// Those of one that asks for Kerberos begin with $KERBEROS, which is the folder that has its keytabs.
func TestHDFSScripts(t *testing.T) {
	namenode := os.Getenv("CLINKCTL_TEST_WEBHDFS")
	if namenode == "" {
		t.Skip(`CLINKCTL_TEST_WEBHDFS names no NameNode: eval "$(scripts/services/hdfs start DIR)"`)
	}
	if os.Getenv("CLINKCTL_TEST_KERBEROS_DIR") == "" {
		t.Skip(`CLINKCTL_TEST_KERBEROS_DIR is not set: eval "$(CLINKCTL_TEST_KERBEROS=1 scripts/services/hdfs start DIR)"`)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/hdfs",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for k, v := range map[string]string{"NAMENODE": namenode, "RPC": os.Getenv("CLINKCTL_TEST_HDFS"),
				"KERBEROS": os.Getenv("CLINKCTL_TEST_KERBEROS_DIR"), "KERBEROS_NAMENODE": os.Getenv("CLINKCTL_TEST_KERBEROS_WEBHDFS"), "KERBEROS_RPC": os.Getenv("CLINKCTL_TEST_KERBEROS_HDFS"),
				"DIR":            fmt.Sprintf("/s%d-%d-%d", os.Getpid(), time.Now().UnixNano(), hdfsFolders.Add(1)),
				"CLINKCTL_STATE": filepath.Join(env.WorkDir, "state"), "HOME": env.WorkDir, "GORACE": "atexit_sleep_ms=0"} {
				env.Setenv(k, v)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "run-token": cmdRunToken,
			"expand":      cmdExpand,
			"hdfs-put":    func(ts *testscript.TestScript, _ bool, args []string) { hdfsPut(ts, args[0], args[1]) },
			"hdfs-list":   func(ts *testscript.TestScript, _ bool, args []string) { hdfsList(ts, args[0]) },
			"hdfs-remove": func(ts *testscript.TestScript, _ bool, args []string) { hdfsRemove(ts, args[0]) },
		},
	})
}

// cmdExpand puts variables into files: expand FILE...
func cmdExpand(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(os.Expand(ts.ReadFile(name), ts.Getenv)), 0o600))
	}
}

// hdfsCall asks the NameNode of a script, as root.
func hdfsCall(ts *testscript.TestScript, method, name, op string, body io.Reader, params url.Values) (int, []byte) {
	if params == nil {
		params = url.Values{}
	}
	params.Set("op", op)
	params.Set("user.name", "root")
	target := "http://" + ts.Getenv("NAMENODE") + "/webhdfs/v1" + (&url.URL{Path: path.Join(ts.Getenv("DIR"), name)}).EscapedPath() + "?" + params.Encode()
	if op == "CREATE" {
		status, answer := hdfsDo(ts, method, target+"&noredirect=true", nil)
		var said struct{ Location string }
		if err := json.Unmarshal(answer, &said); err != nil {
			ts.Fatalf("%s %s: %d %s", op, name, status, answer)
		}
		target = said.Location
	}
	return hdfsDo(ts, method, target, body)
}

func hdfsDo(ts *testscript.TestScript, method, target string, body io.Reader) (int, []byte) {
	r, err := http.NewRequestWithContext(context.Background(), method, target, body)
	ts.Check(err)
	response, err := http.DefaultClient.Do(r)
	ts.Check(err)
	answer, err := io.ReadAll(response.Body)
	ts.Check(errors.Join(err, response.Body.Close()))
	return response.StatusCode, answer
}

// hdfsPut puts a text behind the program's back: hdfs-put PATH TEXT.
func hdfsPut(ts *testscript.TestScript, name, text string) {
	if status, answer := hdfsCall(ts, http.MethodPut, name, "CREATE", strings.NewReader(text), nil); status != http.StatusCreated {
		ts.Fatalf("put %s: %d %s", name, status, answer)
	}
}

// hdfsRemove removes a folder behind the program's back: hdfs-remove PATH.
func hdfsRemove(ts *testscript.TestScript, name string) {
	if status, answer := hdfsCall(ts, http.MethodDelete, name, "DELETE", nil, url.Values{"recursive": {"true"}}); status != http.StatusOK || strings.Contains(string(answer), "false") {
		ts.Fatalf("remove %s: %d %s", name, status, answer)
	}
}

// hdfsList prints paths and sizes of all files below a folder, what is hidden included, and of empty folders: hdfs-list PATH.
func hdfsList(ts *testscript.TestScript, name string) {
	status, answer := hdfsCall(ts, http.MethodGet, name, "LISTSTATUS", nil, nil)
	if status == http.StatusNotFound {
		_, _ = fmt.Fprintf(ts.Stdout(), "%s is not there\n", name)
		return
	}
	var said struct {
		FileStatuses struct {
			FileStatus []struct {
				PathSuffix, Type, Permission string
				Length                       int64
			}
		}
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		ts.Fatalf("list %s: %d %s", name, status, answer)
	}
	if len(said.FileStatuses.FileStatus) == 0 {
		_, _ = fmt.Fprintf(ts.Stdout(), "%s is empty\n", name)
	}
	for _, s := range said.FileStatuses.FileStatus {
		if s.Type == "DIRECTORY" {
			hdfsList(ts, path.Join(name, s.PathSuffix))
			continue
		}
		_, _ = fmt.Fprintf(ts.Stdout(), "%s %d %s\n", path.Join(name, s.PathSuffix), s.Length, s.Permission)
	}
}
