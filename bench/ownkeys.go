package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keylist"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// keyFlags choose the keys of a run.
type keyFlags struct {
	Shape   string `default:"decimal" enum:"${shapes}" help:"Shape of the keys."`
	Density string `default:"63%" enum:"${all}" help:"${densityHelp}"`
	Keys    string `placeholder:"FILE" help:"${keysHelp}"`
}

// choose returns a shape that has a density, and the user's own keys if --keys names them.
func (f *keyFlags) choose(j *job) (s keys.Shape, own keys.List, err error) {
	if f.Keys == "" {
		s = shapes([]string{f.Shape})[0]
		s.Density = s.Densities(densities([]string{f.Density}))[0]
		return s, nil, nil
	}
	if j.given("shape") || j.given("density") {
		return s, nil, errors.New("--keys has a shape and a density: leave out --shape and " +
			"--density")
	}
	own, err = ownKeys(j, f.Keys)
	return own.Shape(), own, err
}

// shapes returns the shapes of those names.
func shapes(names []string) []keys.Shape {
	return slices.DeleteFunc(slices.Clone(keys.Shapes), func(s keys.Shape) bool {
		return !slices.Contains(names, s.Name)
	})
}

// densities returns the densities of those names.
func densities(names []string) []keys.Density {
	return slices.DeleteFunc(slices.Clone(keys.Densities), func(d keys.Density) bool {
		return !slices.Contains(names, d.Name)
	})
}

// ownKeys returns the keys that --keys names, and notes where they come from.
func ownKeys(j *job, path string) (keys.List, error) {
	for _, flag := range j.parsed.Flags() {
		if o, ok := flag.Target.Interface().(output); ok && o.is(path) {
			return nil, fmt.Errorf("--keys: %s would be replaced: choose another file for what "+
				"is measured", o.path)
		}
	}
	list, sampled, err := keylist.Read(path)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	sample := ""
	if sampled {
		sample = ", a part of them"
	}
	j.notes = append(j.notes, fmt.Sprintf("own: %d keys of %s%s. A random third of them, which no "+
		"filter knows, is looked up as absent.", len(list), path, sample))
	return list, nil
}

// fitting returns those numbers of present keys for which the user's own keys are enough, or an
// error if that is none, or not all that were asked for.
func fitting(own keys.List, ns []int, asked bool) (fit []int, err error) {
	for _, n := range ns {
		if err := own.Fits(n, 0); err == nil {
			fit = append(fit, n)
		} else if asked || fit == nil {
			return nil, fmt.Errorf("--keys: %w", err)
		}
	}
	return fit, nil
}
