package columnar

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseUUID(t *testing.T) {
	for text, want := range map[string]Int128{
		"00000000-0000-0000-0000-000000000000": {},
		"ffffffff-ffff-ffff-ffff-ffffffffffff": {Hi: -1, Lo: math.MaxUint64},
		"00112233-4455-6677-8899-AaBbCcDdEeFf": {Hi: 0x0011223344556677, Lo: 0x8899aabbccddeeff},
		"80000000-0000-0000-0000-000000000001": {Hi: math.MinInt64, Lo: 1},
	} {
		got, err := ParseUUID([]byte(text))
		if err != nil || got != want || string(AppendUUID(nil, got)) != strings.ToLower(text) {
			t.Errorf("%q: %x, %v, want %x", text, got, err, want)
		}
	}
	for _, text := range []string{"", "00112233445566778899aabbccddeeff", "{00112233-4455-6677-8899-aabbccddeeff}", "00112233-4455-6677-8899-aabbccddeef",
		"00112233-4455-6677-8899-aabbccddeeff0", "00112233-4455-6677-8899-aabbccddeefg", "00112233-4455-6677-8899-aabbccddee f", "001122334-455-6677-8899-aabbccddeeff",
		"00112233-4455-6677-8899-aabbccdd@eff", "00112233-4455-6677-8899_aabbccddeeff", "urn:uuid:00112233-4455-6677-8899-aabb"} {
		if got, err := ParseUUID([]byte(text)); err == nil || !strings.Contains(err.Error(), "is not a uuid: 8-4-4-4-12") {
			t.Errorf("%q: %x, %v", text, got, err)
		}
	}
}

func TestUUIDComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := int128s().Draw(t, "uuid")
		b := v.BigEndian()
		text := AppendUUID([]byte("x"), v)[1:]
		if want := hex.EncodeToString(b[:]); strings.ReplaceAll(string(text), "-", "") != want {
			t.Fatalf("%s, want the digits %s", text, want)
		}
		if back, err := ParseUUID(text); err != nil || back != v || Int128OfBytes(b) != v {
			t.Fatalf("%s came back as %x, %v", text, back, err)
		}
	})
}

func FuzzParseUUID(f *testing.F) {
	f.Add("00112233-4455-6677-8899-AaBbCcDdEeFf")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseUUID([]byte(text))
		if back := AppendUUID(nil, v); err == nil && string(back) != strings.ToLower(text) {
			t.Fatalf("%q is %s", text, back)
		}
	})
}
