package sizing_test

import (
	"fmt"
	"log"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/sizing"
)

// The least memory with which at most one of a thousand absent keys is a false positive.
func ExampleBitsFor() {
	const keys, perFilter = 10_000_000, 100_000
	bits, err := sizing.BitsFor("ribbon", perFilter, 0.001)
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
