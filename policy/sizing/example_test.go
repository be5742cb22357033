package sizing_test

import (
	"fmt"
	"log"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/sizing"
)

// The levels of a Pebble database. Two have no keys, and no lookup asks a filter of the last one.
func ExampleLevels() {
	levels, err := sizing.Levels(policy.NewRibbon, []int{1e5, 0, 0, 1e6, 1e7, 1e8, 0}, 10)
	if err != nil {
		log.Fatal(err)
	}
	for level, p := range levels {
		if p != nil {
			fmt.Printf("L%d: %v\n", level, p)
		}
	}
	// Output:
	// L0: ribbon:19.5
	// L3: ribbon:16.2
	// L4: ribbon:12.9
	// L5: ribbon:9.6
}
