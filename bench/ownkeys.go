package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// keyFlags choose the keys of a run.
type keyFlags struct {
	Shape   string `default:"decimal" enum:"${shapes}" help:"Shape of the keys."`
	Density string `default:"63%" enum:"${all}" help:"${densityHelp}"`
	Keys    string `placeholder:"FILE" help:"${keysHelp}"`
	Hex     bool   `help:"${hexHelp}"`
}

// choose returns the keys that the flags ask for, and the user's own if --keys names them.
func (f *keyFlags) choose(j *job) (s keys.Source, own keys.List, err error) {
	if f.Keys == "" {
		return sources([]string{f.Shape}, []string{f.Density})[0], nil, nil
	}
	if j.given("shape") || j.given("density") {
		return s, nil, errors.New("--keys has a shape and a density: leave out --shape and " +
			"--density")
	}
	own, err = ownKeys(j, f.Keys, f.Hex)
	return own.Source(), own, err
}

// sources returns the shapes of those names with the densities of those names.
func sources(shapes, densities []string) (all []keys.Source) {
	chosen := slices.DeleteFunc(slices.Clone(keys.Densities), func(d keys.Density) bool {
		return !slices.Contains(densities, d.Name)
	})
	for _, s := range keys.Shapes {
		if slices.Contains(shapes, s.Name) {
			all = append(all, s.Sources(chosen...)...)
		}
	}
	return all
}

// ownKeys returns the keys that --keys names, and notes where they come from.
func ownKeys(j *job, path string, hex bool) (keys.List, error) {
	for _, flag := range j.parsed.Flags() {
		if o, ok := flag.Target.Interface().(output); ok && o.is(path) {
			return nil, fmt.Errorf("--keys: %s would be replaced: choose another file for what "+
				"is measured", o.path)
		}
	}
	read, err := keys.Read(j.ctx, path, hex)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	sample := ""
	if read.Sampled {
		sample = ", a part of them"
	}
	j.notes = append(j.notes, fmt.Sprintf("own: %d keys of %s%s. A random third of them, which no "+
		"filter knows, is looked up as absent.", len(read.Keys), path, sample))
	if read.LeftOut > 0 {
		j.notes = append(j.notes, fmt.Sprintf("Tables that are no part of the database, left over "+
			"or unfinished: %d. They are left out.", read.LeftOut))
	}
	if read.Binary {
		j.notes = append(j.notes, fmt.Sprintf("WARNING: %s is no text: a key that contains a newline "+
			"was cut there. For binary keys write their bytes in hexadecimal, a key per line, and "+
			"pass --hex, or pass the database.", path))
	}
	return read.Keys, nil
}

// fitting returns those numbers of present keys for which the user's own keys are enough, or an
// error if that is none, or not all that were asked for.
func fitting(own keys.List, ns []int, asked bool) (fit []int, err error) {
	for _, n := range ns {
		if err := own.Fits(n); err == nil {
			fit = append(fit, n)
		} else if asked || fit == nil {
			return nil, fmt.Errorf("--keys: %w", err)
		}
	}
	return fit, nil
}
