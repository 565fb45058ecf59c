package runstate_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/clinkctl/clinkctl/runstate"
)

const token = runstate.Token("20261130t013000z7f3a9c1e")

func TestToken(t *testing.T) {
	zone := time.FixedZone("", 3600)
	got, err := runstate.NewToken(time.Date(2026, 11, 30, 2, 30, 0, 999, zone), bytes.NewReader([]byte{0x7f, 0x3a, 0x9c, 0x1e}))
	if err != nil || got != token {
		t.Fatal(got, err)
	}
	if at := got.Began(); !at.Equal(time.Date(2026, 11, 30, 1, 30, 0, 0, time.UTC)) {
		t.Fatal(at)
	}
	if _, err := runstate.NewToken(time.Now(), bytes.NewReader([]byte{1})); err == nil {
		t.Fatal("a token of too few random bits")
	}
	if _, err := runstate.ParseToken(string(token)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "20261130t013000z7f3a9c1", "20261130t013000z7f3a9c1ef", "20261130T013000z7f3a9c1e", "20261130t013000Z7f3a9c1e",
		"20261130t013000z7F3A9C1E", "20261330t013000z7f3a9c1e", "20261131t013000z7f3a9c1e", "20261130t243000z7f3a9c1e", "20261130t016000z7f3a9c1e",
		"20261130t013060z7f3a9c1e", "20261130-013000z7f3a9c1e", " 0261130t013000z7f3a9c1e", "20261130t013000z7f3a9c1g", "2026113\xc3\xa9t13000z7f3a9c1",
		"+0261130t013000z7f3a9c1e"} {
		if got, err := runstate.ParseToken(bad); err == nil {
			t.Errorf("%q is taken for the token %q", bad, got)
		}
	}
	for _, odd := range []runstate.Token{"", "x", "20261130"} {
		if !odd.Began().IsZero() {
			t.Errorf("%q began", odd)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]runstate.Artifact{
		"sub0-20261130t013000z7f3a9c1e-000001.csv":               {Run: token, Checkpoint: 1, Ext: "csv"},
		"sub12-20261130t013000z7f3a9c1e-000120.parquet":          {Run: token, Subtask: 12, Checkpoint: 120, Ext: "parquet"},
		"sub0-20261130t013000z7f3a9c1e-1234567":                  {Run: token, Checkpoint: 1234567},
		"sub0-20261130t013000z7f3a9c1e-000001.rejects.ndjson":    {Run: token, Checkpoint: 1, Ext: "rejects.ndjson"},
		"sub2147483647-20261130t013000z7f3a9c1e-2147483647.csv":  {Run: token, Subtask: 1<<31 - 1, Checkpoint: 1<<31 - 1, Ext: "csv"},
		"sub0-20261130t013000z7f3a9c1e-000001.sub0-x-000002.csv": {Run: token, Checkpoint: 1, Ext: "sub0-x-000002.csv"},
	} {
		got, err := runstate.ParseName(name)
		if err != nil || got != want || got.Name() != name {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	good := "sub0-20261130t013000z7f3a9c1e-000001.csv"
	for _, bad := range []string{"", "sub", "sub0", ".csv", good + ".", "x" + good, "Sub0" + good[4:], "sub" + good[4:], "sub00" + good[4:],
		"sub+0" + good[4:], "sub-0" + good[4:], "sub01" + good[4:], "sub2147483648" + good[4:], "sub99999999999999999999" + good[4:],
		strings.Replace(good, "000001", "000000", 1), strings.Replace(good, "000001", "00001", 1), strings.Replace(good, "000001", "0000001", 1),
		strings.Replace(good, "000001", "+00001", 1), strings.Replace(good, "000001", "2147483648", 1), strings.Replace(good, "000001", "00000a", 1),
		strings.Replace(good, "-000001", "-000001-0", 1), strings.Replace(good, "-000001", "", 1), strings.Replace(good, "z7f", "z7F", 1),
		strings.Replace(good, "000001", "٠٠٠٠٠1", 1), "_manifest-20261130t013000z7f3a9c1e.json", "sub0-20261130t013000z7f3a9c1e-000001 .csv"} {
		if got, err := runstate.ParseName(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, got)
		}
	}
	if got, err := runstate.ParseManifestName(runstate.ManifestName(token)); err != nil || got != token {
		t.Fatal(got, err)
	}
	for _, bad := range []string{"", "_manifest-.json", "_manifest-" + string(token), string(token) + ".json", "manifest-" + string(token) + ".json",
		"_manifest-" + string(token) + "x.json", "_manifest-" + string(token) + ".json.json"} {
		if _, err := runstate.ParseManifestName(bad); err == nil {
			t.Errorf("%q is taken for a manifest", bad)
		}
	}
}

func TestNamesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := runstate.Artifact{Run: token, Subtask: rapid.IntRange(0, 1<<31-1).Draw(t, "subtask"),
			Checkpoint: rapid.IntRange(1, 1<<31-1).Draw(t, "checkpoint"), Ext: rapid.StringMatching(`([a-z0-9]+(\.[a-z0-9]+)?)?`).Draw(t, "ext")}
		got, err := runstate.ParseName(a.Name())
		if err != nil || got != a {
			t.Fatalf("%q: %+v, %v", a.Name(), got, err)
		}
	})
}

func FuzzParseName(f *testing.F) {
	f.Add("sub0-20261130t013000z7f3a9c1e-000001.csv")
	f.Add("_manifest-20261130t013000z7f3a9c1e.json")
	f.Fuzz(func(t *testing.T, name string) {
		if a, err := runstate.ParseName(name); err == nil && a.Name() != name {
			t.Fatalf("%q is %+v, whose name is %q", name, a, a.Name())
		}
		if token, err := runstate.ParseManifestName(name); err == nil && runstate.ManifestName(token) != name {
			t.Fatalf("%q is the manifest of %q", name, token)
		}
		if token, err := runstate.ParseToken(name); err == nil && token.Began().Year() < 0 {
			t.Fatalf("%q began %v", name, token.Began())
		}
	})
}

// TestDigest compares with what `xxhsum -H128` prints.
func TestDigest(t *testing.T) {
	for text, want := range map[string]string{
		"":     "xxh128:99aa06d3014798d86001c324468d497f",
		"a":    "xxh128:a96faf705af16834e6c632b61e964e1f",
		"abc":  "xxh128:06b05ab6733a618578af5f94892f3950",
		"\x00": "xxh128:a6cd5e9392000f6ac44bdff4074eecdb",
	} {
		if got := runstate.DigestOf([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	long := bytes.Repeat([]byte("clinkctl "), 10_000)
	h := runstate.NewHasher()
	for at := 0; at < len(long); at += 777 {
		if _, err := h.Write(long[at:min(at+777, len(long))]); err != nil {
			t.Fatal(err)
		}
	}
	if h.Digest() != runstate.DigestOf(long) {
		t.Fatal("in pieces it is another one")
	}
	v, err := runstate.Verifier(h.Digest())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = v.Write(long) // cannot fail
	if v.Digest() != h.Digest() {
		t.Fatal("the verifier computes another one")
	}
	for _, unknown := range []string{"", "xxh128", "md5:00", "xxh64:00"} {
		if _, err := runstate.Verifier(unknown); unknown != "xxh128" && err == nil {
			t.Errorf("%q has a verifier", unknown)
		}
	}
}
