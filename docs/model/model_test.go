package main

import "testing"

func TestProtocol(t *testing.T) {
	for _, size := range QuickSizes() {
		t.Run(size.Model+": "+size.Bounds, func(t *testing.T) {
			t.Parallel()
			checkSize(t, size, 5_000_000)
		})
	}
}

func checkSize(t *testing.T, size Size, states int) {
	result := size.Explore(Bounds{States: states})
	t.Logf("%d states, %d steps", result.States, result.Edges)
	if result.Truncated {
		t.Errorf("gave up after %d states", result.States)
	}
	for _, finding := range result.Findings {
		t.Errorf("%s, %d times:", finding.Name, finding.Count)
		for i, line := range finding.Trace {
			t.Logf("%2d %s", i+1, line)
		}
	}
}

// TestMutations leaves each rule out and wants the table's invariant broken: a model that finds nothing without a rule
// says nothing about that rule.
func TestMutations(t *testing.T) {
	for _, mutation := range append(RunMutations(), KeyMutations()...) {
		t.Run(mutation.Rule, func(t *testing.T) {
			t.Parallel()
			result := mutation.Explore(Bounds{States: 5_000_000, Until: mutation.Finds})
			if mutation.AsExpected(result) {
				return
			}
			t.Errorf("wanted %q (%s), found:", mutation.Finds, mutation.Bounds)
			for _, finding := range result.Findings {
				t.Logf("%s, %d times, in %d steps", finding.Name, finding.Count, finding.Steps())
			}
		})
	}
}
