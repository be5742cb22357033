package pebblev2_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/cockroachdb/pebble/v2"
)

// takeOver prints what differs between two sets of options. Then it opens a database with the
// former ones, with the recipe's, and with the former ones again. Each time it writes 100 keys to a
// table of their own, and prints how many of all keys it finds. A key lies in one table, so Get
// asks one filter if the options know its name.
func takeOver(former, recipe *pebble.Options) {
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	before, after := filtersOf(former), filtersOf(recipe)
	for level := range after {
		fmt.Printf("L%d: %s -> %s\n", level, before[level], after[level])
	}
	fmt.Println("all other options unchanged:", effective(former) == effective(recipe))

	dir, err := os.MkdirTemp("", "levelbloom-")
	check(err)
	defer os.RemoveAll(dir)
	var keys [][]byte
	for _, step := range []struct {
		name    string
		options *pebble.Options
	}{{"former options", former}, {"the recipe's", recipe}, {"former options", former}} {
		o := step.options.Clone()
		o.DisableAutomaticCompactions = true // the tables stay in L0; Get asks no filter in L6
		db, err := pebble.Open(dir, o)
		check(err)
		for range 100 {
			key := fmt.Appendf(nil, "key%03d", len(keys))
			check(db.Set(key, value(key), pebble.NoSync))
			keys = append(keys, key)
		}
		check(db.Flush())
		found := 0
		for _, key := range keys {
			if got, closer, err := db.Get(key); err == nil && bytes.Equal(got, value(key)) {
				found++
				check(closer.Close())
			}
		}
		m := db.Metrics().Filter
		fmt.Printf("%s: %d of %d keys found, filters asked %d times\n",
			step.name, found, len(keys), m.Hits+m.Misses)
		check(db.Close())
	}
}
