package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/stagetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"clinkctl": main, "clinkctl-faulty": mainFaulty, "clinkctl-s3": mainS3, "clinkctl-webhdfs": mainWebHDFS, "clinkctl-hdfs": mainHDFS})
}

// mainFaulty is the program with destinations in memory (mem://, kept in the folder $WORLD) and the faults of $FAULTS.
func mainFaulty() {
	faults, err := stagetest.ParseFaults(os.Getenv("FAULTS"))
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	w := Production()
	if w.Beat, err = beatOf(os.Getenv("BEAT")); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	if dir := os.Getenv("WORLD"); dir != "" {
		w.Backends = append(w.Backends, stagetest.OpenWorld(dir).Backend())
	}
	for i, b := range w.Backends {
		w.Backends[i] = faults.Backend(b)
	}
	os.Exit(Main(os.Args[1:], w, Streams{Out: os.Stdout, Err: os.Stderr}))
}

// beatOf reads the period of the beat of a state in a store of objects.
func beatOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}

// TestScripts runs the command line as users do. Each script begins in an empty folder of its own, with a state directory
// $CLINKCTL_STATE in it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CLINKCTL_STATE", filepath.Join(env.WorkDir, "state"))
			env.Setenv("WORLD", filepath.Join(env.WorkDir, ".tmp"))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector waits a second at each end
			env.Values[processKey{}] = map[string]*process{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "start": cmdStart, "signal": cmdSignal, "await": cmdAwait, "says": cmdSays, "ended": cmdEnded,
			"run-token": cmdRunToken, "flip": cmdFlip, "truncate": cmdTruncate, "no-escapes": cmdNoEscapes, "last-line": cmdLastLine,
			"within": cmdWithin, "tree": cmdTree, "rows": cmdRows,
		},
	})
}

// scriptPatience is how long a script waits for what must come.
const scriptPatience = 20 * time.Second

// cmdExits runs a command and checks its exit code: exits 64 clinkctl run. "kill" is a process that was killed.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ...")
	}
	checkExit(ts, ts.Exec(args[1], args[2:]...), args[0])
}

func checkExit(ts *testscript.TestScript, err error, want string) {
	got := "0"
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = strconv.Itoa(failed.ExitCode())
		if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			got = "kill"
		}
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("the exit code is %s and not %s", got, want)
	}
}

type processKey struct{}

// process is a command that runs beside the script.
type process struct {
	cmd      *exec.Cmd
	out, err lockedBuffer
	done     chan error
}

// lockedBuffer is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func processes(ts *testscript.TestScript) map[string]*process {
	return ts.Value(processKey{}).(map[string]*process)
}

// cmdStart starts a command beside the script: start NAME COMMAND ...
func cmdStart(ts *testscript.TestScript, _ bool, args []string) {
	path, err := exec.LookPath(args[1])
	if err != nil {
		path = filepath.Join(strings.Split(ts.Getenv("PATH"), string(os.PathListSeparator))[0], args[1])
	}
	p := &process{cmd: exec.Command(path, args[2:]...), done: make(chan error, 1)}
	p.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "CLINKCTL_STATE", "WORLD", "FAULTS", "BEAT", "TMPDIR", "GORACE"} {
		p.cmd.Env = append(p.cmd.Env, name+"="+ts.Getenv(name))
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	ts.Check(p.cmd.Start())
	go func() { p.done <- p.cmd.Wait() }()
	processes(ts)[args[0]] = p
	ts.Defer(func() { _ = p.cmd.Process.Kill() }) // it has ended by now, unless the script failed
}

// cmdSignal sends a signal: signal NAME TERM.
func cmdSignal(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}
	ts.Check(processes(ts)[args[0]].cmd.Process.Signal(signals[args[1]]))
}

// cmdEnded waits for a command that was started, checks its exit code, and prints what it wrote: ended NAME 3.
func cmdEnded(ts *testscript.TestScript, _ bool, args []string) {
	p := processes(ts)[args[0]]
	select {
	case err := <-p.done:
		_, _ = io.WriteString(ts.Stdout(), p.out.String())
		_, _ = io.WriteString(ts.Stderr(), p.err.String())
		checkExit(ts, err, args[1])
	case <-time.After(scriptPatience):
		ts.Fatalf("%s does not end", args[0])
	}
}

// cmdAwait waits until a file is there.
func cmdAwait(ts *testscript.TestScript, _ bool, args []string) {
	await(ts, args[0], func() bool {
		names, err := filepath.Glob(ts.MkAbs(args[0]))
		return err == nil && len(names) > 0
	})
}

// cmdSays waits until a command that was started has written a text to stdout or stderr: says NAME 'stopping'.
func cmdSays(ts *testscript.TestScript, _ bool, args []string) {
	p := processes(ts)[args[0]]
	await(ts, args[1], func() bool { return strings.Contains(p.out.String()+p.err.String(), args[1]) })
}

func await(ts *testscript.TestScript, what string, there func() bool) {
	for start := time.Now(); time.Since(start) < scriptPatience; time.Sleep(2 * time.Millisecond) {
		if there() {
			return
		}
	}
	ts.Fatalf("%s does not appear", what)
}

// cmdRunToken puts the token of a job's only run, or of its N-th, into a variable: run-token RUN orders [2].
func cmdRunToken(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(filepath.Join(ts.Getenv("CLINKCTL_STATE"), args[1]))
	ts.Check(err)
	var tokens []string
	for _, e := range entries {
		if _, err := runstate.ParseToken(e.Name()); err == nil {
			tokens = append(tokens, e.Name())
		}
	}
	n := 1
	if len(args) > 2 {
		n, err = strconv.Atoi(args[2])
		ts.Check(err)
	} else if len(tokens) != 1 {
		ts.Fatalf("there are %d runs", len(tokens))
	}
	if len(tokens) < n {
		ts.Fatalf("there are %d runs", len(tokens))
	}
	ts.Setenv(args[0], tokens[n-1])
}

// cmdFlip changes one byte of a file: flip FILE OFFSET.
func cmdFlip(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data[at] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// cmdTruncate takes bytes from the end of a file: truncate FILE BYTES.
func cmdTruncate(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-n))
}

// cmdNoEscapes checks that a file, which is not empty, has no control bytes but line ends.
func cmdNoEscapes(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(data) == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
	for i, c := range data {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			ts.Fatalf("byte %d is %#x: %q", i, c, data[max(0, i-20):min(len(data), i+20)])
		}
	}
}

// cmdLastLine checks the last line of stdout or stderr: last-line stderr 'next: clinkctl resume ...'.
func cmdLastLine(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.Split(strings.TrimRight(ts.ReadFile(args[0]), "\n"), "\n")
	if got := lines[len(lines)-1]; got != args[1] {
		ts.Fatalf("the last line is %q and not %q", got, args[1])
	}
}

// cmdWithin runs a command that must not take longer than a duration: within 1s exits 5 clinkctl run.
func cmdWithin(ts *testscript.TestScript, _ bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	start := time.Now()
	cmdExits(ts, false, args[2:])
	if took := time.Since(start); took > limit {
		ts.Fatalf("it took %v, more than %v", took, limit)
	}
}

// cmdTree lists every file and folder under the script's own on stdout, but for what the script names.
func cmdTree(ts *testscript.TestScript, _ bool, args []string) {
	var names []string
	root := ts.MkAbs(".")
	ts.Check(filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		name, _ := filepath.Rel(root, path)
		if name != "." && name != ".tmp" && !strings.HasPrefix(name, ".tmp/") {
			names = append(names, name)
		}
		return err
	}))
	_, err := fmt.Fprintln(ts.Stdout(), strings.Join(names, "\n"))
	ts.Check(err)
}

// cmdRows checks how many lines the artifacts in a folder have together, header lines left out: rows out 4.
func cmdRows(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "sub*"))
	ts.Check(err)
	n := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		ts.Check(err)
		n += bytes.Count(data, []byte("\n"))
		if filepath.Ext(name) == ".csv" {
			n--
		}
	}
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("there are %d rows in %d artifacts, and not %s", n, len(names), args[1])
	}
}
