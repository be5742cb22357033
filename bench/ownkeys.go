package main

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/bench/internal/keylist"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// keysFlag adds -keys. what says what becomes of the other shapes.
func (f *flags) keysFlag(what string) {
	f.StringVar(&f.keysPath, "keys", "", fmt.Sprintf("`file` of your own keys, one per line, or a "+
		"database of goleveldb, LevelDB, Pebble or RocksDB (format_version 0 and 2), which is only "+
		"read. A third of the keys, chosen at random, stays out of the filters and is looked up "+
		"as absent. %s. Of more than %d MiB of keys it takes a sample", what, keylist.MaxBytes>>20))
}

// ownKeys returns the keys that -keys names, or nil without the flag.
func (f *flags) ownKeys() (keys.List, error) {
	if f.keysPath == "" {
		return nil, nil
	}
	for _, out := range []output{f.outputs.json, f.outputs.csv, f.outputs.svg} {
		if sameFile(out.path, f.keysPath) {
			return nil, fmt.Errorf("-keys: %s would be replaced: choose another file for what is "+
				"measured", out.path)
		}
	}
	list, sampled, err := keylist.Read(f.keysPath)
	if err != nil {
		return nil, fmt.Errorf("-keys: %w", err)
	}
	sample := ""
	if sampled {
		sample = ", a sample"
	}
	f.note = fmt.Sprintf("own: %d keys of %s%s. A random third of them, which no filter knows, "+
		"is looked up as absent.", len(list), f.keysPath, sample)
	return list, nil
}

// withOwn returns the shapes that a list in -shapes names, and the user's own keys before them.
// Without -shapes the own keys stand alone.
func (f *flags) withOwn(own keys.List, list string) (shapes []keys.Shape, err error) {
	if own == nil || f.given["shapes"] {
		shapes, err = choose("shapes", list, keys.All, keys.ShapeName)
	} else {
		f.unused("shapes", "densities")
	}
	if own != nil {
		shapes = append([]keys.Shape{own.Shape()}, shapes...)
	}
	return shapes, err
}

// oneShape returns the user's own keys as a shape with its density, or the ones that -shape and
// -density name.
func (f *flags) oneShape(own keys.List, shape, density string) (
	s keys.Shape, d keys.Density, err error) {
	if own != nil {
		if f.given["shape"] || f.given["density"] {
			err = errors.New("-keys has a shape and a density: leave out -shape and -density")
		}
		f.unused("shape", "density")
		return own.Shape(), own.Shape().Density, err
	}
	shapes, err := choose("shape", shape, keys.All, keys.ShapeName)
	if err != nil {
		return s, d, err
	}
	densities, err := choose("density", density, keys.Densities, keys.DensityName)
	if err != nil {
		return s, d, err
	}
	if len(shapes)+len(densities) > 2 {
		return s, d, errors.New("-shape, -density: pass one of each")
	}
	return shapes[0], shapes[0].Densities(densities)[0], nil
}

// fitting returns those numbers of present keys for which the user's own keys are enough, and sets
// flag to them. If flag was given, it is an error that one is too large.
func (f *flags) fitting(own keys.List, ns []int, flag string) (fit []int, err error) {
	for _, n := range ns {
		if missing := own.Fits(n, 0); own == nil || missing == nil {
			fit = append(fit, n)
		} else if err == nil {
			err = fmt.Errorf("-keys: %w", missing)
		}
	}
	if len(fit) > 0 && !f.given[flag] {
		err = f.Set(flag, join(fit, keys.FormatN))
	}
	return fit, err
}
