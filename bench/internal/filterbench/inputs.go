package filterbench

import (
	"bytes"
	"math/rand"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

const (
	numQueries = 1 << 16 // in a turn: more than a branch predictor can learn
	keyLength  = 16      // bytes
	seed       = 1       // of the keys

	// firstAbsent is the index of the first absent key. Present keys have the indexes from 0 on.
	firstAbsent = 1 << 40

	// large is a number of keys of which the filter leaves nothing in the caches that the next one
	// to be built would find there.
	large = 1_000_000
)

// inputs are the keys of a cell.
type inputs struct {
	Cell
	// present has the keys of enough filters to make a turn of Build long enough to time. The keys
	// of each filter are sorted, as an engine adds them. Lookups ask the first filter.
	present [][]byte
	queries [][]byte // in random order, one after the other in memory
}

// newKeys returns n random keys of those indexes, one after the other in memory.
func newKeys(n int, index func(i uint64) uint64) [][]byte {
	indexes := make([]uint64, n)
	for i := range indexes {
		indexes[i] = index(uint64(i))
	}
	return keys.Shapes[0].Keys(indexes, seed)
}

// newInputs returns the inputs of a cell. Its queries have each present key equally often,
// or absent keys that are all different.
func newInputs(cell Cell, rng *rand.Rand) *inputs {
	in := &inputs{Cell: cell}
	filters := (numQueries + cell.N - 1) / cell.N
	unsorted := newKeys(filters*cell.N, func(i uint64) uint64 { return i })
	for part := range slices.Chunk(unsorted, cell.N) {
		slices.SortFunc(part, bytes.Compare)
	}
	arena := bytes.Join(unsorted, nil) // one after the other in memory again
	in.present = slices.Collect(slices.Chunk(arena, keyLength))
	n, order := uint64(cell.N), rng.Perm(numQueries)
	in.queries = newKeys(numQueries, func(at uint64) uint64 {
		switch i := uint64(order[at]); {
		case cell.Work == Miss:
			return firstAbsent + i
		case n > numQueries:
			return i * n / numQueries // from all over
		default:
			return i % n
		}
	})
	return in
}
