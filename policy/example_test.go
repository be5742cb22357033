package policy_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/levelbloom/levelbloom/policy"
)

func Example() {
	bloom, err := policy.NewBloom(10) // bits per key
	if err != nil {
		log.Fatal(err)
	}
	filter := bloom.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})
	fmt.Println(policy.MayContain(filter, []byte("hello")))
	fmt.Println(policy.MayContain(filter, []byte("foo")))
	// Output:
	// true
	// false
}

func ExampleWithName() {
	// goleveldb stores the same bytes under another name than C++ LevelDB.
	bloom, err := policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bloom.Name())

	_, err = policy.NewBloom(10, policy.WithName("none"))
	fmt.Println(err)
	// Output:
	// leveldb.BuiltinBloomFilter
	// policy: the name "none" means "no filter" in Pebble's options files: pass another
}

// Filters with fewer false positives, for keys of any shape. All policies of this package read them,
// and no other reader.
func ExampleNewRibbon() {
	ribbon, err := policy.NewRibbon(10)
	if err != nil {
		log.Fatal(err)
	}
	filter := ribbon.AppendFilter(nil, [][]byte{[]byte("hello"), []byte("world")})

	fmt.Println(policy.MayContain(filter, []byte("hello")),
		policy.MayContain(filter, []byte("absent")))
	fmt.Printf("%.2f %% of absent keys, instead of %.2f %%\n", 100*ribbon.FPP(100_000), 1.45)
	// Output:
	// true false
	// 0.11 % of absent keys, instead of 1.45 %
}

// Filters of counters, for C++ LevelDB and all other readers of its filters.
func ExampleNewBloom_tuning() {
	plain, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	tuned, err := policy.NewBloom(10, policy.WithTuning(0.05)) // up to 5 % larger
	if err != nil {
		log.Fatal(err)
	}
	var present, absent [][]byte
	for i := range uint64(77) {
		key := binary.BigEndian.AppendUint64(nil, i)
		if i%3 > 0 {
			present = append(present, key)
		} else {
			absent = append(absent, key)
		}
	}
	for _, p := range []*policy.Bloom{plain, tuned} {
		filter := p.AppendFilter(nil, present)
		falsePositives := 0
		for _, key := range absent {
			if policy.MayContain(filter, key) {
				falsePositives++
			}
		}
		fmt.Println(p, len(filter), "bytes,", falsePositives, "of 26 absent keys")
	}
	// Output:
	// bloom:10 65 bytes, 26 of 26 absent keys
	// bloom:10,tuning=0.05 68 bytes, 0 of 26 absent keys
}

// A flag or a configuration file chooses the policy.
func ExampleFromString() {
	for _, text := range []string{"ribbon:10", "bloom:9.5,tuning=0.05", "cuckoo:10"} {
		p, err := policy.FromString(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(p) // String gives the text back
	}
	// Output:
	// ribbon:10
	// bloom:9.5,tuning=0.05
	// policy: "cuckoo" is not a kind of filter: write one of bloom, tuned, ribbon, a colon, and the bits per key, such as bloom:10
}

// The least memory with which at most one of a thousand absent keys is a false positive.
func ExampleBitsFor() {
	const keys, perFilter = 10_000_000, 100_000
	bits, err := policy.BitsFor("ribbon", perFilter, 0.001)
	if err != nil {
		log.Fatal(err)
	}
	ribbon, err := policy.NewRibbon(bits)
	if err != nil {
		log.Fatal(err)
	}
	bytes := keys / perFilter * ribbon.FilterSize(perFilter)
	fmt.Printf("%v bits per key, %.1f MB\n", bits, float64(bytes)/1e6)
	// Output: 10.2 bits per key, 12.8 MB
}

// Give the counting policy to the engine in place of the other one.
func ExampleCount() {
	bloom, err := policy.NewBloom(10)
	if err != nil {
		log.Fatal(err)
	}
	counted := policy.Count(bloom)

	// What an engine does:
	builder := counted.NewBuilder()
	builder.Add([]byte("hello"))
	filter := builder.Finish(nil)
	counted.MayContain(filter, []byte("hello"))
	counted.MayContain(filter, []byte("absent"))

	c := counted.Snapshot()
	fmt.Println(c.Filters, "filter built,", c.ReadsAvoided, "read avoided,", c.MayContain, "not")
	// Output: 1 filter built, 1 read avoided, 1 not
}

// What is in a filter.
func ExampleParse() {
	filter := []byte{0x01, 0x40, 0x00, 0x01, 0x04, 0x10, 0x40, 0x00, 0x06}
	info, err := policy.Parse(filter)
	if err != nil {
		log.Fatal(err)
	}
	keys, _ := info.Estimate()
	fmt.Printf("%s, k = %d, about %.0f key\n", info.Encoding, info.K, keys)

	_, err = policy.Parse([]byte{0xff, 0xff})
	fmt.Println(errors.Is(err, policy.ErrReplaced))
	// Output:
	// LevelDB Bloom, k = 6, about 1 key
	// true
}
