package ratebench

import "github.com/levelbloom/levelbloom/policy"

// An Encoding makes and reads filters.
type Encoding struct {
	Name        string
	Description string
	New         func(bitsPerKey float64) (policy.Policy, error)
	// Bounds holds the highest rates that the encoding promises, by bits per key, for manyKeys to mostKeys. With bounds it
	// promises too that for fewKeys to manyKeys it is no worse than Exact with random keys. Binary fuse filters, of which only
	// the builder knows where it makes them, have a promise of their own instead: the rate that their fingerprints have.
	Bounds map[float64]float64
}

const (
	fewKeys  = 8
	manyKeys = 500
	mostKeys = 10_000_000
)

// Exact and its rate for random keys are what small filters of other encodings are compared with.
const (
	Exact  = "exact"
	random = "random"
)

// Encodings lists all encodings.
var Encodings = []Encoding{
	{Exact, "LevelDB's Bloom filter", func(bits float64) (policy.Policy, error) { return policy.NewBloom(bits) }, nil},
	blocked,
	{"fuse", "binary fuse, or blocked Bloom where that has fewer false positives", func(bits float64) (policy.Policy, error) { return policy.NewBinaryFuse(bits) }, blocked.Bounds},
}

var blocked = Encoding{"blocked", "blocked Bloom", func(bits float64) (policy.Policy, error) { return policy.NewBlockedBloom(bits) },
	map[float64]float64{10: 0.0100, 16: 0.0009, 20: 0.00022}}
