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

// One call that is lost is no matter where calls are tried again, also where it was done and the next try meets what it did.
func TestNativeOneCallIsLost(t *testing.T) {
	h := newRealHDFS(t)
	for name, l := range map[string]loss{
		"read of the id":       {of: naming("getBlockLocations", "/.clinkctl/id")},
		"read of the mark":     {of: naming("getBlockLocations", "/.clinkctl/key-")},
		"read of the manifest": {of: naming("getBlockLocations", "/_manifest-")},
		"file of the id":       {done: true, of: naming("create", "/tmp-id-")},
		"file of the mark":     {done: true, of: naming("create", "/tmp-key-")},
		"file of the manifest": {done: true, of: naming("create", "/tmp-_manifest-")},
		"file of the probe":    {done: true, of: naming("create", "/probe-")},
		"block of the probe":   {of: naming("addBlock", "/probe-")},
		"end of the probe":     {done: true, of: naming("complete", "/probe-")},
		"rename of the probe":  {done: true, of: naming("rename2", "/probe-", "/three")},
	} {
		t.Run(name, func(t *testing.T) {
			w := h.world(t)
			w.options["retries"] = "3"
			l.from, l.once = 1, true
			w.proxy.set(l)
			w.run("--key", "k").exits(0, "")
			w.wasLost()
			w.exactlyOnce()
		})
	}
}
