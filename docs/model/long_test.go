//go:build long

package main

import "testing"

// TestLongProtocol needs minutes and gigabytes: one size after the other.
func TestLongProtocol(t *testing.T) {
	for _, size := range LongSizes() {
		t.Run(size.Model+": "+size.Bounds, func(t *testing.T) { checkSize(t, size, 100_000_000) })
	}
}
