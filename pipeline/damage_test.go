package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/clinkctl/clinkctl/pipeline"
	"github.com/clinkctl/clinkctl/runstate"
)

// TestEveryByteOfAJournal truncates the journal of a run that stopped at several points, and flips bits in it, one byte at a
// time. Whatever is typed then, no row is ever published twice, and what the user is told leads out.
func TestEveryByteOfAJournal(t *testing.T) {
	stages := map[string]func(*runstate.State) bool{"undecided": onePrepared, "prepared": allPrepared, "decided": decided, "half finished": halfFinished}
	for name, reached := range stages {
		for _, key := range keys {
			t.Run(fmt.Sprintf("%s/key=%s", name, key), func(t *testing.T) {
				t.Parallel()
				w, p := small(t, *seed)
				at := stateOf(t, worlds(t, w, p, key), reached)
				journal, text := at.journal(t)
				sample := rand.New(rand.NewPCG(*seed, 11))
				for i := 0; i < len(text); i++ {
					if !*long {
						i = min(i+sample.IntN(60*stride), len(text)-1)
					}
					cut := at.fork()
					cut.replace(t, journal, text[:i])
					obey(t, cut, p, key)
					cut.wholeRows(t, sourceRows(smallRows))
					flipped := at.fork()
					damaged := append([]byte{}, text...)
					damaged[i] ^= 1 << sample.IntN(8)
					flipped.replace(t, journal, damaged)
					obey(t, flipped, p, key)
					flipped.wholeRows(t, sourceRows(smallRows))
					if t.Failed() {
						t.Fatalf("byte %d of %d", i, len(text))
					}
				}
			})
		}
	}
}

// TestJournalPutBack puts the journal back from every record before the one that the world is at, for every one that the
// world can be at. A run with a key needs no person for that.
func TestJournalPutBack(t *testing.T) {
	for _, key := range keys {
		t.Run("key="+key, func(t *testing.T) {
			t.Parallel()
			w, p := small(t, *seed)
			all := worlds(t, w, p, key)
			for m, now := range all {
				journal, _ := now.journal(t)
				for n := range m {
					_, older := all[n].journal(t)
					w := now.fork()
					w.replace(t, journal, older)
					if key != "" {
						w.resume(t, pipeline.Done)
						w.run(t, p, key, pipeline.Done)
					} else {
						obey(t, w, p, key)
					}
					w.wholeRows(t, sourceRows(smallRows))
					if t.Failed() {
						t.Fatalf("record %d put back at record %d", n+1, m+1)
					}
				}
			}
		})
	}
}
