package main

import "testing"

// What becomes of single calls of a NameNode that are lost, in native HDFS.

// A connection that ends while a file is read is not the end of the file, and is said to have ended.
func TestNativeConnectionEndsInRead(t *testing.T) {
	w := newRealHDFS(t).world(t)
	w.proxy.set(loss{from: 1, once: true, of: naming("getBlockLocations", "/.clinkctl/id")})
	w.run().exits(1, "").says("the call was not answered")
	w.wasLost()
	w.run().exits(0, "")
	w.once()
}
