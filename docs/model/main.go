// Command model explores the export protocol: every state that its processes, crashes and third parties can reach
// within small bounds. README.md says what is modelled, and what is not.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	model := flag.String("model", "all", "run, key or all")
	size := flag.String("size", "quick", "quick or long")
	mutations := flag.Bool("mutations", false, "leave one rule out at a time, at small bounds")
	verbose := flag.Bool("v", false, "print a shortest trace of each finding")
	states := flag.Int("states", 100_000_000, "give up beyond this number of states")
	flag.Parse()
	if flag.NArg() > 0 || !oneOf(*model, "run", "key", "all") || !oneOf(*size, "quick", "long") {
		flag.Usage()
		os.Exit(64)
	}
	ok := false
	if *mutations {
		ok = checkMutations(*model, Bounds{States: *states}, *verbose)
	} else {
		ok = checkProtocol(*model, *size, Bounds{States: *states}, *verbose)
	}
	if !ok {
		os.Exit(1)
	}
}

func oneOf(value string, allowed ...string) bool {
	for _, a := range allowed {
		if value == a {
			return true
		}
	}
	return false
}

// checkProtocol explores the whole protocol. It is ok when nothing is found.
func checkProtocol(model, size string, bounds Bounds, verbose bool) bool {
	sizes := QuickSizes()
	if size == "long" {
		sizes = LongSizes()
	}
	ok := true
	for _, s := range sizes {
		if model != "all" && model != s.Model {
			continue
		}
		start := time.Now()
		result := s.Explore(bounds)
		fmt.Printf("%s: %s\n", s.Model, s.Bounds)
		printResult(result, time.Since(start), verbose)
		ok = ok && len(result.Findings) == 0 && !result.Truncated
	}
	return ok
}

// checkMutations explores each mutation. It is ok when each finds what it is there to find.
func checkMutations(model string, bounds Bounds, verbose bool) bool {
	var mutations []Mutation
	if model != "key" {
		mutations = append(mutations, RunMutations()...)
	}
	if model != "run" {
		mutations = append(mutations, KeyMutations()...)
	}
	ok := true
	for _, m := range mutations {
		start := time.Now()
		result := m.Explore(bounds)
		fmt.Printf("without: %s\n  (%s)\n", m.Rule, m.Bounds)
		printResult(result, time.Since(start), verbose)
		if m.Finds == "" {
			fmt.Printf("  guarded by: %s\n", m.GuardedBy)
		}
		ok = ok && m.AsExpected(result)
	}
	return ok
}

// AsExpected reports whether the exploration found what the table says.
func (m Mutation) AsExpected(result Result) bool {
	if m.Finds == "" {
		return len(result.Findings) == 0 && !result.Truncated
	}
	return result.Has(m.Finds)
}

func printResult(result Result, took time.Duration, verbose bool) {
	fmt.Printf("  %d states, %d steps, %v", result.States, result.Edges, took.Round(10*time.Millisecond))
	switch {
	case result.Truncated:
		fmt.Println(", TRUNCATED")
	case len(result.Findings) == 0:
		fmt.Println(", nothing found")
	default:
		fmt.Println()
	}
	for _, finding := range result.Findings {
		fmt.Printf("  FOUND %s (%d times; shortest in %d steps)\n", finding.Name, finding.Count, finding.Steps())
		if !verbose {
			continue
		}
		for i, line := range finding.Trace {
			fmt.Printf("      %2d %s\n", i+1, line)
		}
	}
}
