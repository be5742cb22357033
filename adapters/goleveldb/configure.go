package goleveldb

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/policy"
)

// An Option changes what [Configure] sets besides the policy.
type Option func(*opt.Options) error

// Configure makes p the policy of the databases that are opened with o from then on, and keeps the filters of tables
// already on disk in use. It changes two fields of o, and those that the options say:
//
//   - Filter becomes New(p).
//   - AltFilters becomes a new slice, with one filter of each name: the former Filter, the former AltFilters in their
//     order, and readers of package policy's encodings under policy.Name and policy.NameGoLevelDB. One that has the name
//     of an earlier one, or of p, is left out, since goleveldb would never ask it.
//
// So that no filter is read as what it is not, p must share its name with none but its like:
//
//   - A former filter of the same name is of this package or is goleveldb's own filter.NewBloomFilter, and Configure
//     finds, by trial, that each of the two policies reads the other's filters.
//   - Under policy.Name and policy.NameGoLevelDB, which belong to LevelDB's encoding, the same is tried with that.
//
// The policies of package policy, exact, blocked and binary fuse, read each other's filters.
//
// Configure returns an error that says what to do if that is not so, if an argument is nil, or if an option refuses its
// argument. It leaves o as it was then.
//
// A database copies its options when it is opened, so Configure may change them at any time after, without an effect on
// that database. Like all that changes o, it must not run while another goroutine uses o.
//
// Like LevelDB's own, the filters compare keys byte by byte: a Comparer for which different keys are equal, such as one
// that ignores case, cannot be used with them.
func Configure(o *opt.Options, p policy.Policy, opts ...Option) error {
	if o == nil {
		return errors.New("goleveldb: Configure of nil options: pass &opt.Options{}")
	}
	if err := policy.Check(p); err != nil {
		return fmt.Errorf("goleveldb: %w", err)
	}
	changed := *o
	for _, option := range opts {
		if option == nil {
			return errors.New("goleveldb: Configure with a nil Option: leave it out")
		}
		if err := option(&changed); err != nil {
			return err
		}
	}
	f := &policyFilter{name: p.Name(), policy: p}
	alt, err := alternatives(o, f)
	if err != nil {
		return err
	}
	changed.Filter, changed.AltFilters = f, alt
	*o = changed
	return nil
}

// alternatives returns the filters to keep beside chosen.
func alternatives(o *opt.Options, chosen *policyFilter) ([]filter.Filter, error) {
	var former []filter.Filter
	if o.Filter != nil {
		former = append(former, o.Filter)
	}
	former = append(former, o.AltFilters...)

	var alt []filter.Filter
	seen := map[string]bool{chosen.name: true}
	keep := func(f filter.Filter) {
		if !seen[f.Name()] {
			seen[f.Name()] = true
			alt = append(alt, f)
		}
	}
	for _, f := range former {
		if f == nil {
			return nil, errors.New("goleveldb: Options.AltFilters has a nil entry: remove it")
		}
		if f.Name() == chosen.name {
			if err := checkShared(chosen, f); err != nil {
				return nil, err
			}
		}
		keep(f)
	}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		p, err := policy.NewBloom(10, policy.WithName(name)) // reading needs no setting, so any bits per key do
		if err != nil {
			return nil, err
		}
		if name == chosen.name {
			if err := checkCompatible(chosen, p); err != nil {
				return nil, err
			}
		}
		keep(New(p))
	}
	return alt, nil
}

// checkShared returns an error unless chosen and old may share their name.
func checkShared(chosen *policyFilter, old filter.Filter) error {
	if reflect.TypeOf(old) == reflect.TypeOf(filter.NewBloomFilter(10)) {
		leveldb, err := policy.NewBloom(10)
		if err != nil {
			return err
		}
		return checkCompatible(chosen, leveldb)
	}
	f, ours := old.(*policyFilter)
	if !ours {
		return fmt.Errorf("goleveldb: Options already has a filter %q of type %T, whose encoding may differ: "+
			"give the policy a name of its own with policy.WithName, or, if that filter has LevelDB's encoding, "+
			"remove it from Options", chosen.name, old)
	}
	return checkCompatible(chosen, f.policy)
}
