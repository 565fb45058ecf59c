package stagetest

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/clinkctl/clinkctl/stage"
)

// A wrapper without rules passes the laws as what it wraps does.
func TestFaultlessLaws(t *testing.T) {
	Laws(t, func(t *testing.T, name string) Place {
		faults, err := ParseFaults("")
		if err != nil {
			t.Fatal(err)
		}
		p := memoryPlace(t, NewWorld(), "mem://"+name)
		open := p.Open
		p.Open = func() stage.Sink { return faults.Sink(open(), name) }
		return p
	})
}

func TestParseFaultsRefuses(t *testing.T) {
	for _, spec := range []string{"publish", "publish=", "publsh=fail", "publish=explode", "publish@0=fail", "publish@x=fail",
		"publish[a=fail", "publish=delay", "publish=delay:x", "publish=fail:x", "abort=deny,x"} {
		if _, err := ParseFaults(spec); err == nil {
			t.Errorf("%q is taken", spec)
		}
	}
}

// faulty opens a destination of memory with rules.
func faulty(t *testing.T, w *World, to, spec string) (*Faults, *kit, stage.Sink) {
	t.Helper()
	faults, err := ParseFaults(spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := faults.Backend(w.Backend()).Open(t.Context(), stage.Place{To: to}, true)
	if err != nil {
		t.Fatal(err)
	}
	return faults, &kit{T: t, Place: memoryPlace(t, w, to)}, s
}

func TestFaultsFire(t *testing.T) {
	faults, k, s := faulty(t, NewWorld(), "mem://audit", "abort[audit]=deny,publish[other]=fail,publish@2=full,inspect@2+=fail,"+
		"note=fail,prepare@2=fail,create@3=fail")
	a := artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	for range 2 {
		if err := s.Abort(t.Context(), h); !errors.Is(err, syscall.EACCES) || !errors.Is(err, ErrFault) {
			t.Error(err)
		}
	}
	k.is(s, h, stage.Staged)
	for range 2 {
		if e, err := s.Inspect(t.Context(), h); !errors.Is(err, ErrFault) || e.State != 0 {
			t.Error(e, err)
		}
	}
	k.must(s.Publish(t.Context(), h))
	if err := s.Publish(t.Context(), h); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	k.must(s.Publish(t.Context(), h))
	if _, err := k.create(s, artifact(runA, 0, 2)).Prepare(t.Context(), 0, ""); !errors.Is(err, ErrFault) {
		t.Error(err)
	}
	if _, err := s.(stage.Bytes).Create(t.Context(), a); !errors.Is(err, ErrFault) {
		t.Error(err)
	}
	if got, want := faults.Unused(), []string{"publish[other]=fail", "note=fail"}; !slices.Equal(got, want) {
		t.Errorf("unused are %q and not %q", got, want)
	}
}

func TestFaultsHang(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	faults, k, s := faulty(t, NewWorld(), "mem://a", "publish@1=hang,publish@2=hang:"+gate+",publish@3=delay:1ms")
	a := artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Publish(ctx, h); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	done := make(chan error)
	go func() { done <- s.Publish(t.Context(), h) }()
	for {
		if _, err := os.Stat(gate + ".entered"); err == nil {
			break
		}
		time.Sleep(time.Millisecond) // between looks at the condition
	}
	k.sees(nil)
	k.must(os.WriteFile(gate, nil, 0o600))
	k.must(<-done)
	k.must(s.Publish(t.Context(), h))
	faults.Release()
	if unused := faults.Unused(); len(unused) > 0 {
		t.Error(unused)
	}
}

// TestFaultsKill runs itself as the process that is killed, in a world that outlives it.
func TestFaultsKill(t *testing.T) {
	a := artifact(runA, 0, 1)
	if dir := os.Getenv("STAGETEST_KILL_WORLD"); dir != "" {
		_, k, s := faulty(t, OpenWorld(dir), "mem://a", os.Getenv("STAGETEST_KILL_FAULTS"))
		k.must(s.Publish(t.Context(), k.stage(s, a, dataOf(a))))
		return
	}
	for spec, want := range map[string]map[string][]byte{"publish=kill": nil, "publish=kill-after": seen(a)} {
		dir := t.TempDir()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaultsKill$")
		child.Env = append(os.Environ(), "STAGETEST_KILL_WORLD="+dir, "STAGETEST_KILL_FAULTS="+spec)
		err := child.Run()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() >= 0 { // -1: by a signal
			t.Fatalf("%s: %v", spec, err)
		}
		k := &kit{T: t, Place: memoryPlace(t, OpenWorld(dir), "mem://a")}
		k.sees(want)
	}
}

type storeOf struct{ stage.Store }

func (storeOf) Open(context.Context, string, string, int64) (io.ReadCloser, error) {
	return io.NopCloser(io.LimitReader(zeros{}, 100)), nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestFaultyStore(t *testing.T) {
	faults, err := ParseFaults("store-read[a.csv]@2=fail")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/b.csv", "/a.csv"} {
		r, err := faults.Store(storeOf{}).Open(t.Context(), name, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(io.MultiReader(io.LimitReader(r, 10), r))
		if name == "/b.csv" && err != nil || name == "/a.csv" && (!errors.Is(err, ErrFault) || len(data) != 10) {
			t.Error(name, len(data), err)
		}
	}
}
