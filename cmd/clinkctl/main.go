// Command clinkctl exports batches exactly once.
package main

import "os"

func main() {
	os.Exit(Main(os.Args[1:], Production(), Streams{Out: os.Stdout, Err: os.Stderr}))
}
