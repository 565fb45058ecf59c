package runstate_test

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/runstate/vfs"
)

// TestFormats: a journal of an older format is continued as it is; a newer one is refused, naming both.
func TestFormats(t *testing.T) {
	m := machine(t)
	ok(t, tell(t, m, reading).Close())
	before := read(t, m, dir+"/journal")
	j, err := runstate.Open(m, dir, runstate.Options{Now: clock, Newest: 7})
	ok(t, err)
	ok(t, j.Append(attempt(2, 1)))
	if j.State().Begun.Journal != runstate.Format || !bytes.HasPrefix(read(t, m, dir+"/journal"), before) {
		t.Fatal("an older journal was made another one")
	}
	ok(t, j.Close())

	newer := machine(t)
	text := read(t, m, dir+"/journal")
	_, line, _ := bytes.Cut(text[:bytes.IndexByte(text, '\n')], []byte(" "))
	line = bytes.Replace(line, []byte(`"journal":2`), []byte(`"journal":3`), 1)
	line = bytes.Replace(line, []byte(`"job"`), []byte(`"of_the_future":{},"job"`), 1)
	put(t, newer, dir+"/journal", chained(string(line), `{"also":"of the future"}`))
	for what, err := range map[string]error{"read": readErr(newer), "open": openErr(newer)} {
		n, is := errors.AsType[*runstate.NewerError](err)
		if !is || n.Has != 3 || n.Ours != runstate.Format || !strings.Contains(err.Error(), "format 3") || !strings.Contains(err.Error(), "up to 2") {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if len(m.Log()) == 0 {
		t.Fatal("no operations")
	}
}

func readErr(fsys vfs.FS) error {
	_, err := runstate.Read(fsys, dir, runstate.Format)
	return err
}

func openErr(fsys vfs.FS) error {
	_, err := runstate.Open(fsys, dir, options)
	return err
}

// TestForeignRecords: a line whose checksum is right and whose record is none is damage, not a torn end.
func TestForeignRecords(t *testing.T) {
	m := machine(t)
	ok(t, tell(t, m, reading).Close())
	text := string(read(t, m, dir+"/journal"))
	var lines []string
	for line := range strings.Lines(text) {
		_, json, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines = append(lines, json)
	}
	for _, bad := range []string{"", "{}", "null", "[]", `{"at":"x"}`, `{"at":"2026-11-30T01:30:00Z","finished":{"sink":0,"name":"x"},"more":1}`,
		`{"at":"2026-11-30T01:30:00Z","ended":{"outcome":"done"}} {}`, lines[0], lines[1], `{"at":"2026-11-30T01:30:00Z","decided":{"decision":"commit"}}`} {
		put(t, m, dir+"/journal", chained(append(lines[:2:2], bad)...))
		for what, err := range map[string]error{"read": readErr(m), "open": openErr(m)} {
			d, is := errors.AsType[*runstate.DamageError](err)
			if !is || d.Offset != int64(len(text)) {
				t.Fatalf("%s of %q: %v", what, bad, err)
			}
		}
		v, _ := runstate.Read(m, dir, runstate.Format)
		if v == nil || len(v.Records) != 2 {
			t.Fatalf("%q: what stands before is not given", bad)
		}
	}
}

// TestNoJournal: a folder without a journal is nothing; a journal without a whole first record was something.
func TestNoJournal(t *testing.T) {
	m := machine(t)
	if !errors.Is(readErr(m), runstate.ErrNoRun) || !errors.Is(openErr(m), runstate.ErrNoRun) {
		t.Fatal(readErr(m), openErr(m))
	}
	ok(t, tell(t, m, reading[:1]).Close())
	text := read(t, m, dir+"/journal")
	for n := range text {
		put(t, m, dir+"/journal", text[:n])
		for _, err := range []error{readErr(m), openErr(m)} {
			if d, is := errors.AsType[*runstate.DamageError](err); !is || d.Offset != 0 {
				t.Fatalf("%d bytes of begun: %v", n, err)
			}
		}
	}
}

// TestBeginCrashes: a run is begun, whole, or it is nothing.
func TestBeginCrashes(t *testing.T) {
	for k := 1; ; k++ {
		m := machine(t)
		m.Reseed(uint64(k))
		m.OnOp(vfs.DieAt(m.Ops() + k))
		_, err := runstate.Begin(m, dir, *reading[0].Begun, options)
		m.OnOp(nil)
		if err == nil {
			return
		}
		m.PowerLoss()
		if err := readErr(m); err != nil && !errors.Is(err, runstate.ErrNoRun) {
			t.Fatalf("operation %d: %v", k, err)
		}
	}
}

// TestUnmake removes what a begin that failed has left, and nothing that has a journal.
func TestUnmake(t *testing.T) {
	for k := 1; ; k++ {
		m := machine(t)
		at := m.Ops() + k
		m.OnOp(func(op vfs.Op) vfs.Fault {
			if op.Modifies() && op.N == at {
				return vfs.Fail(syscall.EIO)
			}
			return vfs.Fault{}
		})
		_, err := runstate.Begin(m, dir, *reading[0].Begun, options)
		m.OnOp(nil)
		if err == nil {
			return
		}
		begun := !errors.Is(readErr(m), runstate.ErrNoRun)
		err = runstate.Unmake(m, dir)
		if errors.Is(err, runstate.ErrBegun) != begun {
			t.Fatalf("operation %d: begun %v, %v", k, begun, err)
		}
		if _, gone := m.Stat(dir); (gone != nil) == begun {
			t.Fatalf("operation %d: begun %v, and the folder: %v", k, begun, gone)
		}
	}
}

// TestReserve: it is allocated before there is a journal, grows to twice the journal, is dropped, and made again only if it
// was not given up.
func TestReserve(t *testing.T) {
	m := machine(t)
	j := tell(t, m, reading)
	size := func() int64 {
		info, err := m.Stat(dir + "/reserve")
		if err != nil {
			return 0
		}
		return info.Size
	}
	if size() != 1<<20 {
		t.Fatalf("%d bytes", size())
	}
	big := with(unit(1, 0, 1, cover(0, 0, 100, true)), func(r *runstate.Record) {
		r.Prepared.Handles[0].Place = "/" + strings.Repeat("x", 1<<20)
	})
	ok(t, j.Append(big))
	if want := 2 * int64(len(read(t, m, dir+"/journal"))); size() < want {
		t.Fatalf("%d bytes, want %d", size(), want)
	}
	ok(t, j.Close())
	ok(t, runstate.DropReserve(m, dir))
	ok(t, runstate.DropReserve(m, dir))
	j, err := runstate.Open(m, dir, runstate.Options{Now: clock, Spent: true})
	ok(t, err)
	ok(t, j.Append(attempt(2, 1)))
	ok(t, j.Close())
	if size() != 0 {
		t.Fatal("a reserve that was given up is back")
	}
	m.SetCapacity(m.Used() + 3<<20) // room for the copy, and none for the reserve
	j, err = runstate.Open(m, dir, options)
	ok(t, err)
	ok(t, j.Append(attempt(3, 1)))
	ok(t, j.Close())
	m.SetCapacity(-1)
	j, err = runstate.Open(m, dir, options)
	ok(t, err)
	if size() == 0 {
		t.Fatal("no reserve, where there is room")
	}
	ok(t, j.Close())

	full := machine(t)
	full.SetCapacity(full.Used() + 1<<20)
	if _, err := runstate.Begin(full, dir, *reading[0].Begun, options); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if !errors.Is(readErr(full), runstate.ErrNoRun) {
		t.Fatal("a run was begun without a reserve")
	}
}

// TestReadersChangeNothing: not even of a journal that is torn, nor do they take a lock.
func TestReadersChangeNothing(t *testing.T) {
	m := machine(t)
	j := tell(t, m, prepared)
	text := read(t, m, dir+"/journal")
	for _, end := range []string{"", "00", "\x00\x00"} {
		put(t, m, dir+"/journal", append(bytes.Clone(text), end...))
		lock, err := runstate.TakeLock(m, dir)
		ok(t, err)
		before := m.Ops()
		v, err := runstate.Read(m, dir, runstate.Format)
		ok(t, err)
		if v.Torn != int64(len(end)) || m.Ops() != before {
			t.Fatalf("%d operations that modify", m.Ops()-before)
		}
		ok(t, lock.Release())
	}
	ok(t, j.Close())
}

// TestParseLines takes what Lines gives, and nothing that is cut.
func TestParseLines(t *testing.T) {
	m := machine(t)
	j := tell(t, m, all)
	lines, err := j.Lines()
	ok(t, err)
	s, err := runstate.ParseLines("mark", lines)
	ok(t, err)
	same(t, replay(t, prepared), s)
	for n := range lines {
		if s, err := runstate.ParseLines("mark", lines[:n]); err == nil && lines[n-1] != '\n' {
			t.Fatalf("%d bytes of %d are %+v", n, len(lines), s)
		}
	}
	ok(t, j.Close())
	other := machine(t)
	i, err := runstate.Import(other, dir, lines, options)
	ok(t, err)
	again, err := i.Lines()
	ok(t, err)
	if !bytes.Equal(lines, again) {
		t.Fatal("an imported journal has other lines")
	}
	ok(t, i.Close())
	if _, err := runstate.Import(other, dir, lines[:len(lines)-1], options); err == nil {
		t.Fatal("imported a torn one")
	}
	ok(t, runstate.KeepOld(other, dir))
	ok(t, runstate.SetJournalAside(other, dir))
	if !errors.Is(readErr(other), runstate.ErrNoRun) || !bytes.Equal(read(t, other, dir+"/journal.old-1"), lines) || !bytes.Equal(read(t, other, dir+"/journal.old-2"), lines) {
		t.Fatal("what was set aside is not kept")
	}
}

func FuzzParseLines(f *testing.F) {
	m := vfs.NewMem(1)
	if err := m.Mkdir(dir); err != nil {
		f.Fatal(err)
	}
	j, err := runstate.Begin(m, dir, *begun().Begun, options)
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range prepared[1:] {
		if err := j.Append(r); err != nil {
			f.Fatal(err)
		}
	}
	lines, err := j.Lines()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(lines)
	f.Add(lines[:len(lines)/2])
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := machine(t)
		s, err := runstate.ParseLines("fuzz", data)
		if err == nil && s.Begun == nil {
			t.Fatal("a run that was not begun")
		}
		put(t, m, dir+"/journal", data)
		v, readErr := runstate.Read(m, dir, runstate.Format)
		if err == nil && (readErr != nil || v.Size != int64(len(data))) {
			t.Fatalf("as lines it is good, as a journal it is not: %v", readErr)
		}
		j, openErr := runstate.Open(m, dir, options)
		if (openErr == nil) != (readErr == nil) {
			t.Fatalf("read: %v, open: %v", readErr, openErr)
		}
		if openErr == nil {
			same(t, v.State, j.State())
			ok(t, j.Close())
		}
	})
}
