package main

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage/s3/s3test"
)

// Reports B12, B13 and B15: sizes of parts, which stores refuse when all of them are there.

// A size that a store will refuse in the end is refused before anything is read, and why.
func TestB12PartsInMegabytes(t *testing.T) {
	for _, size := range []string{"5MB", "4MiB", "5242879", "6GiB"} {
		w := newS3World(t)
		w.options["part_size"] = size
		w.run().exits(64, "").says("part_size")
		if size == "5MB" {
			w.run().says("MiB", "1,048,576")
		}
		if n := len(w.store.Requests()); n != 0 {
			t.Errorf("%s: %d requests were made", size, n)
		}
	}
}

// A store that wants larger parts than others says so only at the end: nothing is published, and the run says it is open.
func TestB12StoreWantsLargerParts(t *testing.T) {
	w := newS3World(t)
	w.twoParts()
	w.set(s3test.MinPart, s3test.On{N: 6 << 20})
	w.run().exits(3, w.resumes()).says("EntityTooSmall")
	w.shows(0, 2)
	w.isOpen(2)
	w.unset()
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// A store with fewer parts refuses before the decision: the job can be run with larger ones.
func TestB12StoreHasFewerParts(t *testing.T) {
	w := newS3World(t)
	w.twoParts()
	w.set(s3test.MaxParts, s3test.On{N: 1})
	w.run().exits(3, w.resumes()).says("send part 2", "Part number must be")
	w.shows(0, 0)
	w.call("abandon", w.token()).exits(0, "")
	w.options["part_size"] = "8MiB"
	w.run().exits(0, "")
	w.store.Unset()
	w.noUploads()
}

// Whatever becomes of a journal, what it says must add up before an upload is completed.
func TestB13PartSizeInTheJournal(t *testing.T) {
	w := newS3World(t)
	w.decided()
	journal, _ := filepath.Rel(w.dir, filepath.Join(w.runs()[0], "journal"))
	text := w.read(journal)
	size := fmt.Sprintf(`"size":%d`, payloadOf(t, w.first()).Parts[0].Size)
	broken := rechained(t, strings.Replace(text, size, size+"0", 1))
	w.write(journal, strings.Replace(text, size, size+"0", 1))
	w.resume().exits(4, fmt.Sprintf("clinkctl abandon --damaged %s --because '...'", filepath.Base(w.runs()[0]))).says("damaged")
	w.write(journal, broken) // with good checksums, as whoever forges it would
	since := w.counting()
	w.resume().exits(3, w.resumes()).says("its 1 parts have", "and the artifact has")
	if n := since(s3test.CompleteMultipartUpload); n != 1 {
		t.Errorf("%d completions, and one artifact is right", n)
	}
	w.isOpen(1)
	w.write(journal, text)
	w.resume().exits(0, "")
	w.exactlyOnce()
}

// rechained gives lines of a journal the checksums that they need.
func rechained(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	seed, table := uint32(0), crc32.MakeTable(crc32.Castagnoli)
	for line := range strings.Lines(text) {
		_, record, ok := strings.Cut(line, " ")
		if !ok {
			t.Fatalf("no line of a journal: %q", line)
		}
		seed = crc32.Update(seed, table, []byte(strings.TrimSuffix(record, "\n")))
		fmt.Fprintf(&out, "%08x %s", seed, record)
	}
	return out.String()
}

// A bit turns at the store, behind all of its checksums. No request shows it; the manifest's digest does, to whoever reads.
func TestB13BitTurnsAtTheStore(t *testing.T) {
	w := newS3World(t)
	w.options["checksum"] = "sha256"
	w.set(s3test.CorruptPart, s3test.On{Key: "-000002."})
	w.run().exits(0, "")
	w.unset()
	differs := 0
	for h := range w.state().Kept() {
		o, _ := w.store.Object(bucket, prefix+"/"+h.Name)
		manifest, _ := w.store.Object(bucket, prefix+"/"+runstate.ManifestName(w.state().Begun.Run))
		if !strings.Contains(string(manifest.Data), h.Digest) {
			t.Errorf("the manifest does not say the digest of %s", h.Name)
		}
		if runstate.DigestOf(o.Data) != h.Digest {
			differs++
		}
	}
	if differs != 1 {
		t.Errorf("%d artifacts differ from the manifest, and not 1", differs)
	}
}

// Parts that a stranger changes under a journaled upload are found before the decision, and the rows are read again.
func TestB13PartReplaced(t *testing.T) {
	for _, sw := range []s3test.Switch{"", s3test.StaleETagOnRepart} {
		t.Run(string(sw), func(t *testing.T) {
			w := newS3World(t)
			if sw != "" {
				w.set(sw, s3test.On{})
			}
			w.set(s3test.Deny, s3test.On{Verb: s3test.UploadPart, Key: "-000002.", Times: 1})
			w.run().exits(3, w.resumes())
			w.strangersPart(w.first())
			e := w.resume().exits(0, "")
			if sw == "" {
				e.says("a staged artifact is gone")
			}
			w.exactlyOnce()
			w.unset()
		})
	}
}

// All parts but the last are equal, on every store, and the last is not larger. No part is sent twice with other bytes.
func TestB15EqualParts(t *testing.T) {
	w := newS3World(t)
	w.source(28, 14, 1<<20) // three parts each
	w.options["retries"] = "3"
	w.set(s3test.EqualParts, s3test.On{})
	w.set(s3test.RefuseRepart, s3test.On{})
	w.set(s3test.ErrorAfter, s3test.On{Verb: s3test.UploadPart, Times: 1, Status: http.StatusServiceUnavailable})
	w.run().exits(0, "")
	w.exactlyOnce()
	for _, name := range w.names() {
		o, _ := w.store.Object(bucket, prefix+"/"+name)
		if strings.HasPrefix(name, "sub") && (len(o.Parts) != 3 || o.Parts[0] != 5<<20 || o.Parts[1] != 5<<20 || o.Parts[2] > 5<<20) {
			t.Errorf("%s has the parts %v", name, o.Parts)
		}
	}
}
