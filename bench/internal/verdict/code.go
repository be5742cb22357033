package verdict

import (
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/policy"
)

// code returns the lines of Go to change: for lookups of absent keys in Pebble's L6 if that is
// worth a change, for the best filter, or for the one that saves memory.
func (q *inquiry) code() []string {
	configure := fmt.Sprintf("err = %s.Configure(options, p", q.engine)
	switch {
	case q.deep():
		return []string{q.call(fmt.Sprint(q.Bits)), configure + ", " + q.engine + ".WithL6(p))",
			fmt.Sprintf("found, err := %s.Has(db, key)", q.engine)}
	case !q.changes() && q.saved() > 0:
		_, bits, _ := strings.Cut(engine.RibbonSmall, ":")
		return []string{q.call(bits) + " // to save memory", configure + ")"}
	case !q.changes():
		return nil
	case q.best.filter == ribbon:
		return []string{q.call(fmt.Sprint(q.Bits)), configure + ")"}
	case q.engine == "goleveldb":
		return []string{fmt.Sprintf("options.Filter = filter.NewBloomFilter(%d)", q.Bits)}
	}
	return []string{fmt.Sprintf("options.Levels[i].FilterPolicy = bloom.FilterPolicy(%d) "+
		"// of each level but the last", q.Bits)}
}

// call returns the line of Go that makes ribbon filters for the inquiry's engine. goleveldb has a
// name of its own for LevelDB's filters, unless C++ LevelDB shares the files.
func (q *inquiry) call(bits string) string {
	name := ""
	shared := q.Disk != nil && q.Disk.Sample.Policies[policy.Name] > 0
	if q.engine == "goleveldb" && !shared {
		name = ", policy.WithName(policy.NameGoLevelDB)"
	}
	return fmt.Sprintf("p, err := policy.NewRibbon(%s%s)", bits, name)
}
