// Package recipes fills the databases of other programs and looks which of their tables have
// filters. run.sh builds it into the programs for which adapters/README.md has recipes.
package recipes

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/levelbloom/levelbloom/policy"
)

// A Step says how a program opens its database, and so which tables must have filters.
type Step string

const (
	Default Step = "default" // as the program does without us: no table
	Recipe  Step = "recipe"  // with the recipe: all tables
)

// An Engine is one of those for which there are adapters.
type Engine string

const (
	GoLevelDB Engine = "goleveldb"
	PebbleV1  Engine = "Pebble v1"
	PebbleV2  Engine = "Pebble v2"
)

// Run fills a database through a program's functions, and ends the process with an error unless its
// tables have the filters of the step. Compact, if not nil, compacts everything.
func Run[DB io.Closer](engine Engine, step Step, open func(dir string) (DB, error),
	put func(db DB, key, value []byte) error, compact func(DB) error) {
	parent, err := os.MkdirTemp("", "levelbloom-")
	check(err)
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "store.db")
	fill(dir, open, put, compact)
	requireTables(engine, step, dir)
}

// fill writes three tables. Closing a database leaves in its log what was written last, and opening
// it again makes a table of that. The first two have the same keys: in Pebble, compacting makes one
// table of them in L6. The third one has others, so that it keeps the filter it was written with,
// even if a compaction moves it to L6.
func fill[DB io.Closer](dir string, open func(dir string) (DB, error),
	put func(db DB, key, value []byte) error, compact func(DB) error) {
	key := func(round, i int) []byte { return fmt.Appendf(nil, "/%d/%04d", round/2, i) }
	for round := range 4 {
		db, err := open(dir)
		check(err)
		if round == 2 && compact != nil {
			check(compact(db))
		}
		for i := range 1000 {
			if round < 3 {
				check(put(db, key(round, i), []byte("value")))
			}
		}
		if db, ok := any(db).(interface{ Has([]byte) (bool, error) }); ok {
			for i := range 2000 {
				found, err := db.Has(key(round, i))
				check(err)
				require(found == (i < 1000), "round %d: Has(%s) is %t", round, key(round, i), found)
			}
		}
		check(db.Close())
	}
}

// requireTables looks at the tables with filterdump, as adapters/README.md tells users to do.
func requireTables(engine Engine, step Step, dir string) {
	report, err := exec.Command("filterdump", "--json", dir).Output()
	check(err)
	var found struct {
		Verdict string
		Paths   []struct {
			Tables []struct{ Status, Policy string }
		}
	}
	check(json.Unmarshal(report, &found))
	fmt.Printf("%s, %s: %s\n", engine, step, found.Verdict)
	policies := map[string]int{} // tables by the policy of their filters, "" if they have none
	for _, table := range found.Paths[0].Tables {
		policies[table.Policy]++
	}
	if step == Default {
		require(policies[""] > 0 && len(policies) == 1, "policies are %v", policies)
	} else {
		require(policies[policy.NameLevelDB] > 0 && len(policies) == 1, "policies are %v", policies)
	}
}

func require(ok bool, format string, a ...any) {
	if !ok {
		log.Fatalf(format, a...)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
