package main

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

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
				"is measured", o)
		}
	}
	own, sampled, err := keys.Read(j.ctx, path, hex)
	if err != nil {
		return nil, fmt.Errorf("--keys: %w", err)
	}
	part := ""
	if sampled {
		part = ", a part of them"
	}
	j.notes = append(j.notes, fmt.Sprintf("own: %d keys of %s%s. A random third of them, which no "+
		"filter contains, is looked up as absent.", len(own), path, part))
	return own, nil
}
