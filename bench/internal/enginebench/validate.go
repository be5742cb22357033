package enginebench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// Validate checks the settings, but for Keys and Dir, and sorts Disks. The error names the flag.
func (c *Config) Validate() error {
	var errs []error
	between := func(flag string, value, least, most int) {
		if value < least || value > most {
			errs = append(errs, fmt.Errorf("--%s %d: pass %d to %d", flag, value, least, most))
		}
	}
	between("reads", c.Reads, 1, 1<<30)
	between("rounds", c.Rounds, 1, 1<<20)
	between("value-size", c.ValueSize, 0, 1<<20)
	for _, d := range c.Disks {
		if d < 0 || d > time.Second {
			errs = append(errs, fmt.Errorf("--disk %v: pass 0s to 1s", d))
		}
	}
	if err := goleveldb.WithFilterBaseLg(c.BaseLg)(&opt.Options{}); err != nil {
		errs = append(errs, fmt.Errorf("--baselg: %w", err))
	}
	if _, err := policy.NewBloom(c.Bits); err != nil {
		errs = append(errs, fmt.Errorf("--bits: %w", err))
	}
	slices.Sort(c.Disks)
	return errors.Join(errs...)
}
