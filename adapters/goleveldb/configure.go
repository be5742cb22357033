package goleveldb

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/policy"
)

// maxFilterBaseLg is the largest that goleveldb can use: offsets have 64 bits.
const maxFilterBaseLg = 63

// Configure makes p the policy of the databases that are opened with o, and keeps the filters of
// tables already on disk in use. Usually p is
//
//	p, err := policy.NewRibbon(10)
//
// But if another program must use the filters, p is a Bloom policy under the name that the program
// looks for: policy.NewBloom(10) for C++ LevelDB, and
// policy.NewBloom(10, policy.WithName(policy.NameGoLevelDB)) for plain goleveldb. Configure never
// changes a name: every table stores p's.
//
// Configure changes two fields of o:
//
//   - Filter becomes New(p).
//   - AltFilters becomes a new slice of the filters that goleveldb reads besides p's: the former
//     Filter, the former AltFilters, and readers of package policy's filters under LevelDB's and
//     goleveldb's name. Where several have one name, the first counts; p comes before all.
//
// It returns an error that says what to do, and leaves o alone, if o is nil, if p is nil or the
// zero Policy, if FilterBaseLg is more than 63, for which goleveldb panics as it writes a table, or
// if a former filter has p's name and may have another encoding. Policies of package policy share a
// name with each other and with goleveldb's own filter.NewBloomFilter.
//
// A database copies its options when it is opened, so a later Configure has no effect on it.
// Configure must not run concurrently with other uses of o.
//
// Filters compare keys byte by byte. They cannot be used with a Comparer for which different keys
// are equal, such as one that ignores case.
func Configure(o *opt.Options, p *policy.Policy) error {
	if o == nil {
		return errors.New("goleveldb: the options are nil: pass &opt.Options{}")
	}
	if o.FilterBaseLg > maxFilterBaseLg {
		return fmt.Errorf("goleveldb: Options.FilterBaseLg is %d: set 11 to %d, the binary logarithm "+
			"of the bytes that share a filter, or 0 for 11; 21 makes one filter for a table of 2 MiB",
			o.FilterBaseLg, maxFilterBaseLg)
	}
	chosen, err := newFilter(p)
	if err != nil {
		return err
	}
	alt, err := alternatives(o, chosen)
	if err != nil {
		return err
	}
	o.Filter, o.AltFilters = chosen, alt
	return nil
}

// alternatives returns the filters to keep beside chosen, one of each name.
func alternatives(o *opt.Options, chosen *policyFilter) ([]filter.Filter, error) {
	var former []filter.Filter
	if o.Filter != nil {
		former = append(former, o.Filter)
	}
	former = append(former, o.AltFilters...)
	for _, name := range []string{policy.NameLevelDB, policy.NameGoLevelDB} {
		leveldb, err := policy.NewBloom(10, policy.WithName(name)) // any number of bits reads all
		if err != nil {
			return nil, err
		}
		former = append(former, New(leveldb))
	}

	var alt []filter.Filter
	seen := map[string]bool{}
	for _, f := range former {
		switch {
		case f == nil:
			return nil, errors.New("goleveldb: Options.AltFilters has a nil entry: remove it")
		case f.Name() == chosen.Name():
			if !isReadByAll(f) {
				return nil, fmt.Errorf("goleveldb: the name %q is taken by a filter (%T) that may "+
					"have another encoding: give the new policy a name of its own with "+
					"policy.WithName", chosen.Name(), f)
			}
		case !seen[f.Name()]:
			seen[f.Name()] = true
			alt = append(alt, f)
		}
	}
	return alt, nil
}

// isReadByAll reports whether every policy reads the filters of f: it is one, or goleveldb's own.
func isReadByAll(f filter.Filter) bool {
	if _, ok := f.(*policyFilter); ok {
		return true
	}
	theirs := filter.NewBloomFilter(10) // its type is not exported
	return reflect.TypeOf(f) == reflect.TypeOf(theirs)
}
