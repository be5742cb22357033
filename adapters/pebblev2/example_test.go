package pebblev2_test

import (
	"fmt"
	"log"
	"os"

	"github.com/cockroachdb/pebble/v2"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

func Example() {
	dir, err := os.MkdirTemp("", "levelbloom-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := openDB(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	if err := db.Set([]byte("hello"), []byte("world"), pebble.Sync); err != nil {
		log.Fatal(err)
	}
	value, closer, err := db.Get([]byte("hello"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", value)
	if err := closer.Close(); err != nil {
		log.Fatal(err)
	}
	found, err := has(db, []byte("good night"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found)
	// Output:
	// world
	// false
}

// The upper levels, which every lookup passes, get more bits per key than the lower ones, whose
// filters take most of the memory.
func ExampleConfigureLevels() {
	var policies [2]policy.Policy
	for i, setting := range []struct {
		bitsPerKey float64
		name       string
	}{{16, "bloom.16"}, {8, "bloom.8"}} {
		p, err := policy.NewBloom(setting.bitsPerKey, policy.WithName(setting.name))
		if err != nil {
			log.Fatal(err)
		}
		policies[i] = p
	}
	upper, lower := policies[0], policies[1]

	o := &pebble.Options{}
	levels := []policy.Policy{upper, upper, upper, upper, lower, lower, nil} // L0 to L6
	err := pebblev2.ConfigureLevels(o, levels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Levels[0].FilterPolicy.Name(), o.Levels[5].FilterPolicy.Name())
	// Output: bloom.16 bloom.8
}
