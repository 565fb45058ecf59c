//go:build linux || darwin

package vfs

import (
	"bytes"
	"os"
	"testing"
)

// writeZeros must do for a file opened for appending, whose writes the kernel puts at its end.
func TestWriteZeros(t *testing.T) {
	name := t.TempDir() + "/a"
	if err := os.WriteFile(name, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int64{2, 3, 200_000, 200_000, 100} {
		if err := writeZeros(int(f.Fd()), size); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := append([]byte("abc"), make([]byte, max(0, size-3))...)
		if size == 100 {
			want = append([]byte("abc"), make([]byte, 200_000-3)...)
		}
		if !bytes.Equal(data, want) {
			t.Fatalf("after %d: %d bytes, want %d", size, len(data), len(want))
		}
	}
}
