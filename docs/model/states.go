package main

import "hash/maphash"

const (
	chunkBits = 16
	chunkSize = 1 << chunkBits
)

// stateSet numbers states in the order in which they are first seen. It holds each state once: tens of millions of them
// fit where a map would not, because a map would keep every key a second time and double as it grows.
type stateSet[S comparable] struct {
	seed   maphash.Seed
	chunks [][]S
	count  int
	table  []slot // open addressing; its length is a power of two
}

// slot keeps a part of the hash beside the number, so that most collisions cost no look at a state.
type slot struct {
	hash   uint32
	number int32 // plus one; zero is an empty slot
}

func newStateSet[S comparable]() *stateSet[S] {
	return &stateSet[S]{seed: maphash.MakeSeed(), table: make([]slot, 1<<10)}
}

func (set *stateSet[S]) at(i int32) *S { return &set.chunks[i>>chunkBits][i&(chunkSize-1)] }

// add returns the number of state, and whether it is new.
func (set *stateSet[S]) add(state *S) (int32, bool) {
	if 3*set.count > 2*len(set.table) {
		set.grow()
	}
	hash := uint32(maphash.Comparable(set.seed, *state))
	mask := len(set.table) - 1
	place := int(hash) & mask
	for ; set.table[place].number != 0; place = (place + 1) & mask {
		if i := set.table[place].number - 1; set.table[place].hash == hash && *set.at(i) == *state {
			return i, false
		}
	}
	i := int32(set.count)
	if set.count%chunkSize == 0 {
		set.chunks = append(set.chunks, make([]S, 0, chunkSize))
	}
	last := &set.chunks[len(set.chunks)-1]
	*last = append(*last, *state)
	set.count++
	set.table[place] = slot{hash, i + 1}
	return i, true
}

func (set *stateSet[S]) grow() {
	old := set.table
	set.table = make([]slot, 2*len(old))
	mask := len(set.table) - 1
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		place := int(s.hash) & mask
		for set.table[place].number != 0 {
			place = (place + 1) & mask
		}
		set.table[place] = s
	}
}
