package main

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	hdfs "github.com/clinkctl/clinkctl/stage/webhdfs/webhdfstest"
)

// Reports B26 to B41 at HDFS: what a NameNode answers proves little, good or bad.

func TestHDFSPlainRun(t *testing.T) {
	for _, checksum := range []string{"CRC32C", "CRC32", "COMPOSITE-CRC32C"} {
		w := hdfsWorldWith(t, hdfs.Options{Checksum: checksum})
		w.run().exits(0, "")
		w.exactlyOnce()
	}
}

// A rename that was done and answered badly, in every way: the run ends well, and nothing is renamed twice.
func TestB39RenameDoneAndAnsweredBadly(t *testing.T) {
	for name, c := range map[string]struct {
		sw hdfs.Switch
		on hdfs.On
	}{
		"dropped":   {hdfs.DropReplyAfter, hdfs.On{}},
		"false":     {hdfs.RenameFalseDone, hdfs.On{}},
		"error":     {hdfs.ErrorAfter, hdfs.On{}},
		"retriable": {hdfs.ErrorAfter, hdfs.On{Code: "RetriableException"}},
		"not found": {hdfs.ErrorAfter, hdfs.On{Code: "FileNotFoundException"}},
		"exists":    {hdfs.ErrorAfter, hdfs.On{Code: "FileAlreadyExistsException"}},
		"standby":   {hdfs.ErrorAfter, hdfs.On{Code: "StandbyException"}},
		"denied":    {hdfs.ErrorAfter, hdfs.On{Code: "AccessControlException"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHDFSWorld(t)
			c.on.Verb, c.on.Path = hdfs.Rename, "/sub0-"
			w.set(c.sw, c.on)
			w.run().exits(0, "")
			w.exactlyOnce()
			w.unset()
		})
	}
}

// A rename that is not done leaves the run open, whatever was answered.
func TestB37RenameNotDone(t *testing.T) {
	for name, c := range map[string]struct {
		sw hdfs.Switch
		on hdfs.On
	}{
		"false":      {hdfs.RenameFalse, hdfs.On{}},
		"dropped":    {hdfs.DropRequest, hdfs.On{}},
		"retriable":  {hdfs.Exception, hdfs.On{Code: "RetriableException"}},
		"safe mode":  {hdfs.SafeMode, hdfs.On{}},
		"denied":     {hdfs.Exception, hdfs.On{Code: "AccessControlException"}},
		"plain text": {hdfs.PlainText, hdfs.On{}},
		"ok page":    {hdfs.PlainText, hdfs.On{Status: http.StatusOK}},
		"not found":  {hdfs.Exception, hdfs.On{Code: "FileNotFoundException"}},
		"exists":     {hdfs.Exception, hdfs.On{Code: "FileAlreadyExistsException"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHDFSWorld(t)
			c.on.Verb, c.on.Path = hdfs.Rename, "/sub0-"
			w.set(c.sw, c.on)
			w.run().exits(3, w.resumes())
			w.shows(0, 2)
			w.isOpen(2)
			w.resume().exits(3, w.resumes())
			w.unset()
			w.resume().exits(0, "")
			w.exactlyOnce()
		})
	}
}

// A server that says that it has renamed, and has not, or has moved the file elsewhere: that is no proof.
func TestB38RenameAnsweredWellAndNotDone(t *testing.T) {
	for name, do := range map[string]func(w *hdfsWorld, from, to string){
		"nothing done": func(*hdfsWorld, string, string) {},
		"removed":      func(w *hdfsWorld, from, _ string) { w.ns.Remove(from) },
		"moved into":   func(w *hdfsWorld, from, to string) { w.ns.Remove(from); w.ns.Put(to+"/file", []byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newHDFSWorld(t)
			handle := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				from := strings.TrimPrefix(r.URL.Path, "/webhdfs/v1")
				if r.URL.Query().Get("op") != "RENAME" || !strings.Contains(from, "/sub0-") {
					w.node.ServeHTTP(rw, r)
					return
				}
				do(w, from, r.URL.Query().Get("destination"))
				rw.WriteHeader(http.StatusOK)
			})
			w.handle.Store(&handle)
			if e := w.run(); e.code != 3 && e.code != 4 {
				t.Errorf("exit %d: %s", e.code, e.err)
			}
			w.isOpen(2)
		})
	}
}

// Servers whose renames replace, or say nothing that could be relied on, are refused before a run.
func TestB38ProbeRefuses(t *testing.T) {
	for _, sw := range []hdfs.Switch{hdfs.RenameExistsOverwrites, hdfs.RenameOptionsIgnored, hdfs.RenameExistsFalse, hdfs.NoFileID, hdfs.HttpFS} {
		t.Run(string(sw), func(t *testing.T) {
			w := newHDFSWorld(t)
			w.set(sw, hdfs.On{})
			if sw == hdfs.HttpFS { // as a real one
				w.set(hdfs.RenameOptionsIgnored, hdfs.On{})
			}
			w.run().exits(64, "").says("the destination is refused")
			w.unset()
			w.shows(0, 0)
			if runs := w.runs(); len(runs) > 0 {
				t.Errorf("a run was begun: %v", runs)
			}
		})
	}
}

func TestHDFSNoFileIDAbsent(t *testing.T) {
	w := newHDFSWorld(t)
	w.set(hdfs.NoFileID, hdfs.On{Code: "absent"})
	w.run().exits(64, "").says("fileId")
	w.unset()
}

// HttpFS that keeps fileIds and renameoptions does.
func TestHDFSHttpFS(t *testing.T) {
	w := newHDFSWorld(t)
	w.set(hdfs.HttpFS, hdfs.On{})
	w.run().exits(0, "")
	w.exactlyOnce()
	w.unset()
}

// An upload that is cut is never published: small ones are begun again, large ones are not, and there is no handle.
func TestHDFSUploadCut(t *testing.T) {
	for _, sw := range []hdfs.Switch{hdfs.CutUpload, hdfs.StaysOpen, hdfs.LateCreate, hdfs.DropRequest, hdfs.NoDataNode, hdfs.RedirectRefused} {
		t.Run(string(sw), func(t *testing.T) {
			w := newHDFSWorld(t)
			on := hdfs.On{Path: "/sub0-", Times: 1, N: 10}
			if sw == hdfs.DropRequest {
				on.Verb = hdfs.CreateData
			}
			w.set(sw, on)
			w.run().exits(0, "")
			w.ns.Release()
			w.exactlyOnce()
			w.unset()
		})
		t.Run(string(sw)+" for good", func(t *testing.T) {
			w := newHDFSWorld(t)
			on := hdfs.On{Path: "-000002.", N: 10}
			if sw == hdfs.DropRequest {
				on.Verb = hdfs.CreateData
			}
			w.set(sw, on)
			w.run().exits(3, w.resumes())
			w.ns.Release()
			w.shows(0, 1)
			if n := len(w.state().Units); n != 1 {
				t.Errorf("%d units are prepared", n)
			}
			w.unset()
			w.resume().exits(0, "")
			w.exactlyOnce()
		})
	}
}

func TestHDFSLargeUploadCut(t *testing.T) {
	for _, sw := range []hdfs.Switch{hdfs.CutUpload, hdfs.StaysOpen, hdfs.LateCreate} {
		t.Run(string(sw), func(t *testing.T) {
			w := newHDFSWorld(t)
			w.source(8, 4, 1<<20)
			w.set(sw, hdfs.On{Path: "/sub0-", Times: 1, N: 5 << 19})
			if e := w.run(); e.code != 1 && e.code != 3 {
				t.Fatalf("exit %d: %s", e.code, e.err)
			}
			w.ns.Release()
			w.shows(0, len(w.state().Units))
			w.unset()
			w.run().exits(0, "")
			w.exactlyOnce()
		})
	}
}

// A file that appears after it was given up, at whatever request that is, is not seen by anybody and does not stay.
func TestHDFSLateFile(t *testing.T) {
	for n := 1; n <= 12; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newHDFSWorld(t)
			w.set(hdfs.LateCreate, hdfs.On{Path: "/sub0-", N: n, Times: 1})
			w.run().exits(0, "")
			w.exactlyOnce()
			w.unset()
		})
	}
}

// What is stored is not what was sent, and was acknowledged: it is not published. Neither is a note.
func TestHDFSCorruptUpload(t *testing.T) {
	w := newHDFSWorld(t)
	w.set(hdfs.CorruptUpload, hdfs.On{Path: "-000002."})
	w.run().exits(3, w.resumes()).says("checksum")
	w.unset()
	w.shows(0, 1)
	w.resume().exits(0, "")
	w.exactlyOnce()
}

func TestHDFSCorruptNote(t *testing.T) {
	clean := newHDFSWorld(t)
	clean.run("--key", "k").exits(0, "")
	uploads := 0
	for _, r := range clean.ns.Requests(hdfs.CreateData) {
		if strings.Contains(r.Path, "/tmp-") {
			uploads++
		}
	}
	if uploads < 3 {
		t.Fatalf("%d uploads of notes", uploads)
	}
	for n := 1; n <= uploads; n++ {
		w := newHDFSWorld(t)
		w.set(hdfs.CorruptUpload, hdfs.On{Path: "/tmp-", From: n, Times: 1})
		w.run("--key", "k").exits(0, "")
		w.exactlyOnce()
		w.unset()
		manifest := string(w.ns.Files()[path.Join(w.to, runstate.ManifestName(runstate.Token(w.token())))])
		if strings.Count(manifest, "sub0-") < 2 || !strings.Contains(manifest, w.token()) {
			t.Errorf("upload %d: the manifest is %s", n, manifest)
		}
		w.run("--key", "k").exits(0, "")
		w.exactlyOnce()
	}
}

func TestHDFSChecksums(t *testing.T) {
	t.Run("other", func(t *testing.T) {
		w := newHDFSWorld(t)
		w.set(hdfs.ChecksumOther, hdfs.On{Path: "-000002."})
		w.run().exits(3, w.resumes()).says("checksum: false")
		w.unset()
		w.resume().exits(0, "")
		w.exactlyOnce()
	})
	t.Run("unsupported", func(t *testing.T) {
		w := newHDFSWorld(t)
		w.set(hdfs.ChecksumUnsupported, hdfs.On{})
		w.run().exits(1, "").says("UnsupportedOperationException")
		w.shows(0, 0)
		w.options["checksum"] = "false"
		w.run().exits(0, "")
		w.exactlyOnce()
		w.unset()
	})
	// Published, and not journaled; then the servers are configured to other checksums. Nothing was written to.
	t.Run("other after it was published", func(t *testing.T) {
		w := newHDFSWorld(t)
		w.published()
		w.set(hdfs.ChecksumOther, hdfs.On{Path: "/sub0-"})
		w.resume().exits(3, w.resumes()).says("UNKNOWN", "they cannot be compared")
		w.isOpen(1)
		w.unset()
		w.resume().exits(0, "")
		w.exactlyOnce()
	})
}

// published makes a run whose process has published all, and could not see it: nothing of that is journaled.
func (w *hdfsWorld) published() {
	w.t.Helper()
	around, renamed := w.around, false
	w.around = func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			artifact := strings.Contains(r.URL.RequestURI(), "sub0-")
			if renamed && artifact && r.URL.Query().Get("op") != "RENAME" {
				return nil, errGone
			}
			answer, err := around(next).RoundTrip(r)
			if artifact && r.URL.Query().Get("op") == "RENAME" {
				renamed = true
			}
			return answer, err
		})
	}
	w.source(3, 3, 8)
	w.run().exits(3, w.resumes())
	w.around = around
	w.shows(1, 0)
	w.isOpen(1)
}

func TestHDFSPublishedAndNotJournaled(t *testing.T) {
	w := newHDFSWorld(t)
	w.published()
	n := w.ns.Count(hdfs.Rename)
	w.resume().exits(0, "")
	w.exactlyOnce()
	for _, r := range w.ns.Requests(hdfs.Rename)[n:] {
		if strings.Contains(r.Path, "/sub0-") {
			t.Errorf("%s is renamed once more", r.Path)
		}
	}
}

// What was published is written to, replaced or removed before the journal knows of it.
func TestHDFSPublishedAndChanged(t *testing.T) {
	for name, data := range map[string]func(was []byte) []byte{
		"appended": func(was []byte) []byte { return append(was, "more\n"...) },
		"replaced": func(was []byte) []byte { return make([]byte, len(was)) },
		"same":     func(was []byte) []byte { return was },
	} {
		t.Run(name, func(t *testing.T) {
			w := newHDFSWorld(t)
			w.published()
			f, _ := w.ns.File(w.final())
			w.ns.Put(w.final(), data(f.Data))
			w.resume().exits(4, w.resumes()).says("CONFLICT")
			w.isOpen(1)
		})
	}
	t.Run("removed", func(t *testing.T) {
		w := newHDFSWorld(t)
		w.published()
		w.ns.Remove(w.final())
		w.resume().exits(4, w.lost()).says("LOST")
		w.isOpen(1)
	})
}

func TestB35StageGoneBeforeDecision(t *testing.T) {
	w := newHDFSWorld(t)
	w.prepared()
	w.ns.Remove(w.stagedAt(w.first()))
	w.resume().exits(0, "").says("a staged artifact is gone; its rows are read again")
	w.exactlyOnce()
}

func TestB35StageGoneAfterDecision(t *testing.T) {
	w := newHDFSWorld(t)
	w.decided()
	w.ns.Remove(w.stagedAt(w.first()))
	for range 2 {
		w.resume().exits(4, w.lost()).says("LOST", "3 rows")
		w.shows(1, 0)
		w.isOpen(1)
	}
	w.call("resolve", w.token(), w.first().Name, "--as", "lost", "--because", "the trap").exits(0, "")
}

// Something of somebody else's is under the name, a file or a folder: it is not touched, and neither is ours.
func TestB26ForeignFile(t *testing.T) {
	for _, folder := range []bool{false, true} {
		t.Run(fmt.Sprint("folder ", folder), func(t *testing.T) {
			w := newHDFSWorld(t)
			w.decided()
			at := w.final()
			if folder {
				at += "/theirs"
			}
			foreign := strings.Repeat("#", int(w.first().Bytes))
			w.ns.Put(at, []byte(foreign))
			w.resume().exits(4, w.resumes()).says("CONFLICT")
			w.isOpen(1)
			if f, _ := w.ns.File(at); string(f.Data) != foreign {
				t.Error("the foreign file was changed")
			}
			if len(w.staged()) != 1 {
				t.Errorf("staged are %v", w.staged())
			}
			w.ns.Remove(w.final())
			w.resume().exits(0, "")
			w.exactlyOnce()
		})
	}
}

// Somebody's file gets to the name between the look and the rename.
func TestB26ForeignFileInBetween(t *testing.T) {
	w := newHDFSWorld(t)
	handle := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("destination"); strings.Contains(to, "-000001.csv") {
			if _, there := w.ns.File(to); !there {
				w.ns.Put(to, []byte("theirs"))
			}
		}
		w.node.ServeHTTP(rw, r)
	})
	w.handle.Store(&handle)
	w.run().exits(4, w.resumes()).says("CONFLICT")
	w.isOpen(1)
	if f, _ := w.ns.File(w.final()); string(f.Data) != "theirs" {
		t.Errorf("there is %q", f.Data)
	}
}

// A stranger's file in the folder of an artifact does not keep it from being published, and is warned of or stays.
func TestHDFSStrangerInStage(t *testing.T) {
	w := newHDFSWorld(t)
	w.decided()
	w.ns.Put(w.stagedAt(w.first())+"/stranger", nil)
	w.resume().exits(0, "")
	w.once()
}

// Passing troubles that never end leave the run open; when they are over it goes on.
func TestHDFSNeverEnding(t *testing.T) {
	for name, c := range map[string]struct {
		sw hdfs.Switch
		on hdfs.On
	}{
		"retriable":  {hdfs.Exception, hdfs.On{Code: "RetriableException"}},
		"safe mode":  {hdfs.SafeMode, hdfs.On{}},
		"standby":    {hdfs.Exception, hdfs.On{Code: "StandbyException"}},
		"plain text": {hdfs.PlainText, hdfs.On{}},
		"eof":        {hdfs.Exception, hdfs.On{Code: "EOFException"}},
		"dropped":    {hdfs.DropRequest, hdfs.On{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHDFSWorld(t)
			w.decided()
			w.set(c.sw, c.on)
			w.resume().exits(3, w.resumes())
			w.shows(0, 2)
			w.unset()
			w.resume().exits(0, "")
			w.exactlyOnce()

			w = newHDFSWorld(t)
			w.prepared()
			w.set(c.sw, c.on)
			w.resume().exits(3, w.resumes())
			w.unset()
			w.resume().exits(0, "")
			w.exactlyOnce()

			w = newHDFSWorld(t)
			w.set(c.sw, c.on)
			w.run().exits(1, "")
			w.shows(0, 0)
			w.unset()
			w.run().exits(0, "")
			w.exactlyOnce()
		})
	}
}

// Every kind of passing trouble once, at every kind of request: it is asked again.
func TestHDFSPassing(t *testing.T) {
	for _, verb := range []hdfs.Verb{hdfs.Mkdirs, hdfs.Create, hdfs.CreateData, hdfs.GetFileStatus, hdfs.GetFileChecksum, hdfs.GetFileChecksumData,
		hdfs.Rename, hdfs.Delete, hdfs.ListStatusBatch, hdfs.Open, hdfs.OpenData} {
		for _, code := range []string{"RetriableException", "StandbyException", ""} {
			t.Run(fmt.Sprint(verb, code), func(t *testing.T) {
				w := newHDFSWorld(t)
				on := hdfs.On{Verb: verb, Code: code, Times: 1}
				if code == "" {
					w.set(hdfs.PlainText, on)
				} else {
					w.set(hdfs.Exception, on)
				}
				w.run("--key", "k").exits(0, "")
				w.exactlyOnce()
				w.unset()
			})
		}
	}
}

// A call that never gets through is tried as often as the option says.
func TestHDFSRetries(t *testing.T) {
	for _, verb := range []hdfs.Verb{hdfs.GetFileStatus, hdfs.GetFileChecksum, hdfs.Open} {
		w := newHDFSWorld(t)
		if verb != hdfs.GetFileStatus {
			w.run().exits(0, "")
		}
		w.options["retries"] = "3"
		n := w.ns.Count(verb)
		w.set(hdfs.PlainText, hdfs.On{Verb: verb})
		w.run("--key", "k").exits(1, "").says("503")
		if n = w.ns.Count(verb) - n; n != 3 {
			t.Errorf("%s: %d tries, and not 3", verb, n)
		}
		w.unset()
	}
}

// What will not pass is not tried again.
func TestHDFSPermanent(t *testing.T) {
	for _, code := range []string{"AccessControlException", "NSQuotaExceededException", "DSQuotaExceededException", "ParentNotDirectoryException"} {
		for _, verb := range []hdfs.Verb{hdfs.CreateData, hdfs.Mkdirs} {
			t.Run(fmt.Sprint(code, verb), func(t *testing.T) {
				w := newHDFSWorld(t)
				w.options["retries"] = "7"
				w.prepared()
				n := w.ns.Count(verb)
				w.set(hdfs.Exception, hdfs.On{Verb: verb, Path: "-000002.", Code: code})
				w.resume().exits(3, w.resumes()).says(code)
				tries := 0
				for _, r := range w.ns.Requests(verb)[n:] {
					if strings.Contains(r.Path, "-000002.") {
						tries++
					}
				}
				if tries != 1 {
					t.Errorf("%d tries", tries)
				}
				w.unset()
			})
		}
	}
}

// A DELETE that is answered false, and was not done, leaves nothing behind in silence.
func TestB37DeleteFalse(t *testing.T) {
	for _, sw := range []hdfs.Switch{hdfs.DeleteFalse, hdfs.DeleteFalseDone} {
		for _, n := range []int{1, 3, 5, 6} {
			w := newHDFSWorld(t)
			w.set(sw, hdfs.On{From: n, Times: 1})
			w.run().exits(0, "")
			w.once()
			warned := false
			for _, dir := range w.runs() {
				warned = warned || len(w.stateOf(dir).Ended.Warnings) > 0
			}
			if left := w.left(); len(left) > 0 && !warned {
				t.Errorf("%s %d: %v are left, and nothing is said", sw, n, left)
			}
		}
	}
}

// A note of which only a part comes is asked for again.
func TestHDFSNoteCutShort(t *testing.T) {
	for _, note := range []string{"/.clinkctl/id", "/.clinkctl/key-", "/_manifest-"} {
		t.Run(note, func(t *testing.T) {
			w := newHDFSWorld(t)
			cuts := 0
			w.around = func(next http.RoundTripper) http.RoundTripper {
				return closing(roundTrip(func(r *http.Request) (*http.Response, error) {
					answer, err := next.RoundTrip(r)
					if err == nil && r.URL.Query().Get("op") == "OPEN" && r.URL.Query().Get("datanode") == "true" && strings.Contains(r.URL.Path, note) && cuts == 0 {
						cuts++
						answer.Body = http.MaxBytesReader(nil, answer.Body, 10)
					}
					return answer, err
				}))
			}
			w.run("--key", "k").exits(0, "")
			w.exactlyOnce()
			if cuts != 1 {
				t.Errorf("%d answers were cut", cuts)
			}
		})
	}
}
