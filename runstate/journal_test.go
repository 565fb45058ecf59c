package runstate_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

const dir = "/run"

func clock() time.Time { return time.Date(2026, 11, 30, 1, 30, 0, 0, time.UTC) }

var options = runstate.Options{Now: clock}

// machine is a file system with a run's folder.
func machine(t *testing.T) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem(1)
	ok(t, m.Mkdir(dir))
	ok(t, m.SyncDir("/"))
	return m
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tell makes a journal of records.
func tell(t *testing.T, fsys vfs.FS, story []runstate.Record) *runstate.Journal {
	t.Helper()
	j, err := runstate.Begin(fsys, dir, *story[0].Begun, options)
	ok(t, err)
	for i, r := range story[1:] {
		if err := j.Append(r); err != nil {
			t.Fatalf("record %d: %v", i+2, err)
		}
	}
	return j
}

func read(t *testing.T, fsys vfs.FS, name string) []byte {
	t.Helper()
	text, err := vfs.ReadFile(fsys, name)
	ok(t, err)
	return text
}

// put replaces a file's bytes.
func put(t *testing.T, m *vfs.Mem, name string, text []byte) {
	t.Helper()
	out := m.Outside()
	if err := out.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	ok(t, vfs.WriteNew(out, name, text))
	ok(t, out.SyncDir(dir))
}

func same(t *testing.T, want, got *runstate.State) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(runstate.State{})); diff != "" {
		t.Fatal(diff)
	}
}

// TestOneAppendOneLine: each record is one write, one line, one sync, in this order, and is durable when Append returns.
func TestOneAppendOneLine(t *testing.T) {
	m := machine(t)
	j, err := runstate.Begin(m, dir, *done[0].Begun, options)
	ok(t, err)
	for i, r := range done[1:] {
		before := len(m.Log())
		ok(t, j.Append(r))
		var names []string
		for _, op := range m.Log()[before:] {
			names = append(names, op.Name)
		}
		if got := strings.Join(names, " "); got != "write sync" {
			t.Fatalf("record %d: %s", i+2, got)
		}
		lost := m.Clone()
		lost.LoseUnsynced()
		v, err := runstate.Read(lost, dir, runstate.Format)
		ok(t, err)
		if len(v.Records) != i+2 || bytes.Count(read(t, lost, dir+"/journal"), []byte("\n")) != i+2 {
			t.Fatalf("%d records are durable after %d", len(v.Records), i+2)
		}
		same(t, j.State(), v.State)
	}
	if v, err := runstate.Read(m, dir, runstate.Format); err != nil || v.Torn != 0 || v.Offsets[0] != 0 || len(v.Offsets) != len(done) || v.Size != int64(len(read(t, m, dir+"/journal"))) {
		t.Fatalf("%+v, %v", v, err)
	}
	ok(t, j.Close())
	if err := j.Append(attempt(2, 1)); !errors.Is(err, runstate.ErrRefused) {
		t.Fatal(err)
	}
}

// TestRecordRefused leaves journal and state as they are, and the journal goes on.
func TestRecordRefused(t *testing.T) {
	m := machine(t)
	j := tell(t, m, reading)
	before := read(t, m, dir+"/journal")
	if err := j.Append(attempt(1, 1)); err == nil {
		t.Fatal("accepted")
	}
	if !bytes.Equal(before, read(t, m, dir+"/journal")) {
		t.Fatal("something was written")
	}
	ok(t, j.Append(attempt(2, 1)))
	ok(t, j.Close())
}

// TestEveryByte truncates a journal at every byte and flips every byte in every way. Replay gives the state after some of
// its records, or damage: never another state, never a panic. Read and Open agree.
func TestEveryByte(t *testing.T) {
	m := machine(t)
	ok(t, tell(t, m, done).Close())
	text := read(t, m, dir+"/journal")
	var prefixes []*runstate.State
	for n := range len(done) + 1 {
		prefixes = append(prefixes, replay(t, done[:n]))
	}
	check := func(what string, damaged []byte) {
		t.Helper()
		put(t, m, dir+"/journal", damaged)
		v, err := runstate.Read(m, dir, runstate.Format)
		if v != nil {
			same(t, prefixes[len(v.Records)], v.State)
		}
		if err == nil {
			if lines := bytes.Count(damaged[:v.Size], []byte("\n")); lines != len(v.Records) || v.Size+v.Torn != int64(len(damaged)) {
				t.Fatalf("%s: %d records in %d lines", what, len(v.Records), lines)
			}
			if missing := len(done) - len(v.Records); missing > 1 && len(damaged) == len(text) {
				t.Fatalf("%s: %d records were lost without a word", what, missing)
			}
			return
		}
		if d, ok := errors.AsType[*runstate.DamageError](err); !ok || d.Offset < 0 || d.Offset > int64(len(damaged)) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i := range text {
		check(fmt.Sprintf("cut at %d", i), text[:i])
		for bit := range 8 {
			if bit != i%8 && testing.Short() {
				continue
			}
			flipped := bytes.Clone(text)
			flipped[i] ^= 1 << bit
			check(fmt.Sprintf("bit %d of byte %d", bit, i), flipped)
		}
	}
	for i := 0; i < len(text); i += 97 {
		for value := range 256 {
			if byte(value) == text[i] {
				continue
			}
			other := bytes.Clone(text)
			other[i] = byte(value)
			check(fmt.Sprintf("byte %d is %d", i, value), other)
		}
	}
}

// TestLines: a line that is lost, that comes twice, or that has changed places with another is damage.
func TestLines(t *testing.T) {
	m := machine(t)
	ok(t, tell(t, m, done).Close())
	lines := bytes.SplitAfter(read(t, m, dir+"/journal"), []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(parts ...[][]byte) []byte {
		var b []byte
		for _, p := range parts {
			b = append(b, bytes.Join(p, nil)...)
		}
		return b
	}
	for i := range lines {
		damaged := map[string][]byte{"twice": join(lines[:i+1], lines[i:])}
		if i < len(lines)-1 { // a journal without its last line is one that it has been
			damaged["lost"] = join(lines[:i], lines[i+1:])
			damaged["swapped"] = join(lines[:i], [][]byte{lines[i+1], lines[i]}, lines[i+2:])
			merged := join(lines)
			merged[len(join(lines[:i+1]))-1] = ' '
			damaged["merged"] = merged
		}
		for what, text := range damaged {
			put(t, m, dir+"/journal", text)
			v, err := runstate.Read(m, dir, runstate.Format)
			if _, is := errors.AsType[*runstate.DamageError](err); !is {
				// Of the last line a copy behind it looks like an append that was cut.
				if what == "twice" && i == len(lines)-1 && err == nil && len(v.Records) == len(lines) || what == "lost" && i == len(lines)-2 && err == nil ||
					what == "swapped" && i == len(lines)-2 && err == nil {
					continue
				}
				t.Errorf("line %d %s: %v", i+1, what, err)
			}
			if _, err := runstate.Open(m, dir, options); err == nil && what != "twice" && i < len(lines)-2 {
				t.Errorf("line %d %s: opened for work", i+1, what)
			}
		}
	}
}

// TestTornPages: of a last line that spans several pages any pages may be missing after a power loss: it is cut, and kept
// aside.
func TestTornPages(t *testing.T) {
	m := machine(t)
	big := with(unit(1, 0, 1, cover(0, 0, 100, true)), func(r *runstate.Record) {
		for i := range r.Prepared.Handles {
			r.Prepared.Handles[i].Place = "/" + strings.Repeat("x", 9000)
		}
	})
	j := tell(t, m, reading)
	whole := int64(len(read(t, m, dir+"/journal")))
	ok(t, j.Append(big))
	ok(t, j.Close())
	text := read(t, m, dir+"/journal")
	first, last := whole/4096, (int64(len(text))-1)/4096
	if last-first < 4 {
		t.Fatalf("pages %d to %d", first, last)
	}
	for subset := 1; subset < 1<<(last-first+1); subset++ {
		torn := bytes.Clone(text)
		for p := first; p <= last; p++ {
			if subset&(1<<(p-first)) != 0 {
				clear(torn[max(whole, p*4096):min(int64(len(torn)), (p+1)*4096)])
			}
		}
		f := m.Clone()
		put(t, f, dir+"/journal", torn)
		v, err := runstate.Read(f, dir, runstate.Format)
		ok(t, err)
		if len(v.Records) != len(reading) || v.Torn != int64(len(text))-whole {
			t.Fatalf("pages %b: %d records, %d bytes torn", subset, len(v.Records), v.Torn)
		}
		j, err := runstate.Open(f, dir, options)
		ok(t, err)
		same(t, replay(t, reading), j.State())
		ok(t, j.Append(attempt(2, 1)))
		ok(t, j.Close())
		f.LoseUnsynced()
		if got := read(t, f, fmt.Sprintf("%s/journal.torn-%d", dir, whole)); !bytes.Equal(got, torn[whole:]) {
			t.Fatalf("pages %b: what was torn is not kept", subset)
		}
		v, err = runstate.Read(f, dir, runstate.Format)
		ok(t, err)
		if len(v.Records) != len(reading)+1 || v.Torn != 0 {
			t.Fatalf("pages %b: %d records, %d bytes torn", subset, len(v.Records), v.Torn)
		}
	}
}

// TestFailedAppend: after a write or a sync that failed no further record is taken, by this process.
func TestFailedAppend(t *testing.T) {
	for name, fault := range map[string]func(op vfs.Op) vfs.Fault{
		"write":       func(vfs.Op) vfs.Fault { return vfs.Fail(syscall.EIO) },
		"full disk":   func(op vfs.Op) vfs.Fault { return vfs.ShortWrite(op.Bytes/2, syscall.ENOSPC) },
		"short write": func(op vfs.Op) vfs.Fault { return vfs.ShortWrite(op.Bytes/2, io.ErrShortWrite) },
		"sync":        func(vfs.Op) vfs.Fault { return vfs.FailSync(syscall.EIO) },
	} {
		for _, at := range []string{vfs.OpWrite, vfs.OpSync} {
			m := machine(t)
			j := tell(t, m, reading)
			m.OnOp(func(op vfs.Op) vfs.Fault {
				if op.Name == at {
					return fault(op)
				}
				return vfs.Fault{}
			})
			if err := j.Append(attempt(2, 1)); err == nil {
				t.Fatalf("%s of %s: no error", name, at)
			}
			m.OnOp(nil)
			if err := j.Append(attempt(2, 1)); !errors.Is(err, runstate.ErrRefused) || j.Failed() == nil {
				t.Fatalf("%s of %s: %v", name, at, err)
			}
			if len(j.State().Attempts) != 1 {
				t.Fatal("the record counts")
			}
			ok(t, j.Close())
			j, err := runstate.Open(m, dir, options)
			ok(t, err)
			if n := len(j.State().Attempts); n > 2 {
				t.Fatalf("%d attempts", n)
			}
			ok(t, j.Append(attempt(len(j.State().Attempts)+1, 1)))
			ok(t, j.Close())
		}
	}
}

// TestCopyOnOpening: a failed sync has lied to the process before: its record is in the cache and not on the disk. What Open
// gives is durable all the same, and what is evicted before is not given.
func TestCopyOnOpening(t *testing.T) {
	m := machine(t)
	j := tell(t, m, reading)
	m.OnOp(func(op vfs.Op) vfs.Fault {
		if op.Name == vfs.OpSync {
			return vfs.FailSync(syscall.EIO)
		}
		return vfs.Fault{}
	})
	if err := j.Append(attempt(2, 1)); err == nil {
		t.Fatal("no error")
	}
	m.OnOp(nil)
	for _, evicted := range []bool{false, true} {
		f := m.Clone()
		f.ProcessDeath(evicted)
		j, err := runstate.Open(f, dir, options)
		ok(t, err)
		if n := len(j.State().Attempts); (n == 1) != evicted {
			t.Fatalf("%d attempts, evicted: %v", n, evicted)
		}
		want := j.State()
		f.Evict()
		f.LoseUnsynced()
		v, err := runstate.Read(f, dir, runstate.Format)
		ok(t, err)
		same(t, want, v.State)
	}
}

// TestCrashWhileOpening: whichever operation of Open a process or the power dies at, the journal is there, whole.
func TestCrashWhileOpening(t *testing.T) {
	m := machine(t)
	ok(t, tell(t, m, prepared).Close())
	text := read(t, m, dir+"/journal")
	put(t, m, dir+"/journal", append(bytes.Clone(text), "0000000"...))
	for k := 1; ; k++ {
		f := m.Clone()
		f.Reseed(uint64(k))
		f.OnOp(vfs.DieAt(f.Ops() + k))
		_, err := runstate.Open(f, dir, options)
		f.OnOp(nil)
		if err == nil {
			return
		}
		f.PowerLoss()
		j, err := runstate.Open(f, dir, options)
		if err != nil {
			t.Fatalf("operation %d: %v", k, err)
		}
		same(t, replay(t, prepared), j.State())
		kept := false
		for _, end := range []string{"", ".2", ".3"} {
			got, err := vfs.ReadFile(f, fmt.Sprintf("%s/journal.torn-%d%s", dir, len(text), end))
			kept = kept || err == nil && string(got) == "0000000"
		}
		if !kept {
			t.Fatalf("operation %d: the torn end is not kept", k)
		}
		ok(t, j.Close())
	}
}
