package policy_test

import (
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
