package goleveldb

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/policy"
)

// Configure makes p the policy of the databases that are opened with o from then on, and keeps the filters of tables
// already on disk in use. It changes two fields of o:
//
//   - Filter becomes New(p).
//   - AltFilters becomes a new slice, with one filter of each name: the former Filter, the former AltFilters in their
//     order, and readers of LevelDB's encoding under policy.Name and policy.NameGoLevelDB. One that has the name of an
//     earlier one, or of p, is left out, since goleveldb would never ask it.
//
// So that no filter is read as what it is not, a former filter with the name of p must be one of this package, or
// goleveldb's own filter.NewBloomFilter, which has LevelDB's encoding. For any other, and for nil arguments, Configure
// returns an error that says what to do, and leaves o as it was.
//
// Like LevelDB's own, the filters compare keys byte by byte: a Comparer for which different keys are equal, such as one
// that ignores case, cannot be used with them.
func Configure(o *opt.Options, p policy.Policy) error {
	if o == nil {
		return errors.New("goleveldb: Configure of nil options: pass &opt.Options{}")
	}
	if isNil(p) {
		return errors.New("goleveldb: Configure with a nil policy: " +
			"pass one, such as policy.NewBloom(10) returns without an error")
	}
	f := New(p)
	alt, err := alternatives(o, f.Name())
	if err != nil {
		return err
	}
	o.Filter, o.AltFilters = f, alt
	return nil
}

// alternatives returns the filters to keep beside the one called name.
func alternatives(o *opt.Options, name string) ([]filter.Filter, error) {
	var former []filter.Filter
	if o.Filter != nil {
		former = append(former, o.Filter)
	}
	former = append(former, o.AltFilters...)

	var alt []filter.Filter
	seen := map[string]bool{name: true}
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
		if f.Name() == name && !sharesNames(f) {
			return nil, fmt.Errorf("goleveldb: Options already has a filter %q of type %T, whose encoding may differ: "+
				"give the policy a name of its own with policy.WithName, or, if that filter has LevelDB's encoding, "+
				"remove it from Options", name, f)
		}
		keep(f)
	}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		f, err := reader(name)
		if err != nil {
			return nil, err
		}
		keep(f)
	}
	return alt, nil
}

// sharesNames reports whether the filters that f reads can be read by any policy of the same name: policies promise it,
// and goleveldb's own filter has LevelDB's encoding, to which its name belongs.
func sharesNames(f filter.Filter) bool {
	_, ours := f.(*policyFilter)
	return ours || reflect.TypeOf(f) == reflect.TypeOf(filter.NewBloomFilter(10))
}

// reader returns a filter that reads LevelDB's encoding under name. Reading needs no setting, so any bits per key do.
func reader(name string) (filter.Filter, error) {
	p, err := policy.NewBloom(10, policy.WithName(name))
	if err != nil {
		return nil, err
	}
	return New(p), nil
}
